/* SPDX-License-Identifier: MIT */
/* egress/http/http_side.c - one side of a connection: plain bytes inside, bytes of the wire outside, TLS
 * between them if used. */
#include "egress/http/http_internal.h"
#include "egress/tls/tls.h"

void http_side_done(struct http_side *s, const struct tls_ops *ops)
{
        if (s->tls)
                ops->free(s->tls);
        fifo_done(&s->in);
        fifo_done(&s->plain);
        fifo_done(&s->wire);
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

/* Plain bytes become bytes of the wire; -1: TLS is broken. */
int http_side_pump(struct http_side *s, const struct tls_ops *ops)
{
        int bad = 0;
        if (!s->tls) {
                fifo_span(&s->wire, fifo_all(&s->plain));
                fifo_drop(&s->plain, s->plain.n);
                return 0;
        }

        while (s->plain.n) {
                ssize_t n = ops->write(s->tls, fifo_all(&s->plain));
                if (n <= 0) {
                        bad = n < 0;
                        break;
                }
                fifo_drop(&s->plain, (size_t) n);
        }

        http_side_take(s, ops);
        return bad ? -1 : 0;
}

int http_side_feed(struct http_side *s, const struct tls_ops *ops, struct span bytes)
{
        if (!s->tls) {
                fifo_span(&s->in, bytes);
                return 0;
        }

        int bad = ops->feed(s->tls, bytes);
        for (ssize_t n = 1; !bad && n != 0;) {
                uint8_t *to = fifo_room(&s->in, TLS_RECORD);
                n = to ? ops->read(s->tls, to, TLS_RECORD) : -1;
                if (n < 0)
                        bad = -1;
                else
                        fifo_grew(&s->in, (size_t) n);
        }

        (void) ops->feed(s->tls, (struct span){ 0 }); /* the bytes are the caller's again */
        http_side_take(s, ops);                       /* handshake, alerts */
        return bad;
}
