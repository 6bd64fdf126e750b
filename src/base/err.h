/* SPDX-License-Identifier: MIT */
/* base/err.h - errors are values owned by the caller. They use no heap, so they work between clone and exec
 * and cross a pipe in one atomic write. Only the faces print them. */
#pragma once
#include <stdint.h>

/* Stable; listed in cordon-errors(7). Append only. */
enum err_code {
        ERR_NONE = 0,
        ERR_USAGE,    /* the command line is wrong */
        ERR_POLICY,   /* a policy did not load */
        ERR_DOOR,     /* the target of a door does not exist, or changed while the box started */
        ERR_HOST,     /* this host cannot enforce a requested wall */
        ERR_WALL,     /* raising a wall failed */
        ERR_LIMIT,    /* a limit cannot be enforced */
        ERR_EXEC,     /* the program could not be started; see sys */
        ERR_ATTEST,   /* the probe from inside found a wall down */
        ERR_MEMORY,   /* out of memory */
        ERR_IO,       /* reading or writing failed */
        ERR_GONE,     /* no such box */
        ERR_INTERNAL, /* cordon contradicts itself: a bug */
        ERR_CODE__COUNT
};

struct err {
        uint16_t code;  /* enum err_code */
        uint16_t step;  /* wall step that failed; 0 outside wall/ */
        int32_t sys;    /* errno of the failing call, or 0 */
        char what[376]; /* one sentence; no newline, never a secret */
        char hint[248]; /* the next thing to type or do, or "" */
};

/* Both return -1, so that `return err_set(...)` reads well. err_set clears step and hint. */
int err_set(struct err *e, enum err_code code, int sys, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* Prefixes "doing X: " to the existing message. */
int err_in(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the hint; returns -1. */
int err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "usage", "policy", ... : the stable name of a code. */
const char *err_code_name(enum err_code code);
