/* SPDX-License-Identifier: MIT */
/* tests/unit/test_learn_fit.c - broad and narrow boxes as tables: what is known of their runs, and the
 * verdict that they must get. tests/cli/t1012-diagnose.sh does the same with real runs. */
#include "policy/learn/learn.h"
#include "test_policy_common.h"

enum { U = LEARN_USED, X = LEARN_UNUSED, Q = LEARN_UNKNOWN, N = LEARN_NOT_JUDGED, END = LEARN_USE__COUNT };

static const struct {
        const char *name;
        unsigned runs, failed, observed;
        int doors[6]; /* up to END */
        struct {
                enum effect_reason never;
                unsigned passed, failed;
        } refused[3]; /* up to one in no run */
        const char *verdict;
        bool recurs[3];
} boxes[] = {
        { "nothing ran", 0, 0, 0, { Q, END }, { { 0 } }, "not enough runs", { 0 } },
        { "two runs", 2, 0, 2, { U, END }, { { 0 } }, "not enough runs", { 0 } },
        { "two runs that were refused",
          2,
          2,
          0,
          { Q, END },
          { { REASON_NONE, 0, 2 } },
          "not enough runs",
          { 0 } },
        { "nobody looked", 9, 0, 0, { Q, Q, END }, { { 0 } }, "not enough runs", { 0 } },
        { "all doors used", 3, 0, 3, { U, U, N, END }, { { 0 } }, "fits", { 0 } },
        { "no doors", 3, 0, 0, { END }, { { 0 } }, "fits", { 0 } },
        { "fails for reasons of its own", 9, 4, 5, { U, END }, { { 0 } }, "fits", { 0 } },
        { "one door too many", 3, 0, 3, { U, X, END }, { { 0 } }, "too broad", { 0 } },
        { "nothing but doors", 50, 0, 50, { X, X, X, X, END }, { { 0 } }, "too broad", { 0 } },
        { "always refused", 4, 4, 0, { Q, END }, { { REASON_NONE, 0, 4 } }, "too narrow", { true } },
        { "sometimes refused", 9, 2, 7, { U, END }, { { REASON_NONE, 0, 2 } }, "too narrow", { true } },
        { "refused once", 9, 1, 7, { U, END }, { { REASON_NONE, 0, 1 } }, "fits", { 0 } },
        { "refused just as often when it passes",
          6,
          3,
          3,
          { U, END },
          { { REASON_NONE, 3, 3 } },
          "fits",
          { 0 } },
        { "wants keys", 6, 3, 3, { U, END }, { { REASON_KEYS, 0, 3 } }, "fits", { 0 } },
        { "wants keys and a file",
          6,
          3,
          3,
          { U, END },
          { { REASON_KEYS, 0, 3 }, { REASON_NONE, 1, 3 } },
          "too narrow",
          { false, true } },
        { "wants the network", 3, 3, 0, { END }, { { REASON_NETWORK, 0, 3 } }, "too narrow", { true } },
        { "unused and refused",
          9,
          3,
          6,
          { U, X, END },
          { { REASON_NONE, 0, 3 } },
          "too broad and too narrow",
          { true } },
};

static void test_fit__broad_and_narrow_boxes_get_their_verdict(void)
{
        for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
                struct learn_door_use doors[6];
                struct learn_refusal refused[3];
                struct learn_fit f = { .box = "b",
                                       .policy = "0123456789abcdef",
                                       .file = "p",
                                       .runs = boxes[i].runs,
                                       .failed = boxes[i].failed,
                                       .observed = boxes[i].observed,
                                       .doors = doors,
                                       .refusals = refused };
                for (; boxes[i].doors[f.door_count] != END; f.door_count++)
                        doors[f.door_count] =
                                (struct learn_door_use){ "read /x",
                                                         (enum learn_use) boxes[i].doors[f.door_count] };
                for (; f.refusal_count < 3 &&
                       (boxes[i].refused[f.refusal_count].failed || boxes[i].refused[f.refusal_count].passed);
                     f.refusal_count++)
                        refused[f.refusal_count] =
                                (struct learn_refusal){ .what = "read /y",
                                                        .program = "cat",
                                                        .line = "read /y",
                                                        .never = boxes[i].refused[f.refusal_count].never,
                                                        .passed = boxes[i].refused[f.refusal_count].passed,
                                                        .failed = boxes[i].refused[f.refusal_count].failed };
                learn_fit_judge(&f);
                if (strcmp(learn_verdict_name(f.verdict), boxes[i].verdict) != 0)
                        printf("# %s\n", boxes[i].name);
                CHECK_STR(learn_verdict_name(f.verdict), boxes[i].verdict);
                for (size_t k = 0; k < f.refusal_count; k++)
                        CHECK_INT(refused[k].recurs, boxes[i].recurs[k]);
        }
}

/* Without the policy's lines there are only numbers. */
static void test_fit__doors_that_were_only_counted_are_judged_by_their_number(void)
{
        struct learn_fit f = { .box = "b", .policy = "0", .file = "", .runs = 4, .counted = true };
        f.doors_counted = 5;
        f.used_counted = 2;
        learn_fit_judge(&f);
        CHECK_STR(learn_verdict_name(f.verdict), "not enough runs");
        CHECK_INT(f.unknown, 3);
        f.observed = 3;
        learn_fit_judge(&f);
        CHECK_STR(learn_verdict_name(f.verdict), "too broad");
        CHECK_INT(f.unused, 3);
        f.used_counted = 6; /* of an older version of the count: never less than none */
        learn_fit_judge(&f);
        CHECK_STR(learn_verdict_name(f.verdict), "fits");
}

static void test_fit__the_text_proposes_only_what_may_be(void)
{
        struct learn_refusal refused[] = {
                { .what = "read /h/.ssh/id",
                  .program = "cat",
                  .line = "read /h/.ssh/id",
                  .never = REASON_KEYS,
                  .failed = 3 },
                { .what = "read /y", .program = "cat", .line = "read /y", .failed = 3 },
        };
        struct learn_fit f = { .box = "b",
                               .policy = "0123456789abcdef",
                               .file = "p",
                               .runs = 3,
                               .failed = 3,
                               .failed_refused = 3,
                               .days = 1,
                               .refusals = refused,
                               .refusal_count = 2 };
        struct buf text = { 0 }, json = { 0 };
        learn_fit_judge(&f);
        learn_fit_text(&f, &text);
        learn_fit_json(&f, &json);
        CHECK(strstr(buf_str(&text), "permitted by: read /y\n") != NULL);
        CHECK(strstr(buf_str(&text), "permitted by: read /h") == NULL);
        CHECK(strstr(buf_str(&text), "keys: read /h/.ssh/id, by cat, in 3 runs\n") != NULL);
        CHECK(strstr(buf_str(&json), "\"line\":\"read /y\"") != NULL);
        CHECK(strstr(buf_str(&json), "\"line\":\"read /h") == NULL);
        buf_done(&text);
        buf_done(&json);
}

static void test_fit__every_threshold_has_a_name_and_a_value(void)
{
        for (unsigned i = 0; i < LEARN_THRESHOLD__COUNT; i++)
                CHECK(learn_threshold(i)->name && learn_threshold(i)->help && learn_threshold(i)->value > 0);
}

static const struct test_case cases[] = {
        CASE(test_fit__broad_and_narrow_boxes_get_their_verdict),
        CASE(test_fit__doors_that_were_only_counted_are_judged_by_their_number),
        CASE(test_fit__the_text_proposes_only_what_may_be),
        CASE(test_fit__every_threshold_has_a_name_and_a_value),
};
TEST_MAIN(cases)
