/* SPDX-License-Identifier: MIT */
/* Whoever woke the sealer and lets go of a lock has let go of it: no child of the waking holds it any longer,
 * also not for the moment until it is another program. */
#include "base/fd.h"
#include "harness.h"
#include "ledger/write/append.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[] = "/tmp/cordon-test.XXXXXX";

/* A program of that name which ends at once. */
static bool make_sealer(int dir)
{
        static const char text[] = "#!/bin/sh\n";
        AUTO_FD(fd, openat(dir, "cordon-ledger", O_WRONLY | O_CREAT | O_CLOEXEC, 0700));
        return fd >= 0 && fd_write_all(fd, text, sizeof text - 1) == 0 && fchmod(fd, 0700) == 0;
}

static bool lock_is_free_after_waking(int dir)
{
        struct err e;
        int held = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        struct ledger *l = ledger_open_at(dir, "run", "", &e);
        bool locked = held >= 0 && flock(held, LOCK_EX | LOCK_NB) == 0;
        if (l)
                ledger_wake_sealer(l);
        ledger_close(l);
        (void) close(held);
        AUTO_FD(again, openat(dir, "lock", O_RDWR | O_CLOEXEC));
        return l && locked && again >= 0 && flock(again, LOCK_EX | LOCK_NB) == 0;
}

static void sweep(int dir)
{
        static const char *const names[] = { "cordon-ledger", "lock", "head", "sealer", "checkpoints" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                (void) unlinkat(dir, names[i], 0);
        (void) unlinkat(dir, "segments", AT_REMOVEDIR);
        (void) rmdir(place);
}

static void test_wake__holds_nothing_of_the_callers(void)
{
        enum { ROUNDS = 100 };
        CHECK(mkdtemp(place) != NULL);
        AUTO_FD(dir, open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        CHECK(dir >= 0 && make_sealer(dir));
        CHECK(setenv("CORDON_LIBEXEC", place, 1) == 0 && setenv("CORDON_STATE", place, 1) == 0);
        unsigned held = 0;
        for (unsigned i = 0; i < ROUNDS; i++)
                held += !lock_is_free_after_waking(dir);
        CHECK_INT(held, 0);
        sweep(dir);
}

static const struct test_case cases[] = {
        CASE(test_wake__holds_nothing_of_the_callers),
};
TEST_MAIN(cases)
