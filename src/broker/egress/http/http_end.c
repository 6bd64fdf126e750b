/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_end.c - ends a request: answers it, cuts it off, reports it; and ends its
 * connection. */
#include "broker/egress/http/http_internal.h"
#include "broker/egress/tls/tls.h"

#include <stdio.h>

static const char *request_host(const struct http_flow *f) { return f->peer.host; }

struct http_event http_event_of(const struct http_flow *f, enum http_verdict verdict, enum effect_reason why)
{
        const struct http_exchange *x = &f->x;
        return (struct http_event){ .verdict = verdict,
                                    .method = x->websocket ? "WEBSOCKET" : x->method, /* as it is judged */
                                    .host = request_host(f),
                                    .port = f->peer.port,
                                    .tls = f->tls,
                                    .path = f->url.path,
                                    .door = f->to.door,
                                    .credential = f->to.credential ? f->to.credential->name : NULL,
                                    .reason = why,
                                    .detail = f->detail,
                                    .by_policy = f->to.by_policy,
                                    .permit = f->to.permit,
                                    .to_host = f->to.host,
                                    .to_port = f->to.port,
                                    .to_is_address = f->to.is_address,
                                    .websocket = x->websocket,
                                    .placeholder_abused = x->abused != 0,
                                    .secret_scrubbed = x->scrubbed != 0,
                                    .status = x->status,
                                    .sent = x->sent,
                                    .received = x->received };
}

void http_tell(struct http_flow *f, enum http_verdict verdict, enum effect_reason why)
{
        struct http_event e = http_event_of(f, verdict, why);
        if (f->cb.on_request)
                f->cb.on_request(f->cb.ctx, &e);
}

void http_detail(struct http_flow *f, const char *text)
{
        (void) snprintf(f->detail, sizeof f->detail, "%s", text);
}

static void held_done(struct http_exchange *x)
{
        fifo_done(&x->line);
        fifo_done(&x->held);
        arena_done(&x->params_mem);
}

void http_exchange_end(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        if (f->request == REQUEST_BODY && f->answer != ANSWER_NONE)
                f->cut = true;

        if (x->answered && x->answer_by_end)
                f->client_cut = true;

        http_unpack_end(x);
        http_check_end(f);
        http_search_done(&x->search);
        scrub_done(&x->clean);
        swap_done(&x->swap);
        fifo_done(&x->head);
        fifo_done(&x->asked);
        fifo_done(&x->record_fields);
        fifo_done(&x->record_body);
        buf_done(&x->trailers);
        if (x->params_known || x->gathered)
                held_done(x);

        *x = (struct http_exchange){ 0 };
        f->detail[0] = '\0';
        f->request = REQUEST_HEAD;
        f->answer = ANSWER_NONE;
}

void http_finish(struct http_flow *f)
{
        if (f->done)
                return;

        f->done = true;
        f->link = LINK_NONE;
        http_side_done(&f->upstream, f->r->in.tls);
        (void) http_side_pump(&f->client, f->r->in.tls);
        if (f->client.tls && !f->client_cut) {
                f->r->in.tls->close(f->client.tls);
                http_side_take(&f->client, f->r->in.tls);
        }
}

static void answer_error(struct http_flow *f, unsigned status, enum effect_reason why, bool close)
{
        if (f->x.answered)
                return; /* a second head in the middle of the first answer would be data of it */
        f->x.status = status;
        f->x.answered = true;
        f->x.answer_by_end = false;
        AUTO_BUF(text);
        effect_put_why(&text, why, f->detail);
        http_put_error(status, buf_str(&text), close, f->x.head_only, &f->client.plain);
}

void http_refuse(struct http_flow *f, unsigned status, enum effect_reason why, bool close)
{
        bool sent_some =
                f->answer != ANSWER_NONE; /* part of it is upstream already: that link is of no use */
        answer_error(f, status, why, close || sent_some);
        http_tell(f, HTTP_DENIED, why);
        http_exchange_end(f);
        if (close || sent_some)
                http_finish(f);
}

void http_broken(struct http_flow *f, enum effect_reason why)
{
        answer_error(f, 502, why, true);
        http_over(f, HTTP_BROKEN, why);
}

void http_over(struct http_flow *f, enum http_verdict verdict, enum effect_reason why)
{
        http_tell(f, verdict, why);
        http_exchange_end(f);
        http_finish(f);
}

void http_flow_cut(struct http_flow *f, enum effect_reason why)
{
        if (f->done)
                return;

        if (f->request != REQUEST_HEAD) {
                answer_error(f, 503, why, true);
                http_tell(f, HTTP_DENIED, why);
        }

        http_exchange_end(f);
        http_finish(f);
}
