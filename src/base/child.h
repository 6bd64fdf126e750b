/* SPDX-License-Identifier: MIT */
/* base/child.h - a child process, killed and reaped through its pidfd: never by a wait() that could reap
 * another child of the caller, and never blocking. */
#pragma once
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
        pid_t pid;
        int pidfd;   /* readable once it has ended; -1: not available, use the pid */
        bool theirs; /* of another process, which reaps it: only the pidfd shows its end */
};
#define CHILD_NONE ((struct child){ .pid = -1, .pidfd = -1 })

/* Sends SIGKILL. Does nothing for a child that has ended, or CHILD_NONE. */
void child_kill(const struct child *c);
/* Reaps a child that has ended; never blocks. Returns true if it is reaped or *c is CHILD_NONE; *c becomes
 * CHILD_NONE. `ret_usage` receives the usage of the child and its children; it is unchanged if the child was
 * reaped elsewhere. */
bool child_reap(struct child *c, struct rusage *ret_usage);
