/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/json.h"
#include "harness.h"

#include <locale.h>

static void test_json__values_of_every_type_are_read(void)
{
        struct err e;
        struct json_doc *d = json_parse("f",
                                        span_str("{\"a\": [1, -2, 3.5, true, false, null, "
                                                 "\"x\\n\\u00e9\\ud83d\\ude00\"],\n \"b\": {}}"),
                                        &e);
        CHECK(d != NULL);
        if (!d)
                return;
        const struct json *a = json_get(json_root(d), "a");
        CHECK(a && a->type == JSON_ARRAY && a->child->type == JSON_INT && a->child->integer == 1);
        CHECK_INT(a->child->next->integer, -2);
        CHECK_INT(a->child->next->next->type, JSON_NUMBER);
        CHECK_STR(a->child->next->next->str, "3.5");
        const struct json *s = a->child;
        while (s->next)
                s = s->next;
        CHECK_STR(s->str, "x\n\xc3\xa9\xf0\x9f\x98\x80");
        const struct json *b = json_get(json_root(d), "b");
        CHECK(b && b->type == JSON_OBJECT && !b->child && b->line == 2 && b->column == 7);
        CHECK(!json_get(json_root(d), "c"));
        json_free(d);
}

static void test_json__what_rfc_8259_does_not_allow_is_refused(void)
{
        static const char *const bad[] = {
                "",
                " ",
                "{",
                "}",
                "[",
                "[1",
                "[1,]",
                "[,1]",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{a:1}",
                "{'a':1}",
                "01",
                "1.",
                ".5",
                "+1",
                "-",
                "1e",
                "1e+",
                "0x1",
                "NaN",
                "Infinity",
                "tru",
                "truee",
                "nul",
                "\"",
                "\"\\",
                "\"\\x\"",
                "\"\\u12\"",
                "\"\\ud800\"",
                "\"\\ud800x\"",
                "\"\\ud800\\u0041\"",
                "\"\\udc00\"",
                "\"\\u0000\"",
                "\"\n\"",
                "\"\t\"",
                "1 2",
                "[] []",
                "{} x",
                "// c\n1",
                "/**/1",
                "\xef\xbb\xbf 1",
                "\"\xff\"",
                "\"\xc0\xaf\"",
                "{\"a\":1,\"a\":2}",
                "[1 2]",
                "{\"a\" 1}",
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct err e = { 0 };
                struct json_doc *d = json_parse("f", span_str(bad[i]), &e);
                if (d)
                        printf("# accepted: %s\n", bad[i]);
                CHECK(d == NULL);
                CHECK(strncmp(e.what, "f:", 2) == 0);
                CHECK(json_check("f", span_str(bad[i]), &e) < 0);
                json_free(d);
        }
        struct err e;
        CHECK(!json_parse("f", span_of("\"a\0b\"", 5), &e));
}

static void test_json__nesting_is_bounded(void)
{
        char text[200];
        struct err e;
        for (int depth = 30; depth < 40; depth++) {
                memset(text, '[', (size_t) depth);
                memset(text + depth, ']', (size_t) depth);
                struct json_doc *d = json_parse("f", span_of(text, (size_t) depth * 2), &e);
                CHECK_INT(d != NULL, depth <= 32);
                CHECK_INT(json_check("f", span_of(text, (size_t) depth * 2), &e), d ? 0 : -1);
                json_free(d);
        }
}

/* "{"k0":1, ... "kN":VALUE}", `levels` of them in each other. */
static void put_wide(struct buf *b, unsigned levels, unsigned members)
{
        buf_putc(b, '{');
        for (unsigned i = 0; i + 1 < members; i++)
                buf_printf(b, "\"k%u\":1,", i);
        buf_puts(b, "\"last\":");
        if (levels > 1)
                put_wide(b, levels - 1, members);
        else
                buf_puts(b, "[]");
        buf_putc(b, '}');
}

static void test_json__a_check_says_what_a_reader_says(void)
{
        static const struct {
                const char *text;
                bool good;
        } rows[] = {
                { "{\"a\":{\"b\":[1,{\"a\":2}]},\"b\":{\"a\":1}}", true },
                { "{\"a\":{\"b\":1},\"a\":2}", false },
                { "{\"a\":[{\"x\":1},{\"x\":2}],\"b\":\"a\",\"a\":1}", false },
                { "[{\"x\":1},{\"x\":2,\"y\":{\"x\":3}}]", true },
                { "[{\"x\":1},{\"x\":2,\"x\":{\"x\":3}}]", false },
                { "[[[\"a\",\"b\"],1.5],null,{\"\":[]}]", true },
        };
        struct err e;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct json_doc *d = json_parse("f", span_str(rows[i].text), &e);
                CHECK_INT(d != NULL, rows[i].good);
                CHECK_INT(json_check("f", span_str(rows[i].text), &e), rows[i].good ? 0 : -1);
                json_free(d);
        }
        static const unsigned wide[][2] = { { 31, 1024 }, { 1, 1025 }, { 2, 1024 }, { 32, 2 } };
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
                AUTO_BUF(text);
                put_wide(&text, wide[i][0], wide[i][1]);
                struct json_doc *d = json_parse("f", buf_span(&text), &e);
                CHECK_INT(json_check("f", buf_span(&text), &e), d ? 0 : -1);
                json_free(d);
        }
        AUTO_BUF(text);
        put_wide(&text, 31, 1024); /* with the array in the innermost: as deep and as wide as it gets */
        CHECK_INT(json_check("f", buf_span(&text), &e), 0);
}

static void test_json__integers_are_exact_or_numbers(void)
{
        struct err e;
        struct json_doc *d = json_parse(
                "f", span_str("[9223372036854775807,9223372036854775808,-9223372036854775808]"), &e);
        CHECK(d != NULL);
        if (!d)
                return;
        const struct json *x = json_root(d)->child;
        CHECK(x->type == JSON_INT && x->integer == INT64_MAX);
        CHECK_INT(x->next->type, JSON_NUMBER);
        CHECK(x->next->next->integer == INT64_MIN);
        json_free(d);
}

static void test_json__an_error_names_line_and_column(void)
{
        struct err e;
        CHECK(!json_parse("f", span_str("{\n  \"\xc3\xa9\": x}"), &e));
        CHECK_STR(e.what, "f:2:8: not a JSON value");
}

static void test_buf_json__escapes_what_must_be_and_replaces_what_is_not_utf8(void)
{
        AUTO_BUF(b);
        buf_json(&b, span_of("a\"\\\n\x01\x7f\xff\xc3\xa9\0z", 11));
        CHECK_STR(buf_str(&b), "\"a\\\"\\\\\\n\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\\u0000z\"");
        AUTO_BUF(high); /* controls of the second hundred, and the first character that is none */
        buf_json(&high, span_str("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0\xc2"));
        CHECK_STR(buf_str(&high), "\"\\u0080\\u009b\\u009f\xc2\xa0\xef\xbf\xbd\"");
        AUTO_BUF(turned); /* bidi, a joiner of no width, a tag above the basic plane; and a letter there */
        buf_json(&turned, span_str("a\xe2\x80\xae\xe2\x80\x8d\xf3\xa0\x81\x81\xf0\x9d\x84\x9e"));
        CHECK_STR(buf_str(&turned), "\"a\\u202e\\u200d\\udb40\\udc41\xf0\x9d\x84\x9e\"");
        struct err e;
        struct json_doc *back = json_parse("f", buf_span(&turned), &e);
        CHECK(back != NULL);
        CHECK_STR(back ? json_root(back)->str : "",
                  "a\xe2\x80\xae\xe2\x80\x8d\xf3\xa0\x81\x81\xf0\x9d\x84\x9e");
        json_free(back);
}

static void test_buf_fixed__a_number_has_a_point_wherever_it_is_written(void)
{
        static const struct {
                uint64_t value;
                unsigned digits;
                const char *want;
        } rows[] = { { 0, 3, "0.000" },  { 7, 3, "0.007" }, { 12345, 3, "12.345" },
                     { 100, 2, "1.00" }, { 42, 0, "42" },   { UINT64_MAX, 2, "184467440737095516.15" } };
        (void) setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one, its point is a comma */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                AUTO_BUF(b);
                buf_fixed(&b, rows[i].value, rows[i].digits);
                CHECK_STR(buf_str(&b), rows[i].want);
        }
        (void) setlocale(LC_ALL, "C");
}

static const struct test_case cases[] = {
        CASE(test_json__values_of_every_type_are_read),
        CASE(test_json__what_rfc_8259_does_not_allow_is_refused),
        CASE(test_json__nesting_is_bounded),
        CASE(test_json__a_check_says_what_a_reader_says),
        CASE(test_json__integers_are_exact_or_numbers),
        CASE(test_json__an_error_names_line_and_column),
        CASE(test_buf_fixed__a_number_has_a_point_wherever_it_is_written),
        CASE(test_buf_json__escapes_what_must_be_and_replaces_what_is_not_utf8),
};
TEST_MAIN(cases)
