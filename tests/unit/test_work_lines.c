/* SPDX-License-Identifier: MIT */
/* tests/unit/test_work_lines.c - a diff says exactly how one text becomes the other: random texts, and the
 * hunks taken by a reader that is written apart. */
#include "files/work/internal.h"
#include "harness.h"

#include <stdlib.h>

static unsigned long seed = 1;
static unsigned pick(unsigned n)
{
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return (unsigned) (seed >> 33) % n;
}

static void random_text(struct buf *out, unsigned lines, unsigned words)
{
        for (unsigned i = 0; i < lines; i++)
                buf_printf(out, "word %u\n", pick(words));
        if (pick(3) == 0)
                buf_puts(out, "no newline here");
}

static const char *next_line(const char *p, const char *end)
{
        const char *nl = memchr(p, '\n', (size_t) (end - p));
        return nl ? nl + 1 : end;
}

/* Takes hunks; false: they do not fit `a`. */
static bool take(struct span a, const struct buf *hunks, struct buf *out)
{
        const char *at = a.n ? (const char *) a.p : "", *end = at + a.n, *h = buf_str(hunks),
                   *he = h + hunks->n;
        unsigned long line = 1;
        while (h < he) {
                unsigned long from = 0, count = 1;
                if (strncmp(h, "@@ -", 4) != 0)
                        return false;
                char *rest;
                from = strtoul(h + 4, &rest, 10);
                if (*rest == ',')
                        count = strtoul(rest + 1, NULL, 10);
                for (unsigned long stop = count ? from : from + 1; line < stop; line++) {
                        const char *next = next_line(at, end);
                        buf_add(out, at, (size_t) (next - at));
                        at = next;
                }
                for (h = next_line(h, he); h < he && *h != '@'; h = next_line(h, he)) {
                        const char *le = next_line(h, he);
                        size_t n = (size_t) (le - h) - 1;
                        bool bare = le < he && *le == '\\';
                        if (bare)
                                n--;
                        if (*h == '\\')
                                continue;
                        if (*h != '+') {
                                if ((size_t) (end - at) < n || memcmp(at, h + 1, n) != 0)
                                        return false;
                                at += n;
                                line++;
                        }
                        if (*h != '-')
                                buf_add(out, h + 1, n);
                }
        }
        buf_add(out, at, (size_t) (end - at));
        return true;
}

static void round_trip(const struct buf *a, const struct buf *b)
{
        AUTO_BUF(hunks);
        AUTO_BUF(got);
        size_t added, removed, plus = 0, minus = 0;
        (void) lines_diff(buf_span(a), buf_span(b), &hunks);
        CHECK(take(buf_span(a), &hunks, &got));
        CHECK(got.n == b->n && (b->n == 0 || memcmp(got.p, b->p, b->n) == 0));
        lines_count(buf_span(a), buf_span(b), &added, &removed);
        for (const char *p = buf_str(&hunks); *p; p = next_line(p, hunks.p + hunks.n)) {
                plus += *p == '+';
                minus += *p == '-';
        }
        CHECK_INT(plus, added);
        CHECK_INT(minus, removed);
}

static void test_diff__hunks_turn_one_text_into_the_other(void)
{
        for (unsigned i = 0; i < 3000; i++) {
                AUTO_BUF(a);
                AUTO_BUF(b);
                unsigned words = 1 + pick(30);
                random_text(&a, pick(40), words);
                random_text(&b, pick(40), words);
                round_trip(&a, &b);
        }
}

static void test_diff__beyond_its_memory_it_is_longer_and_still_true(void)
{
        AUTO_BUF(a);
        AUTO_BUF(b);
        AUTO_BUF(hunks);
        random_text(&a, 6000, 1000000);
        random_text(&b, 6000, 1000000);
        CHECK(!lines_diff(buf_span(&a), buf_span(&b), &hunks));
        round_trip(&a, &b);
}

/* A text of nothing but line ends would take 24 times its size as lines: it is replaced as it is. */
static void test_diff__very_many_lines_are_one_replacement(void)
{
        enum { MANY = 8 << 20 };
        static const char head[] = "@@ -1,2 +1,8388610 @@\n-y\n-z\n\\ No newline at end of file\n+\n+\n";
        AUTO_BUF(a);
        AUTO_BUF(b);
        AUTO_BUF(hunks);
        size_t added, removed;
        buf_puts(&a, "y\nz");
        for (size_t i = 0; i <= MANY; i++)
                buf_putc(&b, '\n');
        buf_putc(&b, 'x');
        CHECK(!lines_diff(buf_span(&a), buf_span(&b), &hunks));
        CHECK(strncmp(buf_str(&hunks), head, strlen(head)) == 0);
        round_trip(&a, &b);
        round_trip(&b, &a);
        AUTO_BUF(same);
        CHECK(lines_diff(buf_span(&b), buf_span(&b), &same));
        CHECK_STR(buf_str(&same), "");
        lines_count(buf_span(&b), buf_span(&b), &added, &removed);
        CHECK(added == 0 && removed == 0);
        lines_count(span_str(""), buf_span(&b), &added, &removed);
        CHECK(added == MANY + 2 && removed == 0);
}

static void test_diff__the_empty_text_and_one_without_newline(void)
{
        AUTO_BUF(out);
        CHECK(lines_diff(span_str(""), span_str("x"), &out));
        CHECK_STR(buf_str(&out), "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
        AUTO_BUF(same);
        CHECK(lines_diff(span_str("x\n"), span_str("x\n"), &same));
        CHECK_STR(buf_str(&same), "");
}

static const struct test_case cases[] = {
        CASE(test_diff__hunks_turn_one_text_into_the_other),
        CASE(test_diff__beyond_its_memory_it_is_longer_and_still_true),
        CASE(test_diff__very_many_lines_are_one_replacement),
        CASE(test_diff__the_empty_text_and_one_without_newline),
};
TEST_MAIN(cases)
