/* SPDX-License-Identifier: MIT */
/* base/child.h - a child process of ours, killed and reaped through its pidfd: never by a wait() that would
 * take a child of somebody else, and never waiting. */
#pragma once
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
        pid_t pid;
        int pidfd; /* readable once it has ended; -1: could not be had, and the pid has to do */
};
#define CHILD_NONE ((struct child){ .pid = -1, .pidfd = -1 })

/* Sends SIGKILL. A child that has ended, or CHILD_NONE, is no error. */
void child_kill(const struct child *c);
/* Reaps a child that has ended; never waits. True: it is reaped, or there is none; *c is CHILD_NONE. With
 * `ret_usage`, what it and its own children used; untouched if somebody else reaped it. */
bool child_reap(struct child *c, struct rusage *ret_usage);
