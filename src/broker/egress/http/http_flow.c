/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_flow.c - a client connection: handles the bytes and the EOF of both sides. Requests
 * and answers are interpreted in http_request.c and http_answer.c. */
#include "broker/egress/http/http_internal.h"
#include "broker/egress/tls/tls.h"

#include <stdio.h>
#include <stdlib.h>

static bool side_failed(const struct http_side *s)
{
        return s->in.failed || s->plain.failed || s->wire.failed;
}

static bool out_of_memory(const struct http_flow *f)
{
        const struct http_exchange *x = &f->x;
        return side_failed(&f->client) || side_failed(&f->upstream) || f->scratch.failed || x->head.failed ||
               x->search.look.held.failed || x->search.watch.held.failed || x->clean.held.failed ||
               x->swap.held.failed || x->asked.failed || x->line.failed || x->held.failed || x->late.failed ||
               x->packed.failed || (x->check && x->check->to.failed);
}

static void upstream_tls_failed(struct http_flow *f)
{
        f->link_stale = true;
        if (f->answer == ANSWER_NONE)
                return;
        http_detail(f, f->r->in.tls->why(f->upstream.tls));
        http_broken(f, REASON_TLS_SERVER);
}

/* ---- HTTP/2 ---- */

static void tell_malformed(struct http_flow *f)
{
        for (unsigned n = http2_front_malformed(f->front); n; n--)
                http_tell(f, HTTP_DENIED, REASON_HTTP2_MALFORMED);
}

/* All bytes are frames; the requests in them are other flows. */
static void run_front(struct http_flow *f)
{
        const struct tls_ops *ops = f->r->in.tls;
        struct http_side *c = &f->client;
        size_t wire;
        http2_front_feed(f->front, fifo_all(&c->in));
        fifo_drop(&c->in, c->in.n);
        do {
                wire = c->wire.n;
                http2_front_send(f->front, &c->plain, HTTP_BUFFER);
                if (http_side_pump(c, ops) < 0 || side_failed(c)) {
                        http_finish(f);
                        return;
                }
        } while (c->wire.n > wire && !http_side_is_full(c));

        tell_malformed(f);
        if (http2_front_over(f->front))
                http_finish(f);
}

/* The client's first bytes tell, or TLS has agreed on it. False: more have to come. */
static bool know_version(struct http_flow *f)
{
        const struct tls_ops *ops = f->r->in.tls;
        struct span in = fifo_all(&f->client.in), preface = span_str(HTTP2_PREFACE);
        if (!in.p)
                return false;

        size_t n = in.n < preface.n ? in.n : preface.n;
        bool agreed = f->client.tls && ops->protocol && ops->protocol(f->client.tls) == TLS_HTTP2;
        bool begins = http2_is_built() && span_eq(span_of(in.p, n), span_of(preface.p, n));
        if (begins && !agreed && n < preface.n)
                return false;

        f->versed = true;
        if (!agreed && !begins)
                return true;

        f->front = http2_front_new(f->tls);
        f->client.in.failed = f->client.in.failed || !f->front;
        return true;
}

/* ---- driving ---- */

/* Nothing of it has left: a link of HTTP/1.1 gets bytes below only. */
static bool wants_http2_in_vain(const struct http_flow *f)
{
        return f->x.grpc && f->answer != ANSWER_NONE && f->link == LINK_OPEN &&
               http_side_is_http1(&f->upstream, f->r->in.tls);
}

static void step_flow(struct http_flow *f)
{
        while (!f->done && (http_request_step(f) || (!f->done && http_answer_step(f))))
                ;
}

static bool pump_upstream(struct http_flow *f)
{
        bool was_closed = f->upstream.closed;
        if (f->done || f->link != LINK_OPEN)
                return false;

        if (http_side_pump(&f->upstream, f->r->in.tls) < 0)
                upstream_tls_failed(f);
        return !f->done && f->upstream.closed && !was_closed;
}

static void run_flow(struct http_flow *f)
{
        if (!f->versed && !know_version(f) && !f->client.closed) {
                (void) http_side_pump(&f->client, f->r->in.tls);
                return;
        }

        if (f->front) {
                run_front(f);
                return;
        }

        step_flow(f);
        if (!f->done && wants_http2_in_vain(f))
                http_broken(f, REASON_SERVER_HTTP1);

        if (!f->done && f->client.closed && f->request == REQUEST_HEAD)
                http_finish(f);

        const struct tls_ops *ops = f->r->in.tls;
        bool bad = http_side_pump(&f->client, ops) < 0;
        if (pump_upstream(f)) {
                step_flow(f);
                bad |= http_side_pump(&f->client, ops) < 0;
        }

        if ((bad || out_of_memory(f)) && !f->done) {
                http_over(f, HTTP_BROKEN, bad ? REASON_TLS_BROKE : REASON_NO_MEMORY);
        }
}

static void client_tls_failed(struct http_flow *f)
{
        http_detail(f, f->r->in.tls->why(f->client.tls));
        http_over(f, HTTP_DENIED, REASON_TLS_CLIENT);
}

/* A TLS record of the type handshake, or the first letter of a method. */
static int first_byte(struct http_flow *f, uint8_t c)
{
        const struct tls_ops *ops = f->r->in.tls;
        f->known = true;
        f->tls = c == 0x16;
        bool begins_request = (c > 0x20 && c < 0x7f) || c == '\r' || c == '\n';
        if (!f->tls &&
            !begins_request) { /* sent at once: a client that waits for an answer to it would wait for long */
                http_over(f, HTTP_DENIED, REASON_NOT_HTTP);
                return -1;
        }

        if (!f->tls)
                return 0;

        f->client.tls = ops ? ops->server(f->r->in.tls_ctx, f->peer.host, f->peer.is_address) : NULL;
        if (f->client.tls)
                return 0;

        http_over(f, HTTP_DENIED, REASON_TLS_NAME);
        return -1;
}

/* Our own strict parser reads a ClientHello before OpenSSL sees it: anything else goes no further. Returns
 * true to go on with *bytes, which is then all that came so far. */
static bool greet_flow(struct http_flow *f, struct span *bytes)
{
        struct tls_hello_info info;
        fifo_span(&f->hello, *bytes);
        enum tls_hello r = f->hello.failed ? TLS_HELLO_BAD : tls_hello_read(fifo_all(&f->hello), &info);
        if (r == TLS_HELLO_MORE)
                return false;

        f->greeted = true;
        *bytes = fifo_all(&f->hello);
        if (r == TLS_HELLO_OK)
                return true;

        http_over(f, HTTP_DENIED, REASON_NOT_HTTP);
        return false;
}

void http_flow_from_client(struct http_flow *f, struct span bytes)
{
        if (f->done || bytes.n == 0)
                return;

        if (!f->known && first_byte(f, bytes.p[0]) < 0)
                return;

        if (f->client.tls && !f->greeted && !greet_flow(f, &bytes))
                return;

        int bad = http_side_feed(&f->client, f->r->in.tls, bytes);
        fifo_done(&f->hello);
        if (bad)
                client_tls_failed(f);
        else
                run_flow(f);
}

void http_flow_from_upstream(struct http_flow *f, struct span bytes)
{
        if (f->done || f->link != LINK_OPEN || bytes.n == 0)
                return;
        int bad = http_side_feed(&f->upstream, f->r->in.tls, bytes);
        run_flow(f); /* bytes before the error still count */
        if (bad && !f->done)
                upstream_tls_failed(f);
}

void http_flow_upstream_connected(struct http_flow *f)
{
        const struct tls_ops *ops = f->r->in.tls;
        if (f->done || f->link != LINK_CONNECTING)
                return;

        f->link = LINK_OPEN;
        f->upstream.offers_h2 = f->is_stream && f->link_tls && ops;
        if (f->link_tls) {
                f->upstream.tls = ops ? ops->client(f->r->in.tls_ctx, f->link_host, f->link_address,
                                                    f->upstream.offers_h2)
                                      : NULL;
                if (!f->upstream.tls) {
                        http_broken(f, REASON_TLS_SERVER);
                        return;
                }
        } else if (f->x.grpc) {
                f->upstream.h2 = http2_link_new(false); /* without TLS nothing is agreed on */
        }

        run_flow(f);
}

static void broken_off(struct http_flow *f) { http_over(f, HTTP_BROKEN, REASON_CLIENT_CUT); }

void http_flow_leave(struct http_flow *f, bool leaves, enum effect_reason why, const char *detail)
{
        if (f->done || f->request != REQUEST_HELD)
                return;

        http_detail(f, leaves ? "" : detail);
        http_let_go(f, leaves, why);
        run_flow(f);
        if (!f->done && f->client.closed && f->request == REQUEST_BODY)
                broken_off(f);
}

/* An idle link may close just as the next request goes out: that request may go again, once. */
static bool try_again(struct http_flow *f)
{
        if (f->answer != ANSWER_HEAD || !f->x.may_retry || !f->link_used || f->upstream.in.n)
                return false;
        http_link_want(f);
        f->x.may_retry = false;
        http_link_to(f);
        return true;
}

void http_flow_upstream_closed(struct http_flow *f)
{
        if (f->done)
                return;

        if (f->link == LINK_CONNECTING || f->link == LINK_WANTED) {
                http_broken(f, REASON_SERVER_CLOSED);
                return;
        }

        f->upstream.closed = true;
        if (f->link == LINK_OPEN && !try_again(f))
                run_flow(f);

        if (!f->done && f->upstream.closed)
                f->link = LINK_NONE;
}

void http_flow_upstream_failed(struct http_flow *f, enum effect_reason why)
{
        if (!f->done && (f->link == LINK_CONNECTING || f->link == LINK_WANTED))
                http_broken(f, why);
        else
                http_flow_upstream_closed(f);
}

void http_flow_upstream_refused(struct http_flow *f, enum effect_reason why, const char *detail)
{
        if (f->done || (f->link != LINK_CONNECTING && f->link != LINK_WANTED))
                return;
        http_detail(f, detail);
        http_refuse(f, 403, why, true);
}

void http_flow_client_closed(struct http_flow *f)
{
        if (f->done)
                return;

        f->client.closed = f->x.close = true;
        if (f->request == REQUEST_SENT || f->request == REQUEST_HELD)
                return; /* it may have closed one half only and waits for the answer */

        if (f->request == REQUEST_BODY || f->request == REQUEST_GATHER) {
                broken_off(f);
                return;
        }

        if (f->request == REQUEST_TUNNEL)
                http_tell(f, HTTP_ALLOWED, REASON_NONE);
        http_exchange_end(f);
        http_finish(f);
}

void http_flow_client_left(struct http_flow *f)
{
        bool answered = f->x.answered;
        if (f->done)
                return;

        if (f->request == REQUEST_BODY || f->request == REQUEST_GATHER) {
                broken_off(f);
                return;
        }

        if (f->request == REQUEST_SENT || f->request == REQUEST_TUNNEL)
                http_tell(f, answered ? HTTP_ALLOWED : HTTP_BROKEN,
                          answered ? REASON_CLIENT_LEFT : REASON_CLIENT_LEFT_EARLY);
        http_exchange_end(f);
        http_finish(f);
}

/* ---- bytes ---- */

/* TLS answers some input by itself (a key update), so that must have an end as well. Input of the other side
 * is never so much: a body does not wait for the reader of the body. */
static size_t room_between(const struct http_side *from, const struct http_side *to, size_t also)
{
        size_t used = from->in.n + to->plain.n + to->given.n + to->wire.n + also;
        return used < HTTP_BUFFER && from->wire.n < HTTP_UNREAD ? HTTP_BUFFER - used : 0;
}

size_t http_flow_client_room(const struct http_flow *f)
{
        return f->done ? 0 : room_between(&f->client, &f->upstream, 0);
}
size_t http_flow_upstream_room(const struct http_flow *f)
{
        return f->done || f->link != LINK_OPEN
                       ? 0
                       : room_between(&f->upstream, &f->client,
                                      f->x.packed.n + (f->x.check ? f->x.check->to.n : 0));
}
struct span http_flow_to_client(const struct http_flow *f) { return fifo_all(&f->client.wire); }
struct span http_flow_to_upstream(const struct http_flow *f) { return fifo_all(&f->upstream.wire); }
void http_flow_client_took(struct http_flow *f, size_t n)
{
        fifo_drop(&f->client.wire, n);
        if (f->front && !f->done)
                run_front(f);
        bool next = (f->request == REQUEST_HEAD && f->client.in.n) || f->answer == ANSWER_MOCK;
        if (!f->done && (next || http_unpack_waits(&f->x)))
                run_flow(f); /* it waited for this */
}

/* ---- the check of an answer ---- */

void http_flow_check_took(struct http_flow *f, size_t n)
{
        if (!f->x.check)
                return;
        fifo_drop(&f->x.check->to, n);
        if (!f->done && (f->answer == ANSWER_MOCK || http_unpack_waits(&f->x)))
                run_flow(f); /* it waited for this */
}
bool http_flow_check_room(const struct http_flow *f) { return !http_side_is_full(&f->client); }
void http_flow_from_check(struct http_flow *f, struct span passed)
{
        if (f->done || !http_check_waits(f->x.check))
                return;
        http_answer_passed(f, passed);
        run_flow(f);
}
void http_flow_checked(struct http_flow *f, bool good, const char *why)
{
        if (f->done || !http_check_waits(f->x.check))
                return;
        if (good && f->answer == ANSWER_CHECK && f->x.check->to.n == 0)
                http_answer_good(f);
        else
                http_answer_refuse(f, good ? "the check ended before the answer" : why);
        if (!f->done)
                run_flow(f);
}

/* With TLS the first bytes are the handshake's: the request waits for its end. */
void http_flow_upstream_took(struct http_flow *f, size_t n)
{
        f->x.left |= f->answer != ANSWER_NONE && (f->upstream.plain.n == 0 || f->upstream.h2);
        fifo_drop(&f->upstream.wire, n);
}

size_t http_flow_held(const struct http_flow *f) { return f->x.unpaid; }
bool http_flow_has_left(const struct http_flow *f) { return f->x.left; }
bool http_flow_is_sending(const struct http_flow *f)
{
        return !f->done && (f->request == REQUEST_BODY || f->request == REQUEST_TUNNEL);
}
const char *http_flow_method(const struct http_flow *f) { return f->x.websocket ? NULL : f->x.method; }
size_t http_flow_waiting(const struct http_flow *f)
{
        return f->client.in.n > f->judged ? f->client.in.n - f->judged : 0;
}
bool http_flow_done(const struct http_flow *f) { return f->done; }
bool http_flow_upstream_cut(const struct http_flow *f) { return f->cut; }
bool http_flow_client_cut(const struct http_flow *f) { return f->client_cut; }

struct http_flow *http_flow_new(struct http_rules *r, const struct http_peer *peer,
                                const struct http_callbacks *cb)
{
        struct http_flow *f = calloc(1, sizeof *f);
        if (!f)
                return NULL;

        f->r = r;
        f->cb = cb ? *cb : (struct http_callbacks){ 0 };
        (void) snprintf(f->peer_host, sizeof f->peer_host, "%s", peer->host);
        f->peer = *peer;
        f->peer.host = f->peer_host;
        return f;
}

struct http_flow *http_flow_new_stream(struct http_rules *r, const struct http_flow *connection,
                                       const struct http_callbacks *cb)
{
        struct http_flow *f = http_flow_new(r, &connection->peer, cb);
        if (!f)
                return NULL;

        f->known = f->versed = f->greeted = f->is_stream = true;
        f->tls = connection->tls;
        return f;
}

struct http2_front *http_flow_front(const struct http_flow *f) { return f->front; }
void http_flow_front_moved(struct http_flow *f)
{
        if (!f->done)
                run_front(f);
}
bool http_flow_is_idle(const struct http_flow *f)
{
        return !f->done && f->request == REQUEST_HEAD && f->answer == ANSWER_NONE && f->client.in.n == 0;
}

void http_flow_free(struct http_flow *f)
{
        if (!f)
                return;

        http_exchange_end(f);
        http2_front_free(f->front);
        http_side_done(&f->client, f->r->in.tls);
        http_side_done(&f->upstream, f->r->in.tls);
        fifo_done(&f->scratch);
        fifo_done(&f->hello);
        explicit_bzero(f, sizeof *f);
        free(f);
}
