/* SPDX-License-Identifier: MIT */
/* tests/unit/test_effect.c - kinds and reasons by name, and rows of the report. */
#include "effect/effect.h"
#include "harness.h"

static void test_reason__each_has_a_name_of_its_own_and_a_text(void)
{
        for (unsigned i = 0; i < REASON__COUNT; i++) {
                enum effect_reason r = (enum effect_reason) i;
                CHECK(effect_reason_name(r) && effect_reason_name(r)[0]);
                CHECK(effect_reason_text(r) && (!r || effect_reason_text(r)[0]));
                CHECK_INT(effect_reason_find(span_str(effect_reason_name(r))), r);
        }

        CHECK_INT(effect_reason_find(span_str("no such reason")), REASON_NONE);
        CHECK_STR(effect_reason_name(REASON__COUNT), "unknown");
}

static void test_kind__each_has_a_name_of_its_own(void)
{
        for (unsigned i = EFFECT_READ; i < EFFECT_KIND__COUNT; i++)
                CHECK_INT(effect_kind_find(span_str(effect_kind_name((enum effect_kind) i))), i);

        CHECK_INT(effect_kind_find(span_str("none")), EFFECT_NONE);
        CHECK_INT(effect_kind_find(span_str("")), EFFECT_NONE);
}

static void test_reason__words_hold_the_detail(void)
{
        static const struct {
                enum effect_reason reason;
                const char *detail, *want;
        } rows[] = {
                { REASON_NONE, "", "" },
                { REASON_PORT, "", "no net door for this port" },
                { REASON_TLS_SERVER, "it has expired",
                  "TLS handshake with the server failed: it has expired" },
                { REASON_PARAMETER, "", "parameter not allowed by `where`" },
                { REASON_PARAMETER, "parameter n is 9", "parameter n is 9" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                AUTO_BUF(out);
                effect_put_why(&out, rows[i].reason, rows[i].detail);
                CHECK_STR(buf_str(&out), rows[i].want);
        }
}

static struct effect_row row_of(const char *what)
{
        return (struct effect_row){ .effect = { .subject.run = "r1",
                                                .kind = EFFECT_NET,
                                                .target = "a.test:443",
                                                .method = "GET",
                                                .reason = REASON_PORT },
                                    .what = what,
                                    .why = "no",
                                    .layer = "egress",
                                    .permit = "",
                                    .argument = "",
                                    .program = "curl",
                                    .on_host = -1,
                                    .count = 2 };
}

static void test_row__a_copy_has_strings_of_its_own(void)
{
        char what[] = "connect";
        struct arena mem = { 0 };
        struct effect_row from = row_of(what), copy;
        CHECK(effect_row_copy(&from, &mem, &copy));
        CHECK(effect_row_same(&from, &copy));
        what[0] = 'x';
        CHECK_STR(copy.what, "connect");
        CHECK(!effect_row_same(&from, &copy));
        CHECK_STR(copy.effect.method, "GET");
        arena_done(&mem);
}

static void test_effect__what_python_compiled_is_known_by_its_path(void)
{
        static const struct {
                enum effect_kind kind;
                const char *path, *directory;
        } rows[] = {
                { EFFECT_WRITE, "/p/__pycache__", "/p/__pycache__" },
                { EFFECT_WRITE, "/p/__pycache__/m.cpython-311.pyc.1234", "/p/__pycache__" },
                { EFFECT_READ, "/p/__pycache__/m.cpython-311.pyc", "" },
                { EFFECT_WRITE, "/p/__pycache__/..", "" },
                { EFFECT_WRITE, "/p/__pycache__/../../etc/cron.d/x", "" },
                { EFFECT_WRITE, "/p/__pycache__x", "" },
                { EFFECT_WRITE, "/p/my__pycache__/x", "" },
                { EFFECT_WRITE, NULL, "" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                CHECK(effect_compiled(&(struct effect){ .kind = rows[i].kind, .target = rows[i].path }) ==
                      strlen(rows[i].directory));
}

static void test_row__as_json(void)
{
        AUTO_BUF(out);
        struct effect_row row = row_of("a \"b\"");
        effect_row_json(&row, &out);
        CHECK_STR(buf_str(&out), "\"code\":\"net\",\"reason\":\"port\",\"layer\":\"egress\",\"run\":\"r1\","
                                 "\"what\":\"a \\\"b\\\"\",\"why\":\"no\",\"path\":\"a.test:443\","
                                 "\"method\":\"GET\",\"program\":\"curl\",\"minor\":false,\"count\":2,"
                                 "\"permit\":null");
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_reason__each_has_a_name_of_its_own_and_a_text),
                CASE(test_kind__each_has_a_name_of_its_own),
                CASE(test_reason__words_hold_the_detail),
                CASE(test_row__a_copy_has_strings_of_its_own),
                CASE(test_effect__what_python_compiled_is_known_by_its_path),
                CASE(test_row__as_json),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}
