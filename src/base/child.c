/* SPDX-License-Identifier: MIT */
/* base/child.c - see child.h. */
#include "base/child.h"
#include "base/fd.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { BY_PIDFD = 3 }; /* P_PIDFD, which older headers do not have */

/* SAFETY: a pid stays with a child until it is reaped, and only this code reaps it. */
void child_kill(const struct child *c)
{
        if (c->pidfd >= 0)
                (void) syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
        else if (c->pid > 0)
                (void) kill(c->pid, SIGKILL);
}

bool child_reap(struct child *c, struct rusage *ret_usage)
{
        siginfo_t info = { .si_pid = 0 };
        struct rusage used = { 0 };
        long r = 0;

        struct pollfd ended = { .fd = c->pidfd, .events = POLLIN };
        if (c->pid > 0 && c->theirs && poll(&ended, 1, 0) == 0)
                return false;

        if (c->pid > 0 && !c->theirs) {
                do
                        r = syscall(SYS_waitid, c->pidfd >= 0 ? BY_PIDFD : P_PID,
                                    c->pidfd >= 0 ? c->pidfd : c->pid, &info, WEXITED | WNOHANG | __WALL,
                                    &used);
                while (r < 0 && errno == EINTR);

                if (r == 0 && info.si_pid == 0)
                        return false;

                if (r == 0 && ret_usage)
                        *ret_usage = used;
        }

        fd_close(&c->pidfd);
        *c = CHILD_NONE;
        return true;
}
