/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_claims.c - any bytes as two files of claims and the proof of one: what is printed is inert,
 * and claims do not differ from themselves. The parts are separated by the byte 0x1e. */
#include "selftest/claims_compare.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct span part(struct span *rest)
{
        const uint8_t *end = rest->n ? memchr(rest->p, 0x1e, rest->n) : NULL;
        size_t n = end ? (size_t) (end - rest->p) : rest->n;
        struct span first = span_of(rest->p, n);
        *rest = end ? span_of(end + 1, rest->n - n - 1) : span_of("", 0);
        return first;
}

static unsigned compare(struct json_doc *x, struct json_doc *y)
{
        AUTO_BUF(out);
        struct claims_text a = { "a", x, "signed", false }, b = { "b", y, "not signed", false };
        unsigned n = claims_compare(&a, &b, "2026-11-18T08:00:00Z", &out);
        for (size_t i = 0; i < out.n; i++)
                if ((unsigned char) out.p[i] < ' ' && out.p[i] != '\n')
                        abort();
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct span rest = span_of(data, size), one = part(&rest), two = part(&rest);
        struct json_doc *x = claims_parse("a", one), *y = claims_parse("b", two);
        if (x && compare(x, x) != 0)
                abort();
        if (x && y)
                (void) compare(x, y);

        AUTO_BUF(proof);
        buf_add(&proof, rest.p, rest.n);
        (void) claims_proof_names(buf_str(&proof), one);
        json_free(x);
        json_free(y);
        return 0;
}
