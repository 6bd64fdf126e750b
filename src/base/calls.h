/* SPDX-License-Identifier: MIT */
/* base/calls.h - a seccomp allow list for cordon's own processes. Any other system call kills the process. */
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALLS_MAX = 288 };
struct calls {
        struct sock_filter at[CALLS_MAX];
        unsigned short n;
};
void calls_begin(struct calls *f); /* kills on calls of another architecture */
void calls_allow(struct calls *f, const uint32_t *list, size_t count);
/* Allows mmap and mprotect, but never executable memory. */
void calls_allow_memory(struct calls *f);
/* Allows one call if its first argument is one of two. */
void calls_allow_first(struct calls *f, uint32_t nr, uint32_t one, uint32_t other);
/* Allows one call if its first argument is in the list; else it fails with `refused`. */
void calls_allow_among(struct calls *f, uint32_t nr, const uint32_t *first, size_t count, int refused);
/* Allows one call if its first argument has none of these bits; else it fails with `refused`. */
void calls_allow_without(struct calls *f, uint32_t nr, uint32_t bits, int refused);
/* Has this build a sanitizer, which reads files and makes its own system calls? */
bool calls_sanitized(void);
/* Installs the filter. Returns 0, or -1 with errno. Does nothing in a build with a sanitizer, which makes
 * its own system calls. */
int calls_close(struct calls *f);
/* The same, but any other call fails with ENOSYS: for a process with libraries whose calls are unknown. */
int calls_close_softly(struct calls *f);
