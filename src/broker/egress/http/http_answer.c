/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http_answer.c - the way down: an answer is read as strictly as a request, written anew,
 * and no secret comes through it. */
#include "base/str.h"
#include "broker/egress/http/http_internal.h"

#include <stdio.h>

enum { INFORMAL_MAX = 16 };

static void put_record(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        struct fixture_key key = { .method = x->method, .url = fifo_all(&x->asked) };
        struct fifo line = { 0 };

        if (!x->recording || x->record_body.failed)
                return;

        fixture_print(&key, x->status, fifo_all(&x->record_fields), fifo_all(&x->record_body), &line);
        if (!line.failed)
                f->cb.on_record(f->cb.ctx, fifo_all(&line));

        fifo_done(&line);
}

/* The head that waited for the body that it announces. */
static void put_late(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        if (x->late.n == 0)
                return;

        fifo_span(&f->client.plain, fifo_all(&x->late));
        f->client.plain.failed = f->client.plain.failed || x->late.failed;
        fifo_done(&x->late);
        x->answered = true;
}

static void put_down(struct http_flow *f, struct span data)
{
        struct http_exchange *x = &f->x;
        if (data.n == 0)
                return;

        put_late(f);
        x->received += data.n;
        if (x->recording && x->record_body.n + data.n <= HTTP_RECORD_MAX)
                fifo_span(&x->record_body, data);
        else
                x->recording = false;

        if (x->answer_chunked)
                fifo_printf(&f->client.plain, "%zx\r\n", data.n);

        fifo_span(&f->client.plain, data);
        if (x->answer_chunked)
                fifo_text(&f->client.plain, "\r\n");
}

/* ---- the head ---- */

static enum body_kind answer_kind(const struct http_exchange *x, const struct http_head *h)
{
        if (x->head_only || h->status == 204 || h->status == 304)
                return BODY_NONE;
        return h->chunked ? BODY_CHUNKED : h->has_length ? BODY_LENGTH : BODY_UNTIL_CLOSE;
}

static void put_status(struct http_flow *f, struct fifo *out)
{
        const struct http_head *h = &f->head;
        struct scrub s = { .set = f->r->secrets };
        fifo_printf(out, "HTTP/1.1 %u ", h->status);
        scrub_pass(&s, h->reason, true, out);
        fifo_text(out, "\r\n");
        f->x.scrubbed |= s.found;
        scrub_done(&s);
}

/* The length of a decompressed body is unknown. */
static void put_framing(struct http_flow *f, enum body_kind kind, bool unpacked, struct fifo *out)
{
        struct http_exchange *x = &f->x;
        const struct http_head *h = &f->head;
        bool told = kind == BODY_LENGTH || (kind == BODY_NONE && h->has_length && h->status != 204);
        bool known = told && !unpacked, is_body = kind != BODY_NONE;
        bool would = h->chunked || (unpacked && told && h->status != 304); /* HEAD: be in chunks */

        x->answer_chunked = !x->http10 && is_body && !known;
        x->answer_by_end = is_body && !known && !x->answer_chunked;
        if (x->answer_chunked || (!is_body && would && !x->http10))
                fifo_text(out, "Transfer-Encoding: chunked\r\n");
        else if (known)
                http_put_length(h->length, out);

        x->close = x->close || x->answer_by_end;
        if (x->close || x->http10)
                fifo_text(out, x->close ? "Connection: close\r\n" : "Connection: keep-alive\r\n");

        fifo_text(out, "\r\n");
}

static struct http_answered answered_of(const struct http_flow *f, bool unpacked)
{
        return (struct http_answered){ .head = &f->head,
                                       .rules = f->r,
                                       .moved = http_moved(f->r, &f->peer, f->tls, &f->to),
                                       .with_credential = f->to.credential != NULL,
                                       .unpacked = unpacked };
}

static void begin_answer(struct http_flow *f, bool unpacked)
{
        struct http_exchange *x = &f->x;
        const struct http_head *h = &f->head;
        enum body_kind kind = answer_kind(x, h);
        bool waits = x->unpack || x->check; /* the body may not be what its head says */
        struct fifo *out = waits ? &x->late : &f->client.plain;

        x->status = h->status;
        x->answered = !waits;

        /* A server that finds fault with a request may leave its body unread. */
        if (h->close || kind == BODY_UNTIL_CLOSE || x->last || (x->has_body && h->status >= 400))
                f->link_stale = true;

        put_status(f, out);
        struct http_answered a = answered_of(f, unpacked);
        http_put_answer_fields(&a, out, &x->scrubbed);
        if (x->recording) {
                uint64_t ignored = 0;
                a.with_credential = true;
                http_put_answer_fields(&a, &x->record_fields, &ignored);
        }

        put_framing(f, kind, unpacked, out);
        http_body_init(&x->answer, kind, h->length);
        x->answer.extensions = true;
        x->answer.keep = f->is_stream ? &x->trailers : NULL;
        f->answer = ANSWER_BODY;
}

static void begin_tunnel(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        if (!x->websocket || !http_has_token(&f->head, "upgrade", "websocket") ||
            http_field_find(&f->head, "sec-websocket-extensions", NULL)) {
                http_broken(f, REASON_ANSWER_UPGRADE);
                return;
        }

        x->status = 101;
        x->answered = true;
        put_status(f, &f->client.plain);
        struct http_answered a = answered_of(f, false);
        a.websocket = true;
        http_put_answer_fields(&a, &f->client.plain, &x->scrubbed);
        fifo_text(&f->client.plain, "\r\n");
        f->link_stale = true;
        f->request = REQUEST_TUNNEL;
        f->answer = ANSWER_TUNNEL;
}

/* With no secret to look for it goes on as it came. */
static void begin_searched(struct http_flow *f)
{
        enum unpack_kind kind = UNPACK_NONE;
        bool checked = http_check_wanted(f) && answer_kind(&f->x, &f->head) != BODY_NONE;
        bool searched = checked || f->r->in.credential_count > 0;
        bool readable =
                !searched || (http_unpack_kind(&f->head, &kind) && http_sight_begin(&f->x.sight, &f->head));
        if (readable && kind != UNPACK_NONE && answer_kind(&f->x, &f->head) != BODY_NONE) {
                f->x.unpack = unpack_new(kind);
                readable = f->x.unpack != NULL;
        }

        if (!readable)
                http_broken(f, REASON_ANSWER_COMPRESSED);
        else if (checked && !http_check_begin(f, f->head.status))
                http_broken(f, REASON_ANSWER_FORM);
        else
                begin_answer(f, kind != UNPACK_NONE || checked);
}

static bool head_step(struct http_flow *f)
{
        enum http_read r = http_head_response(fifo_all(&f->upstream.in), &f->head);
        size_t bytes = f->head.bytes;
        if (r == HTTP_MORE)
                return false;

        if (r == HTTP_BAD) {
                http_detail(f, effect_reason_text(f->head.why));
                http_broken(f, REASON_ANSWER_MALFORMED);
                return true;
        }

        f->x.may_retry = false;
        f->link_used = true;
        fifo_done(&f->x.head);
        if (f->head.status == 101)
                begin_tunnel(f);
        else if (f->head.status < 200 && ++f->x.informal > INFORMAL_MAX)
                http_broken(f, REASON_ANSWER_PROVISIONAL);
        else if (f->head.status >= 200)
                begin_searched(f);

        fifo_drop(&f->upstream.in, bytes);
        return true;
}

/* ---- the body ---- */

/* If the door gives it a form, only what passes the check goes on. */
static void scrub_down(struct http_flow *f, struct span data, bool end)
{
        struct http_exchange *x = &f->x;
        scrub_pass(&x->clean, data, end, &f->scratch);
        x->scrubbed |= x->clean.found;
        if (x->check)
                http_check_give(x->check, fifo_all(&f->scratch), end);
        else
                put_down(f, fifo_all(&f->scratch));

        f->client.plain.failed = f->client.plain.failed || f->scratch.failed;
        fifo_drop(&f->scratch, f->scratch.n);
}

/* The end of a body in chunks, with the fields that follow it: gRPC has its status there. */
static void put_last_chunk(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        fifo_text(&f->client.plain, "0\r\n");
        if (x->trailers.n && http_trailer_read(buf_span(&x->trailers), &f->head)) {
                const struct http_answered a = answered_of(f, false);
                http_put_answer_fields(&a, &f->client.plain, &x->scrubbed);
        }

        fifo_text(&f->client.plain, "\r\n");
}

/* All of it has gone to the client. */
static void finish_answer(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        bool mock = x->mock;
        bool close = x->close || (!mock && f->request != REQUEST_SENT); /* cut short, it has no end */
        put_late(f);
        if (x->answer_chunked)
                put_last_chunk(f);

        x->answer_by_end = false; /* and this is the end */
        if (!mock && f->request != REQUEST_SENT)
                f->link_stale = true;

        if (!mock)
                put_record(f);
        http_tell(f, mock ? HTTP_MOCKED : HTTP_ALLOWED, REASON_NONE);
        http_exchange_end(f);
        if (close)
                http_finish(f);
}

static void end_answer(struct http_flow *f)
{
        scrub_down(f, (struct span){ 0 }, true);
        if (http_check_waits(f->x.check))
                f->answer = ANSWER_CHECK;
        else
                finish_answer(f);
}

/* The server is gone in the middle: held bytes are scrubbed, and the client sees that the answer is
 * incomplete. */
static void cut_answer(struct http_flow *f, enum effect_reason why)
{
        if (!f->x.answered) {
                http_broken(f, why);
                return;
        }

        if (!f->x.check) /* what is not whole is not checked */
                scrub_down(f, (struct span){ 0 }, true);
        http_over(f, HTTP_BROKEN, why);
}

static bool ended_well(const struct http_flow *f)
{
        return !f->upstream.tls || f->r->in.tls->ended(f->upstream.tls);
}

static void end_or_cut(struct http_flow *f)
{
        if (!f->x.unpack || unpack_whole(f->x.unpack))
                end_answer(f);
        else
                cut_answer(f, REASON_ANSWER_BREAKS_OFF);
}

/* Plain bytes of the body, unless a message or part in them is packed. */
static void seen_down(struct http_flow *f, struct span data)
{
        if (http_sight_pass(&f->x.sight, data))
                scrub_down(f, data, false);
        else
                cut_answer(f, REASON_ANSWER_COMPRESSED);
}

/* No faster than the client takes it: a few bytes may become very many. */
static bool unpack_step(struct http_flow *f)
{
        struct span data;
        enum effect_reason why = REASON_NONE;
        if (http_side_is_full(&f->client) || http_check_is_full(f->x.check))
                return false;

        if (!http_unpack_next(&f->x, &data)) {
                cut_answer(f, unpack_why(f->x.unpack));
                return true;
        }

        size_t grown = http_unpack_grown(&f->x);
        if (grown && f->cb.grow && !f->cb.grow(f->cb.ctx, grown, &why))
                http_flow_cut(f, why);
        else
                seen_down(f, data);

        return true;
}

static void body_data(struct http_flow *f, struct span data)
{
        if (!f->x.unpack) {
                seen_down(f, data);
                return;
        }

        fifo_span(&f->x.packed, data);
        f->client.plain.failed = f->client.plain.failed || f->x.packed.failed; /* nothing after a hole */
}

static bool body_step(struct http_flow *f)
{
        if (http_unpack_waits(&f->x))
                return unpack_step(f);

        size_t used;
        struct span data;
        enum body_state s = http_body_next(&f->x.answer, fifo_all(&f->upstream.in), &used, &data);
        switch (s) {
        case BODY_BAD:
                cut_answer(f, f->x.answer.why);
                return true;
        case BODY_DATA:
                body_data(f, data);
                if (!f->done)
                        fifo_drop(&f->upstream.in, used);
                return true;
        case BODY_END:
                fifo_drop(&f->upstream.in, used);
                end_or_cut(f);
                return true;
        case BODY_MORE:
                break;
        }
        fifo_drop(&f->upstream.in, used);
        if (!f->upstream.closed || f->upstream.in.n)
                return false;

        if (f->x.answer.kind == BODY_UNTIL_CLOSE && ended_well(f))
                end_or_cut(f);
        else
                cut_answer(f, REASON_ANSWER_CUT);

        return true;
}

/* The end of a frame is the last point to wait for: the next frame may come in an hour. Returns false if one
 * cannot be searched. */
static bool tunnel_data(struct http_flow *f, struct span data)
{
        for (struct http_frame w; data.n; data = span_of(data.p + w.n, data.n - w.n)) {
                w = http_frames_next(&f->x.frames, data, NULL);
                if (w.packed && f->r->in.credential_count > 0) {
                        cut_answer(f, REASON_ANSWER_COMPRESSED);
                        return false;
                }
                scrub_down(f, span_of(data.p, w.n), w.ends);
        }

        return true;
}

static bool tunnel_step(struct http_flow *f)
{
        if (f->upstream.in.n == 0 && !f->upstream.closed)
                return false;

        if (!tunnel_data(f, fifo_all(&f->upstream.in)))
                return true;
        fifo_drop(&f->upstream.in, f->upstream.in.n);
        if (f->upstream.closed) {
                scrub_down(f, (struct span){ 0 }, true);
                http_over(f, HTTP_ALLOWED, REASON_NONE);
        }

        return true;
}

/* ---- recorded answers ---- */

/* No faster than the client takes it, or the check. */
static bool mock_step(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        size_t n = x->recorded.n < HTTP_BUFFER ? x->recorded.n : HTTP_BUFFER;
        if (x->check ? http_check_is_full(x->check) : http_side_is_full(&f->client))
                return false;

        struct span data = span_of(x->recorded.p, n);
        x->recorded = span_of(x->recorded.p + n, x->recorded.n - n);
        if (x->check)
                http_check_give(x->check, data, x->recorded.n == 0);
        else {
                fifo_span(&f->client.plain, data);
                x->received += n;
        }

        if (x->recorded.n)
                return true;

        if (http_check_waits(x->check))
                f->answer = ANSWER_CHECK;
        else
                finish_answer(f);
        return true;
}

bool http_answer_step(struct http_flow *f)
{
        switch (f->answer) {
        case ANSWER_NONE: /* bytes without a request: the two sides no longer agree on their position */
                if (f->upstream.in.n == 0)
                        return false;
                f->link_stale = true;
                fifo_drop(&f->upstream.in, f->upstream.in.n);
                return true;
        case ANSWER_HEAD:
                if (f->upstream.in.n && head_step(f))
                        return true;
                if (f->upstream.closed && f->link == LINK_OPEN) {
                        http_broken(f, REASON_SERVER_SILENT);
                        return true;
                }
                return false;
        case ANSWER_BODY:
                return body_step(f);
        case ANSWER_TUNNEL:
                return tunnel_step(f);
        case ANSWER_MOCK:
                return mock_step(f);
        case ANSWER_CHECK:
                return false;
        }
        return false;
}

/* The length of a checked body is unknown. */
static void put_mock_head(struct http_flow *f, const struct fixture *m, bool empty)
{
        struct http_exchange *x = &f->x;
        struct fifo *out = x->check ? &x->late : &f->client.plain;
        x->answer_chunked = x->check && !x->http10;
        x->answer_by_end = x->check && x->http10;
        x->close = x->close || x->answer_by_end;

        fifo_printf(out, "HTTP/1.1 %u %s\r\n", m->status, http_reason(m->status));
        fifo_span(out, m->headers);
        if (x->answer_chunked)
                fifo_text(out, "Transfer-Encoding: chunked\r\n");
        else if (!empty && !x->check)
                fifo_printf(out, "Content-Length: %zu\r\n", m->body.n);

        fifo_printf(out, "X-Cordon: mock\r\n%s\r\n",
                    x->close    ? "Connection: close\r\n"
                    : x->http10 ? "Connection: keep-alive\r\n"
                                : "");
}

void http_answer_mock(struct http_flow *f)
{
        struct http_exchange *x = &f->x;
        struct fixture_key key = { .method = x->method, .url = fifo_all(&x->asked) };
        bool bound = f->to.door && f->to.door->net.credential;
        const struct fixture *m = x->websocket ? NULL
                                  : bound      ? fixture_find_bound(f->r->in.fixtures, &key)
                                               : fixture_find(f->r->in.fixtures, &key);

        if (!m) {
                http_refuse(f, 403, REASON_NOT_RECORDED, x->close);
                return;
        }

        bool empty = m->status == 204 || m->status == 304, body = !empty && !x->head_only;
        if (body && http_check_wanted(f) && !http_check_begin(f, m->status)) {
                http_refuse(f, 502, REASON_ANSWER_FORM, x->close);
                return;
        }

        put_mock_head(f, m, empty);
        x->recorded = body ? m->body : span_of("", 0);
        x->status = m->status;
        x->answered = !x->check;
        f->answer = ANSWER_MOCK;
}

/* ---- the verdict ---- */

void http_answer_refuse(struct http_flow *f, const char *why)
{
        char inert[160];
        http_detail(f, str_inert(span_str(why), inert, sizeof inert));
        if (!f->x.answered) {
                http_broken(f, REASON_ANSWER_FORM);
                return;
        }

        http_over(f, HTTP_BROKEN, REASON_ANSWER_FORM);
}

void http_answer_passed(struct http_flow *f, struct span data) { put_down(f, data); }
void http_answer_good(struct http_flow *f) { finish_answer(f); }
