/* SPDX-License-Identifier: MIT */
/* tests/unit/test_box_lease.c - the time of a run as a lease, on a clock that the test moves: it only ever
 * sees the monotonic one, so no step of the wall clock makes a lease longer or shorter. */
#include "harness.h"
#include "run/keeper/lease.h"

static const uint64_t S = UINT64_C(1000000000), AT = UINT64_C(5000000000000);

static void test_lease__without_renewals_it_only_ends(void)
{
        struct lease l = lease_of(AT, 10000, 0, 0);
        CHECK_INT(lease_next_ns(&l), AT + 10 * S);
        CHECK_INT(lease_step(&l, AT + 10 * S - 1), LEASE_NOTHING);
        CHECK(!lease_is_ending(&l, AT) && !lease_is_ending(&l, AT + 9 * S - 1));
        CHECK(lease_is_ending(&l, AT + 9 * S) && lease_is_ending(&l, AT + 11 * S));
        CHECK_INT(lease_step(&l, AT + 10 * S), LEASE_OVER);
        CHECK(!lease_renew(&l, AT));
}

static void test_lease__the_caller_hears_first_then_the_payload(void)
{
        struct lease l = lease_of(AT, 10000, 0, 1);
        CHECK_INT(lease_next_ns(&l), AT + 8 * S);
        CHECK_INT(lease_step(&l, AT + 8 * S - 1), LEASE_NOTHING);
        CHECK_INT(lease_step(&l, AT + 8 * S), LEASE_TELL);
        CHECK_INT(lease_step(&l, AT + 8 * S), LEASE_NOTHING);
        CHECK_INT(lease_step(&l, AT + 9 * S), LEASE_WARN);
        CHECK_INT(lease_step(&l, AT + 9 * S), LEASE_NOTHING);
        CHECK_INT(lease_next_ns(&l), AT + 10 * S);
        CHECK_INT(lease_step(&l, AT + 10 * S), LEASE_OVER);
}

static void test_lease__a_warning_comes_at_most_half_a_minute_before(void)
{
        struct lease l = lease_of(AT, 36000000, 0, 1);
        CHECK_INT(lease_next_ns(&l), AT + 36000 * S - 60 * S);
        (void) lease_step(&l, lease_next_ns(&l));
        CHECK_INT(lease_next_ns(&l), AT + 36000 * S - 30 * S);
}

static void test_lease__a_renewal_adds_one_length_and_begins_anew(void)
{
        struct lease l = lease_of(AT, 10000, 0, 2);
        (void) lease_step(&l, AT + 8 * S);
        (void) lease_step(&l, AT + 9 * S);
        CHECK(lease_renew(&l, AT + 9 * S));
        CHECK(!l.warned && !l.told);
        CHECK_INT(lease_step(&l, AT + 10 * S), LEASE_NOTHING);
        CHECK(lease_renew(&l, AT + 10 * S));
        CHECK(!lease_renew(&l, AT + 10 * S));
        CHECK_INT(l.ends_ns, AT + 30 * S);
        CHECK_INT(l.renewed, 2);
}

static void test_lease__one_that_is_over_is_not_renewed(void)
{
        struct lease l = lease_of(AT, 10000, 0, 2);
        CHECK(!lease_renew(&l, AT + 10 * S));
        CHECK_INT(lease_step(&l, AT + 10 * S), LEASE_OVER);
}

static const struct test_case cases[] = {
        CASE(test_lease__without_renewals_it_only_ends),
        CASE(test_lease__the_caller_hears_first_then_the_payload),
        CASE(test_lease__a_warning_comes_at_most_half_a_minute_before),
        CASE(test_lease__a_renewal_adds_one_length_and_begins_anew),
        CASE(test_lease__one_that_is_over_is_not_renewed),
};

TEST_MAIN(cases)
