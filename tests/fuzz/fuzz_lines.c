/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz_lines.c - the stages that work on lines, one by one: patterns of secrets, injection, links
 * and cells of CSV. The first byte chooses the stage. None crashes; a link or formula that was made inert
 * stays so. */
#include "base/str.h"
#include "output/lines.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void patterns(struct span line)
{
        struct findings f = { 0 };
        struct patterns *p = patterns_new();
        AUTO_BUF(out);
        if (!p)
                abort();
        patterns_line(p, line, 1, &out, &f);
        patterns_line(p, line, 2, &out, &f);
        patterns_free(p);
        if (out.n < line.n && f.n == 0)
                abort(); /* nothing is lost without a note */
}

static void injection(struct span line)
{
        struct findings f = { 0 };
        struct injection *i = injection_new();
        if (!i)
                abort();
        injection_line(i, line, 1, &f);
        injection_free(i);
}

static void links(struct span line)
{
        static const char *const hosts[] = { "a.example", "*.b.example" };
        struct findings f = { 0 }, again = { 0 };
        AUTO_BUF(once);
        AUTO_BUF(twice);
        links_line(hosts, 2, line, 1, &once, &f);
        links_line(hosts, 2, buf_span(&once), 1, &twice, &again);
        if (again.n || twice.n != once.n)
                abort();
}

static void formulas(struct span text)
{
        struct findings f = { 0 };
        unsigned columns = 0;
        AUTO_BUF(out);
        for (size_t from = 0; from < text.n;) {
                size_t n = formulas_length(span_of(text.p + from, text.n - from), true);
                if (n == 0 || n > text.n - from)
                        abort();
                if (formulas_record(span_of(text.p + from, n), &columns, 1, &out, &f) < 0)
                        return;
                from += n;
        }
        if (out.n && strchr("=+-@", out.p[0]) && out.p[0])
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static void (*const stages[])(struct span) = { patterns, injection, links, formulas };
        if (size > 1)
                stages[data[0] % 4](span_of(data + 1, size - 1));
        return 0;
}
