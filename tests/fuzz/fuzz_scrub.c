/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_scrub.c - any bytes with secrets in them: bytes 0x01 to 0x06 stand for a secret in one of
 * its clothings. However the stream is cut, the same comes out, as long as it went in, and no secret in it.
 */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

static const char secret[] = "tok_Zq7%2F&9\"xW/k+";
static const char other[] = "tok_Zq7%2F&9\"xW/k+and-more";

static void put_hex(struct fifo *out)
{
        for (const char *s = secret; *s; s++)
                fifo_printf(out, "%02x", (uint8_t) *s);
}

static void put_percent(struct fifo *out)
{
        for (const char *s = secret; *s; s++)
                fifo_printf(out, "%%%02X", (uint8_t) *s);
}

static void put_base64(struct fifo *out, const char *before)
{
        struct fifo plain = { 0 };
        fifo_printf(&plain, "%s%s", before, secret);
        fifo_base64(out, fifo_all(&plain));
        fifo_done(&plain);
}

static void expand(struct span in, struct fifo *out)
{
        for (size_t i = 0; i < in.n; i++) {
                if (in.p[i] == 1)
                        fifo_text(out, secret);
                else if (in.p[i] == 2)
                        put_hex(out);
                else if (in.p[i] == 3)
                        put_percent(out);
                else if (in.p[i] == 4)
                        put_base64(out, "");
                else if (in.p[i] == 5)
                        put_base64(out, "u:");
                else if (in.p[i] == 6)
                        fifo_text(out, other);
                else
                        fifo_add(out, in.p + i, 1);
        }
}

static void scrub(const struct secret_words *set, struct span in, size_t cut, struct fifo *out)
{
        struct scrub s = { .set = set };
        for (size_t i = 0; i < in.n; i += cut)
                scrub_pass(&s, span_of(in.p + i, cut < in.n - i ? cut : in.n - i), false, out);
        scrub_pass(&s, (struct span){ 0 }, true, out);
        if (s.held.n)
                abort();
        scrub_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const size_t cuts[] = { 1, 2, 5, 17 };
        if (size > 4096)
                return 0;
        struct span words[] = { span_str(secret), span_str(other) };
        struct secret_words *set = scrub_set_of(words, NULL, 2);
        struct fifo in = { 0 }, whole = { 0 };
        if (!set)
                abort();
        expand(span_of(data, size), &in);
        scrub(set, fifo_all(&in), in.n ? in.n : 1, &whole);
        if (whole.n != in.n || (whole.n && (memmem(whole.p + whole.at, whole.n, secret, sizeof secret - 1) ||
                                            secret_words_find(set, fifo_all(&whole)))))
                abort();
        for (size_t i = 0; i < COUNT(cuts); i++) {
                struct fifo out = { 0 };
                scrub(set, fifo_all(&in), cuts[i], &out);
                if (!span_eq(fifo_all(&out), fifo_all(&whole)))
                        abort();
                fifo_done(&out);
        }
        fifo_done(&in);
        fifo_done(&whole);
        secret_words_free(set);
        return 0;
}
