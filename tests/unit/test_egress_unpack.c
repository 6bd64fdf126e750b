/* SPDX-License-Identifier: MIT */
/* Compressed answers: what is unpacked, what is refused, and that no secret comes through either way. */
#include "../bearer.h"
#include "test_unpack_common.h"

#define ZLIB_CONST
#include <zlib.h>

#define SECRET        "ghp_R3alSecretValue-7711"
#define SECRET_HEX    "6768705f5233616c53656372657456616c75652d37373131"
#define SECRET_BASE64 "Z2hwX1IzYWxTZWNyZXRWYWx1ZS03NzEx"
#define HOLDER        "ghp_FakeHolderValue-0000"
#define GET           "GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"
#define GET_10        "GET /x HTTP/1.0\r\nHost: api.test\r\n\r\n"

static const struct http_credential key = BEARER_KEY(SECRET, HOLDER);
static const struct rig_in plain = { .policy = "use none\nnet http://api.test/** GET HEAD POST with key\n",
                                     .credentials = &key,
                                     .credential_count = 1,
                                     .stage = POLICY_STAGE_LIVE };

/* ---- packing ---- */

enum { RAW = -15, WRAPPED = 15, GZIPPED = 31 };

static void pack_as(struct span text, int bits, int level, int strategy, struct buf *out)
{
        static uint8_t to[1 << 18];
        z_stream z = { .next_in = text.p, .avail_in = (uInt) text.n, .next_out = to, .avail_out = sizeof to };
        CHECK_INT(deflateInit2(&z, level, Z_DEFLATED, bits, 8, strategy), Z_OK);
        CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
        buf_add(out, to, sizeof to - z.avail_out);
        (void) deflateEnd(&z);
}

static void pack(const char *text, int bits, struct buf *out)
{
        pack_as(span_str(text), bits, 9, Z_DEFAULT_STRATEGY, out);
}

/* `n` zeros, many times what is packed. */
static void pack_zeros(size_t n, int bits, struct buf *out)
{
        static const uint8_t zeros[65536];
        static uint8_t to[65536];
        z_stream z = { 0 };
        CHECK_INT(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
        for (int r = Z_OK; r == Z_OK;) {
                uInt now = (uInt) (n < sizeof zeros ? n : sizeof zeros);
                z.next_in = zeros;
                z.avail_in = now;
                z.next_out = to;
                z.avail_out = sizeof to;
                n -= now;
                r = deflate(&z, n ? Z_NO_FLUSH : Z_FINISH);
                buf_add(out, to, sizeof to - z.avail_out);
        }
        (void) deflateEnd(&z);
}

static void test_unpack__every_form_in_every_cut(void)
{
        static const struct {
                int bits;
                enum unpack_kind kind;
        } forms[] = { { GZIPPED, UNPACK_GZIP },
                      { WRAPPED, UNPACK_DEFLATE },
                      { RAW, UNPACK_DEFLATE },
                      { -9, UNPACK_DEFLATE },
                      { 9, UNPACK_DEFLATE } };
        static const int levels[] = { 0, 1, 6, 9 },
                         strategies[] = { Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED };
        static const size_t sizes[] = { 0, 1, 2, 300, 100000 }, cuts[] = { 0, 1, 2, 3, 977, 40000 };
        for (size_t n = 0; n < COUNT(sizes); n++) {
                AUTO_BUF(text);
                sample(sizes[n], &text);
                for (size_t i = 0; i < COUNT(forms) * COUNT(levels) * COUNT(strategies); i++) {
                        AUTO_BUF(packed);
                        size_t form = i % COUNT(forms), level = i / COUNT(forms) % COUNT(levels);
                        pack_as(buf_span(&text), forms[form].bits, levels[level],
                                strategies[i / COUNT(forms) / COUNT(levels)], &packed);
                        for (size_t c = 0; c < COUNT(cuts); c++) {
                                struct result r = unpack_in(forms[form].kind, buf_span(&packed), cuts[c]);
                                CHECK(!r.bad && r.whole && same(&r.out, &text));
                                buf_done(&r.out);
                        }
                }
        }
}

static void test_unpack__members_follow_each_other_and_nothing_else_does(void)
{
        AUTO_BUF(two);
        AUTO_BUF(wrapped);
        AUTO_BUF(raw);
        pack("hello ", GZIPPED, &two);
        pack("", GZIPPED, &two);
        pack("world", GZIPPED, &two);
        pack("hello", WRAPPED, &wrapped);
        pack("hello", RAW, &raw);
        static const char *const garbage[] = { "x", "\x1f\x8bxx", "\x1f", "GET / HTTP/1.1\r\n\r\n" };
        for (size_t cut = 0; cut < 8; cut++) {
                struct result r = unpack_in(UNPACK_GZIP, buf_span(&two), cut);
                CHECK(r.whole && !r.bad);
                CHECK_STR(buf_str(&r.out), "hello world");
                buf_done(&r.out);
                for (size_t i = 0; i <= COUNT(garbage); i++) {
                        struct span more = i < COUNT(garbage) ? span_str(garbage[i]) : span_of("\0\0", 2);
                        const struct buf *const forms[] = { &two, &wrapped, &raw };
                        for (size_t k = 0; k < COUNT(forms); k++) {
                                AUTO_BUF(with);
                                buf_add(&with, forms[k]->p, forms[k]->n);
                                buf_add(&with, more.p, more.n);
                                r = unpack_in(k ? UNPACK_DEFLATE : UNPACK_GZIP, buf_span(&with), cut);
                                CHECK(!r.whole);
                                CHECK(r.bad || more.n == 1); /* one byte could begin a member */
                                CHECK(!r.bad || r.why == REASON_ANSWER_TAIL);
                                buf_done(&r.out);
                        }
                }
        }
}

static void test_unpack__no_part_is_taken_for_the_whole(void)
{
        static const int bits[] = { GZIPPED, WRAPPED, RAW };
        for (size_t k = 0; k < COUNT(bits); k++) {
                AUTO_BUF(text);
                AUTO_BUF(packed);
                sample(5000, &text);
                pack_as(buf_span(&text), bits[k], 6, Z_DEFAULT_STRATEGY, &packed);
                for (size_t n = 0; n <= packed.n; n++) {
                        struct result r =
                                unpack_in(k ? UNPACK_DEFLATE : UNPACK_GZIP, span_of(packed.p, n), 0);
                        CHECK(!r.bad);
                        CHECK_INT(r.whole, n == 0 || n == packed.n);
                        CHECK(r.out.n <= text.n && (!r.out.n || memcmp(r.out.p, text.p, r.out.n) == 0));
                        buf_done(&r.out);
                }
        }
}

static void test_unpack__no_damage_is_taken_for_whole(void)
{
        AUTO_BUF(text);
        AUTO_BUF(packed);
        sample(600, &text);
        pack_as(buf_span(&text), GZIPPED, 6, Z_DEFAULT_STRATEGY, &packed);
        unsigned found = 0;
        for (size_t i = 0; i < 8 * packed.n; i++) {
                packed.p[i / 8] = (char) (packed.p[i / 8] ^ 1 << i % 8);
                struct result r = unpack_in(UNPACK_GZIP, buf_span(&packed), 0);
                found += r.bad || !r.whole;
                CHECK(r.bad || !r.whole || same(&r.out, &text)); /* a date in the head */
                CHECK(!r.bad || r.why);
                buf_done(&r.out);
                packed.p[i / 8] = (char) (packed.p[i / 8] ^ 1 << i % 8);
        }
        CHECK(found > 8 * (packed.n - 10));
}

static void test_unpack__heads(void)
{
        static const char all[] = "\x1f\x8b\x08\x1c\1\2\3\4\0\3\4\0abcdname\0comment\0";
        static const struct {
                enum unpack_kind kind;
                struct span bytes;
                bool bad;
        } rows[] = {
                { UNPACK_GZIP, { (const uint8_t *) all, sizeof all - 1 }, false },
                { UNPACK_GZIP,
                  { (const uint8_t *) "\x1f\x8b\x07\0\0\0\0\0\0\3", 10 },
                  true }, /* no deflate */
                { UNPACK_GZIP,
                  { (const uint8_t *) "\x1f\x8b\x08\xe0\0\0\0\0\0\3", 10 },
                  true },                                                               /* reserved */
                { UNPACK_GZIP, { (const uint8_t *) "\x78\x9c\3\0\0\0\0\1", 8 }, true }, /* zlib */
                { UNPACK_GZIP, { (const uint8_t *) "hello", 5 }, true },
                { UNPACK_DEFLATE, { (const uint8_t *) "\x78\xbb\0\0\0\1", 6 }, true }, /* a dictionary */
                { UNPACK_DEFLATE, { (const uint8_t *) "\x1f\x8b\x08\0\0\0", 6 }, true },
                { UNPACK_DEFLATE, { (const uint8_t *) "\3\0", 2 }, false },
                { UNPACK_DEFLATE, { (const uint8_t *) "\7\0", 2 }, true }, /* no such block */
        };
        for (size_t i = 0; i < COUNT(rows); i++)
                for (size_t cut = 0; cut < 4; cut++) {
                        struct result r = unpack_in(rows[i].kind, rows[i].bytes, cut);
                        CHECK_INT(r.bad, rows[i].bad);
                        CHECK_INT(r.out.n, 0);
                        buf_done(&r.out);
                }
        AUTO_BUF(whole);
        AUTO_BUF(body);
        pack("hello", GZIPPED, &body);
        buf_add(&whole, all, sizeof all - 1);
        buf_add(&whole, body.p + 10, body.n - 10);
        struct result r = unpack_in(UNPACK_GZIP, buf_span(&whole), 1);
        CHECK(r.whole);
        CHECK_STR(buf_str(&r.out), "hello");
        buf_done(&r.out);
        CHECK(!unpack_new(UNPACK_NONE));
}

/* ---- flows ---- */

static void send_answer(struct rig *g, const char *head, const struct buf *body, size_t cut)
{
        AUTO_BUF(all);
        buf_add(&all, head, strlen(head));
        buf_add(&all, body->p, body->n);
        rig_upstream(g, buf_span(&all), cut);
}

static void chunk(const struct buf *body, size_t size, struct buf *out)
{
        for (size_t i = 0; i < body->n; i += size) {
                size_t n = size < body->n - i ? size : body->n - i;
                buf_printf(out, "%zx\r\n", n);
                buf_add(out, body->p + i, n);
                buf_printf(out, "\r\n");
        }
        buf_printf(out, "0\r\n\r\n");
}

/* What the client got, its chunks put together; false: they do not come to an end. */
static bool joined(const struct buf *got, struct buf *out)
{
        static struct http_head h;
        struct http_body b;
        struct span in = buf_span(got), data;
        size_t used = 0;
        if (http_head_response(in, &h) != HTTP_WHOLE)
                return false;
        http_body_init(&b, h.chunked ? BODY_CHUNKED : BODY_LENGTH, h.length);
        in = span_of(in.p + h.bytes, in.n - h.bytes);
        for (enum body_state s = BODY_DATA; s == BODY_DATA; in = span_of(in.p + used, in.n - used)) {
                s = http_body_next(&b, in, &used, &data);
                buf_add(out, data.p, data.n);
                if (s == BODY_END)
                        return true;
        }
        return false;
}

static const char leak[] = "you sent " SECRET ", or " SECRET_HEX ", or " SECRET_BASE64 ", did you not?";

static void check_scrubbed(struct rig *g)
{
        AUTO_BUF(body);
        CHECK(joined(&g->to_client, &body));
        CHECK(holds(&body, "you sent ***") && holds(&body, "***, or ***") &&
              holds(&body, "***, did you not?"));
        CHECK_INT(body.n, sizeof leak - 1);
        CHECK(!holds(&g->to_client, SECRET) && !holds(&g->to_client, SECRET_HEX) &&
              !holds(&g->to_client, SECRET_BASE64));
        CHECK(!holds(&g->to_client, "ncoding: gzip") && !holds(&g->to_client, "ontent-Length"));
        CHECK(rig_last(g)->scrubbed);
        CHECK_INT(rig_last(g)->verdict, HTTP_ALLOWED);
        CHECK_INT(rig_last(g)->received, sizeof leak - 1);
}

static void test_flow__a_secret_in_a_compressed_answer_is_starred_in_every_framing_and_cut(void)
{
        static const struct {
                int bits;
                const char *coding, *status;
        } rows[] = { { GZIPPED, "gzip", "200 OK" },
                     { GZIPPED, "X-GZIP", "500 Error" },
                     { WRAPPED, "deflate", "404 Not" },
                     { RAW, "deflate", "200 OK" } };
        for (size_t i = 0; i < COUNT(rows); i++) {
                AUTO_BUF(packed);
                pack(leak, rows[i].bits, &packed);
                for (size_t framing = 0; framing < 3; framing++)
                        for (size_t cut = 0; cut < 200; cut++) {
                                AUTO_BUF(body);
                                AUTO_BUF(head);
                                struct rig g;
                                if (!rig_start(&g, &plain))
                                        return;
                                buf_printf(&head, "HTTP/1.1 %s\r\nContent-Encoding: %s\r\n", rows[i].status,
                                           rows[i].coding);
                                if (framing == 0)
                                        buf_printf(&head, "Content-Length: %zu\r\n", packed.n);
                                if (framing == 1)
                                        buf_printf(&head, "Transfer-Encoding: chunked\r\n");
                                buf_printf(&head, "\r\n");
                                if (framing == 1)
                                        chunk(&packed, cut + 1, &body);
                                else
                                        buf_add(&body, packed.p, packed.n);
                                rig_client(&g, span_str(GET), 0);
                                send_answer(&g, buf_str(&head), &body, cut);
                                if (framing == 2) {
                                        http_flow_upstream_closed(g.flow);
                                        rig_move(&g);
                                }
                                check_scrubbed(&g);
                                CHECK(!http_flow_done(g.flow));
                                rig_end(&g);
                        }
        }
}

static void test_flow__the_head_tells_what_the_box_gets(void)
{
        static const char head[] =
                "HTTP/1.1 200 OK\r\nContent-Encoding: identity, gzip\r\nETag: \"a\"\r\n"
                "Accept-Ranges: bytes\r\nContent-MD5: x\r\nDigest: x\r\nRepr-Digest: x\r\n"
                "Content-Digest: x\r\nVary: Accept-Encoding\r\nContent-Length: %zu\r\n\r\n";
        static const struct {
                const char *request, *want;
        } rows[] = {
                { GET, "HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\nVary: Accept-Encoding\r\nTransfer-Encoding: "
                       "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" },
                { GET_10, "HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\nVary: Accept-Encoding\r\nConnection: "
                          "close\r\n\r\nhello" },
                { "HEAD /x HTTP/1.1\r\nHost: api.test\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\nVary: Accept-Encoding\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n" },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                AUTO_BUF(packed);
                char text[400];
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                pack("hello", GZIPPED, &packed);
                (void) snprintf(text, sizeof text, head, packed.n);
                if (i == 2)
                        packed.n = 0;
                rig_client(&g, span_str(rows[i].request), 0);
                send_answer(&g, text, &packed, 0);
                CHECK_STR(buf_str(&g.to_client), rows[i].want);
                CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                CHECK(!http_flow_client_cut(g.flow));
                rig_end(&g);
        }
}

static void test_flow__answers_without_a_body_need_no_unpacking(void)
{
        static const char *const answers[][2] = {
                { "HTTP/1.1 204 No\r\nContent-Encoding: gzip\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n" },
                { "HTTP/1.1 304 Not\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\nETag: W/\"a\"\r\n\r\n",
                  "HTTP/1.1 304 Not\r\nETag: W/\"a\"\r\n\r\n" },
                { "HTTP/1.1 302 F\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
                  "HTTP/1.1 302 F\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
                { "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
                { "HTTP/1.1 200 OK\r\nContent-Encoding: identity, \r\nContent-Length: 2\r\n\r\nok",
                  "HTTP/1.1 200 OK\r\nContent-Encoding: identity,\r\nContent-Length: 2\r\n\r\nok" },
        };
        for (size_t i = 0; i < COUNT(answers); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(GET), 0);
                rig_upstream(&g, span_str(answers[i][0]), 0);
                CHECK_STR(buf_str(&g.to_client), answers[i][1]);
                CHECK(!http_flow_done(g.flow));
                rig_end(&g);
        }
}

static void test_flow__what_cannot_be_read_is_refused(void)
{
        static const char *const heads[] = {
                "200 OK\r\nContent-Encoding: compress\r\n",
                "200 OK\r\nContent-Encoding: gzip, gzip\r\n",
                "200 OK\r\nContent-Encoding: br, gzip\r\n",
                "200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: deflate\r\n",
                "200 OK\r\nContent-Encoding: gzip;q=1\r\n",
                "206 Part\r\nContent-Encoding: gzip\r\nContent-Range: bytes 0-9/10\r\n",
        };
        for (size_t i = 0; i < COUNT(heads); i++) {
                AUTO_BUF(packed);
                char head[200];
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                pack(leak, GZIPPED, &packed);
                (void) snprintf(head, sizeof head, "HTTP/1.1 %sContent-Length: %zu\r\n\r\n", heads[i],
                                packed.n);
                rig_client(&g, span_str(GET), 0);
                send_answer(&g, head, &packed, 0);
                CHECK(holds(&g.to_client, "HTTP/1.1 502") && holds(&g.to_client, "compressed response"));
                CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
                CHECK(http_flow_done(g.flow));
                rig_end(&g);
        }
}

/* Nothing of it could be read: it is answered with the reason. */
static void test_flow__what_is_not_what_it_says_is_refused_with_the_reason(void)
{
        static const char *const bodies[] = { "hello, hello", "\x1f\x8b..........", SECRET };
        for (size_t i = 0; i < COUNT(bodies); i++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                rig_client(&g, span_str(GET), 0);
                rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), 0);
                rig_upstream(&g, span_str(bodies[i]), 0);
                CHECK(holds(&g.to_client, "HTTP/1.1 502") && holds(&g.to_client, "corrupt"));
                CHECK(!holds(&g.to_client, "200 OK") && !holds(&g.to_client, SECRET));
                CHECK_INT(rig_last(&g)->status, 502);
                CHECK(http_flow_done(g.flow));
                rig_end(&g);
        }
}

/* In every framing, for both kinds of client: `n` bytes of it, then the end that the framing has. */
static void break_off(const struct buf *packed, size_t n, unsigned framing, bool old)
{
        AUTO_BUF(part);
        AUTO_BUF(body);
        struct rig g;
        char head[200];
        if (!rig_start(&g, &plain))
                return;
        buf_add(&part, packed->p, n);
        (void) snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n");
        if (framing == 0)
                (void) snprintf(head + strlen(head), 100, "Content-Length: %zu\r\n", n);
        else if (framing == 1)
                (void) snprintf(head + strlen(head), 100, "Transfer-Encoding: chunked\r\n");
        (void) snprintf(head + strlen(head), 100, "\r\n");
        if (framing == 1)
                chunk(&part, 10, &body);
        else
                buf_add(&body, part.p, part.n);
        rig_client(&g, span_str(old ? GET_10 : GET), 0);
        send_answer(&g, head, &body, 0);
        if (framing == 2)
                http_flow_upstream_closed(g.flow);
        rig_move(&g);
        bool refused = holds(&g.to_client, "HTTP/1.1 502");
        CHECK(http_flow_done(g.flow));
        CHECK_INT(rig_last(&g)->verdict, HTTP_BROKEN);
        CHECK_INT(rig_last(&g)->reason, REASON_ANSWER_BREAKS_OFF);
        CHECK(refused || !holds(&g.to_client, "\r\n0\r\n\r\n"));
        CHECK_INT(http_flow_client_cut(g.flow), old && !refused);
        CHECK(!holds(&g.to_client, SECRET) && !holds(&g.to_client, "ghp_R3al"));
        rig_end(&g);
}

static void test_flow__an_answer_that_breaks_off_never_looks_whole(void)
{
        AUTO_BUF(packed);
        AUTO_BUF(text);
        sample(500, &text);
        buf_add(&text, leak, sizeof leak - 1);
        pack_as(buf_span(&text), GZIPPED, 6, Z_DEFAULT_STRATEGY, &packed);
        for (size_t n = 1; n < packed.n; n += n < 20 || n > packed.n - 60 ? 1 : 13)
                for (unsigned i = 0; i < 6; i++)
                        break_off(&packed, n, i / 2, i & 1);
}

static void test_flow__what_follows_the_end_is_not_passed_on(void)
{
        AUTO_BUF(packed);
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        pack("hello", GZIPPED, &packed);
        buf_add(&packed, "and " SECRET, 4 + sizeof SECRET - 1);
        rig_client(&g, span_str(GET), 0);
        send_answer(&g, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &packed, 1);
        CHECK(http_flow_done(g.flow));
        CHECK(!holds(&g.to_client, "and ") && !holds(&g.to_client, "\r\n0\r\n\r\n"));
        CHECK_STR(rig_last(&g)->why, "data after the end of the compressed response");
        rig_end(&g);
}

static void test_flow__the_connections_go_on_afterwards(void)
{
        AUTO_BUF(packed);
        char head[200];
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        pack(leak, GZIPPED, &packed);
        (void) snprintf(head, sizeof head,
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", packed.n);
        rig_client(&g, span_str(GET GET GET), 0); /* at once: one after the other */
        for (int i = 0; i < 3; i++) {
                CHECK_INT(g.event_count, i);
                buf_done(&g.to_client);
                send_answer(&g, head, &packed, 7);
                check_scrubbed(&g);
        }
        rig_client(&g, span_str(GET), 0);
        buf_done(&g.to_client);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), 0);
        CHECK_STR(buf_str(&g.to_client), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        CHECK_INT(g.connects, 1);
        rig_end(&g);
}

/* ---- bombs ---- */

static void test_bomb__the_larger_of_the_two_is_paid_for(void)
{
        static const size_t sizes[] = { 100, 100000, 3000000 };
        for (size_t i = 0; i < COUNT(sizes); i++) {
                AUTO_BUF(packed);
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                pack_zeros(sizes[i], GZIPPED, &packed);
                rig_client(&g, span_str(GET), 0);
                send_answer(&g, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &packed, 1000);
                http_flow_upstream_closed(g.flow);
                rig_move(&g);
                CHECK_INT(rig_last(&g)->received, sizes[i]);
                CHECK(g.grown + packed.n >= sizes[i] && g.grown + packed.n < sizes[i] + 64);
                rig_end(&g);
        }
        AUTO_BUF(text);
        AUTO_BUF(stored); /* grows by packing: nothing is to be paid beyond what came */
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        sample(1000, &text);
        pack_as(buf_span(&text), GZIPPED, 0, Z_DEFAULT_STRATEGY, &stored);
        rig_client(&g, span_str(GET), 0);
        send_answer(&g, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &stored, 0);
        CHECK_INT(g.grown, 0);
        rig_end(&g);
}

/* A few bits at the end may stand for more than one call gives, when nothing more will come. */
static void test_bomb__what_the_last_bits_hold_comes_out(void)
{
        for (size_t n = UNPACK_OUT - 300; n < UNPACK_OUT + 9000; n += 97) {
                AUTO_BUF(packed);
                char head[200];
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                pack_zeros(n, RAW, &packed);
                (void) snprintf(head, sizeof head,
                                "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: %zu\r\n\r\n",
                                packed.n);
                rig_client(&g, span_str(GET), 0);
                send_answer(&g, head, &packed, 0);
                CHECK_INT(rig_last(&g)->received, n);
                CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                rig_end(&g);
        }
}

static void test_bomb__a_budget_ends_it(void)
{
        AUTO_BUF(packed);
        pack_zeros(50000000, GZIPPED, &packed);
        for (int first = 0; first < 2; first++) {
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                g.grow_max = first ? 1000 : 200000;
                rig_client(&g, span_str(GET), 0);
                send_answer(&g, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", &packed, 4096);
                CHECK(http_flow_done(g.flow));
                CHECK(g.to_client.n < 200000 + 4096 + 1000);
                CHECK_INT(rig_last(&g)->verdict, HTTP_DENIED);
                CHECK_STR(rig_last(&g)->why, effect_reason_text(REASON_LIMIT_INGRESS));
                CHECK(!holds(&g.to_client, "\r\n0\r\n\r\n"));
                CHECK_INT(holds(&g.to_client, "HTTP/1.1 503"), first); /* before its head: said so */
                rig_end(&g);
        }
}

static void test_bomb__it_waits_for_a_slow_client_in_bounded_memory(void)
{
        enum { SIZE = 20000000 };
        AUTO_BUF(packed);
        struct rig g;
        if (!rig_start(&g, &plain))
                return;
        pack_zeros(SIZE, GZIPPED, &packed);
        rig_client(&g, span_str(GET), 0);
        rig_upstream(&g, span_str("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), 0);
        size_t at = 0, most = 0, got = 0;
        bool closed = false;
        for (unsigned turns = 0; turns < 1000000 && rig_last(&g)->verdict != HTTP_ALLOWED; turns++) {
                size_t room = http_flow_upstream_room(g.flow), left = packed.n - at;
                size_t n = room < left ? room : left;
                http_flow_from_upstream(g.flow, span_of(packed.p + at, n));
                at += n;
                if (at == packed.n && !closed) {
                        http_flow_upstream_closed(g.flow); /* and goes on with what it has */
                        closed = true;
                }
                struct span out = http_flow_to_client(g.flow);
                most = out.n > most ? out.n : most;
                got += out.n < 1000 ? out.n : 1000;
                http_flow_client_took(g.flow, out.n < 1000 ? out.n : 1000);
        }
        CHECK_INT(rig_last(&g)->received, SIZE);
        CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
        CHECK(closed && got > SIZE - HTTP_BUFFER - UNPACK_OUT);
        CHECK(most <= HTTP_BUFFER + UNPACK_OUT + 100);
        rig_end(&g);
}

static void test_flow__what_is_recorded_is_plain(void)
{
        AUTO_BUF(packed);
        struct rig_in in = plain;
        struct rig g;
        in.record = true;
        if (!rig_start(&g, &in))
                return;
        pack(leak, GZIPPED, &packed);
        rig_client(&g, span_str(GET), 0);
        send_answer(&g, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-A: b\r\n\r\n", &packed, 0);
        http_flow_upstream_closed(g.flow);
        rig_move(&g);
        CHECK(holds(&g.records, "you sent ***") && holds(&g.records, "X-A") && !holds(&g.records, "gzip"));
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_unpack__every_form_in_every_cut),
                CASE(test_unpack__members_follow_each_other_and_nothing_else_does),
                CASE(test_unpack__no_part_is_taken_for_the_whole),
                CASE(test_unpack__no_damage_is_taken_for_whole),
                CASE(test_unpack__heads),
                CASE(test_flow__a_secret_in_a_compressed_answer_is_starred_in_every_framing_and_cut),
                CASE(test_flow__the_head_tells_what_the_box_gets),
                CASE(test_flow__answers_without_a_body_need_no_unpacking),
                CASE(test_flow__what_cannot_be_read_is_refused),
                CASE(test_flow__what_is_not_what_it_says_is_refused_with_the_reason),
                CASE(test_flow__an_answer_that_breaks_off_never_looks_whole),
                CASE(test_flow__what_follows_the_end_is_not_passed_on),
                CASE(test_flow__the_connections_go_on_afterwards),
                CASE(test_bomb__the_larger_of_the_two_is_paid_for),
                CASE(test_bomb__what_the_last_bits_hold_comes_out),
                CASE(test_bomb__a_budget_ends_it),
                CASE(test_bomb__it_waits_for_a_slow_client_in_bounded_memory),
                CASE(test_flow__what_is_recorded_is_plain),
        };
        return test_main(cases, COUNT(cases));
}
