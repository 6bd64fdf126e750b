/* SPDX-License-Identifier: MIT */
/* The prober trusts no probe: what dies, hangs or says nothing is never counted as held. */
#include "harness.h"
#include "selftest/probe/probe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct probe_world world;

enum { ENOUGH_MS = 20000 }; /* for what answers at once, also where the machine is busy */

static struct probe_result run(int (*fn)(struct probe_result *), unsigned timeout_ms)
{
        const struct probe p = { .name = "test", .layers = "mount", .run = fn };
        struct probe_result r;
        probe_run_one(&p, &world, timeout_ms, &r);
        return r;
}

static int says_held(struct probe_result *r) { return (int) (r->outcome = PROBE_HELD); }
static int says_nothing(struct probe_result *r) { return r->outcome != 0; }
static int dies(struct probe_result *r)
{
        (void) raise(SIGKILL);
        return (int) (r->outcome = PROBE_HELD);
}
static int hangs(struct probe_result *r)
{
        for (;;)
                (void) pause();
        return (int) (r->outcome = PROBE_HELD);
}
static int says_held_and_hangs(struct probe_result *r)
{
        r->outcome = PROBE_HELD;
        return hangs(r);
}
/* As those do that exec: the answer stands when the process is replaced. */
static int says_escaped_and_goes(struct probe_result *r)
{
        r->outcome = PROBE_ESCAPED;
        _exit(77);
}
static int leaves_a_child(struct probe_result *r)
{
        if (fork() == 0) {
                (void) pause();
                _exit(0);
        }
        return (int) (r->outcome = PROBE_HELD);
}

static void test_run__an_answer_is_kept(void) { CHECK_INT(run(says_held, ENOUGH_MS).outcome, PROBE_HELD); }

static void test_run__silence_is_no_answer(void)
{
        struct probe_result r = run(says_nothing, ENOUGH_MS);
        CHECK_INT(r.outcome, PROBE_CANNOT_TELL);
        CHECK(r.why[0] != '\0');
}

static void test_run__death_is_no_answer(void)
{
        struct probe_result r = run(dies, ENOUGH_MS);
        CHECK_INT(r.outcome, PROBE_CANNOT_TELL);
        CHECK(strstr(r.why, "signal 9"));
}

static void test_run__a_hang_is_ended(void) { CHECK_INT(run(hangs, 50).outcome, PROBE_CANNOT_TELL); }
static void test_run__a_hang_after_an_answer_is_no_answer(void)
{
        CHECK_INT(run(says_held_and_hangs, 50).outcome, PROBE_CANNOT_TELL);
}
static void test_run__an_escape_before_exec_stands(void)
{
        CHECK_INT(run(says_escaped_and_goes, ENOUGH_MS).outcome, PROBE_ESCAPED);
}
static void test_run__what_a_probe_leaves_is_no_burden(void)
{
        CHECK_INT(run(leaves_a_child, ENOUGH_MS).outcome, PROBE_HELD);
}

static void test_names__zero_is_never_held(void)
{
        CHECK_STR(probe_outcome_name((enum probe_outcome) 0), "cannot-tell");
        CHECK_STR(probe_outcome_name(PROBE_ESCAPED), "ESCAPED");
}

static const struct test_case cases[] = {
        CASE(test_run__an_answer_is_kept),
        CASE(test_run__silence_is_no_answer),
        CASE(test_run__death_is_no_answer),
        CASE(test_run__a_hang_is_ended),
        CASE(test_run__a_hang_after_an_answer_is_no_answer),
        CASE(test_run__an_escape_before_exec_stands),
        CASE(test_run__what_a_probe_leaves_is_no_burden),
        CASE(test_names__zero_is_never_held),
};
TEST_MAIN(cases)
