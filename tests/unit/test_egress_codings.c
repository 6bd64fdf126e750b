/* SPDX-License-Identifier: MIT */
/* Answers in br and zstd, where the libraries are there: as test_egress_unpack.c, which has gzip and deflate.
 */
#include "../bearer.h"
#include "test_unpack_common.h"

#include <brotli/encode.h>
#include <zstd.h>

#define SECRET "ghp_R3alSecretValue-7711"
#define HOLDER "ghp_FakeHolderValue-0000"
#define SAID   "you sent " SECRET ", did you not?"

static const struct http_credential key = BEARER_KEY(SECRET, HOLDER);
static const struct rig_in plain = { .policy = "use none\nnet http://api.test/** GET with key\n",
                                     .credentials = &key,
                                     .credential_count = 1,
                                     .stage = POLICY_STAGE_LIVE };

static const struct {
        enum unpack_kind kind;
        const char *name;
} codings[] = { { UNPACK_BROTLI, "br" }, { UNPACK_ZSTD, "zstd" } };

static void pack_window(enum unpack_kind kind, struct span text, int window, struct buf *out)
{
        static uint8_t to[1 << 18];
        size_t n = sizeof to;
        if (kind == UNPACK_BROTLI) {
                CHECK(BrotliEncoderCompress(5, window ? window : 18, BROTLI_MODE_GENERIC, text.n, text.p, &n,
                                            to));
        } else {
                ZSTD_CCtx *c = ZSTD_createCCtx();
                (void) ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
                (void) ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
                (void) ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window);
                ZSTD_inBuffer in = { text.p, text.n, 0 };
                ZSTD_outBuffer o = { to, sizeof to, 0 };
                CHECK_INT(ZSTD_compressStream2(c, &o, &in, ZSTD_e_continue) > (size_t) -100, 0);
                CHECK_INT(ZSTD_compressStream2(c, &o, &in, ZSTD_e_end), 0);
                n = o.pos;
                ZSTD_freeCCtx(c);
        }
        buf_add(out, to, n);
}

static void pack(enum unpack_kind kind, struct span text, struct buf *out)
{
        pack_window(kind, text, 0, out);
}

static void test_codings__come_out_whole_in_every_cut(void)
{
        static const size_t sizes[] = { 0, 1, 300, UNPACK_OUT, 100000 }, cuts[] = { 0, 1, 3, 977, 40000 };
        for (size_t i = 0; i < COUNT(codings) * COUNT(sizes) * COUNT(cuts); i++) {
                AUTO_BUF(text);
                AUTO_BUF(packed);
                enum unpack_kind kind = codings[i % COUNT(codings)].kind;
                sample(sizes[i / COUNT(codings) % COUNT(sizes)], &text);
                pack(kind, buf_span(&text), &packed);
                struct result r = unpack_in(kind, buf_span(&packed), cuts[i / COUNT(codings) / COUNT(sizes)]);
                CHECK(!r.bad && r.whole && same(&r.out, &text));
                buf_done(&r.out);
        }
}

static void test_codings__no_part_is_taken_for_the_whole(void)
{
        for (size_t k = 0; k < COUNT(codings); k++) {
                AUTO_BUF(text);
                AUTO_BUF(packed);
                sample(5000, &text);
                pack(codings[k].kind, buf_span(&text), &packed);
                for (size_t n = 0; n <= packed.n; n++) {
                        struct result r = unpack_in(codings[k].kind, span_of(packed.p, n), 0);
                        CHECK(!r.bad);
                        CHECK_INT(r.whole, n == 0 || n == packed.n);
                        CHECK(r.out.n <= text.n && (!r.out.n || memcmp(r.out.p, text.p, r.out.n) == 0));
                        buf_done(&r.out);
                }
        }
}

static void test_codings__what_follows_the_end_is_refused(void)
{
        for (size_t i = 0; i < COUNT(codings) * 40; i++) {
                AUTO_BUF(packed);
                enum unpack_kind kind = codings[i % COUNT(codings)].kind;
                pack(kind, span_str(SAID), &packed);
                buf_add(&packed, SECRET, sizeof SECRET - 1);
                struct result r = unpack_in(kind, buf_span(&packed), i / COUNT(codings));
                CHECK(r.bad && !r.whole);
                CHECK_INT(r.why, REASON_ANSWER_TAIL);
                buf_done(&r.out);
        }
}

static void test_codings__zstd_has_several_frames_and_a_checksum(void)
{
        AUTO_BUF(packed);
        pack(UNPACK_ZSTD, span_str("first, "), &packed);
        pack(UNPACK_ZSTD, span_str("second"), &packed);
        for (size_t cut = 0; cut < 10; cut++) {
                struct result r = unpack_in(UNPACK_ZSTD, buf_span(&packed), cut);
                CHECK(r.whole);
                CHECK_STR(buf_str(&r.out), "first, second");
                buf_done(&r.out);
        }
        for (size_t i = 0; i < 8 * packed.n; i++) {
                packed.p[i / 8] = (char) (packed.p[i / 8] ^ 1 << i % 8);
                struct result r = unpack_in(UNPACK_ZSTD, buf_span(&packed), 0);
                CHECK(!r.whole || r.out.n <= 13);
                buf_done(&r.out);
                packed.p[i / 8] = (char) (packed.p[i / 8] ^ 1 << i % 8);
        }
}

static void test_codings__a_window_over_8_mib_is_refused(void)
{
        AUTO_BUF(text);
        sample(2000, &text);
        for (int log = 23; log <= 24; log++) {
                AUTO_BUF(packed);
                pack_window(UNPACK_ZSTD, buf_span(&text), log, &packed);
                struct result r = unpack_in(UNPACK_ZSTD, buf_span(&packed), 0);
                CHECK_INT(r.whole, log == 23);
                CHECK_INT(r.bad, log == 24);
                buf_done(&r.out);
        }
}

static void test_codings__a_secret_in_an_answer_is_starred(void)
{
        for (size_t i = 0; i < COUNT(codings) * 60; i++) {
                AUTO_BUF(all);
                struct rig g;
                if (!rig_start(&g, &plain))
                        return;
                AUTO_BUF(packed);
                pack(codings[i % COUNT(codings)].kind, span_str(SAID), &packed);
                buf_printf(&all, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %zu\r\n\r\n",
                           codings[i % COUNT(codings)].name, packed.n);
                buf_add(&all, packed.p, packed.n);
                rig_client(&g, span_str("GET /x HTTP/1.1\r\nHost: api.test\r\n\r\n"), 0);
                rig_upstream(&g, buf_span(&all), i / COUNT(codings));
                buf_putc(&g.to_client, '\0');
                CHECK(strstr(g.to_client.p, "***") && !strstr(g.to_client.p, SECRET));
                CHECK(!strstr(g.to_client.p, "Content-Encoding"));
                CHECK_INT(rig_last(&g)->verdict, HTTP_ALLOWED);
                rig_end(&g);
        }
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_codings__come_out_whole_in_every_cut),
                CASE(test_codings__no_part_is_taken_for_the_whole),
                CASE(test_codings__what_follows_the_end_is_refused),
                CASE(test_codings__zstd_has_several_frames_and_a_checksum),
                CASE(test_codings__a_window_over_8_mib_is_refused),
                CASE(test_codings__a_secret_in_an_answer_is_starred),
        };
        return test_main(cases, COUNT(cases));
}
