/* SPDX-License-Identifier: MIT */
/* base/calls.h - a filter for a process of our own: the system calls that it may still make. Any other ends
 * it. */
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
void calls_begin(struct calls *f); /* kills what was made for another architecture */
void calls_allow(struct calls *f, const uint32_t *list, size_t count);
/* mmap and mprotect: never memory that can be executed. */
void calls_allow_memory(struct calls *f);
/* One call, when its first argument is one of two. */
void calls_allow_first(struct calls *f, uint32_t nr, uint32_t one, uint32_t other);
/* One call, when its first argument is one of these; else it fails with `refused`. */
void calls_allow_among(struct calls *f, uint32_t nr, const uint32_t *first, size_t count, int refused);
/* One call, when its first argument has none of these bits; else it fails with `refused`. */
void calls_allow_without(struct calls *f, uint32_t nr, uint32_t bits, int refused);
/* A build with a sanitizer, which reads files and makes calls of its own. */
bool calls_sanitized(void);
/* From here on. 0, or -1 with errno. A build with a sanitizer, which makes calls of its own, closes nothing.
 */
int calls_close(struct calls *f);
/* The same, but any other call fails with ENOSYS: for a process with libraries that we do not know. */
int calls_close_softly(struct calls *f);
