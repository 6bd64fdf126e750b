/* SPDX-License-Identifier: MIT */
/* egress/http/http_frames.c - finds the ends of a server's WebSocket frames (RFC 6455, 5.2). Decides nothing:
 * a server that lies about lengths only changes when its own bytes are checked. Pure. */
#include "egress/http/http_internal.h"

/* Bytes of the head, as far as it is known by now. */
static size_t head_bytes(const struct http_frames *w)
{
        if (w->have < 2)
                return 2;
        unsigned len = w->head[1] & 127u;
        return 2 + (len == 126 ? 2 : len == 127 ? 8 : 0) + (w->head[1] & 128u ? 4 : 0);
}

static uint64_t payload_bytes(const struct http_frames *w)
{
        unsigned len = w->head[1] & 127u, more = len == 126 ? 2 : len == 127 ? 8 : 0;
        uint64_t v = 0;
        for (unsigned i = 0; i < more; i++)
                v = v << 8 | w->head[2 + i];
        return more ? v : len;
}

size_t http_frames_next(struct http_frames *w, struct span data, bool *ret_ends)
{
        size_t n = 0;
        *ret_ends = false;
        while (n < data.n && w->have < head_bytes(w)) {
                w->head[w->have++] = data.p[n++];
                if (w->have == head_bytes(w))
                        w->left = payload_bytes(w);
        }

        if (w->have < head_bytes(w))
                return n;

        size_t k = data.n - n < w->left ? data.n - n : (size_t) w->left;
        w->left -= k;
        if (w->left == 0) {
                *ret_ends = true;
                *w = (struct http_frames){ 0 };
        }

        return n + k;
}
