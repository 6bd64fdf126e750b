/* SPDX-License-Identifier: MIT */
/* base/span.h - untrusted bytes: a pointer and a length, not NUL-terminated. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
        const uint8_t *p;
        size_t n;
};

static inline struct span span_of(const void *p, size_t n) { return (struct span){ p, n }; }
static inline struct span span_str(const char *s) { return (struct span){ (const uint8_t *) s, strlen(s) }; }

static inline bool span_eq(struct span a, struct span b)
{
        return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool span_is(struct span a, const char *s) { return span_eq(a, span_str(s)); }

/* The part before `sep`, which goes with it; all of it without one. */
static inline struct span span_cut(struct span *rest, char sep)
{
        struct span part = *rest;
        if (part.n == 0)
                return part;

        const uint8_t *end = part.p + part.n, *at = memchr(part.p, sep, part.n);
        part.n = at ? (size_t) (at - part.p) : part.n;
        *rest = at ? span_of(at + 1, (size_t) (end - at - 1)) : span_of(end, 0);
        return part;
}
static inline bool span_ends(struct span a, const char *s)
{
        size_t n = strlen(s);
        return a.n >= n && (n == 0 || memcmp(a.p + a.n - n, s, n) == 0);
}
static inline bool span_starts(struct span a, const char *s)
{
        size_t n = strlen(s);
        return a.n >= n && (n == 0 || memcmp(a.p, s, n) == 0);
}
