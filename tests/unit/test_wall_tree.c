/* SPDX-License-Identifier: MIT */
/* What a payload leaves behind the process wall: ended, also where no file can be opened any more. */
#include "base/fd.h"
#include "harness.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Orphans, each in a session of its own. They hold the pipe that the test waits at. */
static void leave_some(void)
{
        for (int i = 0; i < 3; i++) {
                pid_t pid = fork();
                if (pid == 0 && fork() == 0) {
                        (void) setsid();
                        for (;;)
                                (void) pause();
                }
                if (pid == 0)
                        _exit(0);
                (void) waitpid(pid, NULL, 0);
        }
}

static _Noreturn void be_reaper(bool no_files)
{
        const struct rlimit none = { 0, 0 };
        (void) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        int children = wall_own_children();
        leave_some();
        if (children < 0 || (no_files && setrlimit(RLIMIT_NOFILE, &none) < 0))
                _exit(1);
        wall_kill_stragglers(children);
        _exit(waitpid(-1, NULL, WNOHANG) == -1 ? 0 : 2);
}

static void check_all_end(bool no_files)
{
        int line[2], status = -1;
        CHECK_INT(pipe2(line, O_CLOEXEC), 0);
        AUTO_FD(reads, line[0]);
        AUTO_FD(writes, line[1]);
        pid_t pid = fork();
        if (pid == 0)
                be_reaper(no_files);
        fd_close(&writes);
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK_INT(status, 0);
        CHECK(fd_await(reads, POLLIN, 5000)); /* nobody holds the other end */
}

static void test_stragglers__all_are_ended(void) { check_all_end(false); }
static void test_stragglers__also_where_no_file_can_be_opened(void) { check_all_end(true); }

static const struct test_case cases[] = {
        CASE(test_stragglers__all_are_ended),
        CASE(test_stragglers__also_where_no_file_can_be_opened),
};
TEST_MAIN(cases)
