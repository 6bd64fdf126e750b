/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_hold.c - a request whose parameters are checked: its body is read first, as far as
 * it is checked at all, and nothing of it leaves before. Does not decide whether it is allowed. */
#include "broker/egress/http/http_internal.h"

static const char too_long[] = "the body is longer than 64 KiB";

bool http_asks(const struct http_flow *f) { return f->to.allowed && f->to.asks; }

bool http_hold_begin(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        const struct http_head *h = &f->head;
        bool asks = http_asks(f);
        x->most = http_sign_holds(f) && !asks ? HTTP_SIGNED_MAX : HTTP_HELD_MAX;
        bool long_one = h->length > x->most;
        if (long_one || (!asks && !h->chunked && h->length == 0)) {
                http_params_read(f, (struct span){ 0 }, long_one ? too_long : NULL);
                return false;
        }

        fifo_add(&x->line, fifo_all(&f->client.in).p, h->bytes);
        http_body_of(h, &x->request);
        x->gathered = true;
        http_judgement_none(&f->to);
        if (h->expect_continue)
                fifo_text(&f->client.plain, "HTTP/1.1 100 Continue\r\n\r\n");

        f->request = REQUEST_GATHER;
        return true;
}

/* The head's spans point into a buffer that has moved since: it is parsed once more, from its copy. */
static bool settle_hold(struct http_flow *f, bool whole)
{
        struct http_exchange *x = &f->x;
        enum effect_reason why = REASON_NONE;
        x->whole = whole;
        if (x->line.failed || x->held.failed ||
            http_head_request(fifo_all(&x->line), &f->head) != HTTP_WHOLE ||
            http_target_read(&f->head, &f->peer, f->tls, &f->url, &why) < 0) {
                http_refuse(f, 400, REASON_READ_TWICE, true);
                return false;
        }

        http_params_read(f, fifo_all(&x->held), whole && x->held.n <= HTTP_HELD_MAX ? NULL : too_long);
        return true;
}

bool http_hold_step(struct http_flow *f, bool *ret_known)
{
        struct http_exchange *x = &f->x;
        size_t used;
        struct span data;
        enum body_state s = http_body_next(&x->request, fifo_all(&f->client.in), &used, &data);

        fifo_span(&x->held, data);
        fifo_drop(&f->client.in, used);
        x->unpaid += used;
        switch (s) {
        case BODY_BAD:
                http_refuse(f, 400, x->request.why, true);
                return true;
        case BODY_MORE:
                return false;
        case BODY_DATA:
                if (x->held.n > x->most)
                        *ret_known = settle_hold(f, false);
                return true;
        case BODY_END:
                *ret_known = settle_hold(f, true);
                return true;
        }
        return false;
}
