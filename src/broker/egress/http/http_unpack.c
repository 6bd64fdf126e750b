/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_unpack.c - answers that a server compressed although it was asked not to: which of
 * them are accepted, and how much they may expand to. Decides nothing about the content. Pure. */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

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

/* The body of a request that came compressed is unpacked so that its parameters can be read. It is sent on as
 * it came, so only what no two servers read in two ways is read here. */

/* A server that does not undo the coding reads the packed bytes: they must not be JSON as well. */
static bool may_be_json(uint8_t first) { return first && strchr(" \t\r\n{[\"/-0123456789tfnNI\xef", first); }

/* RFC 1950, which some servers read as RFC 1951: there its first byte begins a stored block, whose length is
 * followed by its complement. */
static bool is_stored_block(struct span s)
{
        return s.n >= 5 && (s.p[0] & 7) == 0 && (s.p[1] ^ s.p[3]) == 0xff && (s.p[2] ^ s.p[4]) == 0xff;
}

/* Byte by byte, to see that nothing follows the first end: a second member or frame is not read by all. */
static const char *unpack_all(struct unpack *u, struct span body, uint8_t *out, size_t *ret_n)
{
        size_t n = 0, at = 0;
        for (bool full = false; at < body.n || full;) {
                size_t used;
                struct span data;
                if (at < body.n && at && !full && unpack_whole(u))
                        return "something follows the end of the compressed body";

                enum unpack_state s = unpack_pass(u, span_of(body.p + at, full ? 0 : 1), &used, &data);
                if (s == UNPACK_BAD)
                        return "the compressed body is damaged";
                if (data.n > HTTP_HELD_MAX - n)
                        return "the body is longer than 64 KiB when it is unpacked";

                if (data.n)
                        memcpy(out + n, data.p, data.n);
                n += data.n;
                at += used;
                full = s == UNPACK_FULL;
        }

        *ret_n = n;
        return unpack_whole(u) ? NULL : "the compressed body breaks off before its end";
}

int http_shown_body(struct span head, struct span body, struct buf *out)
{
        enum unpack_kind kind;
        struct http_head *h = malloc(sizeof *h);
        bool good = h && http_head_request(head, h) == HTTP_WHOLE && http_unpack_kind(h, &kind);
        struct unpack *u = good && kind != UNPACK_NONE ? unpack_new(kind) : NULL;
        uint8_t *room = u ? malloc(HTTP_HELD_MAX) : NULL;
        size_t n = 0;
        good = good && (kind == UNPACK_NONE || (room && !unpack_all(u, body, room, &n)));
        if (room && good)
                buf_add(out, room, n);

        unpack_free(u);
        free(room);
        free(h);
        return !good ? -1 : kind != UNPACK_NONE;
}

const char *http_packed_read(const struct http_head *h, struct arena *mem, struct span *body)
{
        enum unpack_kind kind;
        if (!http_unpack_kind(h, &kind))
                return "the body is compressed in a way that is not read";
        if (kind == UNPACK_NONE)
                return NULL;
        if (may_be_json(body->p[0]) || (kind == UNPACK_DEFLATE && is_stored_block(*body)))
                return "the compressed body can be read in two ways";

        struct unpack *u = unpack_new(kind);
        uint8_t *out = arena_alloc(mem, HTTP_HELD_MAX);
        size_t n = 0;
        const char *why = u && out ? unpack_all(u, *body, out, &n) : "this build cannot read such a body";
        unpack_free(u);
        *body = span_of(out, n);
        return why;
}
