/* SPDX-License-Identifier: MIT */
/* tests/unit/test_box_tally.c - when the keeper counts what is in a layer again: seldom where that takes
 * long, and soon all the same where the disk goes. */
#include "harness.h"
#include "run/keeper/internal.h"

static const uint64_t MS = 1000000, DISK = 800 << 20, ROOM = 1ull << 40;

/* After a look that took so long, at 0. */
static struct tally_time after(uint64_t took)
{
        struct tally_time t = { .room = ROOM };
        keeper_tally_rest(&t, 0, took);
        t.next_ns -= took;
        t.soon_ns -= took;
        return t;
}

static void test_tally__the_first_look_is_at_once(void)
{
        struct tally_time t = { 0 };
        CHECK(keeper_tally_is_due(&t, 1, ROOM, DISK));
}

static void test_tally__a_short_look_is_taken_ten_times_a_second(void)
{
        struct tally_time t = after(MS);
        CHECK(!keeper_tally_is_due(&t, 99 * MS, 0, DISK));
        CHECK(keeper_tally_is_due(&t, 100 * MS, ROOM, DISK));
}

static void test_tally__a_long_look_has_a_long_rest(void)
{
        struct tally_time t = after(1000 * MS);
        for (uint64_t at = 0; at < 20000 * MS; at += 50 * MS)
                CHECK(!keeper_tally_is_due(&t, at, ROOM - DISK / 8, DISK));
        CHECK(keeper_tally_is_due(&t, 20000 * MS, ROOM, DISK));
}

static void test_tally__a_disk_that_goes_cuts_the_rest_short(void)
{
        struct tally_time t = after(1000 * MS);
        CHECK(!keeper_tally_is_due(&t, 1900 * MS, ROOM - DISK, DISK)); /* a third of the time at most */
        CHECK(keeper_tally_is_due(&t, 2000 * MS, ROOM - DISK, DISK));
}

static void test_tally__it_is_asked_for_ten_times_a_second_and_in_time(void)
{
        struct tally_time t = after(1000 * MS);
        CHECK(!keeper_tally_is_due(&t, 2000 * MS, ROOM, DISK));
        CHECK_INT(t.soon_ns, 2100 * MS);
        CHECK(!keeper_tally_is_due(&t, 19950 * MS, ROOM, DISK));
        CHECK_INT(t.soon_ns, 20000 * MS);
}

static void test_tally__what_others_give_back_is_no_loss(void)
{
        struct tally_time t = after(1000 * MS);
        CHECK(!keeper_tally_is_due(&t, 2000 * MS, ROOM + DISK, DISK));
        CHECK(!keeper_tally_is_due(&t, 2100 * MS, UINT64_MAX, DISK));
}

static const struct test_case cases[] = {
        CASE(test_tally__the_first_look_is_at_once),
        CASE(test_tally__a_short_look_is_taken_ten_times_a_second),
        CASE(test_tally__a_long_look_has_a_long_rest),
        CASE(test_tally__a_disk_that_goes_cuts_the_rest_short),
        CASE(test_tally__it_is_asked_for_ten_times_a_second_and_in_time),
        CASE(test_tally__what_others_give_back_is_no_loss),
};
TEST_MAIN(cases)
