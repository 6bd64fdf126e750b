/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_http_body.c - any bytes as a chunked body: read in pieces of any size it must mean the
 * same. */
#include "broker/egress/http/http_internal.h"

#include <stdlib.h>

struct outcome {
        enum body_state end;
        size_t used, n;
        uint32_t sum;
};

static struct outcome read_in(struct span in, size_t cut)
{
        struct http_body b;
        struct outcome o = { .end = BODY_MORE };
        http_body_init(&b, BODY_CHUNKED, 0);
        for (size_t have = 0; have < in.n && o.end == BODY_MORE;) {
                have = have + cut < in.n ? have + cut : in.n;
                for (;;) {
                        size_t used;
                        struct span data;
                        o.end = http_body_next(&b, span_of(in.p + o.used, have - o.used), &used, &data);
                        o.used += used;
                        if (o.used > in.n)
                                abort();
                        for (size_t i = 0; i < data.n; i++)
                                o.sum = o.sum * 31 + data.p[i];
                        o.n += data.n;
                        if (o.end != BODY_DATA)
                                break;
                }
        }
        if (o.end == BODY_BAD && !b.why)
                abort();
        return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const size_t cuts[] = { 1, 2, 3, 7, 64 };
        struct span in = span_of(data, size);
        struct outcome whole = read_in(in, size ? size : 1);
        for (size_t i = 0; i < COUNT(cuts); i++) {
                struct outcome o = read_in(in, cuts[i]);
                if (o.end != whole.end ||
                    (o.end != BODY_BAD && (o.n != whole.n || o.sum != whole.sum || o.used != whole.used)))
                        abort();
        }
        return 0;
}
