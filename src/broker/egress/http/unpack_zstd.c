/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack_zstd.c - RFC 8878 by libzstd, one frame or several, with windows of at most 8
 * MiB, as RFC 9659 has it for this coding. */
#include "broker/egress/http/unpack_ops.h"

#include <stdlib.h>
#include <string.h>
#define ZSTD_STATIC_LINKING_ONLY /* an allocator of our own */
#include <zstd.h>

enum { WINDOW_LOG_MAX = 23 };

struct zstd {
        struct unpack base;
        ZSTD_DStream *stream;
        bool again; /* a frame has ended before this one */
        bool began; /* bytes of this one came out */
};

static void zstd_free(struct unpack *u)
{
        struct zstd *z = (struct zstd *) u;
        (void) ZSTD_freeDStream(z->stream);
        explicit_bzero(z, sizeof *z);
        free(z);
}

static struct unpack *zstd_make(enum unpack_kind kind)
{
        (void) kind;
        static const ZSTD_customMem memory = { unpack_take, unpack_give, NULL };
        struct zstd *z = calloc(1, sizeof *z);
        if (!z)
                return NULL;

        z->stream = ZSTD_createDStream_advanced(memory);
        if (z->stream &&
            !ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
                return (struct unpack *) z;

        (void) ZSTD_freeDStream(z->stream);
        free(z);
        return NULL;
}

static enum unpack_state zstd_pass(struct unpack *u, struct span in, size_t *used, size_t *ret_out)
{
        struct zstd *z = (struct zstd *) u;
        ZSTD_outBuffer out = { u->out, UNPACK_OUT, 0 };
        ZSTD_inBuffer from = { in.p, in.n, 0 };
        while (!(u->ended && from.pos == from.size)) {
                z->again = z->again || u->ended;
                z->began = z->began && !u->ended;
                u->ended = false;
                size_t before_in = from.pos, before_out = out.pos,
                       r = ZSTD_decompressStream(z->stream, &out, &from);
                z->began = z->began || out.pos > before_out;
                if (ZSTD_isError(r))
                        return unpack_bad(u,
                                          z->again && !z->began ? REASON_ANSWER_TAIL : REASON_ANSWER_DAMAGED);
                u->ended = r == 0;
                if (out.pos == out.size || (from.pos == before_in && out.pos == before_out))
                        break;
        }

        *used = from.pos;
        *ret_out = out.pos;
        return out.pos == out.size ? UNPACK_FULL : UNPACK_MORE;
}

const struct unpack_ops unpack_zstd = { zstd_make, zstd_pass, zstd_free };
