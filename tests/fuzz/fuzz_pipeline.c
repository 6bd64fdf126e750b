/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_pipeline.c - any bytes through all stages. The first byte is the form, the second the size
 * of a write. What passes as text is text, holds no escape sequence and no known secret, and passes again. */
#include "base/str.h"
#include "output/pipeline.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct known_word words[] = { { "k", { (const uint8_t *) "sesame42", 8 }, false } };

static int pass(enum handle_type form, struct span in, size_t step, struct buf *out)
{
        static const char *const hosts[] = { "a.example" };
        struct err e = { 0 };
        struct pipeline_config c = { .form = form,
                                     .max = 1 << 20,
                                     .schema_name = "s",
                                     .words = words,
                                     .n_words = 1,
                                     .hosts = hosts,
                                     .n_hosts = 1 };
        struct pipeline *p = pipeline_new(&c, &e);
        int r = p ? 0 : -1;
        for (size_t at = 0; r == 0 && at < in.n; at += step)
                r = pipeline_feed(p, span_of(in.p + at, in.n - at < step ? in.n - at : step), out, &e);
        r = r < 0 ? r : pipeline_end(p, out, &e);
        if (r < 0 && (e.code == ERR_NONE || !e.what[0]))
                abort();
        pipeline_free(p);
        return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 2)
                return 0;

        enum handle_type form = (enum handle_type)(data[0] % HANDLE_TYPE__COUNT);
        size_t step = data[1] ? data[1] : 256;
        AUTO_BUF(out);
        int r = pass(form, span_of(data + 2, size - 2), step, &out);
        bool text = form == HANDLE_TEXT || form == HANDLE_JSON || form == HANDLE_JSONL || form == HANDLE_CSV;
        if (r < 0 && form != HANDLE_TEXT && out.n)
                abort();
        if (r < 0 || !text)
                return 0;

        if (out.n && (!str_is_utf8(buf_span(&out)) || memchr(out.p, 033, out.n) ||
                      memmem(out.p, out.n, "sesame42", 8)))
                abort();
        AUTO_BUF(again);
        if (form == HANDLE_TEXT && pass(form, buf_span(&out), 4096, &again) < 0)
                abort();
        return 0;
}
