/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_unpack.c - answers that a server compressed although it was asked not to: which of
 * them are accepted, and how much they may expand to. Decides nothing about the content. Pure. */
#include "broker/egress/http/http_internal.h"

static bool kind_of(struct span coding, enum unpack_kind *ret)
{
        static const struct {
                const char *name;
                enum unpack_kind kind;
        } codings[] = { { "gzip", UNPACK_GZIP },
                        { "x-gzip", UNPACK_GZIP },
                        { "deflate", UNPACK_DEFLATE },
                        { "br", UNPACK_BROTLI },
                        { "zstd", UNPACK_ZSTD } };

        for (size_t i = 0; i < COUNT(codings); i++) {
                if (!http_name_is(coding, codings[i].name))
                        continue;
                *ret = codings[i].kind;
                return true;
        }

        return false;
}

bool http_unpack_kind(const struct http_head *h, enum unpack_kind *ret)
{
        enum unpack_kind kind = UNPACK_NONE;
        for (const struct http_field *c = NULL; (c = http_field_find(h, "content-encoding", c));) {
                struct span coding;
                for (size_t at = 0; http_next_element(c->value, &at, &coding);) {
                        if (coding.n == 0 || http_name_is(coding, "identity"))
                                continue;
                        if (kind != UNPACK_NONE || !kind_of(coding, &kind))
                                return false; /* nested, or an unknown coding */
                }
        }

        if (kind != UNPACK_NONE && h->status == 206)
                return false; /* a part of it cannot be read */

        *ret = kind;
        return true;
}

bool http_unpack_waits(const struct http_exchange *x) { return x->unpack && (x->packed.n || x->packed_rest); }

bool http_unpack_next(struct http_exchange *x, struct span *ret_data)
{
        size_t used;
        enum unpack_state s = unpack_pass(x->unpack, fifo_all(&x->packed), &used, ret_data);
        fifo_drop(&x->packed, used);
        x->packed_rest = s == UNPACK_FULL;
        x->packed_bytes += used;
        x->unpacked_bytes += ret_data->n;
        return s != UNPACK_BAD;
}

size_t http_unpack_grown(struct http_exchange *x)
{
        uint64_t before = x->grown, all = x->packed_bytes + before;
        if (x->unpacked_bytes <= all)
                return 0;
        x->grown = x->unpacked_bytes - x->packed_bytes;
        return (size_t) (x->grown - before);
}

void http_unpack_end(struct http_exchange *x)
{
        unpack_free(x->unpack);
        fifo_done(&x->late);
        fifo_done(&x->packed);
}
