/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_request.c - the request direction: a request is parsed, decided, rewritten and sent
 * on. Nothing of it leaves before the decision. */
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

/* ---- the head ---- */

static const struct http_credential nothing = { .name = "", .field = "", .before = "", .after = "" };

/* The URL as the box requested it, without any credential: fixtures use it as the key. */
static void asked_url(struct http_flow *f)
{
        char origin[HTTP_ORIGIN_MAX];
        struct fifo *out = &f->x.asked;
        fifo_text(out, http_origin(f->tls, f->peer.host, f->peer.port, origin));
        http_put_path(f->url.path, f->url.escaped, out);
        swap_query(f->url.query, f->to.credential ? f->to.credential : &nothing, false, out);
}

static bool wants_websocket(const struct http_head *h)
{
        return span_is(h->method, "GET") && !h->chunked && !h->has_length && !h->http10 &&
               http_has_token(h, "connection", "upgrade") && http_has_token(h, "upgrade", "websocket") &&
               !http_field_find(h, "upgrade", http_field_find(h, "upgrade", NULL)) &&
               http_field_find(h, "sec-websocket-key", NULL);
}

static bool read_method(struct http_flow *f, enum effect_reason *ret_why)
{
        struct http_exchange *x = &f->x;
        const struct http_head *h = &f->head;
        memcpy(x->method, h->method.p, h->method.n);
        x->method[h->method.n] = '\0';
        x->head_only = strcmp(x->method, "HEAD") == 0;
        x->http10 = h->http10;
        x->close = h->close;
        *ret_why = REASON_METHOD_UNKNOWN;
        if (!policy_method_known(x->method) || strcmp(x->method, "WEBSOCKET") == 0)
                return false;

        x->websocket = h->upgrade && wants_websocket(h);
        *ret_why = REASON_WEBSOCKET;
        return x->websocket || !http_has_token(h, "upgrade", "websocket"); /* any other offer is ignored */
}

static void setup_bodies(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        const struct http_head *h = &f->head;
        const struct http_credential *c = f->to.credential;

        if (!x->gathered)
                http_body_of(h, &x->request);

        x->clean = (struct scrub){ .set = f->r->secrets };
        if (c && c->where == GRANT_BODY)
                x->swap = (struct swap){ c->placeholder, c->secret, .field = swap_field_of(h) };

        x->chunked = h->chunked || (h->length && swap_grows(&x->swap));
        x->may_retry = !h->chunked && !h->length && !x->websocket &&
                       (strcmp(x->method, "GET") == 0 || x->head_only) &&
                       !http_asks(f); /* a yes is for once */
        x->recording = f->r->in.record && f->cb.on_record && !x->websocket;

        const struct http_field *type = f->is_stream ? http_field_find(h, "content-type", NULL) : NULL;
        x->grpc = type && http2_is_grpc(type->value);
}

/* Methods whose body servers read. That of another is left in the connection by some, which then read it as
 * the next request. */
static bool body_is_read(const char *method)
{
        static const char *const read[] = { "LOCK",      "MKCOL", "PATCH",  "POST",  "PROPFIND",
                                            "PROPPATCH", "PUT",   "REPORT", "SEARCH" };
        return str_row(read, COUNT(read), method) >= 0;
}

/* Allowed: it is sent on. */
static void send_head(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        struct http_sent s = { .head = &f->head,
                               .url = &f->url,
                               .to = &f->to,
                               .websocket = x->websocket,
                               .identity = f->r->in.credential_count > 0 || x->recording ||
                                           http_check_wanted(f) };
        setup_bodies(f);
        s.whole = x->recording || x->search.fine || http_check_wanted(f);
        s.chunked = x->chunked;
        x->has_body = f->head.chunked || f->head.length > 0;
        s.close = x->last = x->has_body && !body_is_read(x->method);
        x->mock = f->r->in.stage == POLICY_STAGE_MOCK;
        if (x->mock || x->recording)
                asked_url(f);

        f->request = REQUEST_BODY;
        if (f->head.expect_continue && !x->gathered)
                fifo_text(&f->client.plain, "HTTP/1.1 100 Continue\r\n\r\n");

        if (x->mock)
                return;

        http_put_request(&s, &x->head);
        http_leave(f);
}

static struct http_verdict_in question_of(const struct http_flow *f)
{
        return (struct http_verdict_in){ .peer = &f->peer,
                                         .tls = f->tls,
                                         .method = f->x.websocket ? "WEBSOCKET" : f->x.method,
                                         .path = f->url.path,
                                         .params = f->x.params_known ? &f->x.params : NULL };
}

/* COPY and MOVE write to a second path, which a header names: it must be behind the same door. */
static enum effect_reason object_to_destination(struct http_flow *f)
{
        const struct http_field *d = http_field_find(&f->head, "destination", NULL);
        struct http_verdict_in in;
        struct http_judgement to;
        struct http_url url;
        enum effect_reason why;

        if (!d || (strcmp(f->x.method, "COPY") != 0 && strcmp(f->x.method, "MOVE") != 0))
                return REASON_NONE;

        if (http_field_find(&f->head, "destination", d) ||
            http_target_url(d->value, &f->peer, f->tls, &url, &why) < 0 || url.escaped)
                return REASON_DESTINATION;

        in = question_of(f);
        in.path = url.path;
        http_judge(f->r, &in, &to);
        return to.allowed && to.door == f->to.door ? REASON_NONE : REASON_DESTINATION_DOOR;
}

/* The bit of the credential that the door puts in; 0 without one. */
static uint64_t own_bit(const struct http_flow *f)
{
        const struct http_credential *c = f->to.credential;
        return c ? UINT64_C(1) << (c - f->r->in.credentials) : 0;
}

/* The search that a streamed body gets, for a body that is here as a whole; and the beginning of both. */
static enum effect_reason object_to_body(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        enum effect_reason why = http_search_begin(&x->search, f, http_asks(f));
        if (!why && x->whole) {
                why = http_search_pass(&x->search, fifo_all(&x->held), true, NULL);
                x->abused = x->search.abused;
        }

        if (why == REASON_BODY_PACKED)
                http_detail(f, x->search.fault);
        if (!why && x->whole) { /* it is sent from its beginning */
                http_search_done(&x->search);
                why = http_search_begin(&x->search, f, false);
        }

        return why;
}

/* The door's judgement, with the parameter that is not within its bounds. */
static enum effect_reason refused_by(struct http_flow *f)
{
        http_detail(f, f->to.fault);
        return f->to.reason;
}

/* The target of the request line. If parameters could open a door, it is not decided yet. */
static enum effect_reason object_to_line(struct http_flow *f, unsigned *ret_status)
{
        enum effect_reason why = REASON_NONE;
        *ret_status = 501;
        if (!read_method(f, &why))
                return why;

        *ret_status = 421;
        if (http_target_read(&f->head, &f->peer, f->tls, &f->url, &why) < 0) {
                http_detail(f, f->url.fault ? f->url.fault : "");
                return why;
        }

        *ret_status = 403;
        struct http_verdict_in in = question_of(f);
        http_judge(f->r, &in, &f->to);
        return f->to.allowed || f->to.bounded ? REASON_NONE : refused_by(f);
}

/* Every further reason to deny, in order. */
static enum effect_reason objection_to(struct http_flow *f, unsigned *ret_status)
{
        struct http_exchange *x = &f->x;
        enum effect_reason why = REASON_NONE;
        *ret_status = 403;
        if (!f->to.allowed)
                return refused_by(f);

        if ((why = object_to_destination(f)))
                return why;

        if ((why = http_override(f))) {
                *ret_status = why == REASON_SOURCE_HEADER ? 403 : 400;
                return why;
        }

        if (f->to.tail < 64 && f->url.escaped >> f->to.tail)
                return REASON_ESCAPED_SLASH;

        x->abused = swap_misplaced(f->r, &f->head, &f->url, f->to.credential);
        if (x->abused)
                return x->abused == own_bit(f) ? REASON_OWN_PLACEHOLDER : REASON_PLACEHOLDER;

        if ((why = object_to_body(f)) || (why = http_sign_read(f)))
                return why;

        if (f->cb.may && !f->cb.may(f->cb.ctx, f->to.door, &why))
                return why;

        return http_rules_usable(f->r, f->to.credential, &why) ? REASON_NONE : why;
}

static void send_or_refuse(struct http_flow *f, enum effect_reason why, unsigned status)
{
        const struct http_head *h = &f->head;
        bool more = (h->chunked || h->length > 0) && !f->x.whole;
        if (why)
                http_refuse(f, status, why, more || h->close || h->http10);
        else
                send_head(f);
}

/* A request that is whole, or as whole as it gets, goes on or is refused. */
static void settle_request(struct http_flow *f)
{
        unsigned status;
        struct http_verdict_in in = question_of(f);
        http_judge(f->r, &in, &f->to);
        enum effect_reason why = objection_to(f, &status);
        http_params_done(&f->x);
        send_or_refuse(f, why, status);
}

/* Anywhere in the head, whatever else is wrong with it. */
static enum effect_reason object_to_canary(const struct http_flow *f, unsigned *ret_status)
{
        *ret_status = 403;
        return secret_words_find(f->r->in.canaries, span_of(fifo_all(&f->client.in).p, f->head.bytes))
                       ? REASON_CANARY
                       : REASON_NONE;
}

static bool head_step(struct http_flow *f)
{
        unsigned status;
        if (f->client.in.n == 0 || http_side_is_full(&f->client))
                return false; /* our answer to a request may be many times as long as it */

        enum http_read r = http_head_request(fifo_all(&f->client.in), &f->head);
        if (r == HTTP_MORE)
                return false;

        f->url.path[0] = '\0';
        http_judgement_none(&f->to);
        if (r == HTTP_BAD) {
                http_refuse(f, f->head.answer, f->head.why, true);
                return true;
        }

        f->x.unpaid = f->head.bytes;
        enum effect_reason why = object_to_canary(f, &status);
        why = why ? why : object_to_line(f, &status);
        size_t bytes = f->judged = f->head.bytes;
        if (why || (!f->to.bounded && !http_asks(f) && !http_sign_holds(f))) {
                why = why ? why : objection_to(f, &status);
                send_or_refuse(f, why, status);
        } else if (!http_hold_begin(f)) {
                settle_request(f);
        }

        fifo_drop(&f->client.in, bytes);
        f->judged = 0;
        return true;
}

static bool gather_step(struct http_flow *f)
{
        bool known = false, moved = http_hold_step(f, &known);
        if (known)
                settle_request(f);
        return moved;
}

/* ---- the body ---- */

static void put_up(struct http_flow *f, struct span data)
{
        struct http_exchange *x = &f->x;
        if (data.n == 0 || x->mock)
                return;

        if (x->chunked)
                fifo_printf(&f->upstream.plain, "%zx\r\n", data.n);

        fifo_span(&f->upstream.plain, data);
        if (x->chunked)
                fifo_text(&f->upstream.plain, "\r\n");
}

/* The request ends here: its body or frames hold bytes that must not leave. */
static bool may_leave(struct http_flow *f, enum effect_reason why)
{
        if (!why)
                return true;
        f->x.abused = f->x.search.abused;
        http_detail(f, why == REASON_BODY_PACKED ? f->x.search.fault : "");
        fifo_drop(&f->scratch, f->scratch.n);
        http_refuse(f, 403, why, true);
        return false;
}

/* Placeholders in a body: replaced if the door requests it; passed on to a host that their credential is for,
 * which learns nothing from them; otherwise the request ends here. */
static bool body_data(struct http_flow *f, struct span data, bool end)
{
        struct http_exchange *x = &f->x;
        x->sent += data.n;
        if (!may_leave(f, http_search_pass(&x->search, data, end, &f->scratch)))
                return false;

        if (x->swap.from.n) {
                struct fifo swapped = { 0 };
                swap_pass(&x->swap, fifo_all(&f->scratch), end, &swapped);
                put_up(f, fifo_all(&swapped));
                f->upstream.plain.failed = f->upstream.plain.failed || swapped.failed;
                fifo_done(&swapped);
        } else {
                put_up(f, fifo_all(&f->scratch));
        }

        fifo_drop(&f->scratch, f->scratch.n);
        return true;
}

/* The client's frames, without their masks: a word may go on in the next one. */
static bool frames_may_leave(struct http_flow *f, struct span data)
{
        struct http_exchange *x = &f->x;
        enum effect_reason why = REASON_NONE;
        bool searched = f->r->in.credential_count > 0 || f->r->in.canaries;
        for (struct http_frame w; searched && !why && data.n; data = span_of(data.p + w.n, data.n - w.n)) {
                w = http_frames_next(&x->sent_frames, data, &f->scratch);
                if (w.packed) {
                        x->search.fault = "a frame of a WebSocket without an agreement on it";
                        why = REASON_BODY_PACKED;
                } else {
                        why = http_search_pass(&x->search, fifo_all(&f->scratch), false, NULL);
                }
                f->upstream.plain.failed = f->upstream.plain.failed || f->scratch.failed;
                fifo_drop(&f->scratch, f->scratch.n);
        }

        return may_leave(f, why);
}

static void body_end(struct http_flow *f)
{
        if (!body_data(f, (struct span){ 0 }, true))
                return;

        f->request = REQUEST_SENT;
        if (f->x.mock)
                http_answer_mock(f);
        else if (f->x.chunked)
                fifo_text(&f->upstream.plain, "0\r\n\r\n");
}

/* Bytes that were read before the decision go first. */
static void pass_held(struct http_flow *f)
{
        struct fifo held = f->x.held; /* a refusal would free it */
        f->x.held = (struct fifo){ 0 };
        (void) body_data(f, fifo_all(&held), false);
        fifo_done(&held);
}

/* A connection goes through one door after another: its bytes are charged to no door until the door is known.
 * Returns false if the door has no budget for them; then the request is over. */
static bool pay_bytes(struct http_flow *f, size_t n)
{
        enum effect_reason why = REASON_NONE;
        if (n == 0 || !f->cb.pay || f->cb.pay(f->cb.ctx, n, &why))
                return true;
        http_flow_cut(f, why);
        return false;
}

static bool body_step(struct http_flow *f)
{
        size_t used;
        if (f->x.held.n) {
                pass_held(f);
                return true;
        }

        struct span data;
        enum body_state s = http_body_next(&f->x.request, fifo_all(&f->client.in), &used, &data);
        if (!pay_bytes(f, used))
                return true;

        switch (s) {
        case BODY_BAD:
                http_refuse(f, 400, f->x.request.why, true);
                return true;
        case BODY_MORE:
                fifo_drop(&f->client.in, used);
                return false;
        case BODY_DATA:
                if (body_data(f, data, false))
                        fifo_drop(&f->client.in, used);
                return true;
        case BODY_END:
                fifo_drop(&f->client.in, used);
                body_end(f);
                return true;
        }
        return false;
}

bool http_request_step(struct http_flow *f)
{
        switch (f->request) {
        case REQUEST_HEAD:
                return head_step(f);
        case REQUEST_GATHER:
                return gather_step(f);
        case REQUEST_BODY:
                return body_step(f);
        case REQUEST_HELD:
        case REQUEST_SENT:
                return false;
        case REQUEST_TUNNEL:
                if (f->client.in.n == 0)
                        return false;
                if (!pay_bytes(f, f->client.in.n))
                        return true;
                if (!frames_may_leave(f, fifo_all(&f->client.in)))
                        return true;
                f->x.sent += f->client.in.n;
                fifo_span(&f->upstream.plain, fifo_all(&f->client.in));
                fifo_drop(&f->client.in, f->client.in.n);
                return true;
        }
        return false;
}
