/* SPDX-License-Identifier: MIT */
/* output/form_key.c - how a check is asked for: the encodings of both messages, and the key of a form. Pure.
 */
#include "base/hash.h"
#include "output/process.h"

static const struct wire_field ask[] = {
        WIRE_NUMBER(struct output_ask, number),
        WIRE_STRING(struct output_ask, key),
};
const struct wire_form output_ask_form = WIRE_FORM(WIRE_OUTPUT_ASK, 1, struct output_ask, ask);

static const struct wire_field line[] = { WIRE_NUMBER(struct output_line, number) };
const struct wire_form output_line_form = WIRE_FORM(WIRE_OUTPUT_LINE, 1, struct output_line, line);

void output_form_key(enum handle_type form, uint64_t max, const char *schema, char ret[OUTPUT_KEY])
{
        AUTO_BUF(text);
        buf_printf(&text, "%d %llu %s", (int) form, (unsigned long long) max,
                   schema ? schema : OUTPUT_NO_SCHEMA);
        sha256_hex(buf_span(&text), ret);
}
