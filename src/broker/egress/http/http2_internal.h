/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2_internal.h - declarations shared by the files behind http2.h. */
#pragma once
#include "broker/egress/http/http2.h"
#include "broker/egress/http/http_internal.h"

#include <nghttp2/nghttp2.h>

struct http2_head { /* the head of a request, field by field, while it comes */
        struct fifo method, scheme, authority, path, host, cookie, fields;
        size_t bytes;
        bool has_length, expects, grpc;
};

struct http2_stream {
        struct http2_front *c;
        struct http2_stream *next, *next_fresh;
        int32_t id;
        bool fresh, owned; /* not accepted yet; accepted, and not let go */
        bool closed, lost; /* nghttp2 forgot it; before its end */
        bool ended;        /* the client's half */
        struct http2_head head;
        struct fifo request; /* in HTTP/1.1 */
        size_t drained;      /* bytes of DATA that came after its answer */
        size_t unpaid;       /* bytes of DATA in it, which the window does not have back */
        bool chunked, head_only, grpc;
        bool lasts; /* its end will come, whatever is answered before */
        /* The answer: */
        struct fifo in, body, trailers;
        struct http_body answer;
        struct buf trailer_lines;
        bool begun, answered, waits; /* its head is out; all of it is here; no DATA is there to send */
        bool told;                   /* a refusal of gRPC, whose text is in the head */
        unsigned status;
};

struct http2_front {
        nghttp2_session *session;
        bool tls, closing, broken;
        unsigned resets, malformed, open;
        struct http2_stream *streams, *fresh, **fresh_end;
        struct http_head answer; /* of the stream being answered */
};

/* http2_stream.c */
struct http2_stream *http2_stream_new(struct http2_front *c, int32_t id);
void http2_stream_free(struct http2_stream *s);
bool http2_stream_field(struct http2_stream *s, struct span name, struct span value); /* false: malformed */
void http2_stream_head(struct http2_stream *s, bool ends);                            /* it is whole */
void http2_stream_data(struct http2_stream *s, struct span data);
void http2_stream_end(struct http2_stream *s);
/* Sends the part of its answer that was held back; half an answer resets it. */
void http2_stream_release(struct http2_stream *s);
void http2_stream_drain(struct http2_stream *s, size_t n); /* so much came that goes nowhere */

/* http2_fields.c */
enum { HTTP2_FIELDS_MAX = HTTP_FIELDS_MAX + 8 };
struct http2_fields { /* those of a head to be sent: they point into memory of others */
        nghttp2_nv v[HTTP2_FIELDS_MAX];
        size_t n;
};
void http2_fields_add(struct http2_fields *f, const char *name, struct span value);
/* All but those that end at this hop; names in small letters, in place. `length`: Content-Length too. */
void http2_fields_pass(struct http2_fields *f, const struct http_head *h, bool length);
/* "name: value" with its CRLF; false: not one that HTTP/1.1 could have. */
bool http2_field_line(struct fifo *out, struct span name, struct span value);
