/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_regex.c - a regular expression and a text, divided by the first line break. A match that
 * begins at 0 is one that is found anywhere. */
#include "output/regex.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *why = NULL;
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t) (end - data) : size, stop = 0;
        struct regex *r = regex_new(span_of(data, n), &why);
        if (!r) {
                if (!why || !*why)
                        abort();
                return 0;
        }

        struct span text = end ? span_of(end + 1, size - n - 1) : span_of("", 0);
        uint64_t steps = 1000000, again = 1000000;
        enum regex_match at = regex_at(r, text, 0, &steps, &stop);
        enum regex_match found = regex_search(r, text, &again);
        if (at == REGEX_YES && (stop > text.n || found == REGEX_NO))
                abort();
        regex_free(r);
        return 0;
}
