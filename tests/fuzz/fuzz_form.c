/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_form.c - any bytes as a posted form, as JSON, in parts and as neither: the answer does not
 * depend on where the body is cut, and what begins with the plain spelling of another method is found. */
#include "egress/http_form.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool may(void *ctx, const char *method)
{
        (void) ctx;
        return strcmp(method, "POST") == 0 || strcmp(method, "PATCH") == 0;
}

static bool run(const char *type, struct span body, size_t cut)
{
        static struct http_head h;
        struct http_form *f = NULL;
        const char *why;
        struct form_judge j = { NULL, may };
        h = (struct http_head){ .field_count = 1 };
        h.field[0] = (struct http_field){ .name = span_str("Content-Type"), .value = span_str(type) };
        if (form_new(&h, &f, &why) < 0 || !f)
                abort();
        bool good = true;
        for (size_t i = 0; good && i < body.n; i += cut)
                good = form_pass(f, span_of(body.p + i, body.n - i < cut ? body.n - i : cut), false, &j);
        good = good && form_pass(f, (struct span){ 0 }, true, &j);
        form_free(f);
        return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct {
                const char *type, *front;
        } kinds[] = {
                { "application/x-www-form-urlencoded", "_method=DELETE&" },
                { "text/plain", "_method=DELETE&" },
                { "application/octet-stream", "{\"_method\":\"DELETE\"," },
                { "application/json", "{\"_method\":\"DELETE\"," },
                { "application/json", "{\"a\":\"&_method=DELETE&" },
                { "multipart/form-data; boundary=B",
                  "--B\r\nContent-Disposition: form-data; name=\"_method\"\r\n\r\nDELETE\r\n--B\r\n" }
        };
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                AUTO_BUF(after);
                struct span body = span_of(data, size);
                bool whole = run(kinds[i].type, body, size ? size : 1);
                if (run(kinds[i].type, body, 1) != whole || run(kinds[i].type, body, 7) != whole)
                        abort();
                buf_puts(&after, kinds[i].front);
                buf_add(&after, data, size);
                if (!after.failed && run(kinds[i].type, buf_span(&after), 3))
                        abort();
        }
        return 0;
}
