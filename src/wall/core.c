/* SPDX-License-Identifier: MIT */
/* wall/core.c - where a new task begins. The kernel likes to leave one on its maker's core until that one
 * sleeps, and here maker and made both have work to do. Where there is another core, it belongs there. Only a
 * hint: what fails here costs time, nothing else. */
#include "wall/internal.h"

void wall_core_note(struct wall_core *c)
{
        int here = sched_getcpu();
        c->known = false;
        if (here < 0 || sched_getaffinity(0, sizeof c->all, &c->all) < 0)
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
