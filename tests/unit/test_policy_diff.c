/* SPDX-License-Identifier: MIT */
/* Wider, narrower, equal or crossing: by coverage, not by text. */
#include "test_policy_common.h"

static void check(const char *a, const char *b, enum policy_order want, const char *lines)
{
        AUTO_BUF(ta);
        AUTO_BUF(tb);
        AUTO_BUF(out);
        AUTO_BUF(back);
        buf_printf(&ta, "use none\n%s\n", a);
        buf_printf(&tb, "use none\n%s\n", b);
        struct checked_policy *x = load(buf_str(&ta)), *y = load(buf_str(&tb));
        CHECK(x && y);
        if (x && y) {
                enum policy_order got = policy_diff(x, y, &out), turned = policy_diff(y, x, &back);
                if (got != want)
                        printf("# [%s] -> [%s]: %d\n%s\n", a, b, got, buf_str(&out));
                CHECK_INT(got, want);
                CHECK_INT(turned, want == POLICY_WIDER      ? POLICY_NARROWER
                                  : want == POLICY_NARROWER ? POLICY_WIDER
                                                            : want);
                if (lines)
                        CHECK_STR(buf_str(&out), lines);
        }
        policy_checked_free(x);
        policy_checked_free(y);
}

static void test_diff__files(void)
{
        check("read /a", "read /a", POLICY_EQUAL, "");
        check("read /a", "read /a /a/b", POLICY_EQUAL, "");
        check("read /a", "read /a /b", POLICY_WIDER, "+ read /b\n");
        check("read /a/b", "read /a", POLICY_WIDER, "+ read /a\n");
        check("read /a", "edit /a", POLICY_WIDER, "+ edit /a\n");
        check("edit /a", "write /a", POLICY_WIDER, "+ write /a\n");
        check("read /a", "read /b", POLICY_CROSSING, "+ read /b\n- read /a\n");
        check("read /a except b", "read /a", POLICY_WIDER, NULL);
        check("read /a except b\nread /a/b", "read /a", POLICY_EQUAL, NULL);
        check("read /a except b\nread /a/b except c", "read /a", POLICY_WIDER, NULL);
        check("read /a except b", "read /a except b/c", POLICY_WIDER, NULL);
        check("read /a except b c", "read /a except b", POLICY_WIDER, NULL);
        check("read /a except b", "read /a except c", POLICY_CROSSING, NULL);
        check("edit /a except b", "edit /a", POLICY_WIDER, NULL);
        check("edit /a except b\nread /a/b", "edit /a except b", POLICY_EQUAL, NULL);
        check("edit /a except b\nedit /a/b", "edit /a", POLICY_EQUAL, NULL);
        check("edit /a", "read /a\nedit /a/b", POLICY_NARROWER, NULL);
        check("read /a until 2030-01-01", "read /a", POLICY_WIDER, NULL);
        check("read /a until 2030-01-01", "read /a until 2031-01-01", POLICY_WIDER, NULL);
        check("read /a until 2020-01-01", "read /b until 2020-01-01", POLICY_EQUAL, ""); /* both closed */
}

static void test_diff__programs(void)
{
        check("run git", "run any", POLICY_WIDER, "+ run any\n");
        check("run /opt/x/y", "run /opt/x/", POLICY_WIDER, NULL);
        check("run git", "run git /usr/bin/git", POLICY_EQUAL, NULL);
        check("run /usr/bin/git", "run git", POLICY_WIDER, NULL);
        check("run any\nedit /w", "run any /w/tool\nedit /w", POLICY_EQUAL, "");
        check("run any\nread /usr", "run any /usr/lib/x/\nread /usr", POLICY_EQUAL, NULL);
        check("run any", "run any /opt/x/", POLICY_WIDER, NULL);
}

static void test_diff__network(void)
{
        check("", "net h.example:443", POLICY_WIDER, "+ net h.example:443\n");
        check("net a.h.example:443", "net *.h.example:443", POLICY_WIDER, NULL);
        check("net *.a.h.example:443", "net *.h.example:443", POLICY_WIDER, NULL);
        check("net h.example:443", "net *.h.example:443", POLICY_CROSSING, NULL);
        check("net https://h.example/**", "net h.example:443", POLICY_WIDER, NULL);
        check("net https://h.example/a/** GET", "net https://h.example/** GET", POLICY_WIDER, NULL);
        check("net https://h.example/a/**", "net https://h.example/a/** GET", POLICY_NARROWER, NULL);
        check("net https://h.example/** GET POST",
              "net https://h.example/** GET\nnet https://h.example/** POST", POLICY_EQUAL, NULL);
        check("net https://h.example/** cap 1M", "net https://h.example/** cap 2M", POLICY_WIDER, NULL);
        check("net https://h.example/** cap 1M", "net https://h.example/**", POLICY_WIDER, NULL);
        check("net https://h.example/** cap 1M/out", "net https://h.example/** cap 2M/out", POLICY_WIDER,
              NULL);
        check("net https://h.example/** cap 1M", "net https://h.example/** cap 1M/in", POLICY_WIDER, NULL);
        check("net https://h.example/** cap 1M/in", "net https://h.example/** cap 1M/out", POLICY_CROSSING,
              NULL);
        check("net https://h.example/**", "net https://h.example/** with k", POLICY_WIDER, NULL);
        check("net https://h.example/** with a", "net https://h.example/** with b", POLICY_CROSSING, NULL);
        check("net @p/a/**", "net @p/**", POLICY_WIDER, NULL);
        check("net @p/**", "net https://p/**", POLICY_CROSSING, NULL);
        check("net http://h.example/**", "net https://h.example:80/**", POLICY_CROSSING, NULL);
}

#define AT "net https://h.example/a POST "
static void test_diff__bounds(void)
{
        check(AT "where a=int:1..5", AT, POLICY_WIDER, "+ net https://h.example/a POST\n");
        check(AT "where a=int:1..5", AT "where a=int:1..5", POLICY_EQUAL, "");
        check(AT "where a=int:1..5", AT "where a=int:0..5", POLICY_WIDER, NULL);
        check(AT "where a=int:1..5", AT "where a=int:1..", POLICY_WIDER, NULL);
        check(AT "where a=int:1..5", AT "where a?=int:1..5", POLICY_WIDER, NULL);
        check(AT "where a=int:1..5", AT "where a=int:2..6", POLICY_CROSSING, NULL);
        check(AT "where a=int:1..5", AT "where a=one:1|2", POLICY_CROSSING, NULL);
        check(AT "where a=one:x", AT "where a=one:x|y", POLICY_WIDER, NULL);
        check(AT "where a=one:x|z", AT "where a=one:x|y", POLICY_CROSSING, NULL);
        check(AT "where a=one:x|yz", AT "where a=text:2", POLICY_WIDER, NULL);
        check(AT "where a=one:x|yz", AT "where a=text:1", POLICY_CROSSING, NULL);
        check(AT "where a=text:5", AT "where a=text:6", POLICY_WIDER, NULL);
        check(AT "where a=bool", AT "where a=bool b=bool", POLICY_NARROWER, NULL);
        check(AT "where a=bool only", AT "where a=bool", POLICY_WIDER, NULL);
        check(AT "where a=bool only", AT "where a=bool b?=bool only", POLICY_WIDER, NULL);
        check(AT "where a=bool only", AT "where a=bool b?=bool", POLICY_WIDER, NULL);
        check(AT "where a=bool only", AT "where a=bool b=bool only", POLICY_CROSSING, NULL);
        check(AT "where a=bool in body", AT "where a=bool", POLICY_WIDER, NULL);
        check(AT "where a=bool in body", AT "where a=bool in query", POLICY_CROSSING, NULL);
        check(AT "where a=bool b=bool in body", AT "where b=bool in body a=bool", POLICY_WIDER, NULL);
        check(AT "where a=bool in body b=bool in body", AT "where b=bool a=bool in body", POLICY_EQUAL, "");
        check(AT "where a=int:1..5\n" AT "where a=int:2..3", AT "where a=int:1..5", POLICY_EQUAL, "");
        check("net https://h.example/** where a=bool", AT "where a=bool", POLICY_NARROWER, NULL);
}

static void test_diff__a_line_is_covered_or_not(void)
{
        struct checked_policy *c = load("use none\n" AT "where a=int:1..5\nread /a\n");
        CHECK(c && policy_covers_line(c, AT "where a=int:2..5 b=bool", &fixed_context));
        CHECK(c && !policy_covers_line(c, AT "where a=int:1..6", &fixed_context));
        CHECK(c && !policy_covers_line(c, AT, &fixed_context));
        CHECK(c && policy_covers_line(c, "read /a/b", &fixed_context));
        CHECK(c && !policy_covers_line(c, "read", &fixed_context));
        CHECK(c && !policy_covers_line(c, "", &fixed_context));
        policy_checked_free(c);
}

static void test_diff__the_rest(void)
{
        check("env A", "env A B", POLICY_WIDER, "+ env B\n");
        check("env A=1", "env A=2", POLICY_CROSSING, NULL);
        check("env A=1", "env A", POLICY_CROSSING, NULL);
        check("sock /s", "", POLICY_NARROWER, "- sock /s\n");
        check("in a max 1M", "in a max 2M", POLICY_WIDER, NULL);
        check("out a as image", "out a", POLICY_WIDER, NULL);
        check("in a", "out a", POLICY_CROSSING, NULL);
        check("limit time 5s", "limit time 6s", POLICY_WIDER, "+ limit time 6s, was 5s: wider\n");
        check("limit time 5s memory 1M", "limit time 6s memory 512K", POLICY_CROSSING, NULL);
        check("wall namespace", "wall vm", POLICY_NARROWER, "- wall vm, was namespace: narrower\n");
        check("wall namespace", "wall auto", POLICY_WIDER, NULL);
        check("wall namespace", "wall wasm", POLICY_CROSSING, NULL);
        check("wall namespace", "wall namespace without landlock", POLICY_WIDER, "+ without landlock\n");
        check("box a", "box b", POLICY_EQUAL, "");
}

static const struct test_case cases[] = {
        CASE(test_diff__files),
        CASE(test_diff__programs),
        CASE(test_diff__network),
        CASE(test_diff__bounds),
        CASE(test_diff__a_line_is_covered_or_not),
        CASE(test_diff__the_rest),
};
TEST_MAIN(cases)
