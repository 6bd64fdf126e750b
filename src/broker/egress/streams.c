/* SPDX-License-Identifier: MIT */
/* broker/egress/streams.c - moves bytes between the streams of an HTTP/2 connection and the flows that serve
 * them. A flow whose stream is answered serves another later, over its open link. The bytes of the connection
 * are charged to the box as they come (requests.c), those of a request to its flow, here, and to the box what
 * they are more. Decides nothing. */
#include "broker/egress/streams.h"
#include "broker/egress/http/http2.h"
#include "broker/egress/requests.h"

enum { IDLE_MAX = 16 };

void streams_serve(struct flow *f)
{
        for (struct flow *c = f->streams; c; c = c->next_stream)
                if (c->stream && (http2_stream_waits(c->stream) || http2_stream_answered(c->stream) ||
                                  (http_flow_to_client(c->http).n && http2_stream_room(c->stream))))
                        broker_again(c);
}

void streams_cut(struct flow *f, enum effect_reason why)
{
        for (struct flow *c = f->streams; c; c = c->next_stream) {
                http_flow_cut(c->http, why);
                broker_again(c);
        }
}

/* A field that the box names by one byte leaves as all of it: what leaves beyond what came is charged too. */
static bool pay_expanded(struct flow *parent, size_t n)
{
        struct broker *b = parent->b;
        parent->streamed += n;
        uint64_t paid = parent->sent + parent->expanded;
        size_t more = parent->streamed > paid ? (size_t) (parent->streamed - paid) : 0;
        size_t room = accounting_room(b, NULL, true, more);
        parent->expanded += more;
        accounting_spend(b, NULL, true, room);
        if (room == more)
                return true;

        streams_cut(parent, accounting_why(b, NULL, true));
        http2_front_close(http_flow_front(parent->http));
        return false;
}

bool streams_take_in(struct flow *f)
{
        bool done = http_flow_done(f->http);
        size_t room = done ? RELAY_BUFFER : http_flow_client_room(f->http);
        if (!f->stream || room == 0)
                return false;

        if (http2_stream_is_lost(f->stream)) {
                bool news = !f->client_gone;
                f->client_gone = true;
                return news;
        }

        size_t n = http2_stream_take(f->stream, f->b->buffer, room < RELAY_BUFFER ? room : RELAY_BUFFER);
        if (n == 0)
                return false;

        broker_again(f->parent); /* its window has opened */
        if (done)
                return true; /* it was answered before its end */

        if (!pay_expanded(f->parent, n))
                return true;

        f->sent += n;
        if (f->row) {
                f->row->sent += n;
                accounting_touch(f->b, f->row);
        }

        http_flow_from_client(f->http, span_of(f->b->buffer, n));
        return true;
}

bool streams_give_out(struct flow *f)
{
        struct span out = http_flow_to_client(f->http);
        if (out.n == 0)
                return false;

        size_t n = f->stream ? http2_stream_give(f->stream, out) : out.n;
        if (n == 0)
                return false;

        http_flow_client_took(f->http, n);
        broker_again(f->parent);
        return true;
}

static unsigned idle_count(const struct flow *parent)
{
        unsigned n = 0;
        for (const struct flow *c = parent->streams; c; c = c->next_stream)
                n += !c->stream;
        return n;
}

bool streams_rest(struct flow *f)
{
        if (!f->stream || !http2_stream_answered(f->stream) || !http_flow_is_idle(f->http))
                return true;

        http2_stream_let_go(f->stream);
        f->stream = NULL;
        f->door = NULL;
        broker_again(f->parent);
        return idle_count(f->parent) <= IDLE_MAX;
}

void streams_leave(struct flow *f)
{
        struct flow **at = &f->parent->streams;
        while (*at && *at != f)
                at = &(*at)->next_stream;
        if (*at)
                *at = f->next_stream;

        if (f->stream)
                http2_stream_let_go(f->stream);
        f->stream = NULL;
        broker_again(f->parent);
}
