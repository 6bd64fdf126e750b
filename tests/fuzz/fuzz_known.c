/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_known.c - known secrets in any bytes: none is left, wherever the stream is cut, and
 * watching the stream sees what replacing replaces. The first byte is the size of a write. */
#include "output/known.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct known_word words[] = { { "k", { (const uint8_t *) "sesame42", 8 }, false },
                                           { "c", { (const uint8_t *) "canary-77-x", 11 }, true } };

static void count(void *ctx, size_t word)
{
        if (word > 1)
                abort();
        ++*(size_t *) ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size == 0)
                return 0;

        struct known *k = known_new(words, 2), *watch = known_new(words, 2);
        size_t step = data[0] ? data[0] : 4096, found = 0;
        bool seen = false;
        AUTO_BUF(out);
        if (!k || !watch)
                abort();

        for (size_t at = 1; at < size; at += step) {
                struct span piece = span_of(data + at, size - at < step ? size - at : step);
                known_pass(k, piece, false, &out, count, &found);
                seen |= known_see(watch, piece) >= 0;
        }
        known_pass(k, span_of("", 0), true, &out, count, &found);
        struct span left = buf_span(&out);
        if (left.p && (memmem(left.p, left.n, "sesame42", 8) || memmem(left.p, left.n, "canary-77-x", 11)))
                abort();
        if (seen && found == 0)
                abort();
        known_free(k);
        known_free(watch);
        return 0;
}
