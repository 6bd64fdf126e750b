/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack_ops.h - one decompressor behind unpack.h: each is the only file that sees its
 * library.
 */
#pragma once
#include "broker/egress/http/unpack.h"

struct unpack_ops {
        struct unpack *(*make)(enum unpack_kind kind);
        /* As unpack_pass(): called with `out` empty, and not after UNPACK_BAD. */
        enum unpack_state (*pass)(struct unpack *u, struct span in, size_t *used, size_t *ret_out);
        void (*free)(struct unpack *u); /* wipes it */
};

/* All of them begin with these members. */
struct unpack {
        const struct unpack_ops *ops;
        bool fed;   /* a byte came */
        bool ended; /* the data is whole, if nothing comes after it */
        enum effect_reason why;
        uint8_t out[UNPACK_OUT];
};

extern const struct unpack_ops unpack_zlib, unpack_brotli, unpack_zstd;

static inline enum unpack_state unpack_bad(struct unpack *u, enum effect_reason why)
{
        u->why = why;
        return UNPACK_BAD;
}

/* Memory for libraries that take an allocator: wiped when it is freed. */
void *unpack_take(void *ctx, size_t n);
void unpack_give(void *ctx, void *p);
