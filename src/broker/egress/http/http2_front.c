/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2_front.c - the connection of a box that speaks HTTP/2: frames to streams and back.
 * The box is hostile: streams at once, streams given up, headers, windows and queued answers are bounded, and
 * what breaks the protocol ends the stream or the connection. Decides nothing about requests. */
#include "broker/egress/http/http2_internal.h"

#include <stdlib.h>

enum {
        RESET_BURST = 1000,
        RESET_RATE = 33,
        CONTINUATIONS_MAX = 8,
        ACKS_MAX = 100,
        SETTINGS_ENTRIES_MAX = 32
};

static struct http2_stream *stream_of(nghttp2_session *session, int32_t id)
{
        return nghttp2_session_get_stream_user_data(session, id);
}

static bool is_request(const nghttp2_frame *f)
{
        return f->hd.type == NGHTTP2_HEADERS && f->headers.cat == NGHTTP2_HCAT_REQUEST;
}

/* ---- what came ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *f, void *user)
{
        if (!is_request(f))
                return 0;
        struct http2_stream *s = http2_stream_new(user, f->hd.stream_id);
        if (!s || nghttp2_session_set_stream_user_data(session, f->hd.stream_id, s) != 0)
                return NGHTTP2_ERR_CALLBACK_FAILURE;
        return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *user)
{
        struct http2_stream *s = is_request(f) ? stream_of(session, f->hd.stream_id) : NULL;
        struct http2_front *c = user;
        (void) flags;
        if (!s || http2_stream_field(s, span_of(name, name_n), span_of(value, value_n)))
                return 0; /* trailers of a request go nowhere, as those of HTTP/1.1 */
        c->malformed++;
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/* Not ignored, as they would be without this. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name,
                             size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *user)
{
        struct http2_front *c = user;
        (void) session, (void) f, (void) name, (void) name_n, (void) value, (void) value_n, (void) flags;
        c->malformed++;
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static void begin_stream(struct http2_stream *s, bool ends)
{
        http2_stream_head(s, ends);
        s->fresh = true;
        *s->c->fresh_end = s;
        s->c->fresh_end = &s->next_fresh;
}

/* Streams that a client opens and gives up cost us more than them. */
static void count_reset(struct http2_front *c)
{
        if (++c->resets > HTTP2_RESETS_MAX)
                (void) nghttp2_session_terminate_session(c->session, NGHTTP2_ENHANCE_YOUR_CALM);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *f, void *user)
{
        struct http2_stream *s = f->hd.stream_id ? stream_of(session, f->hd.stream_id) : NULL;
        bool ends = f->hd.flags & NGHTTP2_FLAG_END_STREAM;
        if (f->hd.type == NGHTTP2_RST_STREAM)
                count_reset(user);

        if (!s || (f->hd.type != NGHTTP2_HEADERS && f->hd.type != NGHTTP2_DATA))
                return 0;

        if (is_request(f))
                begin_stream(s, ends);
        if (ends)
                http2_stream_end(s);
        return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t n,
                   void *user)
{
        struct http2_stream *s = stream_of(session, id);
        (void) flags, (void) user;
        if (s && (s->owned || s->fresh))
                http2_stream_data(s, span_of(data, n));
        else if (nghttp2_session_consume(session, id, n) == 0 && s)
                http2_stream_drain(s, n);
        return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *user)
{
        struct http2_front *c = user;
        struct http2_stream *s = stream_of(session, id);
        if (!s)
                return 0;

        s->closed = true;
        s->lost = error != NGHTTP2_NO_ERROR || !s->answered || s->body.n;
        c->open--;
        c->resets -= !s->lost && c->resets > 0;
        if (s->unpaid) { /* the connection's window is not the stream's */
                (void) nghttp2_session_consume_connection(session, s->unpaid);
                s->unpaid = 0;
        }

        if (!s->owned && !s->fresh)
                http2_stream_free(s);
        return 0;
}

/* ---- what goes ---- */

static int on_sent(nghttp2_session *session, const nghttp2_frame *f, void *user)
{
        struct http2_front *c = user;
        bool ends = (f->hd.type == NGHTTP2_DATA || f->hd.type == NGHTTP2_HEADERS) &&
                    f->hd.flags & NGHTTP2_FLAG_END_STREAM;
        struct http2_stream *s = ends ? stream_of(session, f->hd.stream_id) : NULL;
        if (s && !s->ended) /* answered before its end: the rest is of no use */
                (void) nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR);

        bool refused = f->hd.type == NGHTTP2_RST_STREAM && f->rst_stream.error_code == NGHTTP2_PROTOCOL_ERROR;
        bool ended = f->hd.type == NGHTTP2_GOAWAY && f->goaway.error_code != NGHTTP2_NO_ERROR;
        c->malformed += refused || ended;
        return 0;
}

/* ---- the connection ---- */

static nghttp2_session *session_new(struct http2_front *c)
{
        nghttp2_session_callbacks *cb = NULL;
        nghttp2_option *o = NULL;
        nghttp2_session *session = NULL;
        if (nghttp2_session_callbacks_new(&cb) != 0 || nghttp2_option_new(&o) != 0)
                goto out;

        nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
        nghttp2_session_callbacks_set_on_invalid_header_callback(cb, on_invalid_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
        nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
        nghttp2_option_set_no_auto_window_update(o, 1);
        nghttp2_option_set_no_closed_streams(o, 1);
        nghttp2_option_set_max_outbound_ack(o, ACKS_MAX);
        nghttp2_option_set_max_settings(o, SETTINGS_ENTRIES_MAX);
#ifdef HAVE_NGHTTP2_LIMITS
        nghttp2_option_set_stream_reset_rate_limit(o, RESET_BURST, RESET_RATE);
        nghttp2_option_set_max_continuations(o, CONTINUATIONS_MAX);
#endif
        if (nghttp2_session_server_new2(&session, cb, c, o) != 0)
                session = NULL;
out:
        nghttp2_option_del(o);
        nghttp2_session_callbacks_del(cb);
        return session;
}

struct http2_front *http2_front_new(bool tls)
{
        static const nghttp2_settings_entry settings[] = {
                { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, HTTP2_STREAMS_MAX },
                { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2_BUFFER },
                { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_HEAD_MAX },
        };
        struct http2_front *c = calloc(1, sizeof *c);
        if (!c)
                return NULL;

        c->tls = tls;
        c->fresh_end = &c->fresh;
        c->session = session_new(c);
        if (c->session &&
            nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, COUNT(settings)) == 0 &&
            nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, HTTP2_WINDOW) == 0)
                return c;

        http2_front_free(c);
        return NULL;
}

void http2_front_free(struct http2_front *c)
{
        if (!c)
                return;
        nghttp2_session_del(c->session);
        while (c->streams)
                http2_stream_free(c->streams);
        free(c);
}

void http2_front_feed(struct http2_front *c, struct span bytes)
{
        if (c->broken || bytes.n == 0)
                return;
        ssize_t n = nghttp2_session_mem_recv(c->session, bytes.p, bytes.n);
        if (n < 0 || (size_t) n != bytes.n) {
                c->broken = true;
                c->malformed++;
        }
}

void http2_front_send(struct http2_front *c, struct fifo *out, size_t most)
{
        const uint8_t *p;
        ssize_t n = 1;
        while (n > 0 && out->n < most) {
                n = nghttp2_session_mem_send(c->session, &p);
                if (n > 0)
                        fifo_add(out, p, (size_t) n);
        }

        c->broken = c->broken || n < 0;
}

void http2_front_close(struct http2_front *c)
{
        if (!c->closing)
                (void) nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                                             nghttp2_session_get_last_proc_stream_id(c->session),
                                             NGHTTP2_NO_ERROR, NULL, 0);
        c->closing = true;
        for (struct http2_stream *s = c->streams; s; s = s->next)
                if (!s->owned && !s->fresh && !s->closed)
                        http2_stream_release(s);
}

bool http2_front_over(const struct http2_front *c)
{
        bool writes = nghttp2_session_want_write(c->session);
        if (c->broken)
                return true;
        return !writes && (!nghttp2_session_want_read(c->session) || (c->closing && c->open == 0));
}

unsigned http2_front_malformed(struct http2_front *c)
{
        unsigned n = c->malformed;
        c->malformed = 0;
        return n;
}

struct http2_stream *http2_front_accept(struct http2_front *c)
{
        struct http2_stream *s;
        while ((s = c->fresh)) {
                c->fresh = s->next_fresh;
                c->fresh_end = c->fresh ? c->fresh_end : &c->fresh;
                s->fresh = false;
                s->owned = true;
                if (!s->closed)
                        return s;
                http2_stream_free(s); /* given up before it was looked at */
        }

        return NULL;
}
