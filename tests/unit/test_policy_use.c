/* SPDX-License-Identifier: MIT */
/* `use`: unions, defaults, cycles, depth, and what does not leak. */
#include "base/hash.h"
#include "test_policy_common.h"

struct shelf {
        const char *name, *text;
};

static int find(void *ctx, const char *name, struct span *ret_text, struct err *e)
{
        (void) e;
        for (const struct shelf *s = ctx; s->name; s++) {
                if (strcmp(s->name, name) == 0) {
                        *ret_text = span_str(s->text);
                        return 0;
                }
        }
        return -1;
}

static struct checked_policy *load_with(struct shelf *s, const char *text, struct err *e)
{
        struct policy_context c = fixed_context;
        c.load = find;
        c.load_ctx = s;
        return load_in("t", span_str(text), &c, e);
}

static void test_use__doors_are_united_and_nothing_else_leaks(void)
{
        struct err e;
        struct shelf s[] = { { "own/a", "box inner\ndoc inner\nwall vm\nread /a\nlimit time 5s memory "
                                        "1G\nuse own/b\nexpect deny read /z\n" },
                             { "own/b", "read /b\nlimit time 3s cpu 9s\n" },
                             { NULL, NULL } };
        struct checked_policy *c = load_with(s, "read /z\nuse own/a own/a\nlimit memory 2G\n", &e);
        CHECK(c != NULL);
        if (!c) {
                printf("# %s\n", e.what);
                return;
        }
        CHECK_ALLOW(c, "read /a");
        CHECK_ALLOW(c, "read /b");
        CHECK_ALLOW(c, "read /z"); /* the used policy's expectation is a test of that policy alone */
        CHECK_STR(policy_box(c), "box");
        CHECK_STR(policy_doc(c), "");
        CHECK_INT(policy_wall(c), WALL_AUTO);
        CHECK_INT(policy_limits(c)->value[LIMIT_MEMORY], UINT64_C(2) << 30);
        CHECK_INT(policy_limits(c)->value[LIMIT_TIME], 3000); /* of two that are used, the smaller */
        CHECK_INT(policy_limits(c)->value[LIMIT_CPU], 9000);
        policy_checked_free(c);
}

static void test_use__cycles_depth_and_missing_names_are_errors(void)
{
        struct err e;
        struct shelf cycle[] = { { "a", "use b\n" }, { "b", "read /x\nuse a\n" }, { NULL, NULL } };
        CHECK(!load_with(cycle, "use a\n", &e));
        CHECK_STR(e.what, "b:2:5: \"a\" uses itself");
        struct shelf self[] = { { "a", "use a\n" }, { NULL, NULL } };
        CHECK(!load_with(self, "use a\n", &e));
        CHECK_STR(e.what, "a:1:5: \"a\" uses itself");
        CHECK(!load_with(self, "use b\n", &e));
        CHECK_STR(e.what, "t:1:5: policy \"b\" does not exist");
        struct shelf deep[] = { { "d1", "use d2" }, { "d2", "use d3" }, { "d3", "use d4" },
                                { "d4", "use d5" }, { "d5", "use d6" }, { "d6", "use d7" },
                                { "d7", "use d8" }, { "d8", "use d9" }, { "d9", "read /d9" },
                                { NULL, NULL } };
        CHECK(!load_with(deep, "use d1\n", &e));
        CHECK_STR(e.what, "d8:1:5: `use` is nested deeper than 8");
        struct checked_policy *c = load_with(deep, "use d2\n", &e);
        CHECK(c != NULL);
        policy_checked_free(c);
        struct shelf fake[] = { { "base/evil", "read /x" }, { NULL, NULL } };
        CHECK(!load_with(fake, "use base/evil\n", &e)); /* base/ is ours alone */
        check_refused("use ../../etc/passwd\n", "t:1:5: invalid policy name \"../../etc/passwd\"", NULL);
        check_refused("use own/x\n", "t:1:5: policy \"own/x\" does not exist", NULL);
}

static void test_use__an_error_in_a_used_policy_names_its_line(void)
{
        struct err e;
        struct shelf s[] = { { "a", "read /a\nreed /b\n" },
                             { "b", "read /a\nexpect deny read /a\n" },
                             { NULL, NULL } };
        CHECK(!load_with(s, "use a\n", &e));
        CHECK_STR(e.what, "a:2:1: unknown word \"reed\"");
        CHECK(!load_with(s, "use b\n", &e));
        CHECK_STR(e.what, "b:2:1: expect deny failed: read /a is allowed");
}

static size_t stock_doors(const struct checked_policy *c)
{
        size_t n, k = 0;
        const struct door *d = policy_doors(c, &n);
        for (size_t i = 0; i < n; i++)
                k += d[i].from_stock;
        return k;
}

static void test_use__with_no_use_line_there_is_the_loader_or_the_system(void)
{
        struct err e;
        struct checked_policy *c = load("read /a\n");
        CHECK(stock_doors(c) > 0);
        CHECK_DENY(c, "run sh", REASON_NO_DOOR);
        CHECK_ALLOW(c, "read /etc/ld.so.cache");
        policy_checked_free(c);

        struct policy_context system = fixed_context;
        system.default_system = true;
        c = load_in("t", span_str("read /a\n"), &system, &e);
        CHECK_ALLOW(c, "run sh");
        CHECK_ALLOW(c, "read /usr/bin/env");
        CHECK_DENY(c, "read /etc/passwd", REASON_NO_DOOR);
        policy_checked_free(c);
        c = load_in("t", span_str("use base/git\n"), &system, &e);
        CHECK_DENY(c, "run python3", REASON_NO_DOOR);
        policy_checked_free(c);
        c = load("use none\nread /a\n");
        CHECK_INT(stock_doors(c), 0);
        policy_checked_free(c);
}

static int find_any(void *ctx, const char *name, struct span *ret_text, struct err *e)
{
        (void) ctx, (void) name, (void) e;
        *ret_text = span_str("read /a\n");
        return 0;
}

static struct checked_policy *load_using(unsigned n, struct err *e)
{
        struct policy_context c = fixed_context;
        c.load = find_any;
        AUTO_BUF(text);
        for (unsigned i = 0; i < n; i++)
                buf_printf(&text, "use own/p%u\n", i);
        return load_in("t", buf_span(&text), &c, e);
}

static void test_use__so_many_and_no_more(void)
{
        struct err e;
        struct checked_policy *c = load_using(64, &e);
        CHECK(c != NULL);
        if (c)
                policy_checked_free(c);
        CHECK(!load_using(65, &e));
        CHECK_STR(e.what, "t:65:5: more than 64 policies are used");
}

static unsigned unpinned(const struct checked_policy *c)
{
        size_t n;
        unsigned found = 0;
        const struct policy_note *t = policy_notes(c, &n);
        for (size_t i = 0; i < n; i++)
                found += strcmp(t[i].code, "W142") == 0;
        return found;
}

static void test_use__a_pinned_policy_is_the_one_that_was_looked_at(void)
{
        static const char text[] = "read /data\n", wider[] = "read /data\nwrite /data\n";
        static const unsigned notes[] = { 0, 2, 0, 1 }; /* inner, and mine as inner has it */
        struct shelf s[] = { { "mine", text }, { "inner", "use mine\n" }, { NULL, NULL } };
        char digest[65], policy[4][300];
        struct err e = { 0 };
        sha256_hex(span_str(text), digest);
        (void) snprintf(policy[0], sizeof policy[0], "use base/loader mine sha256:%s base/git\n", digest);
        (void) snprintf(policy[1], sizeof policy[1], "use inner\nuse mine sha256:%s\n", digest);
        (void) snprintf(policy[2], sizeof policy[2], "{\"use\":[\"mine\",\"sha256:%s\"]}", digest);
        (void) snprintf(policy[3], sizeof policy[3], "use mine\n");
        for (size_t i = 0; i < 4; i++) {
                struct checked_policy *c = load_with(s, policy[i], &e);
                CHECK(c != NULL);
                CHECK_INT(c ? unpinned(c) : 99, notes[i]);
                policy_checked_free(c);
        }
        s[0].text = wider;
        for (size_t i = 0; i < 3; i++) {
                CHECK(load_with(s, policy[i], &e) == NULL);
                CHECK(strstr(e.what, "policy mine does not match its pinned digest"));
                CHECK(strstr(e.hint, "`use mine sha256:"));
        }
        struct checked_policy *c = load_with(s, policy[3], &e);
        CHECK(c != NULL);
        policy_checked_free(c);
}

static void test_use__a_pin_is_64_hex_digits_behind_a_name(void)
{
        static const char *const bad[] = {
                "use sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
                "use base/git sha256:0123\n",
                "use base/git sha256:\n",
                "use base/git sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef\n",
        };
        struct shelf none[] = { { NULL, NULL } };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct err e = { 0 };
                CHECK(load_with(none, bad[i], &e) == NULL);
                CHECK(strstr(e.what, "is not the digest of a policy"));
        }
}

static const struct test_case cases[] = {
        CASE(test_use__doors_are_united_and_nothing_else_leaks),
        CASE(test_use__cycles_depth_and_missing_names_are_errors),
        CASE(test_use__an_error_in_a_used_policy_names_its_line),
        CASE(test_use__so_many_and_no_more),
        CASE(test_use__a_pinned_policy_is_the_one_that_was_looked_at),
        CASE(test_use__a_pin_is_64_hex_digits_behind_a_name),
        CASE(test_use__with_no_use_line_there_is_the_loader_or_the_system),
};
TEST_MAIN(cases)
