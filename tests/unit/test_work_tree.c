/* SPDX-License-Identifier: MIT */
/* tests/unit/test_work_tree.c - readers and writers of hostile trees, against somebody who swaps directories
 * and files for links, fifos and each other as fast as the kernel lets them: a million rounds, no escape. */
#include "base/fd.h"
#include "files/work/internal.h"
#include "harness.h"

#include <errno.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 340000 }; /* of each of the three kinds that take one look; and copies */

static char top[64] = "/tmp/cordon-test.XXXXXX";
static int door = -1;

static void put_text(const char *path, const char *text)
{
        AUTO_FD(fd, open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
        CHECK(fd >= 0 && fd_write_all(fd, text, strlen(text)) == 0);
}

/* door/x is a directory, door/other a link to outside; door/f a file, door/g a link or a fifo. */
static void build(void)
{
        CHECK(mkdtemp(top) != NULL && chdir(top) == 0);
        CHECK(mkdir("door", 0755) == 0 && mkdir("outside", 0755) == 0 && mkdir("door/x", 0755) == 0);
        put_text("door/x/f", "inside");
        put_text("outside/f", "outside");
        put_text("door/f", "inside");
        CHECK(symlink("../outside", "door/other") == 0 && symlink("../outside/f", "door/g") == 0);
        CHECK(mkfifo("door/h", 0644) == 0);
        door = open("door", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(door >= 0);
}

static pid_t swap(const char *a, const char *b, const char *c)
{
        pid_t pid = fork();
        if (pid != 0)
                return pid;
        for (;;) {
                (void) syscall(SYS_renameat2, door, a, door, b, RENAME_EXCHANGE);
                if (c)
                        (void) syscall(SYS_renameat2, door, a, door, c, RENAME_EXCHANGE);
        }
}

static void stop(pid_t pid)
{
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
}

/* 1: read "inside"; 0: refused; -1: an escape. */
static int judge(int fd)
{
        char text[16] = "";
        if (fd < 0)
                return 0;
        ssize_t n = read(fd, text, sizeof text - 1);
        (void) close(fd);
        return n == 6 && memcmp(text, "inside", 6) == 0 ? 1 : -1;
}

static void test_hammer__a_parent_that_becomes_a_link_is_never_followed(void)
{
        pid_t pid = swap("x", "other", NULL);
        int escapes = 0, read_some = 0;
        for (unsigned i = 0; test_goes_on(i, ROUNDS, read_some > 0); i++) {
                const char *name;
                AUTO_FD(dir, tree_parent(door, "x/f", &name));
                int r = dir < 0 ? 0 : judge(tree_file(dir, name, false, NULL));
                escapes += r < 0;
                read_some += r > 0;
        }
        stop(pid);
        CHECK_INT(escapes, 0);
        CHECK(read_some > 0);
}

static void test_hammer__a_file_that_becomes_a_link_or_a_fifo_is_never_opened(void)
{
        pid_t pid = swap("f", "g", "h");
        int escapes = 0, read_some = 0;
        (void) alarm(120); /* a fifo that was opened would block for ever */
        for (unsigned i = 0; test_goes_on(i, ROUNDS, read_some > 0); i++) {
                int r = judge(tree_file(door, "f", false, NULL));
                escapes += r < 0;
                read_some += r > 0;
        }
        (void) alarm(0);
        stop(pid);
        CHECK_INT(escapes, 0);
        CHECK(read_some > 0);
}

static void test_hammer__nothing_is_put_outside(void)
{
        pid_t pid = swap("x", "other", NULL);
        int landed = 0;
        put_text("door/new", "new");
        for (unsigned i = 0; test_goes_on(i, ROUNDS, landed > 0); i++) {
                const char *name;
                AUTO_FD(dir, tree_parent(door, "x/landed", &name));
                if (dir < 0 || syscall(SYS_renameat2, door, "new", dir, name, RENAME_NOREPLACE) < 0)
                        continue;
                landed++;
                CHECK(syscall(SYS_renameat2, dir, name, door, "new", RENAME_NOREPLACE) == 0);
        }
        stop(pid);
        CHECK(landed > 0);
        CHECK(access("outside/landed", F_OK) < 0);
}

static void test_hammer__a_copy_never_leaves_the_tree(void)
{
        pid_t pid = swap("x", "other", NULL);
        int escapes = 0, copied = 0;
        for (unsigned i = 0; test_goes_on(i, ROUNDS / 10, copied > 0); i++) { /* ten calls each */
                if (copy_tree(door, "x", door, "copy", false) == 0) {
                        AUTO_FD(dir, tree_dir(door, "copy"));
                        int r = dir < 0 ? 0 : judge(tree_file(dir, "f", false, NULL));
                        escapes += r < 0;
                        copied += r > 0;
                }
                CHECK(remove_tree(door, "copy") == 0);
        }
        stop(pid);
        CHECK_INT(escapes, 0);
        CHECK(copied > 0);
}

static void test_remove__a_tree_of_any_depth_and_mode_goes(void)
{
        int at = open("door", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(mkdirat(at, "deep", 0755) == 0);
        int dir = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < 3000 && dir >= 0; i++) {
                CHECK(mkdirat(dir, "a-directory-with-a-name", 0755) == 0);
                int next = openat(dir, "a-directory-with-a-name", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                (void) close(dir);
                dir = next;
        }
        (void) fchmod(dir, 0);
        (void) close(dir);
        CHECK(remove_tree(at, "deep") == 0);
        CHECK(faccessat(at, "deep", F_OK, 0) < 0);
        (void) close(at);
}

static void test_look__a_name_with_dots_or_a_slash_stays_inside(void)
{
        CHECK(tree_dir(door, "..") < 0);
        CHECK(tree_dir(door, "x/../..") < 0);
        CHECK(tree_dir(door, "/tmp") < 0);
        CHECK((tree_dir(door, "other") < 0) != (tree_dir(door, "x") < 0)); /* one of them is a link */
        CHECK(tree_file(door, "../outside/f", false, NULL) < 0);
        CHECK(tree_file(door, "g", false, NULL) < 0 || tree_file(door, "f", false, NULL) < 0);
}

/* A link that stays in the tree is one all the same: what was shown as x is x, and not what x leads to. */
static void test_look__no_link_is_followed_inside_the_tree_either(void)
{
        struct node n;
        const char *name;
        CHECK(mkdir("door/real", 0755) == 0 && symlink("real", "door/inner") == 0);
        put_text("door/real/f", "inside");
        CHECK(symlink("real/f", "door/leaf") == 0);
        CHECK(tree_dir(door, "inner") < 0 && tree_place(door, "inner") < 0);
        CHECK(tree_parent(door, "inner/f", &name) < 0);
        CHECK(tree_file(door, "inner/f", false, NULL) < 0 && tree_file(door, "leaf", false, NULL) < 0);
        CHECK(tree_look(door, "leaf", &n) == 0 && n.kind == NODE_LINK);
        CHECK_INT(judge(tree_file(door, "real/f", false, NULL)), 1);
        CHECK(tree_set_mode(door, "leaf", 0) < 0 && tree_set_mode(door, "inner", 0) < 0);
        CHECK(tree_look(door, "real/f", &n) == 0 && n.mode == 0644);
        CHECK(tree_set_mode(door, "real/f", 0600) == 0 && tree_look(door, "real/f", &n) == 0 &&
              n.mode == 0600);
}

static void test_look__no_mount_is_crossed(void)
{
        AUTO_FD(host, open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        CHECK(tree_dir(host, "proc") < 0 && errno == EXDEV);
        CHECK(tree_place(host, "proc") < 0 && errno == EXDEV);
        CHECK(tree_file(host, "proc/version", false, NULL) < 0 && errno == EXDEV);
}

static const struct test_case cases[] = {
        CASE(test_hammer__a_parent_that_becomes_a_link_is_never_followed),
        CASE(test_hammer__a_file_that_becomes_a_link_or_a_fifo_is_never_opened),
        CASE(test_hammer__nothing_is_put_outside),
        CASE(test_hammer__a_copy_never_leaves_the_tree),
        CASE(test_remove__a_tree_of_any_depth_and_mode_goes),
        CASE(test_look__a_name_with_dots_or_a_slash_stays_inside),
        CASE(test_look__no_link_is_followed_inside_the_tree_either),
        CASE(test_look__no_mount_is_crossed),
};

int main(void)
{
        build();
        int r = test_main(cases, sizeof cases / sizeof *cases);
        int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void) remove_tree(tmp, top + 5);
        return r;
}
