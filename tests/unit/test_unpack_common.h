/* SPDX-License-Identifier: MIT */
/* tests/unit/test_unpack_common.h - for the tests of compressed answers: a text, and what comes out of it. */
#pragma once
#include "test_egress_common.h"

/* Text with near and far matches and bytes of every value. */
static inline void sample(size_t n, struct buf *out)
{
        unsigned seed = 7;
        for (size_t i = 0; i < n; i++) {
                seed = seed * 1103515245u + 12345u;
                uint8_t byte = i % 3000 < 2000 && out->n > 2000 ? (uint8_t) out->p[out->n - 1 - i % 1999]
                                                                : (uint8_t) (seed >> 16);
                buf_add(out, &byte, 1);
        }
}

struct result {
        struct buf out;
        bool bad, whole;
        enum effect_reason why;
};

static inline struct result unpack_in(enum unpack_kind kind, struct span in, size_t cut)
{
        struct result r = { 0 };
        struct unpack *u = unpack_new(kind);
        enum unpack_state s = UNPACK_MORE;
        CHECK(u != NULL);
        for (size_t i = 0; u && (i < in.n || s == UNPACK_FULL) && s != UNPACK_BAD;) {
                size_t used, n = cut && cut < in.n - i ? cut : in.n - i;
                struct span out;
                s = unpack_pass(u, span_of(in.p + i, n), &used, &out);
                CHECK(used <= n && out.n <= UNPACK_OUT && (s != UNPACK_BAD || out.n == 0));
                CHECK(s != UNPACK_MORE || used == n);
                buf_add(&r.out, out.p, out.n);
                i += used;
        }
        r.bad = s == UNPACK_BAD;
        r.whole = u && unpack_whole(u);
        r.why = u ? unpack_why(u) : REASON_NO_MEMORY;
        unpack_free(u);
        return r;
}

static inline bool same(const struct buf *a, const struct buf *b)
{
        return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}
