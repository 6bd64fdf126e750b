/* SPDX-License-Identifier: MIT */
/* The process wall has no namespace that ends with init: a reaper behind it does that. One that could not
 * find what it has to end must stop the start. The linker puts the test's own wall_own_children() in front,
 * and the test is its own init (src/wall/init/self.c). */
#include "../context.h"
#include "cordon.h"
#include "harness.h"

#include <errno.h>
#include <sys/resource.h>

int __real_wall_own_children(void);
int __wrap_wall_own_children(void);

static unsigned asked; /* copied by each clone: the reaper asks first, init second */

/* Which one fails comes over exec as a limit that binds nobody here. */
int __wrap_wall_own_children(void)
{
        struct rlimit fails_at = { 0 };
        (void) getrlimit(RLIMIT_RTTIME, &fails_at);
        if (++asked != fails_at.rlim_cur)
                return __real_wall_own_children();
        errno = ENFILE;
        return -1;
}

/* 0: it ran; -1 with the error. */
static int start(unsigned at, cordon_error *e)
{
        const char *const argv[] = { "/bin/true", NULL };
        cordon_policy *p = cordon_policy_new(test_context());
        int r = p && cordon_policy_add(p, "wall", "process", e) == 0 &&
                                cordon_policy_add(p, "use", "base/system", e) == 0
                        ? 0
                        : -1;
        cordon_box *b = r == 0 ? cordon_box_new(p) : NULL;
        struct rlimit fails_at;
        (void) getrlimit(RLIMIT_RTTIME, &fails_at);
        fails_at.rlim_cur = at;
        (void) setrlimit(RLIMIT_RTTIME, &fails_at);
        r = b && cordon_box_command(b, argv) == 0 && cordon_box_set(b, CORDON_LEDGER, "off") == 0
                    ? cordon_box_start(b, e)
                    : -1;
        while (r == 0 && cordon_box_wait(b, -1) == 0)
                ;
        cordon_box_free(b);
        cordon_policy_free(p);
        return r;
}

static void test_reaper__one_that_finds_nothing_stops_the_start(void)
{
        cordon_error e = { 0 };
        if (start(0, &e) < 0)
                SKIP("the process wall cannot be had here");
        for (unsigned at = 1; at <= 2; at++) {
                e = (cordon_error){ 0 };
                CHECK_INT(start(at, &e), -1);
                CHECK_INT(e.sys, ENFILE);
                CHECK(strstr(e.what, "leaves running") != NULL);
        }
}

static const struct test_case cases[] = { CASE(test_reaper__one_that_finds_nothing_stops_the_start) };
TEST_MAIN(cases)
