/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_side.c - one side of a connection: plain bytes inside, bytes of the wire outside,
 * TLS between them if used. */
#include "broker/egress/http/http_internal.h"
#include "broker/egress/tls/tls.h"

void http_side_done(struct http_side *s, const struct tls_ops *ops)
{
        if (s->tls)
                ops->free(s->tls);
        http2_link_free(s->h2);
        fifo_done(&s->in);
        fifo_done(&s->plain);
        fifo_done(&s->wire);
        fifo_done(&s->got);
        fifo_done(&s->given);
        *s = (struct http_side){ 0 };
}

enum { TLS_RECORD = 16384 };

void http_side_take(struct http_side *s, const struct tls_ops *ops)
{
        size_t n = TLS_RECORD;
        while (n == TLS_RECORD) {
                uint8_t *to = fifo_room(&s->wire, TLS_RECORD);
                n = to ? ops->take(s->tls, to, TLS_RECORD) : 0;
                fifo_grew(&s->wire, n);
        }
}

static enum tls_protocol protocol_of(const struct http_side *s, const struct tls_ops *ops)
{
        return s->tls && ops->protocol ? ops->protocol(s->tls) : TLS_HTTP1;
}

bool http_side_is_http1(const struct http_side *s, const struct tls_ops *ops)
{
        return !s->h2 && (!s->offers_h2 || protocol_of(s, ops) == TLS_HTTP1);
}

/* HTTP/2 was offered: did the server take it? False: that is not known yet, or there is no memory for it. */
static bool settle_side(struct http_side *s, const struct tls_ops *ops)
{
        enum tls_protocol p = s->offers_h2 && !s->h2 ? protocol_of(s, ops) : TLS_HTTP1;
        if (p == TLS_HTTP2) {
                s->h2 = http2_link_new(true);
                s->in.failed = s->in.failed || !s->h2;
        }

        return p == TLS_HTTP1 || s->h2;
}

/* The next bytes to send: HTTP/1.1 as it is, or as frames. NULL: the other side is broken. */
static struct fifo *outgoing_fifo(struct http_side *s)
{
        if (!s->h2)
                return &s->plain;
        bool good = http2_link_send(s->h2, &s->plain, &s->given);
        s->closed = s->closed || !good;
        return &s->given;
}

/* Plain bytes become bytes of the wire; -1: TLS is broken. */
int http_side_pump(struct http_side *s, const struct tls_ops *ops)
{
        int bad = 0;
        bool known = settle_side(s, ops);
        struct fifo *out = known ? outgoing_fifo(s) : NULL;
        if (!s->tls) {
                if (out) {
                        fifo_span(&s->wire, fifo_all(out));
                        fifo_drop(out, out->n);
                }
                return 0;
        }

        while (out && out->n) {
                ssize_t n = ops->write(s->tls, fifo_all(out));
                if (n <= 0) {
                        bad = n < 0;
                        break;
                }
                fifo_drop(out, (size_t) n);
        }

        http_side_take(s, ops);
        return bad ? -1 : 0;
}

static void take_frames(struct http_side *s, struct span bytes)
{
        if (bytes.n && !http2_link_feed(s->h2, bytes, &s->in))
                s->closed = true;
}

static int feed_plain(struct http_side *s, struct span bytes)
{
        if (s->h2)
                take_frames(s, bytes);
        else
                fifo_span(&s->in, bytes);
        return 0;
}

int http_side_feed(struct http_side *s, const struct tls_ops *ops, struct span bytes)
{
        if (!s->tls)
                return feed_plain(s, bytes);

        struct fifo *into = s->offers_h2 ? &s->got : &s->in;
        int bad = ops->feed(s->tls, bytes);
        for (ssize_t n = 1; !bad && n != 0;) {
                uint8_t *to = fifo_room(into, TLS_RECORD);
                n = to ? ops->read(s->tls, to, TLS_RECORD) : -1;
                if (n < 0)
                        bad = -1;
                else
                        fifo_grew(into, (size_t) n);
        }

        if (s->offers_h2 && settle_side(s, ops)) {
                (void) feed_plain(s, fifo_all(&s->got));
                fifo_drop(&s->got, s->got.n);
        }

        http_side_take(s, ops); /* handshake, alerts */
        return bad;
}
