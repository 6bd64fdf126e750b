/* SPDX-License-Identifier: MIT */
/* The spawner: which descriptors a program gets, whose child it is, and that stopping it before its exec
 * holds up nobody. */
#include "base/fd.h"
#include "base/host/host.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

static struct child spawn_shell(char *script, int in, int out, unsigned flags)
{
        char name[] = "sh", option[] = "-c", *argv[] = { name, option, script, NULL }, *none[] = { NULL };
        const int fds[] = { in, -1, -1, -1, out };
        return host_spawn(&(struct host_spawn){
                .path = "/bin/sh", .argv = argv, .envp = none, .fds = fds, .fd_count = 5, .flags = flags });
}

static void read_to_end(int fd, char *ret, size_t cap)
{
        ssize_t n = fd_read_all(fd, ret, cap - 1);
        ret[n > 0 ? n : 0] = '\0';
}

static void test_spawn__gives_only_the_listed_descriptors(void)
{
        char text[256], script[] = "for i in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$i ] && printf $i >&4; "
                                   "done; :";
        int p[2], more[2];
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        CHECK_INT(pipe(more), 0); /* inherited by a plain fork and exec */
        struct child c = spawn_shell(script, more[0], p[1], 0);
        CHECK(c.pid > 0);
        (void) close(p[1]);
        read_to_end(p[0], text, sizeof text);
        CHECK(strcmp(text, "04") == 0 || strcmp(text, "024") == 0); /* some shells open what they miss */
        while (!child_reap(&c, NULL))
                (void) fd_await(c.pidfd, POLLIN, 1000);
        (void) close(p[0]);
        (void) close(more[0]);
        (void) close(more[1]);
}

static void test_spawn__reports_a_program_that_is_missing(void)
{
        char *none[] = { NULL };
        const int fds[] = { -1, -1, -1 };
        for (unsigned flags = 0; flags <= HOST_SPAWN_ORPHAN; flags += HOST_SPAWN_ORPHAN) {
                struct child c = host_spawn(&(struct host_spawn){ .path = "/nowhere/x",
                                                                  .argv = none,
                                                                  .envp = none,
                                                                  .fds = fds,
                                                                  .fd_count = 3,
                                                                  .flags = flags });
                CHECK(c.pid < 0 && c.pidfd < 0 && errno == ENOENT);
                CHECK(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD);
        }
}

static void test_spawn__an_orphan_is_no_child(void)
{
        char text[16], script[] = "echo here >&4; pwd >&4";
        int p[2];
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        struct child c = spawn_shell(script, -1, p[1], HOST_SPAWN_APART | HOST_SPAWN_ORPHAN);
        CHECK(c.pid < 0 && errno == 0);
        CHECK(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD);
        (void) close(p[1]);
        read_to_end(p[0], text, sizeof text);
        CHECK_STR(text, "here\n/\n");
        (void) close(p[0]);
}

/* Stops each new child of its parent as soon as it appears. */
static _Noreturn void stop_children(void)
{
        char path[64], text[512];
        pid_t parent = getppid(), last = 0;
        (void) snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int) parent, (int) parent);
        for (;;) {
                (void) fd_get(AT_FDCWD, path, text, sizeof text);
                for (char *at = text, *end; *at; at = end) {
                        pid_t pid = (pid_t) strtol(at, &end, 10);
                        if (end == at || pid <= 0)
                                break;
                        if (pid != getpid() && pid != last && kill(pid, SIGSTOP) == 0)
                                last = pid;
                }
                if (getppid() != parent)
                        _exit(0);
        }
}

static void test_spawn__returns_although_its_child_is_stopped(void)
{
        char script[] = ":";
        pid_t stopper = fork();
        if (stopper == 0)
                stop_children();
        for (int i = 0; i < 30; i++) {
                struct child c = spawn_shell(script, -1, -1, 0);
                CHECK(c.pid > 0);
                while (!child_reap(&c, NULL)) {
                        (void) kill(c.pid, SIGCONT);
                        (void) fd_await(c.pidfd, POLLIN, 10);
                }
        }
        (void) kill(stopper, SIGKILL);
        (void) waitpid(stopper, NULL, 0);
}

static const struct test_case cases[] = {
        CASE(test_spawn__gives_only_the_listed_descriptors),
        CASE(test_spawn__reports_a_program_that_is_missing),
        CASE(test_spawn__an_orphan_is_no_child),
        CASE(test_spawn__returns_although_its_child_is_stopped),
};
TEST_MAIN(cases)
