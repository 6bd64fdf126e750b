/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_magic.c - types of binary data by their bytes: no crash, an answer for each, and a file
 * that is whole is not whole with a byte more behind its end. */
#include "output/magic.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct findings f = { 0 };
        struct span all = span_of(data, size);
        enum magic m = magic_of(all);
        if (m >= MAGIC__COUNT || !magic_name(m))
                abort();

        const char *why = m == MAGIC_UNKNOWN ? "unknown" : magic_fault(m, all, &f);
        if (why || size == 0)
                return 0;

        uint8_t *more = malloc(size + 1);
        if (!more)
                return 0;
        memcpy(more, data, size);
        more[size] = 'x';
        bool strict = m == MAGIC_PNG || m == MAGIC_GIF;
        if (strict && !magic_fault(m, span_of(more, size + 1), &f))
                abort();
        free(more);
        return 0;
}
