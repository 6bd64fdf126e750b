/* SPDX-License-Identifier: MIT */
/* base/fork.h - forks without an exit signal, so that neither SIGCHLD nor a caller's wait(-1) sees the child
 * (waitpid() with __WALL does), and without fork handlers, whose locks other threads might hold. The child
 * may call only async-signal-safe functions. */
#pragma once
#include "base/child.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t quiet_fork(void) { return (pid_t) syscall(SYS_clone, 0, NULL, NULL, NULL, NULL); }
/* The same, with a pidfd of the child. */
static inline struct child quiet_child(void)
{
        struct child c = CHILD_NONE;
        c.pid = (pid_t) syscall(SYS_clone, CLONE_PIDFD, NULL, &c.pidfd, NULL, NULL);
        return c;
}
