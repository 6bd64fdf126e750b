/* SPDX-License-Identifier: MIT */
/* run/keeper/label_written.c - at the end of a run what it wrote behind `write` doors is stamped file by
 * file: moved out of them it still has the label. Until then it has that of the door. What cannot be stamped
 * is noted in the result. */
#include "base/clock.h"
#include "base/store/store.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "run/keeper/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEXT_STEP_US = 100 };

/* The kernel stamps files with this clock. */
void keeper_label_since(struct box *b)
{
        (void) clock_gettime(CLOCK_REALTIME_COARSE, &b->since);
        b->since_ns = clock_mono_ns();
}

/* If the clock was set back meanwhile, the moment is one of the new time. */
static struct timespec since_of(const struct box *b)
{
        struct timespec now;
        uint64_t passed = clock_mono_ns() - b->since_ns;
        (void) clock_gettime(CLOCK_REALTIME_COARSE, &now);
        int64_t ns = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec - (int64_t) passed - 1000000000;
        struct timespec set_back = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
        return set_back.tv_sec + 1 < b->since.tv_sec ? set_back : b->since;
}

/* NULL: nothing is to be stamped. `of`: the box, or the session. */
static struct stamp_written *begin_stamps(const struct box *of)
{
        struct err ignored;
        size_t n;
        char state[STORE_PATH_MAX], real[PATH_MAX];
        const struct door *d = policy_doors(of->c.policy, &n);
        struct stamp_written *w = NULL;
        for (size_t i = 0; i < n && of->run.up && !label_is_empty(&of->run.r.label); i++) {
                if (d[i].kind != DOOR_WRITE || !realpath(d[i].path, real))
                        continue;
                if (!w)
                        w = stamp_written_new(&of->run.r.label, since_of(of),
                                              store_path(of->c.cx, state, &ignored) < 0 ? NULL : state);
                if (w)
                        stamp_written_add(w, real);
        }
        return w;
}

static void note_left(struct box *b)
{
        const struct stamp_left *left = stamp_written_left(b->written);
        b->run.r.out.unstamped = left->count;
        (void) str_inert(span_str(left->first), b->run.r.unstamped_name, sizeof b->run.r.unstamped_name);
}

int ending_stamp(struct box *b, struct err *e)
{
        (void) e;
        const struct box *of = b->session ? b->session : b;
        if (keeper_is_new_phase(b) && !of->remote)
                b->written = begin_stamps(of);

        if (b->written && stamp_written_step(b->written)) {
                keeper_wait_us(b, NEXT_STEP_US);
                return 0;
        }

        if (b->written)
                note_left(b);
        stamp_written_free(b->written);
        b->written = NULL;
        keeper_label_stamped(b);
        return 1;
}

void keeper_label_written(const struct box *session)
{
        struct stamp_written *w = begin_stamps(session);
        while (w && stamp_written_step(w))
                ;
        stamp_written_free(w);
}
