/* SPDX-License-Identifier: MIT */
/* Every way to pack bytes so that a search does not see them, in requests and in answers: each is unpacked or
 * refused, as long as there is something to search for. */
#include "../bearer.h"
#include "test_egress_common.h"

#define ZLIB_CONST
#include <zlib.h>

#define SECRET "ghp_R3alSecretValue-7711"
#define HOLDER "ghp_FakeHolderValue-0000"

static const struct http_credential key = BEARER_KEY(SECRET, HOLDER);
/* The placeholder is for api.test alone; the flow goes to other.test. */
static const char policy[] = "use none\nnet http://api.test/** GET POST with key\n"
                             "net http://other.test/** GET POST\n";

/* The table's row that failed. */
#define CHECK_ROW(is, row)                                                                                   \
        do {                                                                                                 \
                bool is_so_ = (is);                                                                          \
                CHECK(is_so_);                                                                               \
                if (!is_so_)                                                                                 \
                        printf("# in row: %s\n", row);                                                       \
        } while (0)

/* ---- ways ---- */

enum how {
        PLAIN,
        GZIP,
        RAW_ZLIB,
        TWICE,
        MESSAGE,
        MESSAGE_PACKED,
        SECOND_PACKED,
        PART,
        PART_PACKED,
        PART_IN_PART,
        MAIL_PACKED
};
enum outcome { PASSES, FOUND, REFUSED };
static const struct {
        const char *fields;
        enum how how;
        enum outcome with, without; /* a placeholder or secret in it */
} ways[] = {
        { "Content-Type: text/plain\r\n", PLAIN, FOUND, PASSES },
        { "Content-Encoding: identity\r\n", PLAIN, FOUND, PASSES },
        { "Content-Encoding: gzip\r\n", GZIP, FOUND, PASSES },
        { "Content-Encoding: X-GZip\r\n", GZIP, FOUND, PASSES },
        { "Content-Encoding: deflate\r\n", RAW_ZLIB, FOUND, PASSES },
        { "Content-Encoding: gzip, gzip\r\n", TWICE, REFUSED, REFUSED },
        { "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n", TWICE, REFUSED, REFUSED },
        { "Content-Encoding: snappy\r\n", PLAIN, REFUSED, REFUSED },
        { "Content-Encoding: dcz\r\n", PLAIN, REFUSED, REFUSED },
        { "IM: gzip\r\n", GZIP, REFUSED, REFUSED },
        { "Content-Type: application/grpc\r\n", MESSAGE, FOUND, PASSES },
        { "Content-Type: application/grpc\r\ngrpc-encoding: gzip\r\n", MESSAGE, FOUND, PASSES },
        { "Content-Type: application/grpc\r\ngrpc-encoding: gzip\r\n", MESSAGE_PACKED, REFUSED, REFUSED },
        { "Content-Type: application/grpc+proto\r\n", MESSAGE_PACKED, REFUSED, REFUSED },
        { "Content-Type: Application/GRPC\r\n", SECOND_PACKED, REFUSED, REFUSED },
        { "Content-Type: application/grpc-web+proto\r\n", MESSAGE, FOUND, PASSES },
        { "Content-Type: application/grpc-web\r\n", SECOND_PACKED, REFUSED, REFUSED },
        { "Content-Type: application/grpc-web-text\r\n", PLAIN, REFUSED, REFUSED },
        { "Content-Type: application/connect+json\r\n", MESSAGE, FOUND, PASSES },
        { "Content-Type: application/connect+proto\r\nConnect-Content-Encoding: gzip\r\n", SECOND_PACKED,
          REFUSED, REFUSED },
        { "Content-Type: application/proto\r\nConnect-Content-Encoding: gzip\r\n", GZIP, REFUSED, REFUSED },
        { "Content-Type: application/proto\r\nContent-Encoding: gzip\r\n", GZIP, FOUND, PASSES },
        { "Content-Type: multipart/form-data; boundary=x\r\n", PART, FOUND, PASSES },
        { "Content-Type: multipart/form-data; boundary=x\r\n", PART_PACKED, REFUSED, REFUSED },
        { "Content-Type: multipart/mixed; boundary=x\r\n", PART_IN_PART, REFUSED, REFUSED },
        { "Content-Type: message/rfc822\r\n", MAIL_PACKED, REFUSED, REFUSED },
        { "Content-Type: application/http\r\n", MAIL_PACKED, REFUSED, REFUSED },
};

static void pack(struct span text, int bits, struct buf *out)
{
        static uint8_t room[1 << 16];
        z_stream z = {
                .next_in = text.p, .avail_in = (uInt) text.n, .next_out = room, .avail_out = sizeof room
        };
        CHECK_INT(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
        CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
        buf_add(out, room, z.total_out);
        (void) deflateEnd(&z);
}

static void message(struct span text, uint8_t flags, struct buf *out)
{
        const uint8_t head[5] = { flags, 0, 0, (uint8_t) (text.n >> 8), (uint8_t) text.n };
        buf_add(out, head, sizeof head);
        buf_add(out, text.p, text.n);
}

static void parts(const char *more, struct span text, struct buf *out)
{
        buf_printf(out,
                   "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nContent-Encoding: br\r\n--x\r\n");
        buf_printf(out, "Content-Type: text/plain\r\n%s\r\n", more);
        buf_add(out, text.p, text.n);
        buf_printf(out, "\r\n--x--\r\n");
}

static void body_of(enum how how, const char *said, struct buf *out)
{
        AUTO_BUF(text);
        AUTO_BUF(packed);
        buf_printf(&text, "it is %s, and more of it: aaaaaaaaaaaaaaaaaaaaaaaaa", said);
        pack(buf_span(&text), how == RAW_ZLIB ? 15 : 31, &packed);
        switch (how) {
        case PLAIN:
                buf_add(out, text.p, text.n);
                return;
        case GZIP:
        case RAW_ZLIB:
                buf_add(out, packed.p, packed.n);
                return;
        case TWICE:
                pack(buf_span(&packed), 31, out);
                return;
        case SECOND_PACKED:
                message(span_str("first"), 0, out);
                message(buf_span(&packed), 1, out);
                return;
        case MESSAGE:
                message(span_str(""), 0, out);
                message(buf_span(&text), 0, out);
                return;
        case MESSAGE_PACKED:
                message(buf_span(&packed), 1, out);
                return;
        case PART:
                parts("Content-Transfer-Encoding: binary\r\n", buf_span(&text), out);
                return;
        case PART_PACKED:
                parts("content-encoding : gzip\r\n", buf_span(&packed), out);
                return;
        case PART_IN_PART:
                parts("Content-Type: application/http\r\n\r\nPOST /b HTTP/1.1\r\nContent-Encoding: gzip\r\n",
                      buf_span(&packed), out);
                return;
        case MAIL_PACKED:
                buf_printf(out, "Subject: x\r\nContent-Encoding:\r\n gzip\r\n\r\n");
                buf_add(out, packed.p, packed.n);
                return;
        }
}

static bool start(struct rig *g, bool searched, const char *host)
{
        const struct rig_in in = { .policy = searched ? policy
                                                      : "use none\nnet http://other.test/** GET POST\n",
                                   .credentials = &key,
                                   .credential_count = searched,
                                   .host = host,
                                   .stage = POLICY_STAGE_LIVE };
        return rig_start(g, &in);
}

/* ---- out ---- */

static void check_request(size_t i, bool with, size_t cut)
{
        struct rig g;
        AUTO_BUF(body);
        AUTO_BUF(all);
        enum outcome want = with ? ways[i].with : ways[i].without;
        body_of(ways[i].how, with ? HOLDER : "nothing", &body);
        buf_printf(&all, "POST /x HTTP/1.1\r\nHost: other.test\r\n%sContent-Length: %zu\r\n\r\n",
                   ways[i].fields, body.n);
        buf_add(&all, body.p, body.n);
        if (!start(&g, true, "other.test"))
                return;

        rig_client(&g, buf_span(&all), cut);
        enum effect_reason why = rig_last(&g)->reason;
        CHECK_INT(g.event_count, want != PASSES);
        if (want == PASSES)
                CHECK_ROW(g.to_upstream.n > body.n &&
                                  memcmp(g.to_upstream.p + g.to_upstream.n - body.n, body.p, body.n) == 0,
                          ways[i].fields);
        else
                CHECK_ROW(why == (want == FOUND ? REASON_PLACEHOLDER_IN_BODY : REASON_BODY_PACKED),
                          ways[i].fields);
        rig_end(&g);
}

static void test_seen__requests(void)
{
        static const size_t cuts[] = { 0, 1, 7 };
        for (size_t i = 0; i < COUNT(ways); i++)
                for (size_t c = 0; c < COUNT(cuts); c++) {
                        check_request(i, true, cuts[c]);
                        check_request(i, false, cuts[c]);
                }
}

static void test_seen__without_secrets_all_passes(void)
{
        for (size_t i = 0; i < COUNT(ways); i++) {
                struct rig g;
                AUTO_BUF(body);
                AUTO_BUF(all);
                body_of(ways[i].how, HOLDER, &body);
                buf_printf(&all, "POST /x HTTP/1.1\r\nHost: other.test\r\n%sContent-Length: %zu\r\n\r\n",
                           ways[i].fields, body.n);
                buf_add(&all, body.p, body.n);
                if (!start(&g, false, "other.test"))
                        return;
                rig_client(&g, buf_span(&all), 0);
                CHECK_ROW(g.event_count == 0 && g.to_upstream.n > body.n, ways[i].fields);
                rig_end(&g);
        }
}

static void test_seen__a_bomb_is_not_searched_for_ever(void)
{
        static uint8_t zeros[1 << 22], room[1 << 14];
        struct rig g;
        AUTO_BUF(all);
        z_stream z = {
                .next_in = zeros, .avail_in = sizeof zeros, .next_out = room, .avail_out = sizeof room
        };
        CHECK_INT(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
        buf_printf(&all,
                   "POST /x HTTP/1.1\r\nHost: other.test\r\nContent-Encoding: gzip\r\n"
                   "Content-Length: %lu\r\n\r\n",
                   z.total_out);
        buf_add(&all, room, z.total_out);
        (void) deflateEnd(&z);
        if (!start(&g, true, "other.test"))
                return;
        rig_client(&g, buf_span(&all), 0);
        CHECK_INT(rig_last(&g)->reason, REASON_BODY_PACKED);
        rig_end(&g);
}

static void test_seen__queries(void)
{
        static const struct {
                const char *query;
                bool refused;
        } rows[] = { { "connect=v1&encoding=json&message=%7B%7D", false },
                     { "connect=v1&encoding=proto&base64=1&compression=gzip&message=H4s", true },
                     { "message=H4s&encoding=proto&%63ompression=%67zip", true },
                     { "message=H4s&encoding=proto&compression=gzip&compression=", true },
                     { "message=H4s&encoding=proto&compression=identity", false },
                     { "file=a&compression=gzip", false } };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct rig g;
                AUTO_BUF(all);
                buf_printf(&all, "GET /x?%s HTTP/1.1\r\nHost: other.test\r\n\r\n", rows[i].query);
                if (!start(&g, true, "other.test"))
                        return;
                rig_client(&g, buf_span(&all), 0);
                CHECK_ROW((rig_last(&g)->reason == REASON_BODY_PACKED) == rows[i].refused, rows[i].query);
                CHECK_ROW((g.to_upstream.n == 0) == rows[i].refused, rows[i].query);
                rig_end(&g);
        }
}

static void test_seen__nobody_is_asked_to_pack(void)
{
        struct rig g;
        static const char *const names[] = { "Accept-Encoding", "grpc-accept-encoding", "A-IM",
                                             "Connect-Accept-Encoding", "Available-Dictionary" };
        for (size_t i = 0; i < COUNT(names); i++) {
                AUTO_BUF(all);
                buf_printf(&all, "GET /x HTTP/1.1\r\nHost: other.test\r\n%s: gzip\r\n\r\n", names[i]);
                if (!start(&g, true, "other.test"))
                        return;
                rig_client(&g, buf_span(&all), 0);
                CHECK_ROW(g.to_upstream.n && !holds(&g.to_upstream, "gzip"), names[i]);
                rig_end(&g);
        }
}

/* ---- in ---- */

static void check_answer(size_t i, bool with, size_t cut)
{
        struct rig g;
        AUTO_BUF(body);
        AUTO_BUF(all);
        enum outcome want = with ? ways[i].with : ways[i].without;
        body_of(ways[i].how, with ? SECRET : "nothing", &body);
        buf_printf(&all, "HTTP/1.1 200 OK\r\n%sContent-Length: %zu\r\n\r\n", ways[i].fields, body.n);
        buf_add(&all, body.p, body.n);
        if (!start(&g, true, "api.test"))
                return;

        rig_client(&g, span_str("GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"), 0);
        rig_upstream(&g, buf_span(&all), cut);
        CHECK_ROW(!holds(&g.to_client, SECRET), ways[i].fields);
        CHECK_ROW(rig_last(&g)->reason == (want == REFUSED ? REASON_ANSWER_COMPRESSED : REASON_NONE),
                  ways[i].fields);
        if (want != REFUSED && cut == 0) /* else the chunks of an unpacked body cut it */
                CHECK_ROW(holds(&g.to_client, with ? "***" : "nothing"), ways[i].fields);
        rig_end(&g);
}

static void test_seen__answers(void)
{
        static const size_t cuts[] = { 0, 1, 7 };
        for (size_t i = 0; i < COUNT(ways); i++)
                for (size_t c = 0; c < COUNT(cuts); c++) {
                        check_answer(i, true, cuts[c]);
                        check_answer(i, false, cuts[c]);
                }
}

/* ---- frames of a WebSocket ---- */

static void frame(const char *text, uint8_t first, const char *mask, struct buf *out)
{
        const uint8_t head[2] = { first, (uint8_t) (strlen(text) | (mask ? 0x80 : 0)) };
        buf_add(out, head, sizeof head);
        if (mask)
                buf_add(out, mask, 4);
        for (size_t i = 0; text[i]; i++)
                buf_putc(out, (char) (text[i] ^ (mask ? mask[i % 4] : 0)));
}

#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n"

static bool open_socket(struct rig *g, const char *host)
{
        const struct rig_in in = { .policy = "use none\nnet http://api.test/** GET WEBSOCKET with key\n"
                                             "net http://other.test/** WEBSOCKET\n",
                                   .credentials = &key,
                                   .credential_count = 1,
                                   .host = host,
                                   .stage = POLICY_STAGE_LIVE };
        AUTO_BUF(head);
        buf_printf(&head,
                   "GET /x HTTP/1.1\r\nHost: %s\r\n" UPGRADE "Sec-WebSocket-Key: a\r\n"
                   "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
                   host);
        if (!rig_start(g, &in))
                return false;
        rig_client(g, buf_span(&head), 0);
        CHECK(g->to_upstream.n && !holds(&g->to_upstream, "permessage"));
        rig_upstream(g, span_str("HTTP/1.1 101 S\r\n" UPGRADE "\r\n"), 0);
        CHECK(holds(&g->to_client, "101"));
        return true;
}

static void test_seen__frames_of_the_client(void)
{
        static const struct {
                const char *one, *two;
                uint8_t first;
                enum effect_reason why;
        } rows[] = { { "hello", " world", 0x81, REASON_NONE },
                     { "it is " HOLDER, "", 0x81, REASON_PLACEHOLDER_IN_BODY },
                     { "it is ghp_FakeHolder", "Value-0000, no?", 0x01, REASON_PLACEHOLDER_IN_BODY },
                     { "packed", "", 0xc1, REASON_BODY_PACKED } };
        static const size_t cuts[] = { 0, 1, 5 };
        for (size_t i = 0; i < COUNT(rows) * COUNT(cuts); i++) {
                struct rig g;
                AUTO_BUF(frames);
                size_t row = i / COUNT(cuts);
                if (!open_socket(&g, "other.test"))
                        return;
                frame(rows[row].one, rows[row].first, "\x11\x9f\x03\x7e", &frames);
                frame(rows[row].two, 0x80, "\xa1\x00\x44\x02", &frames);
                size_t before = g.to_upstream.n;
                rig_client(&g, buf_span(&frames), cuts[i % COUNT(cuts)]);
                CHECK_INT(rig_last(&g)->reason == rows[row].why || !rows[row].why, true);
                CHECK_INT(g.event_count, rows[row].why != REASON_NONE);
                if (!rows[row].why)
                        CHECK(g.to_upstream.n - before == frames.n);
                else
                        CHECK(g.to_upstream.n - before < frames.n);
                rig_end(&g);
        }
}

static void test_seen__frames_of_the_server(void)
{
        struct rig g;
        AUTO_BUF(frames);
        if (!open_socket(&g, "api.test"))
                return;
        frame("hello", 0x81, NULL, &frames);
        frame("packed", 0xc1, NULL, &frames);
        rig_upstream(&g, buf_span(&frames), 0);
        CHECK(holds(&g.to_client, "hello") && !holds(&g.to_client, "packed"));
        CHECK_INT(rig_last(&g)->reason, REASON_ANSWER_COMPRESSED);
        rig_end(&g);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_seen__requests),
                CASE(test_seen__without_secrets_all_passes),
                CASE(test_seen__a_bomb_is_not_searched_for_ever),
                CASE(test_seen__queries),
                CASE(test_seen__nobody_is_asked_to_pack),
                CASE(test_seen__answers),
                CASE(test_seen__frames_of_the_client),
                CASE(test_seen__frames_of_the_server),
        };
        return test_main(cases, COUNT(cases));
}
