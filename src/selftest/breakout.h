/* SPDX-License-Identifier: MIT */
/* selftest/breakout.h - the host side of `cordon selftest breakout`: harmless targets, and their state
 * afterwards. */
#pragma once
#include "base/buf.h"
#include "selftest/probe/probe.h"

#include <sys/stat.h>
#include <sys/types.h>

enum { CANARY_FDS = 4, CANARY_FD_FIRST = 57 };

/* Everything that canary_make() created; canary_end() removes all of it. */
struct canary {
        struct probe_world world;
        int abstract, path, datagrams, tcp, udp, fifo, bell; /* listeners and the bystander's count */
        int shm, msg, sem;
        int fds[CANARY_FDS];
        pid_t bystander, sweeper;
        pid_t maker; /* only the process that created them removes them */
        struct stat before;
        char digest[65];    /* of our own program file */
        char knobs[2][256]; /* core_pattern and the host's name, as they were */
};

/* Returns 0, or -1 with errno set and as many canaries as could be created: missing ones make their probes
 * `cannot-tell`. */
int canary_make(struct canary *c);
void canary_end(struct canary *c);

/* Checks that only the host can make: each calls `say` once. NULL `found` means that all is unchanged;
 * `by_write`, that a door which lets the box write there explains it. */
typedef void canary_say(void *ctx, const char *claim, const char *found, bool by_write);
void canary_check(struct canary *c, canary_say *say, void *ctx);
