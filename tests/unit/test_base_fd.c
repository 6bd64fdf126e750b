/* SPDX-License-Identifier: MIT */
/* Whole waits and writes in a program whose timer interrupts whatever waits. */
#include "base/clock.h"
#include "base/fd.h"
#include "harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>

static int drained = -1; /* what the timer reads from, or -1 */

static void tick(int sig)
{
        char some[4096];
        (void) sig;
        if (drained >= 0)
                (void) !read(drained, some, sizeof some);
}

static void set_timer(long us)
{
        struct sigaction on_tick = { .sa_handler = tick };
        struct itimerval every = { { 0, us }, { 0, us } };
        CHECK_INT(sigaction(SIGALRM, &on_tick, NULL), 0);
        CHECK_INT(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void test_await__signals_do_not_cut_it_short(void)
{
        int ends[2];
        CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
        set_timer(1000);
        uint64_t began = clock_mono_ns();
        CHECK(!fd_await(ends[0], POLLIN, 100));
        uint64_t took = clock_mono_ns() - began;
        set_timer(0);
        CHECK(took >= 100000000u && took < 5000000000u);
        CHECK_INT(write(ends[1], "x", 1), 1);
        CHECK(fd_await(ends[0], POLLIN, 0));
        CHECK_INT(close(ends[1]), 0);
        CHECK(fd_await(ends[0], POLLOUT, 0)); /* the other side's end */
        CHECK_INT(close(ends[0]), 0);
}

/* A pipe that is full: the write waits, is interrupted, and goes through when the handler made room. */
static void test_put__an_interrupted_write_is_made_again(void)
{
        char name[] = "/tmp/cordon-test-fd.XXXXXX", fill[4096] = "";
        CHECK(mkdtemp(name) != NULL);
        int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK_INT(mkfifoat(dir, "control", 0600), 0);
        int pipe = openat(dir, "control", O_RDWR | O_NONBLOCK | O_CLOEXEC);
        while (write(pipe, fill, sizeof fill) > 0)
                ;
        drained = pipe;
        set_timer(10000);
        CHECK_INT(fd_put(dir, "control", "1"), 0);
        set_timer(0);
        drained = -1;
        CHECK_INT(close(pipe), 0);
        CHECK_INT(unlinkat(dir, "control", 0), 0);
        CHECK_INT(close(dir), 0);
        CHECK_INT(rmdir(name), 0);
}

static const struct test_case cases[] = {
        CASE(test_await__signals_do_not_cut_it_short),
        CASE(test_put__an_interrupted_write_is_made_again),
};
TEST_MAIN(cases)
