/* SPDX-License-Identifier: MIT */
/* tests/unit/test_store.c - where the state lies, and which directories are refused: somebody else's, open
 * ones, links. */
#include "../context.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64] = "/tmp/cordon-test.XXXXXX";

static const struct {
        const char *state, *path; /* NULL: refused */
} rows[] = {
        { "/a/b", "/a/b" },  { "//a/./b/", "/a/b" }, { "/a/..b", "/a/..b" }, { "/a/.b/...", "/a/.b/..." },
        { "/a/../b", NULL }, { "/..", NULL },        { "/a/b/..", NULL },    { "/", NULL },
        { "/./", NULL },     { "a/b", NULL },        { ".", NULL },          { "~/a", NULL },
};

static void test_path__is_cleaned_or_refused(void)
{
        char path[STORE_PATH_MAX];
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct err e = { 0 };
                CHECK(setenv("CORDON_STATE", rows[i].state, 1) == 0);
                int r = store_path(test_context(), path, &e);
                CHECK((r == 0) == (rows[i].path != NULL));
                CHECK(r < 0 || (rows[i].path && strcmp(path, rows[i].path) == 0));
                CHECK(store_variable(test_context(), &e) == r);
        }
}

/* The state directory at a name below the test's own, as store_open(test_context(), ) finds or makes it. */
static int open_at(const char *name)
{
        char path[128];
        struct err e = { 0 };
        (void) snprintf(path, sizeof path, "%s/%s", top, name);
        CHECK(setenv("CORDON_STATE", path, 1) == 0);
        int fd = store_open(test_context(), &e);
        CHECK(fd >= 0 || (e.what[0] && e.hint[0]));
        return fd;
}

static void test_open__makes_a_closed_directory(void)
{
        struct stat st;
        AUTO_FD(fd, open_at("new/deep/state"));
        CHECK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0700);
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void test_open__refuses_what_others_may_enter_or_own(void)
{
        static const mode_t modes[] = { 0701, 0710, 0704, 0740, 0720, 0777 };
        CHECK(mkdir("open", 0700) == 0);
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
                CHECK(chmod("open", modes[i]) == 0);
                CHECK(open_at("open") < 0);
        }
        CHECK(mkdir("theirs", 0700) == 0);
        if (geteuid() == 0) {
                CHECK(chown("theirs", 65534, 65534) == 0);
                CHECK(open_at("theirs") < 0);
        } else {
                printf("# not root: no directory can be given away\n");
        }
        CHECK(close(open("file", O_CREAT | O_WRONLY, 0600)) == 0);
        CHECK(open_at("file") < 0);
}

static void test_dir__follows_no_link_and_takes_nothing_over(void)
{
        struct err e = { 0 };
        struct stat st;
        CHECK(mkdir("elsewhere", 0700) == 0 && symlink("elsewhere", "link") == 0 &&
              symlink("nowhere", "loose") == 0);
        AUTO_FD(here, open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        CHECK(store_dir(here, "link", &e) < 0);
        CHECK(store_dir(here, "loose", &e) < 0 && access("nowhere", F_OK) < 0);
        CHECK(mkdir("wide", 0755) == 0 && store_dir(here, "wide", &e) < 0);
        AUTO_FD(made, store_dir(here, "made", &e));
        CHECK(made >= 0 && fstat(made, &st) == 0 && (st.st_mode & 07777) == 0700);
        AUTO_FD(again, store_dir(here, "made", &e));
        CHECK(again >= 0);
}

static const struct test_case cases[] = {
        CASE(test_path__is_cleaned_or_refused),
        CASE(test_open__makes_a_closed_directory),
        CASE(test_open__refuses_what_others_may_enter_or_own),
        CASE(test_dir__follows_no_link_and_takes_nothing_over),
};

int main(void)
{
        (void) umask(022);
        if (!mkdtemp(top) || chdir(top) < 0)
                return 1;
        int r = test_main(cases, sizeof cases / sizeof *cases);
        static const char *const left[] = { "new/deep/state", "new/deep",  "new",  "open",
                                            "theirs",         "elsewhere", "wide", "made" };
        for (size_t i = 0; i < sizeof left / sizeof *left; i++)
                (void) rmdir(left[i]);
        (void) unlink("link");
        (void) unlink("loose");
        (void) unlink("file");
        (void) !chdir("/");
        (void) rmdir(top);
        return r;
}
