/* SPDX-License-Identifier: MIT */
/* tests/unit/test_label.c - labels: the lattice, their text, the two checks of a departure, capacity. */
#include "base/json.h"
#include "effect/label/label.h"
#include "harness.h"

static uint32_t seed = 1;
static uint32_t roll(uint32_t n)
{
        seed = seed * 1664525u + 1013904223u;
        return (seed >> 8) % n;
}

/* The subsets of three tags, with and without `untrusted`. */
static struct label nth(unsigned n)
{
        static const char *const words[] = { "private:a", "private:b", "private:c", "untrusted" };
        struct label l = { 0 };
        for (unsigned i = 0; i < 4; i++)
                if (n & 1u << i)
                        (void) label_add(&l, span_str(words[i]));
        return l;
}

static struct label join(struct label a, struct label b)
{
        label_join(&a, &b);
        return a;
}

static void test_join__is_the_least_upper_bound(void)
{
        for (unsigned a = 0; a < 16; a++)
                for (unsigned b = 0; b < 16; b++) {
                        struct label x = nth(a), y = nth(b), z = join(x, y), w = join(y, x),
                                     want = nth(a | b);
                        CHECK(label_equal(&z, &w));
                        CHECK(label_equal(&z, &want));
                        CHECK(label_within(&x, &z) && label_within(&y, &z));
                        CHECK_INT(label_within(&x, &y), (a & ~b) == 0);
                        label_drop(&z, &y);
                        want = nth(a & ~b);
                        CHECK(label_equal(&z, &want));
                }
}

static void test_text__one_label_has_one_text(void)
{
        char text[LABEL_TEXT_MAX];
        struct label l;
        CHECK_INT(label_parse(span_str("untrusted  private:b private:a private:b"), &l), 0);
        CHECK_STR(label_text(&l, text), "private:a private:b untrusted");
        CHECK_INT(label_parse(span_str(""), &l), 0);
        CHECK_STR(label_text(&l, text), "");
        CHECK(label_is_empty(&l));
}

static void test_text__what_is_not_a_label_is_the_worst_one(void)
{
        static const char *const bad[] = { "private:",   "private",
                                           "public",     "private:a/b",
                                           "Untrusted",  "private:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                           "private:a,b" };
        struct label worst = label_worst();
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct label l = label_of(bad[i]);
                CHECK(label_equal(&l, &worst));
        }
}

static void test_join__too_many_tags_are_accepted_nowhere(void)
{
        struct label l = { 0 }, in = { 0 };
        char word[32];
        for (unsigned i = 0; i < LABEL_TAGS_MAX; i++) {
                (void) snprintf(word, sizeof word, "private:t%u", i);
                CHECK(label_add(&l, span_str(word)));
        }
        in = l;
        CHECK(label_secrecy_within(&l, &in));
        CHECK(label_add(&l, span_str("private:one-more")));
        CHECK(l.all && !label_secrecy_within(&l, &in));
        CHECK(label_within(&in, &l));
}

static struct label_answer ask(unsigned l, unsigned accepts, unsigned declassify, bool acts, bool two)
{
        struct label label = nth(l);
        struct label_sink s = {
                .accepts = nth(accepts), .declassify = nth(declassify), .acts = acts, .two = two
        };
        return label_decide(&label, &s);
}

enum { A = 1, B = 2, U = 8 };

static void test_decide__the_table_of_both_rules(void)
{
        static const struct {
                unsigned label, accepts, declassify;
                bool acts, two;
                enum label_verdict want;
                enum label_why why;
        } rows[] = {
                { 0, 0, 0, true, false, LABEL_ALLOW, LABEL_FINE },
                { A, A, 0, true, false, LABEL_ALLOW, LABEL_FINE },
                { A, 0, 0, false, false, LABEL_DENY, LABEL_SECRECY },
                { A | U, 0, 0, false, false, LABEL_DENY, LABEL_TRIFECTA },
                { A | U, A, 0, false, false, LABEL_ALLOW, LABEL_FINE },
                { A | U, A, 0, true, false, LABEL_ASK, LABEL_ACTION },
                { A | U, A | U, 0, true, false, LABEL_ALLOW, LABEL_FINE },
                { U, 0, 0, false, false, LABEL_ALLOW, LABEL_FINE },
                { U, 0, 0, true, false, LABEL_ASK, LABEL_ACTION },
                { A, 0, A, false, false, LABEL_ASK, LABEL_DECLASSIFY },
                { A | B, 0, A, false, false, LABEL_DENY, LABEL_SECRECY },
                { A | B, B, A, false, false, LABEL_ASK, LABEL_DECLASSIFY },
                { A, 0, 0, true, true, LABEL_ALLOW, LABEL_FINE },
                { U, 0, 0, true, true, LABEL_ALLOW, LABEL_FINE },
                { A | U, 0, 0, true, true, LABEL_ASK, LABEL_TRIFECTA },
                { A | U, A, 0, true, true, LABEL_ALLOW, LABEL_FINE },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct label_answer got =
                        ask(rows[i].label, rows[i].accepts, rows[i].declassify, rows[i].acts, rows[i].two);
                CHECK_INT(got.verdict, rows[i].want);
                CHECK_INT(got.why, rows[i].why);
        }
}

static void test_decide__a_source_gets_its_own_data_back_unless_it_acts(void)
{
        struct label l = nth(A | U);
        struct label_sink s = { .source = nth(A | U) };
        CHECK_INT(label_decide(&l, &s).verdict, LABEL_ALLOW);
        s.acts = true;
        CHECK_INT(label_decide(&l, &s).verdict, LABEL_DENY);
}

static void test_decide__a_worse_label_never_gets_a_better_answer(void)
{
        for (unsigned n = 0; n < 16 * 16 * 16 * 4; n++) {
                unsigned accepts = n & 15, declassify = n >> 4 & 15, l = n >> 8 & 15;
                bool acts = n >> 12 & 1, two = n >> 13 & 1;
                for (unsigned more = 0; more < 16; more++)
                        CHECK(ask(l | more, accepts, declassify, acts, two).verdict <=
                              ask(l, accepts, declassify, acts, two).verdict);
        }
}

static int bits(const char *schema)
{
        struct err e;
        struct json_doc *d = json_parse("schema", span_str(schema), &e);
        int r = d ? label_capacity(json_root(d)) : -2;
        json_free(d);
        return r;
}

static void test_capacity__counts_what_a_value_can_say(void)
{
        CHECK_INT(bits("{\"type\":\"boolean\"}"), 1);
        CHECK_INT(bits("{\"const\":\"yes\"}"), 0);
        CHECK_INT(bits("{\"enum\":[\"a\",\"b\",\"c\"]}"), 2);
        CHECK_INT(bits("{\"type\":\"integer\",\"minimum\":-2,\"maximum\":5}"), 3);
        CHECK_INT(bits("{\"type\":\"string\",\"format\":\"date\"}"), 22);
        CHECK_INT(bits("{\"type\":\"array\",\"maxItems\":3,\"items\":{\"type\":\"boolean\"}}"), 5);
        CHECK_INT(bits("{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"a\"],"
                       "\"properties\":{\"a\":{\"type\":\"boolean\"},\"b\":{\"type\":\"boolean\"}}}"),
                  3);
}

static void test_capacity__free_text_has_none(void)
{
        static const char *const schemas[] = {
                "{}",
                "true",
                "{\"type\":\"string\"}",
                "{\"type\":\"string\",\"maxLength\":4}",
                "{\"type\":\"string\",\"format\":\"date\",\"pattern\":\"x\"}",
                "{\"type\":\"integer\",\"minimum\":0}",
                "{\"type\":\"number\",\"minimum\":0,\"maximum\":1}",
                "{\"type\":\"integer\",\"minimum\":-9223372036854775807,\"maximum\":9223372036854775807}",
                "{\"type\":[\"boolean\",\"string\"]}",
                "{\"type\":\"boolean\",\"anyOf\":[{}]}",
                "{\"$ref\":\"#\"}",
                "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"boolean\"}}}",
                "{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}",
                "{\"type\":\"array\",\"maxItems\":4096,\"items\":{\"type\":\"boolean\"}}",
        };
        for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++)
                CHECK_INT(bits(schemas[i]), -1);
}

static void test_text__random_bytes_are_read_in_one_way(void)
{
        static const char alphabet[] = "privateuns:d *ab-.\n";
        char raw[64], text[LABEL_TEXT_MAX];
        for (unsigned i = test_rounds(100000); i > 0; i--) {
                size_t n = roll(sizeof raw);
                struct label l, again;
                for (size_t k = 0; k < n; k++)
                        raw[k] = alphabet[roll(sizeof alphabet - 1)];
                if (label_parse(span_of(raw, n), &l) < 0)
                        continue;
                CHECK_INT(label_parse(span_str(label_text(&l, text)), &again), 0);
                CHECK(label_equal(&l, &again));
        }
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_join__is_the_least_upper_bound),
                CASE(test_text__one_label_has_one_text),
                CASE(test_text__what_is_not_a_label_is_the_worst_one),
                CASE(test_join__too_many_tags_are_accepted_nowhere),
                CASE(test_decide__the_table_of_both_rules),
                CASE(test_decide__a_source_gets_its_own_data_back_unless_it_acts),
                CASE(test_decide__a_worse_label_never_gets_a_better_answer),
                CASE(test_capacity__counts_what_a_value_can_say),
                CASE(test_capacity__free_text_has_none),
                CASE(test_text__random_bytes_are_read_in_one_way),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}
