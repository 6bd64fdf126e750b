/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2_link.c - a server that speaks HTTP/2: one request after the other goes to it, and
 * its answers come as HTTP/1.1, to be read as strictly as any. Nothing is accepted that was not asked for: no
 * push, no answer after the end. Decides nothing. */
#include "broker/egress/http/http2_internal.h"

#include <stdlib.h>

struct http2_link {
        nghttp2_session *session;
        bool tls, broken, goaway;
        bool half;  /* the last answer came before the end of its request: the rest goes nowhere */
        int32_t id; /* of the stream under way; 0: none */
        struct http_head head;
        struct http_body request;
        struct fifo body;
        bool request_ended, waits, head_only;
        /* The answer: */
        struct fifo *in; /* while bytes are fed */
        struct fifo fields;
        unsigned status;
        bool final, chunked, has_length, answered;
};

/* ---- the request ---- */

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t cap, uint32_t *flags,
                         nghttp2_data_source *source, void *user)
{
        struct http2_link *l = source->ptr;
        (void) session, (void) id, (void) user;
        if (l->body.n == 0 && !l->request_ended) {
                l->waits = true;
                return NGHTTP2_ERR_DEFERRED;
        }

        size_t n = fifo_take(&l->body, to, cap);
        if (l->body.n == 0 && l->request_ended)
                *flags |= NGHTTP2_DATA_FLAG_EOF;
        return (ssize_t) n;
}

static void reset_link(struct http2_link *l)
{
        fifo_done(&l->body);
        fifo_done(&l->fields);
        l->request_ended = l->waits = l->final = l->chunked = l->has_length = l->answered = false;
        l->status = 0;
}

static bool begin_link(struct http2_link *l, struct fifo *plain)
{
        struct http2_fields f = { .n = 0 };
        const struct http_head *h = &l->head;
        enum http_read r = http_head_request(fifo_all(plain), &l->head);
        const nghttp2_data_provider from = { { .ptr = l }, read_body };
        if (r != HTTP_WHOLE) {
                l->broken = l->broken || r == HTTP_BAD;
                return false;
        }

        reset_link(l);
        l->head_only = span_is(h->method, "HEAD");
        const struct http_field *host = http_field_find(h, "host", NULL);
        const struct http_field *type = http_field_find(h, "content-type", NULL);
        http2_fields_add(&f, ":method", h->method);
        http2_fields_add(&f, ":scheme", span_str(l->tls ? "https" : "http"));
        http2_fields_add(&f, ":authority", host->value);
        http2_fields_add(&f, ":path", h->target);
        http2_fields_pass(&f, h, true);
        if (type && http2_is_grpc(type->value))
                http2_fields_add(&f, "te", span_str("trailers"));

        http_body_of(h, &l->request);
        bool empty = !h->chunked && h->length == 0;
        l->id = nghttp2_submit_request(l->session, NULL, f.v, f.n, empty ? NULL : &from, NULL);
        l->request_ended = empty;
        l->broken = l->broken || l->id < 0;
        fifo_drop(plain, h->bytes);
        return !l->broken;
}

static void take_body(struct http2_link *l, struct fifo *plain)
{
        enum body_state s = BODY_DATA;
        while (s == BODY_DATA && !l->request_ended && l->body.n < HTTP2_BUFFER) {
                size_t used;
                struct span data;
                s = http_body_next(&l->request, fifo_all(plain), &used, &data);
                fifo_span(&l->body, data);
                fifo_drop(plain, used);
                l->request_ended = s == BODY_END;
                l->broken = l->broken || s == BODY_BAD;
        }

        if (l->waits && (l->body.n || l->request_ended)) {
                l->waits = false;
                (void) nghttp2_session_resume_data(l->session, l->id);
        }
}

bool http2_link_send(struct http2_link *l, struct fifo *plain, struct fifo *out)
{
        const uint8_t *p;
        ssize_t n = 1;
        if (l->half)
                fifo_drop(plain, plain->n);
        if (l->id == 0 && plain->n)
                (void) begin_link(l, plain);
        if (l->id > 0)
                take_body(l, plain);

        while (!l->broken && n > 0 && out->n < HTTP2_BUFFER) {
                n = nghttp2_session_mem_send(l->session, &p);
                if (n > 0)
                        fifo_add(out, p, (size_t) n);
        }

        return !l->broken && n >= 0;
}

/* ---- the answer ---- */

static int on_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *user)
{
        struct http2_link *l = user;
        struct span n = span_of(name, name_n), v = span_of(value, value_n);
        (void) session, (void) flags;
        if (f->hd.type != NGHTTP2_HEADERS || f->hd.stream_id != l->id)
                return 0;

        if (span_is(n, ":status") && v.n == 3) {
                l->status = (v.p[0] - '0') * 100u + (v.p[1] - '0') * 10u + (v.p[2] - '0');
                return 0;
        }

        l->has_length = l->has_length || http_name_is(n, "content-length");
        if (l->fields.n > HTTP_HEAD_MAX) /* enough to see that it is too long */
                return 0;
        return http2_field_line(&l->fields, n, v) ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name,
                             size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *user)
{
        (void) session, (void) f, (void) name, (void) name_n, (void) value, (void) value_n, (void) flags;
        (void) user;
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void put_head(struct http2_link *l, bool ends)
{
        bool none = l->head_only || l->status < 200 || l->status == 204 || l->status == 304;
        fifo_printf(l->in, "HTTP/1.1 %u \r\n", l->status % 1000);
        fifo_span(l->in, fifo_all(&l->fields));
        l->final = l->status >= 200;
        l->chunked = !none && !ends && !l->has_length;
        if (l->chunked)
                fifo_text(l->in, "transfer-encoding: chunked\r\n");
        else if (!none && ends && !l->has_length)
                fifo_text(l->in, "content-length: 0\r\n");
        fifo_text(l->in, "\r\n");
}

static void put_end(struct http2_link *l, bool with_trailers)
{
        l->answered = true;
        if (!l->chunked)
                return;
        fifo_text(l->in, "0\r\n");
        if (with_trailers)
                fifo_span(l->in, fifo_all(&l->fields));
        fifo_text(l->in, "\r\n");
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *f, void *user)
{
        struct http2_link *l = user;
        bool ends = f->hd.flags & NGHTTP2_FLAG_END_STREAM, was_final = l->final;
        bool is_head = f->hd.type == NGHTTP2_HEADERS;
        (void) session;
        l->goaway = l->goaway || f->hd.type == NGHTTP2_GOAWAY;
        if (f->hd.stream_id != l->id || l->id == 0 || (!is_head && f->hd.type != NGHTTP2_DATA))
                return 0;

        if (is_head && !was_final)
                put_head(l, ends);
        if (ends && l->final)
                put_end(l, is_head && was_final);
        if (is_head)
                fifo_done(&l->fields);
        return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t n,
                   void *user)
{
        struct http2_link *l = user;
        (void) session, (void) flags;
        if (id != l->id || n == 0 || !l->final)
                return 0;

        if (l->chunked)
                fifo_printf(l->in, "%zx\r\n", n);
        fifo_add(l->in, data, n);
        if (l->chunked)
                fifo_text(l->in, "\r\n");
        return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *user)
{
        struct http2_link *l = user;
        (void) session, (void) error;
        if (id != l->id)
                return 0;

        l->broken = l->broken || !l->answered;
        l->half = !l->request_ended || l->body.n;
        l->goaway = l->goaway || l->half;
        l->id = 0;
        return 0;
}

/* ---- the connection ---- */

static nghttp2_session *session_new(struct http2_link *l)
{
        nghttp2_session_callbacks *cb = NULL;
        nghttp2_session *session = NULL;
        if (nghttp2_session_callbacks_new(&cb) != 0)
                return NULL;

        nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
        nghttp2_session_callbacks_set_on_invalid_header_callback(cb, on_invalid_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
        if (nghttp2_session_client_new(&session, cb, l) != 0)
                session = NULL;
        nghttp2_session_callbacks_del(cb);
        return session;
}

struct http2_link *http2_link_new(bool tls)
{
        static const nghttp2_settings_entry settings[] = {
                { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
                { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2_WINDOW },
                { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX },
        };
        struct http2_link *l = calloc(1, sizeof *l);
        if (!l)
                return NULL;

        l->tls = tls;
        l->session = session_new(l);
        if (l->session &&
            nghttp2_submit_settings(l->session, NGHTTP2_FLAG_NONE, settings, COUNT(settings)) == 0 &&
            nghttp2_session_set_local_window_size(l->session, NGHTTP2_FLAG_NONE, 0, HTTP2_WINDOW) == 0)
                return l;

        http2_link_free(l);
        return NULL;
}

void http2_link_free(struct http2_link *l)
{
        if (!l)
                return;
        nghttp2_session_del(l->session);
        fifo_done(&l->body);
        fifo_done(&l->fields);
        free(l);
}

bool http2_link_feed(struct http2_link *l, struct span bytes, struct fifo *in)
{
        if (l->broken)
                return false;

        l->in = in;
        ssize_t n = nghttp2_session_mem_recv(l->session, bytes.p, bytes.n);
        l->in = NULL;
        l->broken = l->broken || n < 0 || (size_t) n != bytes.n;
        return !l->broken;
}

bool http2_link_is_stale(const struct http2_link *l) { return l->broken || l->goaway; }
