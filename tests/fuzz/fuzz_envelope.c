/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_envelope.c - reading envelopes of any bytes; and any bytes in an envelope come back as they
 * were, and compare as genuine. The first byte chooses the mark. */
#include "base/str.h"
#include "output/output_envelope.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        struct envelope_read r;
        if (size == 0)
                return 0;

        (void) envelope_read(span_of(data, size), &r, &e);
        buf_done(&r.content);

        struct envelope v = { .box = "b",
                              .run = "1-2-3",
                              .effect = "1-2-3.1",
                              .door = "stdout",
                              .as = "text",
                              .cut = "escape=1",
                              .findings = "link=2 secret=1",
                              .mark = (enum envelope_mark)(data[0] % ENVELOPE__COUNT),
                              .random = "0123456789abcdef0123456789abcdef",
                              .content = span_of(data + 1, size - 1) };
        AUTO_BUF(out);
        bool text = str_is_utf8(v.content) && (v.content.n == 0 || !memchr(v.content.p, 0, v.content.n));
        if ((!text && v.mark != ENVELOPE_BASE64) || v.content.n == 0 || envelope_put(&v, &out, &e) < 0)
                return 0;

        if (envelope_read(buf_span(&out), &r, &e) < 0 || r.content.n != v.content.n ||
            memcmp(r.content.p, v.content.p, v.content.n) != 0 ||
            envelope_compare(buf_span(&out), &v, &e) < 0)
                abort();
        buf_done(&r.content);
        return 0;
}
