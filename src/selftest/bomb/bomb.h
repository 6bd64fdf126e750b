/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb.h - programs that use up one thing each, from inside a box whose limits are small.
 *
 * The face starts a box whose program is cordon-selftest itself, with `__bomb` and a name; bomb_main() then
 * runs that bomb. Each one ends by itself after an amount that does this machine no harm, so that a limit
 * that is missing is found and not felt. Knows base/ only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct bomb {
        const char *name;
        const char *what;   /* it does, in a few words */
        const char *limits; /* of its box, as a `limit` line */
        const char *limit;  /* that must name itself */
        const char *rlimit; /* the same if no control group enforces limits; NULL: the same */
        const char *error;  /* the error that it sees inside when the limit holds: "ENOSPC"; NULL: none, it is
                               killed */
        bool shows_inside;  /* no run ends by this limit: the error inside is the proof */
        const char *beside; /* a further remark; NULL: none */
        int (*run)(void);   /* the whole of it; or NULL */
        int (*step)(size_t i); /* takes one more of it; -1 with errno: it may not */
        size_t times;
};

/* All of them, in the order in which they run. */
const struct bomb *bomb_table(size_t *ret_count);
const struct bomb *bomb_find(const char *name);

/* Runs a bomb: argv are its name and a mark for the processes that it leaves running; or `neighbour`, which
 * sleeps in short steps and prints how many microseconds late it woke, a line each. A bomb that is stopped by
 * an error prints `stopped ERROR COUNT`; a bomb that got all that it requested, `through COUNT`. */
int bomb_main(int argc, char **argv);
