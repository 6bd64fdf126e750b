/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_label.c - any bytes as a label, and as a schema whose capacity is asked for: what is read
 * is written in one form and read back; a broken label is the worst one. */
#include "base/json.h"
#include "effect/label/label.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_schema(struct span text)
{
        struct err ignored;
        struct json_doc *d = json_parse("schema", text, &ignored);
        if (d && label_capacity(json_root(d)) > LABEL_BITS_MAX)
                abort();
        json_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char text[LABEL_TEXT_MAX], again[LABEL_TEXT_MAX];
        struct label l, same, worst = label_worst();
        check_schema(span_of(data, size));
        if (label_parse(span_of(data, size), &l) < 0)
                return 0;

        if (label_parse(span_str(label_text(&l, text)), &same) < 0 || !label_equal(&l, &same) ||
            strcmp(label_text(&same, again), text) != 0)
                abort();

        label_join(&l, &worst);
        if (!label_equal(&l, &worst))
                abort();

        return 0;
}
