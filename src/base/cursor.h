/* SPDX-License-Identifier: MIT */
/* base/cursor.h - reads a binary message of the network: big-endian numbers, and bytes with their length
 * before them. What does not fit sets `bad`, reads as 0 or empty, and so does all after it: it is checked
 * once, at the end. */
#pragma once
#include "base/span.h"

struct cursor {
        const uint8_t *p;
        size_t n;
        bool bad;
};

static inline struct cursor cursor_of(struct span s) { return (struct cursor){ s.p, s.n, false }; }

/* The next `n` bytes. */
static inline struct span cursor_part(struct cursor *c, size_t n)
{
        c->bad = c->bad || n > c->n;
        struct span part = span_of(c->p, c->bad ? 0 : n);
        *c = (struct cursor){ part.n > 0 ? c->p + part.n : c->p, c->n - part.n, c->bad };
        return part;
}

static inline uint32_t cursor_number(struct cursor *c, unsigned bytes)
{
        uint32_t v = 0;
        struct span s = cursor_part(c, bytes);
        for (size_t i = 0; i < s.n; i++)
                v = v << 8 | s.p[i];
        return v;
}

/* Bytes after their length, which is a number of so many bytes. */
static inline struct span cursor_bytes(struct cursor *c, unsigned length_bytes)
{
        return cursor_part(c, cursor_number(c, length_bytes));
}
