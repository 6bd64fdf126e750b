/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_unpack.c - answers that come compressed. The first byte tells how; the rest is either what
 * a hostile server sends in the place of compressed data, or a text that is compressed here, with bytes 0x01
 * for the secret and 0x02 for its hex. However it is cut: what is whole is the same, nothing comes out but
 * what zlib makes of it at once, no secret reaches the client, and what is not whole does not look it. */
#include "../bearer.h"
#include "broker/egress/http/http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#define SECRET     "key-REALrealREAL1"
#define SECRET_HEX "6b65792d5245414c7265616c5245414c31"
#define HOLDER     "key-FAKEfakeFAKE1"
enum { OUT_MAX = 1 << 20, DEFLATE = 1, PACK = 2, CHUNKED = 4, OLD = 8, RAW = 16 };

static void need(bool good)
{
        if (!good)
                abort();
}

/* ---- by itself ---- */

static bool unpack_cut(enum unpack_kind kind, struct span in, size_t cut, struct fifo *out)
{
        struct unpack *u = unpack_new(kind);
        enum unpack_state s = UNPACK_MORE;
        need(u != NULL);
        for (size_t i = 0; (i < in.n || s == UNPACK_FULL) && s != UNPACK_BAD && out->n < OUT_MAX;) {
                size_t used, n = cut < in.n - i ? cut : in.n - i;
                struct span got;
                s = unpack_pass(u, span_of(in.p + i, n), &used, &got);
                need(used <= n && got.n <= UNPACK_OUT && (s != UNPACK_BAD || got.n == 0));
                need(s != UNPACK_MORE || used == n);
                fifo_span(out, got);
                i += used;
        }
        bool whole = unpack_whole(u) && s != UNPACK_FULL;
        need((s == UNPACK_BAD) == (unpack_why(u) != REASON_NONE) && !(s == UNPACK_BAD && whole));
        unpack_free(u);
        return whole;
}

static bool starts_with(const struct fifo *a, const struct fifo *b)
{
        return b->n <= a->n && (b->n == 0 || memcmp(a->p + a->at, b->p + b->at, b->n) == 0);
}

/* What zlib alone makes of one member or stream. */
static void check_with_zlib(enum unpack_kind kind, struct span in, const struct fifo *out)
{
        static uint8_t to[OUT_MAX];
        bool wrapped = in.n >= 2 && (in.p[0] & 15) == 8 && (in.p[0] << 8 | in.p[1]) % 31 == 0;
        z_stream z = { .next_in = in.p, .avail_in = (uInt) in.n, .next_out = to, .avail_out = sizeof to };
        need(inflateInit2(&z, kind == UNPACK_GZIP ? 31 : wrapped ? 15 : -15) == Z_OK);
        int r = inflate(&z, Z_FINISH);
        size_t n = sizeof to - z.avail_out;
        (void) inflateEnd(&z);
        if (r == Z_STREAM_END && z.avail_in == 0)
                need(out->n == n && (n == 0 || memcmp(out->p + out->at, to, n) == 0));
        else if (r != Z_STREAM_END)
                need(out->n <= n || n == sizeof to);
}

static void check_cuts(enum unpack_kind kind, struct span in)
{
        static const size_t cuts[] = { 1, 3, 700 };
        bool by_zlib = kind == UNPACK_GZIP || kind == UNPACK_DEFLATE;
        struct fifo once = { 0 };
        struct unpack *there = unpack_new(kind);
        unpack_free(there);
        if (!there)
                return; /* not in this build */
        bool whole = unpack_cut(kind, in, SIZE_MAX, &once);
        if (by_zlib && once.n < OUT_MAX)
                check_with_zlib(kind, in, &once);
        for (size_t i = 0; i < COUNT(cuts) && once.n < OUT_MAX; i++) {
                struct fifo out = { 0 };
                need(unpack_cut(kind, in, cuts[i], &out) == whole);
                need(whole ? out.n == once.n && starts_with(&out, &once)
                           : starts_with(&out, &once) || starts_with(&once, &out));
                fifo_done(&out);
        }
        fifo_done(&once);
}

/* ---- in a flow ---- */

static void move(struct http_flow *f, struct fifo *down)
{
        struct http_target t;
        for (bool more = true; more && down->n < OUT_MAX;) {
                struct span c = http_flow_to_client(f), u = http_flow_to_upstream(f);
                more = c.n > 0;
                fifo_span(down, c);
                http_flow_client_took(f, c.n);
                http_flow_upstream_took(f, u.n);
                if (http_flow_take_connect(f, &t)) {
                        http_flow_upstream_connected(f);
                        more = true;
                }
        }
}

static void feed(struct http_flow *f, struct span in, size_t cut, bool chunked, struct fifo *down)
{
        for (size_t i = 0, n; i < in.n && down->n < OUT_MAX; i += n) {
                char size[20];
                n = cut < in.n - i ? cut : in.n - i;
                (void) snprintf(size, sizeof size, "%zx\r\n", n);
                if (chunked)
                        http_flow_from_upstream(f, span_str(size));
                http_flow_from_upstream(f, span_of(in.p + i, n));
                if (chunked)
                        http_flow_from_upstream(f, span_str("\r\n"));
                move(f, down);
        }
        if (chunked)
                http_flow_from_upstream(f, span_str("0\r\n\r\n"));
        else
                http_flow_upstream_closed(f);
        move(f, down);
}

static struct http_rules *rules(void)
{
        static const struct http_credential key = BEARER_KEY(SECRET, HOLDER);
        static const struct policy_context ctx = { .work = "/w", .home = "/h", .now = 1 };
        static struct http_rules *r;
        struct err e;
        if (r)
                return r;
        struct policy *p = policy_new();
        need(policy_add_text(p, "p", span_str("use none\nnet http://api.test/** GET with key\n"), &e) == 0);
        struct http_rules_in in = { .policy = policy_check(p, &ctx, &e),
                                    .stage = POLICY_STAGE_LIVE,
                                    .credentials = &key,
                                    .credential_count = 1 };
        policy_free(p);
        r = http_rules_new(&in, &e);
        need(r != NULL);
        return r;
}

static bool has(const struct fifo *q, const char *text)
{
        return q->n && memmem(q->p + q->at, q->n, text, strlen(text));
}

static bool ends(const struct fifo *q, const char *text)
{
        size_t n = strlen(text);
        return q->n >= n && memcmp(q->p + q->at + q->n - n, text, n) == 0;
}

static void check_flow(uint8_t how, struct span in, bool whole)
{
        struct http_peer peer = { .host = "api.test", .port = 80 };
        struct http_flow *f = http_flow_new(rules(), &peer, NULL);
        struct fifo down = { 0 };
        http_flow_from_client(f, span_str(how & OLD ? "GET /x HTTP/1.0\r\nHost: api.test\r\n\r\n"
                                                    : "GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"));
        move(f, &down);
        http_flow_from_upstream(f, span_str(how & DEFLATE ? "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n"
                                                          : "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"));
        http_flow_from_upstream(f, span_str(how & CHUNKED ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"));
        feed(f, in, how >> 5 ? (size_t) 1 << (how >> 5) : 1, how & CHUNKED, &down);
        need(!has(&down, SECRET) && !has(&down, SECRET_HEX));
        if (down.n < OUT_MAX && !has(&down, "HTTP/1.1 502")) {
                if (how & OLD)
                        need(http_flow_client_cut(f) == !whole);
                else
                        need(ends(&down, "\r\n0\r\n\r\n") == whole);
        }
        http_flow_free(f);
        fifo_done(&down);
}

/* ---- */

static void expand(struct span in, struct fifo *out)
{
        for (size_t i = 0; i < in.n; i++) {
                if (in.p[i] == 1)
                        fifo_text(out, SECRET);
                else if (in.p[i] == 2)
                        fifo_text(out, SECRET_HEX);
                else
                        fifo_add(out, in.p + i, 1);
        }
}

static void pack(uint8_t how, struct span text, struct fifo *out)
{
        static uint8_t to[OUT_MAX];
        z_stream z = { .next_in = text.p, .avail_in = (uInt) text.n, .next_out = to, .avail_out = sizeof to };
        int bits = !(how & DEFLATE) ? 31 : how & RAW ? -15 : 15;
        need(deflateInit2(&z, how & RAW ? 9 : 1, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
        need(deflate(&z, Z_FINISH) == Z_STREAM_END);
        (void) deflateEnd(&z);
        fifo_add(out, to, sizeof to - z.avail_out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 1 || size > 8192)
                return 0;
        uint8_t how = data[0];
        enum unpack_kind kind = how & DEFLATE ? UNPACK_DEFLATE : UNPACK_GZIP;
        struct span in = span_of(data + 1, size - 1);
        struct fifo text = { 0 }, packed = { 0 }, out = { 0 };
        if (how & PACK) {
                expand(in, &text);
                pack(how, fifo_all(&text), &packed);
                in = fifo_all(&packed);
        }
        check_cuts(kind, in);
        if (!(how & PACK)) {
                check_cuts(UNPACK_BROTLI, in);
                check_cuts(UNPACK_ZSTD, in);
        }
        bool whole = unpack_cut(kind, in, SIZE_MAX, &out);
        if (how & PACK)
                need(whole && out.n == text.n && starts_with(&out, &text));
        if (out.n < OUT_MAX / 2)
                check_flow(how, in, whole);
        fifo_done(&text);
        fifo_done(&packed);
        fifo_done(&out);
        return 0;
}
