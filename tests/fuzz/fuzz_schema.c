/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_schema.c - a schema and a document, divided by the first line break: whatever they are, the
 * check ends, and says the same twice. */
#include "output/schema.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t) (end - data) : size;
        struct schema *s = schema_new("fuzz", span_of(data, n), NULL, 0, SCHEMA_FORMATS, &e);
        if (!s) {
                if (e.code == ERR_NONE || !e.what[0])
                        abort();
                return 0;
        }

        struct json_doc *d = end ? json_parse_data("fuzz", span_of(end + 1, size - n - 1), &e) : NULL;
        if (d && schema_check(s, d, 100000, &e) != schema_check(s, d, 100000, &e))
                abort();
        json_free(d);
        schema_free(s);
        return 0;
}
