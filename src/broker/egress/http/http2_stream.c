/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2_stream.c - one stream of the box: its request becomes the bytes of an HTTP/1.1
 * request, the HTTP/1.1 answer becomes frames. The strict parser of heads reads the result as any other, so a
 * name or value that could begin a second line or request goes no further than here. Decides nothing. */
#include "broker/egress/http/http2_internal.h"

#include <stdio.h>
#include <stdlib.h>

struct http2_stream *http2_stream_new(struct http2_front *c, int32_t id)
{
        struct http2_stream *s = calloc(1, sizeof *s);
        if (!s)
                return NULL;

        s->c = c;
        s->id = id;
        s->next = c->streams;
        c->streams = s;
        c->open++;
        return s;
}

static void head_done(struct http2_head *h)
{
        struct fifo *all[] = { &h->method, &h->scheme, &h->authority, &h->path,
                               &h->host,   &h->cookie, &h->fields,    NULL };
        for (size_t i = 0; all[i]; i++)
                fifo_done(all[i]);
}

/* Neither side knows the stream by now. */
void http2_stream_free(struct http2_stream *s)
{
        struct http2_stream **at = &s->c->streams;
        while (*at != s)
                at = &(*at)->next;
        *at = s->next;

        head_done(&s->head);
        fifo_done(&s->request);
        fifo_done(&s->in);
        fifo_done(&s->body);
        fifo_done(&s->trailers);
        buf_done(&s->trailer_lines);
        free(s);
}

/* ---- the request ---- */

/* Returns false if the pseudo-header is unknown, or came before. */
static bool pseudo_field(struct http2_head *h, struct span name, struct span value)
{
        const struct {
                const char *name;
                struct fifo *to;
        } rows[] = { { ":method", &h->method },
                     { ":scheme", &h->scheme },
                     { ":authority", &h->authority },
                     { ":path", &h->path } };

        for (size_t i = 0; i < COUNT(rows); i++) {
                if (!span_is(name, rows[i].name))
                        continue;
                if (rows[i].to->n || value.n == 0)
                        return false;
                for (size_t k = 0; k < value.n; k++)
                        if (value.p[k] <= ' ' || value.p[k] >= 0x7f)
                                return false;
                fifo_span(rows[i].to, value);
                return true;
        }

        return false;
}

/* A client may send cookies apart; HTTP/1.1 has one line of them. */
static void add_cookie(struct http2_head *h, struct span value)
{
        fifo_text(&h->cookie, h->cookie.n ? "; " : "cookie: ");
        fifo_span(&h->cookie, value);
}

/* A head that is too long is kept as far as it takes to see that. */
bool http2_stream_field(struct http2_stream *s, struct span name, struct span value)
{
        struct http2_head *h = &s->head;
        struct fifo check = { 0 };
        h->bytes += name.n + value.n + 4;
        if (h->bytes > HTTP_HEAD_MAX)
                return true;

        if (name.n && name.p[0] == ':')
                return pseudo_field(h, name, value);

        if (!http2_field_line(&check, name, value)) {
                fifo_done(&check);
                return false;
        }

        h->grpc = h->grpc || (http_name_is(name, "content-type") && http2_is_grpc(value));
        h->expects = h->expects || http_name_is(name, "expect");
        h->has_length = h->has_length || http_name_is(name, "content-length");
        if (span_is(name, "cookie"))
                add_cookie(h, value);
        else if (span_is(name, "host") && h->host.n == 0)
                fifo_span(&h->host, value);
        else if (!span_is(name, "te")) /* "trailers", which is the rule here */
                fifo_span(&h->fields, fifo_all(&check));

        fifo_done(&check);
        return true;
}

static void put_target(const struct http2_stream *s, struct fifo *out)
{
        const struct http2_head *h = &s->head;
        bool own = span_is(fifo_all(&h->scheme), s->c->tls ? "https" : "http");
        if (!own && h->scheme.n) { /* an absolute target, which is compared with the connection */
                fifo_span(out, fifo_all(&h->scheme));
                fifo_text(out, "://");
                fifo_span(out, fifo_all(&h->authority));
        }

        fifo_span(out, h->path.n ? fifo_all(&h->path) : fifo_all(&h->authority)); /* CONNECT has no path */
}

/* If both are there and differ, there are two, which the parser refuses. */
static void put_host(const struct http2_head *h, struct fifo *out)
{
        struct span a = fifo_all(&h->authority), b = fifo_all(&h->host);
        bool same = a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
        if (a.n)
                (void) http2_field_line(out, span_str("host"), a);
        if (b.n && !same)
                (void) http2_field_line(out, span_str("host"), b);
}

static void put_framing(struct http2_stream *s, bool ends, struct fifo *out)
{
        const struct http2_head *h = &s->head;
        struct span method = fifo_all(&h->method);
        bool usual = span_is(method, "POST") || span_is(method, "PUT") || span_is(method, "PATCH");
        s->chunked = !ends && !h->has_length;
        if (s->chunked)
                fifo_text(out, "transfer-encoding: chunked\r\n");
        else if (ends && usual && !h->has_length)
                fifo_text(out, "content-length: 0\r\n");
}

void http2_stream_head(struct http2_stream *s, bool ends)
{
        struct http2_head *h = &s->head;
        struct fifo *out = &s->request;
        s->head_only = span_is(fifo_all(&h->method), "HEAD");
        s->grpc = h->grpc;
        s->lasts = h->has_length && !h->expects && !h->grpc;

        fifo_span(out, fifo_all(&h->method));
        fifo_text(out, " ");
        put_target(s, out);
        fifo_text(out, " HTTP/1.1\r\n");
        put_host(h, out);
        fifo_span(out, fifo_all(&h->fields));
        if (h->cookie.n) {
                fifo_span(out, fifo_all(&h->cookie));
                fifo_text(out, "\r\n");
        }

        put_framing(s, ends, out);
        for (size_t n = h->bytes > HTTP_HEAD_MAX ? HTTP_HEAD_MAX : 0; n; n -= 16)
                fifo_text(out, "too-long-a-head-"); /* and so it is */
        fifo_text(out, "\r\n");
        head_done(h);
}

void http2_stream_data(struct http2_stream *s, struct span data)
{
        if (data.n == 0)
                return;

        if (s->chunked)
                fifo_printf(&s->request, "%zx\r\n", data.n);
        fifo_span(&s->request, data);
        if (s->chunked)
                fifo_text(&s->request, "\r\n");
        s->unpaid += data.n;
}

/* Answered before its end. Many clients read an answer only when they have sent all, and take an early one
 * for an error. One that has announced its length is heard out, as a lingering close does, and the rest is
 * dropped. */
static bool holds_answer(const struct http2_stream *s)
{
        return s->lasts && !s->ended && !s->c->closing && s->drained <= HTTP2_DRAIN_MAX;
}

void http2_stream_release(struct http2_stream *s)
{
        (void) http2_stream_give(s, (struct span){ 0 });
        if (!s->owned && !s->fresh && !s->answered)
                (void) nghttp2_submit_rst_stream(s->c->session, NGHTTP2_FLAG_NONE, s->id,
                                                 NGHTTP2_INTERNAL_ERROR);
}

void http2_stream_end(struct http2_stream *s)
{
        bool held = holds_answer(s);
        if (!s->ended && s->chunked)
                fifo_text(&s->request, "0\r\n\r\n");
        s->ended = true;
        if (held)
                http2_stream_release(s);
}

void http2_stream_drain(struct http2_stream *s, size_t n)
{
        bool held = holds_answer(s);
        s->drained += n;
        if (held && !holds_answer(s))
                http2_stream_release(s);
}

bool http2_stream_is_lost(const struct http2_stream *s) { return s->lost || s->request.failed; }
bool http2_stream_waits(const struct http2_stream *s) { return s->request.n || http2_stream_is_lost(s); }

/* The window opens again when the flow has all that came. */
size_t http2_stream_take(struct http2_stream *s, void *to, size_t cap)
{
        size_t n = fifo_take(&s->request, to, cap);
        if (n && s->request.n == 0 && s->unpaid) {
                (void) nghttp2_session_consume(s->c->session, s->id, s->unpaid);
                s->unpaid = 0;
        }

        return n;
}

/* ---- the answer ---- */

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t cap, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
        struct http2_stream *s = source->ptr;
        (void) user;
        if (s->body.n == 0 && !s->answered) {
                s->waits = true;
                return NGHTTP2_ERR_DEFERRED;
        }

        size_t n = fifo_take(&s->body, to, cap);
        if (s->body.n || !s->answered)
                return (ssize_t) n;

        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (s->trailer_lines.n == 0)
                return (ssize_t) n;

        struct http2_fields f = { .n = 0 };
        if (http_trailer_read(buf_span(&s->trailer_lines), &s->c->answer))
                http2_fields_pass(&f, &s->c->answer, false);
        if (f.n && nghttp2_submit_trailer(session, id, f.v, f.n) == 0)
                *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        return (ssize_t) n;
}

/* gRPC has its own status, and a program that speaks it shows the text of that one. */
static void put_grpc_status(struct http2_fields *f, const struct http2_stream *s, char *code, char *text,
                            size_t cap)
{
        struct span why = fifo_all(&s->in);
        size_t n = 0;
        for (size_t i = 0; i < why.n && why.p[i] != '\n' && n + 4 < cap; i++) {
                bool plain = why.p[i] >= ' ' && why.p[i] < 0x7f && why.p[i] != '%';
                n += (size_t) snprintf(text + n, cap - n, plain ? "%c" : "%%%02X", why.p[i]);
        }

        (void) snprintf(code, 4, "%d", s->status == 403 ? 7 : s->status >= 500 ? 14 : 3);
        http2_fields_add(f, "grpc-status", span_str(code));
        http2_fields_add(f, "grpc-message", span_of(text, n));
}

static bool is_refusal(const struct http2_stream *s, const struct http_head *h)
{
        const struct http_field *f = s->grpc ? http_field_find(h, "x-cordon", NULL) : NULL;
        return f && span_is(f->value, "refused");
}

static enum body_kind kind_of(const struct http2_stream *s, const struct http_head *h)
{
        if (s->head_only || h->status == 204 || h->status == 304)
                return BODY_NONE;
        return h->chunked ? BODY_CHUNKED : h->has_length && h->length ? BODY_LENGTH : BODY_NONE;
}

static void submit_head(struct http2_stream *s, const struct http_head *h, enum body_kind kind)
{
        struct http2_fields f = { .n = 0 };
        char status[8], code[4], text[600];
        const nghttp2_data_provider from = { { .ptr = s }, read_body };
        (void) snprintf(status, sizeof status, "%u", h->status);
        http2_fields_add(&f, ":status", span_str(status));
        http2_fields_pass(&f, h, !s->told);
        if (s->told)
                put_grpc_status(&f, s, code, text, sizeof text);
        bool empty = kind == BODY_NONE || s->told;
        s->answered = empty;
        (void) nghttp2_submit_response(s->c->session, s->id, f.v, f.n, empty ? NULL : &from);
}

static void submit_provisional(struct http2_stream *s, unsigned status)
{
        char text[8];
        struct http2_fields f = { .n = 0 };
        (void) snprintf(text, sizeof text, "%u", status);
        http2_fields_add(&f, ":status", span_str(text));
        (void) nghttp2_submit_headers(s->c->session, NGHTTP2_FLAG_NONE, s->id, NULL, f.v, f.n, NULL);
}

static bool head_step(struct http2_stream *s)
{
        struct http_head *h = &s->c->answer;
        enum http_read r = http_head_response(fifo_all(&s->in), h);
        if (r != HTTP_WHOLE || (h->status >= 200 && holds_answer(s)))
                return false;

        if (h->status < 200) {
                submit_provisional(s, h->status);
                fifo_drop(&s->in, h->bytes);
                return true;
        }

        enum body_kind kind = kind_of(s, h);
        s->told = is_refusal(s, h);
        if (s->told && s->in.n < h->bytes + h->length)
                return false; /* its text is part of the head */

        s->begun = true;
        s->status = h->status;
        http_body_init(&s->answer, kind, h->length);
        s->answer.keep = &s->trailer_lines;
        struct fifo head = s->in; /* the text follows it */
        s->in = (struct fifo){ 0 };
        fifo_add(&s->in, fifo_all(&head).p + h->bytes, head.n - h->bytes);
        submit_head(s, h, kind);
        fifo_done(&head);
        return true;
}

static bool body_step(struct http2_stream *s)
{
        size_t used;
        struct span data;
        if (s->body.n >= HTTP2_BUFFER)
                return false;

        enum body_state state = http_body_next(&s->answer, fifo_all(&s->in), &used, &data);
        fifo_span(&s->body, data);
        fifo_drop(&s->in, used);
        s->answered = state == BODY_END;
        return state == BODY_DATA;
}

static void resume_stream(struct http2_stream *s)
{
        if (!s->waits)
                return;
        s->waits = false;
        (void) nghttp2_session_resume_data(s->c->session, s->id);
}

size_t http2_stream_room(const struct http2_stream *s)
{
        size_t used = s->in.n + s->body.n;
        return used < HTTP2_BUFFER ? HTTP2_BUFFER - used : 0;
}

size_t http2_stream_give(struct http2_stream *s, struct span answer)
{
        size_t room = http2_stream_room(s);
        size_t n = answer.n < room ? answer.n : room;
        if (s->lost || s->answered)
                return answer.n; /* for nobody */

        fifo_add(&s->in, answer.p, n);
        while (!s->answered && (s->begun ? body_step(s) : head_step(s)))
                ;

        if (s->body.n || s->answered)
                resume_stream(s);

        return n;
}

bool http2_stream_answered(const struct http2_stream *s) { return s->answered; }

void http2_stream_let_go(struct http2_stream *s)
{
        s->owned = false;
        if (s->closed) {
                http2_stream_free(s);
                return;
        }

        if (s->unpaid)
                (void) nghttp2_session_consume(s->c->session, s->id, s->unpaid);
        s->unpaid = 0;
        fifo_done(&s->request);
        if (!holds_answer(s) || s->in.n == 0)
                http2_stream_release(s);
}

void http2_stream_refuse(struct http2_stream *s)
{
        s->owned = false;
        (void) nghttp2_submit_rst_stream(s->c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_REFUSED_STREAM);
}
