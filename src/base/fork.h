/* SPDX-License-Identifier: MIT */
/* base/fork.h - a copy of this process that tells nobody of its end: no exit signal, so neither SIGCHLD nor a
 * caller's wait(-1) sees it (waitpid() with __WALL does); no fork handlers, whose locks other threads might
 * hold. The copy may use nothing but what is async-signal-safe. */
#pragma once
#include "base/child.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t quiet_fork(void) { return (pid_t) syscall(SYS_clone, 0, NULL, NULL, NULL, NULL); }
/* The same with a pidfd of the copy. */
static inline struct child quiet_child(void)
{
        struct child c = CHILD_NONE;
        c.pid = (pid_t) syscall(SYS_clone, CLONE_PIDFD, NULL, &c.pidfd, NULL, NULL);
        return c;
}
