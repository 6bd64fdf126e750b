/* SPDX-License-Identifier: MIT */
/* tests/unit/test_gate_fatigue.c - persons who click and persons who read, on a clock that is passed in. */
#include "effect/gate/gate.h"
#include "harness.h"

enum { MANY = 200 };
static struct gate_decided past[MANY];

/* One prompt of 300 characters every `every_ms`, answered after `read_ms`. */
static struct gate_fatigue person(unsigned n, uint32_t read_ms, int64_t every_ms)
{
        for (unsigned i = 0; i < n; i++)
                past[i] = (struct gate_decided){ .at_ms = 1 + i * every_ms,
                                                 .read_ms = read_ms,
                                                 .chars = 300,
                                                 .template = i,
                                                 .yes = true };
        return gate_fatigue_of(past, n, n * every_ms);
}

static void test_fatigue__a_clicker_is_flagged_within_20(void)
{
        unsigned n = 1;
        struct gate_fatigue f = { 0 };
        while (n <= 20 && gate_ladder(&f) == GATE_ATTENTIVE) {
                f = person(n++, 400, 60000);
        }
        CHECK(n <= 20);
        CHECK_INT(f.rubber_stamp, 100);
        CHECK_INT(f.median_ms, 400);
        CHECK(gate_ladder(&f) >= GATE_MERGE);
}

static void test_fatigue__a_careful_reader_is_not_in_200(void)
{
        for (unsigned n = 1; n <= MANY; n++) {
                struct gate_fatigue f = person(n, 11000, 180000);
                CHECK_INT(gate_ladder(&f), GATE_ATTENTIVE);
                CHECK_INT(f.rubber_stamps, 0);
                CHECK(!gate_over_budget(&f));
        }
}

static void test_fatigue__the_ladder_is_climbed_to_its_end_and_left_again(void)
{
        enum gate_step before = GATE_ATTENTIVE;
        for (unsigned n = 1; n <= GATE_WINDOW; n++) {
                struct gate_fatigue f = person(n, 400, 60000);
                enum gate_step s = gate_ladder(&f);
                CHECK(s == before || s == before + 1);
                before = s;
        }
        CHECK_INT(before, GATE_CLOSE);

        (void) person(GATE_WINDOW, 400, 60000);
        for (unsigned i = GATE_WINDOW; i < 2 * GATE_WINDOW; i++)
                past[i] = (struct gate_decided){ .at_ms = i * 60000, .read_ms = 20000, .chars = 300 };
        struct gate_fatigue f = gate_fatigue_of(past, GATE_WINDOW + 41, (GATE_WINDOW + 41) * 60000);
        CHECK_INT(gate_ladder(&f), GATE_ATTENTIVE);
}

static void test_fatigue__figures_are_what_they_say(void)
{
        static const uint32_t ms[10] = { 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000 };
        struct gate_decided d[10];
        for (unsigned i = 0; i < 10; i++)
                d[i] = (struct gate_decided){
                        .at_ms = 1, .read_ms = ms[i], .chars = 30, .template = i / 2, .yes = i != 4
                };
        d[9].incident = d[8].reversed = true;
        d[4].decoy = d[3].decoy = true;
        struct gate_fatigue f = gate_fatigue_of(d, 10, 1000);
        CHECK_INT(f.decisions, 10);
        CHECK_INT(f.approval, 90);
        CHECK_INT(f.rubber_stamps, 1); /* of 1.0 s; 1.5 s is the least */
        CHECK_INT(f.p10_ms, 1000);
        CHECK_INT(f.median_ms, 5000);
        CHECK_INT(f.p90_ms, 9000);
        CHECK_INT(f.trend_ms, 5000);
        CHECK_INT(f.yes_streak, 5);
        CHECK_INT(f.repeats, 50);
        CHECK_INT(f.reversals, 10);
        CHECK_INT(f.incidents, 11);
        CHECK_INT(f.decoys, 2);
        CHECK_INT(f.decoy_misses, 50);
        CHECK_INT(f.per_hour, 10);
}

/* The second half is answered otherwise; the text of 300 characters takes 10 s to read. */
static struct gate_fatigue changing(unsigned n, uint32_t first_ms, uint32_t then_ms, uint32_t then_chars)
{
        (void) person(n, first_ms, 180000);
        for (unsigned i = n / 2; i < n; i++) {
                past[i].read_ms = then_ms;
                past[i].chars = then_chars;
        }
        return gate_fatigue_of(past, n, n * 180000);
}

static void test_fatigue__a_person_who_hurries_is_named_before_the_ladder(void)
{
        struct gate_fatigue f = changing(40, 25000, 11000, 300);
        CHECK(f.hurries);
        CHECK_INT(gate_ladder(&f), GATE_ATTENTIVE);
        CHECK(!changing(40, 25000, 16000, 300).hurries);
        CHECK(!changing(40, 25000, 11000, 30).hurries);   /* less to read */
        CHECK(!changing(40, 600000, 60000, 300).hurries); /* there is still time to */
        CHECK(!changing(18, 25000, 11000, 300).hurries);  /* too few */
        CHECK(!changing(40, 11000, 25000, 300).hurries);
        CHECK(changing(40, 25000, 0, 300).hurries);
}

static void test_fatigue__the_weights_make_100(void)
{
        size_t n;
        unsigned sum = 0;
        const struct gate_weight *w = gate_weights(&n);
        for (size_t i = 0; i < n; i++)
                sum += w[i].weight;
        CHECK_INT(sum, 100);
}

static void test_fatigue__each_step_makes_a_yes_harder(void)
{
        struct gate_rule own = { 0 }, group = { .group = true };
        gate_rule_tighten(&own, GATE_MERGE);
        CHECK(!own.slow && !own.reason && !own.closed);
        gate_rule_tighten(&own, GATE_SLOW);
        CHECK(own.slow && !own.reason);
        gate_rule_tighten(&own, GATE_ASK_REASON);
        CHECK(own.reason && !own.closed);
        gate_rule_tighten(&own, GATE_SECOND);
        CHECK(own.closed); /* there is no second person */
        gate_rule_tighten(&group, GATE_SECOND);
        CHECK(group.need == 2 && !group.closed);
        gate_rule_tighten(&group, GATE_CLOSE);
        CHECK(group.closed);
}

static void test_fatigue__an_hour_has_a_budget(void)
{
        struct gate_fatigue f = person(GATE_BUDGET, 11000, 1000);
        CHECK(gate_over_budget(&f));
        f = person(GATE_BUDGET - 1, 11000, 1000);
        CHECK(!gate_over_budget(&f));
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_fatigue__a_clicker_is_flagged_within_20),
                CASE(test_fatigue__a_careful_reader_is_not_in_200),
                CASE(test_fatigue__the_ladder_is_climbed_to_its_end_and_left_again),
                CASE(test_fatigue__figures_are_what_they_say),
                CASE(test_fatigue__a_person_who_hurries_is_named_before_the_ladder),
                CASE(test_fatigue__the_weights_make_100),
                CASE(test_fatigue__each_step_makes_a_yes_harder),
                CASE(test_fatigue__an_hour_has_a_budget),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}
