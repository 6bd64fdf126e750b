/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_order.c - the order to cordon-output and its list of secrets: no bytes crash it. */
#include "output/process.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        size_t half = size / 2;
        struct output_order *o = output_order_read(span_of(data, half), &e);
        if (o)
                (void) output_order_words(o, span_of(data + half, size - half));
        output_order_free(o);
        return 0;
}
