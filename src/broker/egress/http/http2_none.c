/* SPDX-License-Identifier: MIT */
/* broker/egress/http/http2_none.c - a build without libnghttp2: HTTP/2 is not offered, so none of this is
 * called. */
#include "broker/egress/http/http2.h"

bool http2_is_built(void) { return false; }
bool http2_is_grpc(struct span type) { return (void) type, false; }

struct http2_front *http2_front_new(bool tls) { return (void) tls, NULL; }
void http2_front_free(struct http2_front *c) { (void) c; }
void http2_front_feed(struct http2_front *c, struct span bytes) { (void) c, (void) bytes; }
void http2_front_send(struct http2_front *c, struct fifo *out, size_t most)
{
        (void) c, (void) out, (void) most;
}
void http2_front_close(struct http2_front *c) { (void) c; }
bool http2_front_over(const struct http2_front *c) { return (void) c, true; }
unsigned http2_front_malformed(struct http2_front *c) { return (void) c, 0; }
struct http2_stream *http2_front_accept(struct http2_front *c) { return (void) c, NULL; }

bool http2_stream_waits(const struct http2_stream *s) { return (void) s, false; }
bool http2_stream_is_lost(const struct http2_stream *s) { return (void) s, true; }
size_t http2_stream_take(struct http2_stream *s, void *to, size_t cap)
{
        return (void) s, (void) to, (void) cap, 0;
}
size_t http2_stream_give(struct http2_stream *s, struct span answer) { return (void) s, answer.n; }
size_t http2_stream_room(const struct http2_stream *s) { return (void) s, 0; }
bool http2_stream_answered(const struct http2_stream *s) { return (void) s, true; }
void http2_stream_let_go(struct http2_stream *s) { (void) s; }
void http2_stream_refuse(struct http2_stream *s) { (void) s; }

struct http2_link *http2_link_new(bool tls) { return (void) tls, NULL; }
void http2_link_free(struct http2_link *l) { (void) l; }
bool http2_link_send(struct http2_link *l, struct fifo *plain, struct fifo *out)
{
        return (void) l, (void) plain, (void) out, false;
}
bool http2_link_feed(struct http2_link *l, struct span bytes, struct fifo *in)
{
        return (void) l, (void) bytes, (void) in, false;
}
bool http2_link_is_stale(const struct http2_link *l) { return (void) l, true; }
