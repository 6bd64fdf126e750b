/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack.c - which library reads which coding. One that this build lacks reads none: such
 * answers are refused. */
#include "broker/egress/http/unpack_ops.h"

static const struct unpack_ops *const ops_of[] = {
#ifdef HAVE_ZLIB
        [UNPACK_GZIP] = &unpack_zlib,     [UNPACK_DEFLATE] = &unpack_zlib,
#endif
#ifdef HAVE_BROTLI
        [UNPACK_BROTLI] = &unpack_brotli,
#endif
#ifdef HAVE_ZSTD
        [UNPACK_ZSTD] = &unpack_zstd,
#endif
        [UNPACK__COUNT] = NULL,
};

struct unpack *unpack_new(enum unpack_kind kind)
{
        const struct unpack_ops *ops = ops_of[kind];
        struct unpack *u = ops ? ops->make(kind) : NULL;
        if (u)
                u->ops = ops;
        return u;
}

void unpack_free(struct unpack *u)
{
        if (u)
                u->ops->free(u);
}

enum unpack_state unpack_pass(struct unpack *u, struct span in, size_t *ret_used, struct span *ret_out)
{
        size_t n = 0;
        *ret_used = 0;
        *ret_out = (struct span){ 0 };
        if (u->why)
                return UNPACK_BAD;

        u->fed = u->fed || in.n;
        enum unpack_state s = u->ops->pass(u, in, ret_used, &n);
        if (s != UNPACK_BAD)
                *ret_out = span_of(u->out, n);

        return s;
}

bool unpack_whole(const struct unpack *u) { return !u->why && (u->ended || !u->fed); }

enum effect_reason unpack_why(const struct unpack *u) { return u->why; }
