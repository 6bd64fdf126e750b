/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_frames.c - the frames of a WebSocket (RFC 6455, 5.2): where they end, and what is
 * in them. Decides nothing: who lies about lengths only changes when its own bytes are looked at. Pure. */
#include "broker/egress/http/http_internal.h"

enum { MASKED = 128, RESERVED = 0x70 }; /* no extension is agreed on that could give those bits a meaning */

/* Bytes of the head, as far as it is known by now. */
static size_t head_bytes(const struct http_frames *w)
{
        if (w->have < 2)
                return 2;
        unsigned len = w->head[1] & 127u;
        return 2 + (len == 126 ? 2 : len == 127 ? 8 : 0) + (w->head[1] & MASKED ? 4 : 0);
}

static uint64_t payload_bytes(const struct http_frames *w)
{
        unsigned len = w->head[1] & 127u, more = len == 126 ? 2 : len == 127 ? 8 : 0;
        uint64_t v = 0;
        for (unsigned i = 0; i < more; i++)
                v = v << 8 | w->head[2 + i];
        return more ? v : len;
}

static void put_plain(struct http_frames *w, struct span payload, struct fifo *out)
{
        uint8_t *to = out ? fifo_room(out, payload.n) : NULL;
        const uint8_t *mask = w->head[1] & MASKED ? w->head + head_bytes(w) - 4 : NULL;
        for (size_t i = 0; to && i < payload.n; i++)
                to[i] = payload.p[i] ^ (mask ? mask[(w->at + i) % 4] : 0);

        if (to)
                fifo_grew(out, payload.n);
        w->at += payload.n;
}

struct http_frame http_frames_next(struct http_frames *w, struct span data, struct fifo *plain)
{
        struct http_frame r = { 0 };
        while (r.n < data.n && w->have < head_bytes(w)) {
                w->head[w->have++] = data.p[r.n++];
                if (w->have == head_bytes(w))
                        w->left = payload_bytes(w);
        }

        r.packed = w->have && w->head[0] & RESERVED;
        if (w->have < head_bytes(w))
                return r;

        size_t k = data.n - r.n < w->left ? data.n - r.n : (size_t) w->left;
        put_plain(w, span_of(data.p + r.n, k), plain);
        w->left -= k;
        r.n += k;
        r.ends = w->left == 0;
        if (r.ends)
                *w = (struct http_frames){ 0 };
        return r;
}
