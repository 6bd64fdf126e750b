/* SPDX-License-Identifier: MIT */
/* wall/linux/out_handles.c - `out` handles of a box that must not execute files that it writes.
 *
 * A handle is a memfd of the keeper, and the kernel lets any memfd be mapped executable. So such a box writes
 * to an unnamed file in its own noexec /tmp instead, and init copies that file to the handle at the end. */
#include "base/fd.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_stand_in(const struct wall_init *w, unsigned i)
{
        return wall_has(w->plan->wall, WALL_OWN_ROOT) && !w->plan->run_any && w->plan->handles[i].out;
}

int wall_handles_stand_in(struct wall_init *w, struct err *e)
{
        for (unsigned i = 0; i < w->s->io->handle_count; i++) {
                if (!has_stand_in(w, i))
                        continue;
                w->stand_in[i] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
                if (w->stand_in[i] < 0 || fchmod(w->stand_in[i], 0666) < 0 ||
                    dup2(w->stand_in[i], 3 + (int) i) < 0)
                        return wall_fail(e, STAGE_DOORS, "making the handle %s", w->plan->handles[i].name);
        }

        return 0;
}

/* One byte over the cap is enough for the keeper to refuse it. */
static int hand_over(int from, int to, uint64_t max)
{
        off_t at = 0;

        for (ssize_t n = 1; n > 0 && (uint64_t) at <= max;) {
                n = sendfile(to, from, &at, (size_t) (max + 1 - (uint64_t) at));
                if (n < 0)
                        return -1;
        }

        return 0;
}

int wall_handles_hand_over(struct wall_init *w)
{
        for (unsigned i = 0; i < w->s->io->handle_count; i++)
                if (has_stand_in(w, i) &&
                    hand_over(w->stand_in[i], w->handles[i], w->plan->handles[i].max) < 0)
                        return -1;
        return 0;
}

void wall_handles_close(struct wall_init *w)
{
        for (unsigned i = 0; i < w->s->io->handle_count; i++)
                if (!has_stand_in(w, i))
                        fd_close(&w->handles[i]);
}
