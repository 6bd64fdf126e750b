/* SPDX-License-Identifier: MIT */
/* wall/linux/task_core.c - where a new task begins. The kernel likes to leave one on its maker's core until
 * that one sleeps, and here maker and made both have work to do. Where there is another core, it belongs
 * there; before the payload's first instruction all cores are its own again.
 *
 * DANGER: who is made may run before its maker sends it away. It gets its cores back only after a word that
 * the maker said later. */
#include "wall/internal.h"

void wall_core_note(struct wall_core *c)
{
        int here = sched_getcpu();
        c->known = false;
        if (sched_getaffinity(0, sizeof c->all, &c->all) < 0)
                return;

        if (here < 0)
                return;

        c->others = c->all;
        CPU_CLR((unsigned) here, &c->others);
        c->known = CPU_COUNT(&c->others) > 0;
}

void wall_core_leave_to_us(const struct wall_core *c, pid_t made)
{
        if (c->known && made > 0)
                (void) sched_setaffinity(made, sizeof c->others, &c->others);
}

void wall_core_any_of(const struct wall_core *c, pid_t made)
{
        if (c->known)
                (void) sched_setaffinity(made, sizeof c->all, &c->all);
}
