/* SPDX-License-Identifier: MIT */
/* broker/egress/http/unpack_brotli.c - RFC 7932 by libbrotlidec. Its window is at most 16 MiB. */
#include "broker/egress/http/unpack_ops.h"

#include <brotli/decode.h>
#include <stdlib.h>
#include <string.h>

struct brotli {
        struct unpack base;
        BrotliDecoderState *state;
};

static void brotli_free(struct unpack *u)
{
        struct brotli *b = (struct brotli *) u;
        if (b->state)
                BrotliDecoderDestroyInstance(b->state);
        explicit_bzero(b, sizeof *b);
        free(b);
}

static struct unpack *brotli_make(enum unpack_kind kind)
{
        (void) kind;
        struct brotli *b = calloc(1, sizeof *b);
        if (!b)
                return NULL;

        b->state = BrotliDecoderCreateInstance(unpack_take, unpack_give, NULL);
        if (b->state)
                return (struct unpack *) b;

        free(b);
        return NULL;
}

static enum unpack_state brotli_pass(struct unpack *u, struct span in, size_t *used, size_t *ret_out)
{
        struct brotli *b = (struct brotli *) u;
        if (u->ended)
                return in.n ? unpack_bad(u, REASON_ANSWER_TAIL) : UNPACK_MORE;

        const uint8_t *from = in.p;
        uint8_t *to = u->out;
        size_t left = in.n, room = UNPACK_OUT;
        BrotliDecoderResult r = BrotliDecoderDecompressStream(b->state, &left, &from, &room, &to, NULL);
        *used = in.n - left;
        *ret_out = UNPACK_OUT - room;
        switch (r) {
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
                return UNPACK_MORE;
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
                return UNPACK_FULL;
        case BROTLI_DECODER_RESULT_SUCCESS:
                u->ended = true;
                return left ? unpack_bad(u, REASON_ANSWER_TAIL) : UNPACK_MORE;
        case BROTLI_DECODER_RESULT_ERROR:
                break;
        }

        return unpack_bad(u, REASON_ANSWER_DAMAGED);
}

const struct unpack_ops unpack_brotli = { brotli_make, brotli_pass, brotli_free };
