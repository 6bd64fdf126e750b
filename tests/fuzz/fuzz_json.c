/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_json.c - the JSON reader on any bytes: what it accepts is written again and read to the
 * same tree. clang -fsanitize=fuzzer,address,undefined; with -DFUZZ_REPLAY a main that runs every file named
 * in argv. */
#include "base/buf.h"
#include "base/json.h"

#include <stdlib.h>

static void write_value(const struct json *v, struct buf *b, unsigned depth)
{
        if (depth > 64)
                abort();
        switch (v->type) {
        case JSON_NULL:
                buf_puts(b, "null");
                return;
        case JSON_FALSE:
                buf_puts(b, "false");
                return;
        case JSON_TRUE:
                buf_puts(b, "true");
                return;
        case JSON_INT:
        case JSON_NUMBER:
                buf_puts(b, v->str);
                return;
        case JSON_STRING:
                if (strlen(v->str) != v->len)
                        abort(); /* a NUL inside */
                buf_json(b, span_of(v->str, v->len));
                return;
        case JSON_ARRAY:
        case JSON_OBJECT:
                break;
        }
        buf_putc(b, v->type == JSON_ARRAY ? '[' : '{');
        for (const struct json *x = v->child; x; x = x->next) {
                if (v->type == JSON_OBJECT) {
                        buf_json(b, span_str(x->key));
                        buf_putc(b, ':');
                        if (json_get(v, x->key) != x)
                                abort(); /* a key twice */
                }
                write_value(x, b, depth + 1);
                buf_puts(b, x->next ? "," : "");
        }
        buf_putc(b, v->type == JSON_ARRAY ? ']' : '}');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e = { 0 };
        int checked = json_check("fuzz", span_of(data, size), &e);
        struct json_doc *d = json_parse("fuzz", span_of(data, size), &e);
        if ((d != NULL) != (checked == 0))
                abort();
        if (!d) {
                if (e.code == ERR_NONE || !e.what[0])
                        abort();
                return 0;
        }
        AUTO_BUF(once);
        AUTO_BUF(twice);
        write_value(json_root(d), &once, 0);
        json_free(d);
        d = json_parse("again", buf_span(&once), &e);
        if (!d)
                abort();
        write_value(json_root(d), &twice, 0);
        if (!span_eq(buf_span(&once), buf_span(&twice)))
                abort();
        json_free(d);
        return 0;
}
