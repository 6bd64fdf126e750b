/* SPDX-License-Identifier: MIT */
/* What a call was tried on, read out of a process: of this one, with texts where they are hard to read. */
#include "harness.h"
#include "wall/linux/observe/watched_calls.h"
#include "wall/linux/root/link_walk.h"
#include "wall/linux/seccomp/seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct seccomp_data open_of(const char *path, int flags)
{
        return (struct seccomp_data){
                .nr = SYS_openat,
                .arch = seccomp_native() == SECCOMP_AARCH64 ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64,
                .args = { (uint64_t) AT_FDCWD, (uint64_t) (uintptr_t) path, (uint64_t) flags }
        };
}

/* "" for a path that is not told. */
static const char *told(const char *path)
{
        static struct wall_denial d;
        struct seccomp_data call = open_of(path, O_RDONLY);
        d = (struct wall_denial){ 0 };
        return watched_call(-1, (uint32_t) getpid(), &call, false, &d) ? d.path : "";
}

/* Two pages, behind which nothing is mapped. */
static char *pages(void)
{
        char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
                return NULL;
        (void) munmap(p + (size_t) 2 * PAGE, PAGE);
        return p;
}

static void test_saw__a_path_at_the_end_of_what_is_mapped(void)
{
        static const char path[] = "/etc/shadow";
        char *p = pages();
        CHECK(p != NULL);
        if (!p)
                return;
        char *at = p + (size_t) 2 * PAGE - sizeof path;
        memcpy(at, path, sizeof path);
        CHECK_STR(told(at), path);
        memset(at + sizeof path - 1, '/', 1); /* no end of it */
        CHECK_STR(told(at), "");
        at = p + PAGE - 4; /* over the edge of a page */
        memcpy(at, path, sizeof path);
        CHECK_STR(told(at), path);
        (void) munmap(p, (size_t) 2 * PAGE);
}

/* As long as a path can be, and longer: the kernel would refuse it, and nothing is told, least of all what
 * lies behind the room for it. */
static void test_saw__a_path_that_is_too_long(void)
{
        for (size_t before = 0; before < PAGE; before += PAGE / 2 - 1) {
                char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                CHECK(p != MAP_FAILED);
                if (p == MAP_FAILED)
                        return;
                char *at = p + before;
                memset(at, 'a', (size_t) 2 * PAGE);
                at[0] = '/';
                at[PAGE] = '\0'; /* one more than fits */
                CHECK_STR(told(at), "");
                at[PAGE - 1] = '\0';
                const char *cut = told(at);
                CHECK_INT(strlen(cut), WALL_PATH - 1);
                CHECK_STR(cut + strlen(cut) - 4, "a...");
                (void) munmap(p, (size_t) 4 * PAGE);
        }
}

static void test_saw__reading_or_writing(void)
{
        static const struct {
                int flags;
                enum effect_kind kind;
        } rows[] = {
                { O_RDONLY, EFFECT_READ },
                { O_WRONLY, EFFECT_WRITE },
                { O_RDWR, EFFECT_WRITE },
                { O_RDONLY | O_CREAT, EFFECT_WRITE },
                { O_RDONLY | O_TRUNC, EFFECT_WRITE },
                { O_RDONLY | O_DIRECTORY, EFFECT_READ },
                { O_PATH, EFFECT_READ },
                { O_PATH | O_RDWR | O_CREAT, EFFECT_READ },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct seccomp_data call = open_of("/x", rows[i].flags);
                CHECK_INT(watched_kind(&call), rows[i].kind);
        }
}

/* These find out that a name is taken, and change nothing then. */
static void test_saw__making_what_may_be_there(void)
{
        static const struct {
                int nr;
                uint64_t flags;
                bool makes;
        } rows[] = {
                { SYS_mkdirat, 0, true },
                { SYS_symlinkat, 0, true },
                { SYS_linkat, 0, true },
                { SYS_unlinkat, 0, false },
                { SYS_renameat2, 0, false },
                { SYS_execve, 0, false },
                { SYS_openat, O_CREAT | O_EXCL | O_WRONLY, true },
                { SYS_openat, O_CREAT | O_WRONLY, false },
                { SYS_openat, O_EXCL | O_WRONLY, false },
                { SYS_openat, O_RDONLY, false },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct seccomp_data call = open_of("/x", 0);
                call.nr = rows[i].nr;
                call.args[2] = rows[i].flags;
                CHECK_INT(watched_makes(&call), rows[i].makes);
        }
}

/* What the listener lets go on without a word: calls that the filter allows as they are. */
static void test_through__only_what_the_filter_would_allow(void)
{
        struct seccomp_data d = open_of("/x", O_RDONLY);
        CHECK(seccomp_lets_through(&d));
        d.args[2] = O_CREAT | O_WRONLY;
        d.args[3] = 0644;
        CHECK(seccomp_lets_through(&d));
        d.args[3] = 04755;
        CHECK(!seccomp_lets_through(&d));
        d.args[3] = 02755;
        CHECK(!seccomp_lets_through(&d));
        d.args[2] = O_RDONLY; /* makes none: the mode means nothing */
        CHECK(seccomp_lets_through(&d));
        d.arch = 0x40000003; /* 32 bits: the same number is another call */
        CHECK(!seccomp_lets_through(&d));
        d.nr = 257; /* openat(2) of x86_64, whatever this host is */
        CHECK(!seccomp_lets_through(&d));
        d.arch = AUDIT_ARCH_X86_64;
        CHECK(seccomp_lets_through(&d));
        d.arch = AUDIT_ARCH_AARCH64;
        CHECK(!seccomp_lets_through(&d));
        d.nr = 56; /* and that of aarch64 */
        CHECK(seccomp_lets_through(&d));
        d = open_of("/x", O_RDONLY);
        d.nr = SYS_renameat2;
        d.args[4] = 0;
        CHECK(seccomp_lets_through(&d));
        d.args[4] = 1 << 2; /* RENAME_WHITEOUT makes a device */
        CHECK(!seccomp_lets_through(&d));
        d = open_of("/x", O_RDONLY);
        d.nr = SYS_getpid; /* never asked about: so nobody answers for it */
        CHECK(!seccomp_lets_through(&d));
        d.nr = SYS_mount;
        CHECK(!seccomp_lets_through(&d));
        d.nr = -1;
        CHECK(!seccomp_lets_through(&d));
        d.nr = 1 << 30;
        CHECK(!seccomp_lets_through(&d));
}

/* What `path` below a directory of the test's own leads to, without that directory; "-": nowhere. */
static const char *led(const char *dir, const char *path, bool follow)
{
        static char real[PAGE];
        char whole[PAGE];
        size_t n = strlen(dir);
        (void) snprintf(whole, sizeof whole, "%s%s", path[0] == '~' ? dir : "", path + (path[0] == '~'));
        enum leads end = leads_to((uint32_t) getpid(), whole, follow, real, sizeof real);
        if (end != LEADS_THERE)
                return "-";
        return strncmp(real, dir, n) == 0 ? real + n : real;
}

static void test_leads__as_the_task_finds_it(void)
{
        char dir[] = "/tmp/leads-XXXXXX", name[64];
        int ends[2];
        CHECK(mkdtemp(dir) && chdir(dir) == 0);
        CHECK(mkdir("a", 0700) == 0 && mkdir("a/b", 0700) == 0 && symlink("a/b", "l") == 0 &&
              symlink("/proc/self/cwd", "here") == 0 && symlink("round", "round") == 0 &&
              symlink("l", "twice") == 0);
        const struct {
                const char *path, *to;
                bool follow;
        } rows[] = {
                { "~/a/b", "/a/b", true },
                { "~//a/./b/", "/a/b", true },
                { "~/none/x", "/none/x", true },
                { "~/l", "/a/b", true },
                { "~/l", "/l", false },
                { "~/l/", "/a/b", false },
                { "~/l/x", "/a/b/x", false },
                { "~/twice/../x", "/a/x", true },
                { "~/a/../../..", "/", true },
                { "~/here/a", "/a", true },
                { "/proc/self/root/usr", "/usr", true },
                { "/proc/thread-self/cwd/l/x", "/a/b/x", true },
                { "~/round", "-", true },
                { "~/round", "/round", false },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                CHECK_STR(led(dir, rows[i].path, rows[i].follow), rows[i].to);
        CHECK(pipe(ends) == 0);
        (void) snprintf(name, sizeof name, "/proc/self/fd/%d", ends[1]);
        CHECK_STR(led(dir, name, true), "-");
        CHECK(leads_straight(dir, true) && leads_straight("/none/x", true) && !leads_straight("l", true) &&
              leads_straight("l", false) && !leads_straight("l/x", false) && !leads_straight("a/..", true) &&
              leads_straight("a..", true));
        char far[3 * PAGE];
        memset(far, 'x', sizeof far - 1);
        far[0] = '/';
        far[sizeof far - 1] = '\0';
        char real[PAGE];
        CHECK_INT(leads_to(1, far, true, real, sizeof real), LEADS_TOO_FAR);
        far[sizeof real] = '\0';
        CHECK_INT(leads_to(1, far, true, real, sizeof real), LEADS_TOO_FAR);
        for (size_t i = 0; i < 600; i++)
                far[i] = i % 2 ? 'x' : '/';
        far[600] = '\0';
        CHECK_INT(leads_to(1, far, true, real, sizeof real), LEADS_TOO_FAR);
        far[500] = '\0';
        CHECK_INT(leads_to(1, far, true, real, sizeof real), LEADS_THERE);
        CHECK(unlink("l") == 0 && unlink("here") == 0 && unlink("round") == 0 && unlink("twice") == 0 &&
              rmdir("a/b") == 0 && rmdir("a") == 0 && chdir("/") == 0 && rmdir(dir) == 0);
}

static const struct test_case cases[] = {
        CASE(test_saw__a_path_at_the_end_of_what_is_mapped),
        CASE(test_saw__a_path_that_is_too_long),
        CASE(test_saw__reading_or_writing),
        CASE(test_saw__making_what_may_be_there),
        CASE(test_leads__as_the_task_finds_it),
        CASE(test_through__only_what_the_filter_would_allow),
};
TEST_MAIN(cases)
