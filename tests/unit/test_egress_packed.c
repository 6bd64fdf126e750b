/* SPDX-License-Identifier: MIT */
/* Compressed bodies of requests through doors with `where`: what is within bounds goes on as it came; what is
 * not, or is read in two ways, never reaches the server. */
#include "test_egress_common.h"

#include <brotli/encode.h>
#define ZLIB_CONST /* it reads what it compresses */
#include <zlib.h>
#include <zstd.h>

#define GOOD  "{\"amount\":5,\"memo\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"
#define WRONG "{\"amount\":9000,\"memo\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}"

static const struct {
        const char *name;
        enum unpack_kind kind;
} codings[] = { { "gzip", UNPACK_GZIP }, { "x-gzip", UNPACK_GZIP }, { "deflate", UNPACK_DEFLATE },
                { "br", UNPACK_BROTLI }, { "zstd", UNPACK_ZSTD },   { "identity, GZIP", UNPACK_GZIP } };

static void pack_zlib(struct span text, int bits, const char *name, struct buf *out)
{
        static uint8_t room[1 << 20];
        z_stream z = {
                .next_in = text.p, .avail_in = (uInt) text.n, .next_out = room, .avail_out = sizeof room
        };
        char copy[64];
        gz_header head = { .name = (Bytef *) copy };
        CHECK_INT(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
        if (name) {
                (void) snprintf(copy, sizeof copy, "%s", name);
                CHECK_INT(deflateSetHeader(&z, &head), Z_OK);
        }
        CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
        buf_add(out, room, z.total_out);
        (void) deflateEnd(&z);
}

static void pack(enum unpack_kind kind, struct span text, struct buf *out)
{
        static uint8_t room[1 << 20];
        size_t n = sizeof room;
        if (kind == UNPACK_GZIP || kind == UNPACK_DEFLATE) {
                pack_zlib(text, kind == UNPACK_GZIP ? 15 + 16 : 15, NULL, out);
        } else if (kind == UNPACK_BROTLI) {
                CHECK(BrotliEncoderCompress(9, 22, BROTLI_MODE_TEXT, text.n, text.p, &n, room));
                buf_add(out, room, n);
        } else {
                buf_add(out, room, ZSTD_compress(room, sizeof room, text.p, text.n, 3));
        }
}

/* Sends it; true: the server has it, byte for byte. *why: the refusal, or "". */
static bool passes(const char *type, const char *coding, struct span body, char why[300])
{
        struct rig g;
        struct rig_in in = { .policy = "use none\nnet http://api.test/pay POST where amount=int:1..50\n",
                             .stage = POLICY_STAGE_LIVE };
        AUTO_BUF(text);
        if (!rig_start(&g, &in))
                return false;
        buf_printf(&text,
                   "POST /pay HTTP/1.1\r\nHost: api.test\r\nContent-Type: %s\r\nContent-Encoding: "
                   "%s\r\nContent-Length: %zu\r\n\r\n",
                   type, coding, body.n);
        buf_add(&text, body.p, body.n);
        rig_client(&g, buf_span(&text), 0);
        (void) snprintf(why, 300, "%s", g.event_count ? rig_last(&g)->why : "");
        bool whole = g.to_upstream.n > body.n &&
                     memcmp(g.to_upstream.p + g.to_upstream.n - body.n, body.p, body.n) == 0;
        CHECK(whole || g.to_upstream.n == 0);
        CHECK(whole == (g.event_count == 0));
        CHECK(!whole || holds(&g.to_upstream, "Content-Encoding: "));
        rig_end(&g);
        return whole;
}

static void refused(const char *coding, const struct buf *body, const char *because)
{
        char why[300];
        CHECK(!passes("application/json", coding, buf_span(body), why));
        if (!strstr(why, because))
                CHECK_STR(why, because);
}

static void test_packed__within_bounds_it_goes_on_as_it_came(void)
{
        for (size_t i = 0; i < COUNT(codings); i++) {
                AUTO_BUF(good);
                AUTO_BUF(wrong);
                char why[300];
                pack(codings[i].kind, span_str(GOOD), &good);
                pack(codings[i].kind, span_str(WRONG), &wrong);
                CHECK(passes("application/json", codings[i].name, buf_span(&good), why));
                CHECK_STR(why, "");
                refused(codings[i].name, &wrong, "amount is 9000");
        }
}

static void test_packed__what_is_damaged_cut_or_followed_stays(void)
{
        for (size_t i = 0; i < COUNT(codings); i++) {
                AUTO_BUF(good);
                AUTO_BUF(two);
                pack(codings[i].kind, span_str(GOOD), &good);
                pack(codings[i].kind, span_str(GOOD), &two);
                for (size_t n = 1; n < good.n; n++) {
                        struct buf cut = { .p = good.p, .n = n };
                        refused(codings[i].name, &cut, "breaks off");
                }
                buf_add(&two, good.p, good.n); /* a second member or frame */
                refused(codings[i].name, &two, codings[i].kind == UNPACK_DEFLATE ? "follows" : "");
                buf_add(&good, "x", 1);
                refused(codings[i].name, &good, "");
                for (size_t k = 0; k < 64 && k < two.n; k++) {
                        char why[300];
                        struct span half = span_of(two.p, two.n / 2);
                        two.p[k] = (char) (two.p[k] ^ 0x41);
                        (void) passes("application/json", codings[i].name, half, why); /* no crash, no half */
                        two.p[k] = (char) (two.p[k] ^ 0x41);
                }
        }
}

static void test_packed__a_bomb_is_not_unpacked(void)
{
        static char text[8 << 20];
        memset(text, ' ', sizeof text);
        memcpy(text, "{\"amount\":5", 11);
        text[sizeof text - 1] = '}';
        for (size_t i = 0; i < COUNT(codings); i++) {
                AUTO_BUF(bomb);
                pack(codings[i].kind, span_of(text, sizeof text), &bomb);
                CHECK(bomb.n < HTTP_HELD_MAX);
                refused(codings[i].name, &bomb, "longer than 64 KiB when it is unpacked");
        }
}

static void test_packed__two_readings_stay(void)
{
        char why[300];
        AUTO_BUF(form);
        AUTO_BUF(named);
        AUTO_BUF(twice);
        pack(UNPACK_GZIP, span_str("amount=5"), &form);
        CHECK(!passes("application/x-www-form-urlencoded", "gzip", buf_span(&form), why));
        CHECK(strstr(why, "a form that is compressed can be read in two ways"));

        /* A server that unpacks nothing and takes every body for a form finds an amount in the file's name.
         */
        pack_zlib(span_str(GOOD), 15 + 16, "&amount=9000&", &named);
        refused("gzip", &named, "amount");
        pack(UNPACK_GZIP, span_str(GOOD), &twice);
        refused("gzip, gzip", &twice, "in a way that is not read");
        refused("compress", &twice, "in a way that is not read");
        refused("br", &twice, "");

        /* The plain text, said to be compressed: to a server that unpacks nothing it is what it is. */
        AUTO_BUF(plain);
        buf_puts(&plain, GOOD);
        for (size_t i = 0; i < COUNT(codings); i++)
                refused(codings[i].name, &plain, "can be read in two ways");

        /* RFC 1950 that is RFC 1951 as well: CMF, FLG and the length of a stored block with its complement.
         */
        AUTO_BUF(both);
        static const uint8_t head[] = { 0x78, 0x01, 0x00, 0xfe, 0xff };
        buf_add(&both, head, sizeof head);
        buf_add(&both, "0123456789", 10);
        refused("deflate", &both, "can be read in two ways");
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_packed__within_bounds_it_goes_on_as_it_came),
                CASE(test_packed__what_is_damaged_cut_or_followed_stays),
                CASE(test_packed__a_bomb_is_not_unpacked),
                CASE(test_packed__two_readings_stay),
        };
        return test_main(cases, COUNT(cases));
}
