/* SPDX-License-Identifier: MIT */
/* A program that runs is "busy" to everybody who would write it: whether it could be written without that is
 * told apart from what only looks like an escape. */
#include "harness.h"
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENOUGH_MS = 20000 }; /* for what answers at once, also where the machine is busy */

static const struct probe_world world;
static char dir[] = "/tmp/cordon-test.XXXXXX", program[64], other[64];

/* ---- a program that runs ---- */

static int copy_self(void)
{
        AUTO_FD(from, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
        AUTO_FD(to, open(program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700));
        char some[4096];
        ssize_t n;
        while ((n = read(from, some, sizeof some)) > 0)
                if (write(to, some, (size_t) n) != n)
                        return -1;
        return n < 0 || to < 0 ? -1 : 0;
}

/* Until the descriptor is closed by exec, the file is not busy. */
static pid_t start(void)
{
        int ends[2];
        char byte;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) execl(program, program, "wait", (char *) NULL);
                _exit(1);
        }
        (void) close(ends[1]);
        (void) !read(ends[0], &byte, 1);
        (void) close(ends[0]);
        return pid;
}

/* ---- walls ---- */

/* Nothing may be written, but `leave` and what is below it. */
static int keep_from_writing(const char *leave)
{
        const struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE };
        AUTO_FD(rules, (int) syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0));
        if (rules < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -1;
        AUTO_FD(at, leave ? open(leave, O_PATH | O_CLOEXEC) : -1);
        const struct landlock_path_beneath_attr rule = { .allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE,
                                                         .parent_fd = at };
        if (leave && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
                return -1;
        return (int) syscall(SYS_landlock_restrict_self, rules, 0);
}

static bool has_landlock(void)
{
        return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

static int without_walls(struct probe_result *r) { return by_write_open(r, program); }
static int behind_landlock(struct probe_result *r)
{
        return keep_from_writing(NULL) < 0 ? held(r, "no Landlock") : by_write_open(r, program);
}
static int behind_landlock_left_open(struct probe_result *r)
{
        return keep_from_writing(dir) < 0 ? held(r, "no Landlock") : by_write_open(r, program);
}
static int several(struct probe_result *r)
{
        const char *const paths[] = { program, "/nonexistent" };
        return keep_from_writing(NULL) < 0 ? held(r, "no Landlock") : by_write_opens(r, paths, 2);
}
static int several_with_one_open(struct probe_result *r)
{
        const char *const paths[] = { "/nonexistent", program, other };
        return keep_from_writing(other) < 0 ? held(r, "no Landlock") : by_write_opens(r, paths, 3);
}

static struct probe_result run(int (*fn)(struct probe_result *))
{
        const struct probe p = { .name = "test", .layers = "landlock", .run = fn };
        struct probe_result r;
        pid_t pid = start();
        probe_run_one(&p, &world, ENOUGH_MS, &r);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        return r;
}

/* ---- the sentences ---- */

static void test_busy__where_nothing_else_holds_it_is_an_escape(void)
{
        struct probe_result r = run(without_walls);
        CHECK_INT(r.outcome, PROBE_ESCAPED);
        CHECK(strstr(r.why, "as soon as it ends"));
        CHECK(strncmp(r.effect, "write ", 6) == 0); /* a door that grants it is asked by this */
}

static void test_busy__a_mode_that_forbids_it_holds(void)
{
        if (geteuid() == 0)
                SKIP("modes do not hold root");
        CHECK(chmod(program, 0500) == 0);
        CHECK_INT(run(without_walls).outcome, PROBE_HELD);
        CHECK(chmod(program, 0700) == 0);
}

static void test_busy__behind_landlock_it_is_no_escape_and_no_proof(void)
{
        if (!has_landlock())
                SKIP("this kernel has no Landlock");
        struct probe_result r = run(behind_landlock);
        CHECK_INT(r.outcome, PROBE_CANNOT_TELL);
        CHECK(strstr(r.why, "beside it nothing can be written (EACCES)"));
}

static void test_busy__behind_landlock_that_leaves_it_open_it_is_an_escape(void)
{
        if (!has_landlock())
                SKIP("this kernel has no Landlock");
        CHECK_INT(run(behind_landlock_left_open).outcome, PROBE_ESCAPED);
}

static void test_several__what_cannot_be_told_is_not_forgotten(void)
{
        if (!has_landlock())
                SKIP("this kernel has no Landlock");
        CHECK_INT(run(several).outcome, PROBE_CANNOT_TELL);
        CHECK_INT(run(several_with_one_open).outcome, PROBE_ESCAPED);
}

static const struct test_case cases[] = {
        CASE(test_busy__where_nothing_else_holds_it_is_an_escape),
        CASE(test_busy__a_mode_that_forbids_it_holds),
        CASE(test_busy__behind_landlock_it_is_no_escape_and_no_proof),
        CASE(test_busy__behind_landlock_that_leaves_it_open_it_is_an_escape),
        CASE(test_several__what_cannot_be_told_is_not_forgotten),
};

int main(int argc, char **argv)
{
        if (argc > 1 && strcmp(argv[1], "wait") == 0)
                return pause() + 1;
        if (!mkdtemp(dir))
                return 1;
        (void) snprintf(program, sizeof program, "%s/program", dir);
        (void) snprintf(other, sizeof other, "%s/other", dir);
        int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        int bad = fd < 0 || copy_self() < 0 || test_main(cases, sizeof cases / sizeof *cases);
        (void) close(fd);
        (void) unlink(program);
        (void) unlink(other);
        (void) rmdir(dir);
        return bad;
}
