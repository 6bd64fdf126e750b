/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_http2.c - a hostile box and a hostile server that speak HTTP/2. The first byte chooses the
 * side. As the box: every stream becomes whole HTTP/1.1, or at least nothing that the strict parser takes for
 * two requests; each is answered, and what it sends is bounded. As the server: its answer is read by the
 * strict parser too. The rest of the bytes are frames, behind the preface. */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TAKEN_MAX = 256 };

/* One head: whatever follows it belongs to its body. */
static void check_request(struct span in)
{
        struct http_head *h = malloc(sizeof *h);
        struct http_body b;
        struct span data;
        size_t used;
        if (!h || http_head_request(in, h) != HTTP_WHOLE) {
                free(h);
                return;
        }

        http_body_of(h, &b);
        in = span_of(in.p + h->bytes, in.n - h->bytes);
        enum body_state s = BODY_DATA;
        while (s == BODY_DATA) {
                s = http_body_next(&b, in, &used, &data);
                in = span_of(in.p + used, in.n - used);
        }

        if (s == BODY_BAD || (s == BODY_END && in.n))
                abort();
        free(h);
}

static void serve(struct http2_front *c, unsigned *taken)
{
        static const char answer[] =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: y\r\n\r\n";
        struct http2_stream *s;
        char buffer[4096];
        while ((s = http2_front_accept(c)) && ++*taken < TAKEN_MAX) {
                struct fifo all = { 0 };
                for (size_t n; (n = http2_stream_take(s, buffer, sizeof buffer));)
                        fifo_add(&all, buffer, n);
                check_request(fifo_all(&all));
                (void) http2_stream_give(s, span_str(answer));
                http2_stream_let_go(s);
                fifo_done(&all);
        }
        if (s)
                http2_stream_refuse(s);
}

static void as_box(struct span in)
{
        struct http2_front *c = http2_front_new(false);
        struct fifo out = { 0 };
        unsigned taken = 0;
        if (!c)
                return;

        http2_front_feed(c, span_str(HTTP2_PREFACE));
        while (in.n && !http2_front_over(c)) {
                size_t n = in.n < 512 ? in.n : 512;
                http2_front_feed(c, span_of(in.p, n));
                in = span_of(in.p + n, in.n - n);
                serve(c, &taken);
                http2_front_send(c, &out, HTTP_BUFFER);
                fifo_drop(&out, out.n);
        }
        http2_front_close(c);
        http2_front_send(c, &out, HTTP_BUFFER);
        fifo_done(&out);
        http2_front_free(c);
}

static void as_server(struct span in)
{
        struct http2_link *l = http2_link_new(false);
        struct fifo plain = { 0 }, out = { 0 }, got = { 0 };
        struct http_head *h = malloc(sizeof *h);
        if (!l || !h)
                abort();

        fifo_text(&plain, "POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Type: "
                          "application/grpc\r\nContent-Length: 3\r\n\r\nabc");
        (void) http2_link_send(l, &plain, &out);
        (void) http2_link_feed(l, in, &got);
        (void) http2_link_send(l, &plain, &out);
        (void) http_head_response(fifo_all(&got), h);
        fifo_done(&plain);
        fifo_done(&out);
        fifo_done(&got);
        free(h);
        http2_link_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0 || !http2_is_built())
                return 0;
        (data[0] & 1 ? as_server : as_box)(span_of(data + 1, size - 1));
        return 0;
}
