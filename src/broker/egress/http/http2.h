/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2.h - HTTP/2 as a coding of HTTP/1.1 messages, on both sides of a flow. The client's
 * side turns each stream into the bytes of one HTTP/1.1 request, which a flow of its own parses and decides
 * as any other, and that flow's answer back into frames; the server's side does the reverse, one stream at a
 * time. So nothing is decided here, and no rule exists twice. Frames and HPACK: libnghttp2, which these files
 * alone include. Sans-IO; pure. */
#pragma once
#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>

struct fifo;

enum {
        HTTP2_STREAMS_MAX = 64,     /* of one connection at once */
        HTTP2_RESETS_MAX = 100,     /* streams that a client gave up, without one that it did not */
        HTTP2_BUFFER = 64 * 1024,   /* of one stream, each way: also its window */
        HTTP2_DRAIN_MAX = 64 << 20, /* of a request that is answered already */
        HTTP2_WINDOW = 1024 * 1024, /* of a connection */
};

/* The client's preface begins so, whatever the connection is. */
#define HTTP2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

bool http2_is_built(void);
bool http2_is_grpc(struct span type); /* a Content-Type */

/* ---- http2_front.c: the side that faces the box ---- */

struct http2_front;
struct http2_stream;

struct http2_front *http2_front_new(bool tls);
void http2_front_free(struct http2_front *c); /* after all its streams were let go */
void http2_front_feed(struct http2_front *c, struct span bytes);
/* Adds frames to `out` while it has fewer than `most` bytes. */
void http2_front_send(struct http2_front *c, struct fifo *out, size_t most);
void http2_front_close(struct http2_front *c);         /* no new streams; over with the last */
bool http2_front_over(const struct http2_front *c);    /* nothing more comes of it */
unsigned http2_front_malformed(struct http2_front *c); /* broken streams and frames since the last call */
struct http2_stream *http2_front_accept(struct http2_front *c); /* a new one, or NULL */

/* ---- http2_stream.c: one of its streams, until http2_stream_let_go() ---- */

bool http2_stream_waits(const struct http2_stream *s);                  /* it has bytes, or was given up */
bool http2_stream_is_lost(const struct http2_stream *s);                /* the client gave it up */
size_t http2_stream_take(struct http2_stream *s, void *to, size_t cap); /* of the request */
size_t http2_stream_give(struct http2_stream *s, struct span answer);   /* how much of it was taken */
size_t http2_stream_room(const struct http2_stream *s);                 /* for more of it */
bool http2_stream_answered(const struct http2_stream *s);
/* An answer that is not whole resets it. */
void http2_stream_let_go(struct http2_stream *s);
/* It was not begun at all: the client may try again. */
void http2_stream_refuse(struct http2_stream *s);

/* ---- http2_link.c: the side that faces a server ---- */

struct http2_link;
struct http2_link *http2_link_new(bool tls);
void http2_link_free(struct http2_link *l);
/* Takes requests from `plain`, as far as there is room, and adds their frames to `out`. False: broken. */
bool http2_link_send(struct http2_link *l, struct fifo *plain, struct fifo *out);
/* Frames of the server; its answer, in HTTP/1.1, goes to `in`. False: no more comes. */
bool http2_link_feed(struct http2_link *l, struct span bytes, struct fifo *in);
bool http2_link_is_stale(const struct http2_link *l); /* takes no other request */
