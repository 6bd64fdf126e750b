/* SPDX-License-Identifier: MIT */
/* base/arena.h - allocations that are freed together. */
#pragma once
#include "base/span.h"

#include <stdarg.h>

struct arena_block;
struct arena {
        struct arena_block *head;
        bool failed; /* an allocation failed: check once, at the end */
};

/* Returns zeroed memory; NULL if out of memory. */
void *arena_alloc(struct arena *a, size_t n);
char *arena_copy(struct arena *a, struct span s);
char *arena_str(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Moves the other arena's blocks into this one. */
void arena_join(struct arena *a, struct arena *other);
void arena_done(struct arena *a);
