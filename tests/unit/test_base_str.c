/* SPDX-License-Identifier: MIT */
#include "base/shell.h"
#include "base/str.h"
#include "harness.h"

static bool u64(const char *s, uint64_t want)
{
        uint64_t v = 77;
        return str_to_u64(span_str(s), &v) == 0 && v == want;
}

static void test_str__numbers_are_plain_digits(void)
{
        CHECK(u64("0", 0));
        CHECK(u64("7", 7));
        CHECK(u64("18446744073709551615", UINT64_MAX));
        static const char *const bad[] = { "",
                                           "-1",
                                           "+1",
                                           " 1",
                                           "1 ",
                                           "01",
                                           "00",
                                           "1x",
                                           "0x1",
                                           "18446744073709551616",
                                           "99999999999999999999",
                                           "999999999999999999999999" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                uint64_t v = 77;
                CHECK_INT(str_to_u64(span_str(bad[i]), &v), -1);
                CHECK_INT(v, 77);
        }
}

static void test_str__sizes_and_durations_have_exact_units(void)
{
        uint64_t v;
        CHECK(str_to_size(span_str("64"), &v) == 0 && v == 64);
        CHECK(str_to_size(span_str("64K"), &v) == 0 && v == 64 << 10);
        CHECK(str_to_size(span_str("2T"), &v) == 0 && v == UINT64_C(2) << 40);
        CHECK(str_to_ms(span_str("500ms"), &v) == 0 && v == 500);
        CHECK(str_to_ms(span_str("10m"), &v) == 0 && v == 600000);
        CHECK(str_to_ms(span_str("1d"), &v) == 0 && v == 86400000);
        static const char *const bad[] = { "", "K", "1k", "1KB", "1.5M", "-1K", "01M", "99999999999999999T" };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                CHECK_INT(str_to_size(span_str(bad[i]), &v), -1);
        static const char *const bad_ms[] = {
                "", "5", "ms", "s", "5S", "5 s", "1w", "18446744073709551615d"
        };
        for (size_t i = 0; i < sizeof bad_ms / sizeof *bad_ms; i++)
                CHECK_INT(str_to_ms(span_str(bad_ms[i]), &v), -1);
}

static void test_str__spelling_a_value_and_reading_it_back_gives_the_value(void)
{
        static const uint64_t values[] = { 0,
                                           1,
                                           999,
                                           1000,
                                           1023,
                                           1024,
                                           1536,
                                           60000,
                                           90000,
                                           3600000,
                                           86400000,
                                           1 << 20,
                                           (UINT64_C(1) << 40) + 1,
                                           UINT64_MAX };
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                char buf[32];
                uint64_t v = 1;
                CHECK(str_to_size(span_str(str_from_size(values[i], buf)), &v) == 0 && v == values[i]);
                CHECK(str_to_ms(span_str(str_from_ms(values[i], buf)), &v) == 0 && v == values[i]);
        }
        char buf[32];
        CHECK_STR(str_from_size(64 << 20, buf), "64M");
        CHECK_STR(str_from_ms(90000, buf), "90s");
        CHECK_STR(str_from_ms(86400000, buf), "1d");
}

static const char *inert(const char *s, char *buf, size_t cap) { return str_inert(span_str(s), buf, cap); }

static void test_str__hostile_text_is_made_inert(void)
{
        char buf[64], tiny[8];
        CHECK_STR(inert("plain \xc3\xa9", buf, sizeof buf), "plain \xc3\xa9");
        CHECK_STR(inert("\x1b[31mred", buf, sizeof buf), "\\x1b[31mred");
        CHECK_STR(inert("a\nb\x7f", buf, sizeof buf), "a\\x0ab\\x7f");
        CHECK_STR(inert("\xe2\x80\xae"
                        "x",
                        buf, sizeof buf),
                  "\\u{202e}x");
        CHECK_STR(inert("\xef\xbb\xbf", buf, sizeof buf), "\\u{feff}");
        /* Names of variables may have these, and nobody sees them. */
        CHECK_STR(inert("a\xe3\x85\xa4,\xcd\x8f,\xef\xb8\x8f", buf, sizeof buf),
                  "a\\u{3164},\\u{034f},\\u{fe0f}");
        CHECK_STR(inert("a\xf3\xa0\x84\x80,\xef\xbe\xa0,\xe3\x85\xa3", buf, sizeof buf),
                  "a\\u{e0100},\\u{ffa0},\xe3\x85\xa3");
        /* A sign in colour is seen, with the one selector that belongs to it; a second one is not. */
        CHECK_STR(inert("\xe2\x9a\xa0\xef\xb8\x8f!", buf, sizeof buf), "\xe2\x9a\xa0\xef\xb8\x8f!");
        CHECK_STR(inert("\xe2\x9a\xa0\xef\xb8\x8f\xef\xb8\x8f", buf, sizeof buf),
                  "\xe2\x9a\xa0\xef\xb8\x8f\\u{fe0f}");
        CHECK_STR(inert("1\xef\xb8\x8f\xe2\x83\xa3", buf, sizeof buf), "1\xef\xb8\x8f\xe2\x83\xa3");
        CHECK_STR(inert("1\xef\xb8\x8f", buf, sizeof buf), "1\\u{fe0f}");
        CHECK_STR(inert("\xe2\x9a\xa0\xef\xb8\x8e\xe2\x9a\xa0\xef\xb8\x80", buf, sizeof buf),
                  "\xe2\x9a\xa0\xef\xb8\x8e\xe2\x9a\xa0\\u{fe00}");
        CHECK_STR(inert("\xff\xc0\xaf", buf, sizeof buf), "\\xff\\xc0\\xaf");
        CHECK_STR(inert("\xc2\x9b", buf, sizeof buf), "\\u{009b}");
        CHECK_STR(str_inert(span_of("a\0b", 3), buf, sizeof buf), "a\\x00b");
        CHECK_STR(inert("0123456789", tiny, sizeof tiny), "0123...");
        CHECK_STR(inert("0123456", tiny, sizeof tiny), "0123456");
}

static void test_str__inert_never_writes_past_its_buffer(void)
{
        for (size_t cap = 1; cap < 40; cap++) {
                char buf[48];
                memset(buf, 'Z', sizeof buf);
                (void) inert("ab\x1b\xff\xe2\x80\xae"
                             "cdefghijklmnopqrstuvwxyz",
                             buf, cap);
                CHECK(memchr(buf, '\0', cap) != NULL);
                CHECK(buf[cap] == 'Z');
        }
}

static void test_str__utf8_refuses_overlong_surrogate_and_nul(void)
{
        CHECK(str_is_utf8(span_str("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")));
        static const char *const bad[] = {
                "\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff",
                "\x80",     "\xc3",         "\xe2\x82"
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                CHECK(!str_is_utf8(span_str(bad[i])));
        CHECK(!str_is_utf8(span_of("a\0b", 3)));
}

static void test_str__distance_counts_slips(void)
{
        CHECK_INT(str_distance("read", "read"), 0);
        CHECK_INT(str_distance("raed", "read"), 1);
        CHECK_INT(str_distance("reed", "read"), 1);
        CHECK_INT(str_distance("", "read"), 4);
        CHECK_INT(str_distance("memroy", "memory"), 1);
        CHECK(str_distance("0123456789012345678901234567890123456789", "read") > 32);
}

static void test_far__names_the_word_that_was_meant(void)
{
        static const char *const words[] = { "read", "run", "write", "edit", "env",  "in",   "out",
                                             "net",  "tty", "json",  "cwd",  "time", "quiet" };
        static const struct {
                const char *given, *want;
        } rows[] = {
                { "rd", "read" },    { "reed", "read" }, { "wrt", "write" },  { "writ", "write" },
                { "raed", "read" },  { "ru", "run" },    { "tiem", "time" },  { "xyz", NULL },
                { "q", "quiet" },    { "", NULL },       { "josn", "json" },  { "x", NULL },
                { "network", NULL }, { "foo", NULL },    { "wrte", "write" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                const char *best = NULL;
                unsigned least = STR_TOO_FAR;
                for (size_t k = 0; k < sizeof words / sizeof *words; k++)
                        if (str_far(rows[i].given, words[k]) < least)
                                least = str_far(rows[i].given, best = words[k]);
                printf("# %s: %s\n", rows[i].given, best ? best : "none");
                CHECK_STR(best ? best : "none", rows[i].want ? rows[i].want : "none");
        }
}

static void test_parent__climbs_to_the_top(void)
{
        CHECK_INT(str_parent("/a/bc", 5), 2);
        CHECK_INT(str_parent("/a/bc", 2), 0);
        CHECK_INT(str_parent("/a/bc/", 6), 5);
        CHECK_INT(str_parent("/", 1), 0);
        CHECK_INT(str_parent("", 0), 0);
}

static void test_join__is_clean_or_does_not_fit(void)
{
        static const struct {
                const char *start, *path, *want;
        } rows[] = {
                { "/a", "b", "/a/b" },       { "/a", "./b//c/", "/a/b/c" }, { "/a/b", "../c", "/a/c" },
                { "/a", "../../..", "/" },   { "/a", "/b", "/b" },          { "/", "b", "/b" },
                { "/a", "b/../../c", "/c" }, { "/a", "..b", "/a/..b" },     { "/a", "", "/a" },
                { "", "b/.", "/b" },         { "/a/", "b", "/a/b" },
        };
        char got[16];
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                CHECK(path_join(rows[i].start, rows[i].path, got, sizeof got));
                CHECK_STR(got, rows[i].want);
                for (size_t cap = 0; cap <= strlen(rows[i].want); cap++)
                        CHECK(!path_join(rows[i].start, rows[i].path, got, cap));
        }
        CHECK(!path_join("/0123456789", "01234", got, sizeof got));
}

static void test_shell__quotes_where_it_must(void)
{
        static const char *const rows[][2] = {
                { "/srv/a-b_c.d", "/srv/a-b_c.d" },
                { "host:443", "host:443" },
                { "", "''" },
                { "a b", "'a b'" },
                { "a'b", "'a'\\''b'" },
                { "$(x)", "'$(x)'" },
                { "~", "'~'" },
                { "A=1", "'A=1'" },
                { "a\nb", "'a\nb'" },
                { "{a,b}", "'{a,b}'" },
                { "!!", "'!!'" },
                { "\xc3\xa4", "'\xc3\xa4'" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                AUTO_BUF(out);
                buf_shell(&out, rows[i][0]);
                CHECK_STR(buf_str(&out), rows[i][1]);
        }
}

static void test_run__is_shown_by_its_start(void)
{
        static const struct {
                const char *id;
                bool whole;
                int shown;
        } rows[] = {
                { "4711-1a2b3c-9f3e0000effffffc", true, 16 },
                { "4711-1a2b3c-9f3e0000effffffc0", false, 29 },
                { "4711-1a2b3c-9f3e", false, 16 },
                { "4711-1a2b3c", false, 11 },
                { "471x-1a2b3c-9f3e0000effffffc", false, 28 },
                { "view-1a2b3c-00000000", false, 20 },
                { "", false, 0 },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                CHECK_INT(str_is_run(rows[i].id), rows[i].whole);
                CHECK_INT(str_run_shown(rows[i].id), rows[i].shown);
        }
}

static const struct test_case cases[] = {
        CASE(test_str__numbers_are_plain_digits),
        CASE(test_str__sizes_and_durations_have_exact_units),
        CASE(test_str__spelling_a_value_and_reading_it_back_gives_the_value),
        CASE(test_str__hostile_text_is_made_inert),
        CASE(test_str__inert_never_writes_past_its_buffer),
        CASE(test_str__utf8_refuses_overlong_surrogate_and_nul),
        CASE(test_str__distance_counts_slips),
        CASE(test_far__names_the_word_that_was_meant),
        CASE(test_parent__climbs_to_the_top),
        CASE(test_join__is_clean_or_does_not_fit),
        CASE(test_shell__quotes_where_it_must),
        CASE(test_run__is_shown_by_its_start),
};
TEST_MAIN(cases)
