/* SPDX-License-Identifier: MIT */
/* What is left of each budget, by a clock that the test moves: hours that slide, and bytes of both ways. */
#include "broker/egress/internal.h"
#include "test_policy_common.h"

static const char policy[] = "use none\n"
                             "net a.test:1 cap 3/h\n"
                             "net a.test:2 cap 100\n"
                             "net a.test:3 cap 50/out cap 70/in\n"
                             "net a.test:4\n"
                             "limit rate 5/h effects 400 egress 1000 ingress 900\n";

static struct broker *broker_new(void)
{
        struct broker *b = calloc(1, sizeof *b);
        if (!b)
                abort();
        b->policy = load(policy);
        b->doors = b->policy ? policy_doors(b->policy, &b->door_count) : NULL;
        b->limits = b->policy ? policy_limits(b->policy) : NULL;
        b->uses = calloc(b->door_count, sizeof *b->uses);
        CHECK(b->uses && b->door_count == 4);
        return b;
}

static void broker_end(struct broker *b)
{
        free(b->uses);
        policy_checked_free(b->policy);
        free(b);
}

static const struct door *door_of(const struct broker *b, uint16_t port)
{
        for (size_t i = 0; i < b->door_count; i++)
                if (b->doors[i].net.port == port)
                        return &b->doors[i];
        return NULL;
}

/* REASON_NONE: it is let through, and counted. */
static enum effect_reason enter(struct broker *b, uint16_t port, uint64_t seconds)
{
        enum effect_reason why = REASON_NONE;
        b->now_ns = seconds * 1000000000u;
        return accounting_enter(b, door_of(b, port), false, &why) == 0 ? REASON_NONE : why;
}

/* One every twenty seconds for half a day: in any hour there are as many as the cap, and never more. */
static void test_books__no_hour_sees_more_than_the_cap(void)
{
        enum { EVERY = 20, TRIES = 12 * 3600 / EVERY };
        static bool let[TRIES];
        struct broker *b = broker_new();
        unsigned all = 0;
        for (unsigned i = 0; i < TRIES; i++) {
                let[i] = enter(b, 1, i * EVERY) == REASON_NONE;
                all += let[i];
        }
        for (unsigned i = 0; i + 3600 / EVERY <= TRIES; i++) {
                unsigned n = 0;
                for (unsigned k = i; k < i + 3600 / EVERY; k++)
                        n += let[k];
                CHECK(n <= 3);
        }
        CHECK(all >= 3 * 11); /* and each hour it is full again */
        CHECK_INT(b->limits_hit, 0);
        broker_end(b);
}

static void test_books__an_hour_is_full_again_after_a_long_pause(void)
{
        static const uint64_t pauses[] = { 61 * 60, 62 * 60, 122 * 60, 1000 * 3600 };
        for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
                struct broker *b = broker_new();
                for (unsigned n = 0; n < 3; n++)
                        CHECK(enter(b, 1, 7) == REASON_NONE);
                CHECK_INT(enter(b, 1, 8), REASON_CAP_HOUR);
                CHECK_INT(enter(b, 1, 3599), REASON_CAP_HOUR);
                for (unsigned n = 0; n < 3; n++)
                        CHECK(enter(b, 1, 7 + pauses[i]) == REASON_NONE);
                CHECK_INT(enter(b, 1, 7 + pauses[i]), REASON_CAP_HOUR);
                broker_end(b);
        }
}

static void test_books__the_limits_count_what_all_doors_let_through(void)
{
        struct broker *b = broker_new();
        for (unsigned n = 0; n < 5; n++)
                CHECK(enter(b, (uint16_t) (n % 2 ? 4 : 2), n) == REASON_NONE);
        CHECK_INT(enter(b, 4, 9), REASON_LIMIT_RATE);
        CHECK_INT(b->limits_hit, 1u << LIMIT_RATE);
        CHECK_INT(b->effects, 5); /* what is refused is none */
        CHECK(enter(b, 4, 2 * 3600) == REASON_NONE);
        b->effects = 399;
        CHECK(enter(b, 4, 2 * 3600) == REASON_NONE);
        CHECK_INT(enter(b, 4, 2 * 3600), REASON_LIMIT_EFFECTS);
        CHECK_INT(b->limits_hit, 1u << LIMIT_RATE | 1u << LIMIT_EFFECTS);
        broker_end(b);
}

static void test_books__bytes_are_counted_to_the_last(void)
{
        struct broker *b = broker_new();
        const struct door *both = door_of(b, 2), *ways = door_of(b, 3), *any = door_of(b, 4);
        CHECK_INT(accounting_room(b, both, true, 60), 60);
        accounting_spend(b, both, true, 60);
        CHECK_INT(accounting_room(b, both, false, 60), 40); /* of both together */
        CHECK(accounting_cannot_pay(b, both, 40) == REASON_NONE);
        CHECK_INT(accounting_cannot_pay(b, both, 41), REASON_CAP);
        accounting_pay(b, both, 40); /* the box's own budget has had them */
        CHECK_INT(b->sent, 60);
        CHECK_INT(accounting_room(b, both, true, 1), 0);
        CHECK_INT(accounting_why(b, both, true), REASON_CAP);
        CHECK_INT(enter(b, 2, 0), REASON_CAP);

        accounting_spend(b, ways, true, 50);
        CHECK_INT(accounting_room(b, ways, true, 9), 0);
        CHECK_INT(accounting_room(b, ways, false, 99), 70);
        CHECK_INT(accounting_why(b, ways, true), REASON_CAP_OUT);
        CHECK_INT(accounting_cannot_pay(b, ways, 1), REASON_CAP_OUT);
        CHECK_INT(enter(b, 3, 0), REASON_CAP_OUT);
        enum effect_reason why = REASON_NONE;
        CHECK_INT(accounting_enter(b, ways, true, &why), 0); /* a request has paid for its bytes */
        accounting_spend(b, ways, false, 70);
        CHECK_INT(accounting_enter(b, ways, true, &why), -1); /* but its answer could not come */

        CHECK_INT(b->sent, 110);
        CHECK_INT(b->received, 70);
        CHECK_INT(accounting_room(b, any, true, 5000), 890);
        CHECK_INT(accounting_room(b, NULL, false, 5000), 830);
        accounting_spend(b, NULL, true, 890);
        CHECK_INT(accounting_room(b, any, true, 1), 0);
        CHECK_INT(accounting_why(b, any, true), REASON_LIMIT_EGRESS);
        CHECK_INT(b->limits_hit, 1u << LIMIT_EGRESS);
        accounting_spend(b, any, false, 830);
        CHECK_INT(accounting_why(b, any, false), REASON_LIMIT_INGRESS);
        CHECK_INT(b->limits_hit, 1u << LIMIT_EGRESS | 1u << LIMIT_INGRESS);
        broker_end(b);
}

static const struct test_case cases[] = {
        CASE(test_books__no_hour_sees_more_than_the_cap),
        CASE(test_books__an_hour_is_full_again_after_a_long_pause),
        CASE(test_books__the_limits_count_what_all_doors_let_through),
        CASE(test_books__bytes_are_counted_to_the_last),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
