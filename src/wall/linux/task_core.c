/* SPDX-License-Identifier: MIT */
/* wall/linux/task_core.c - the core that a new task starts on. The kernel tends to leave a task on its
 * creator's core until that sleeps, and here both have work to do. If another core exists, the new task is
 * moved there; before the payload's first instruction all cores are allowed again.
 *
 * DANGER: the new task may run before its creator moves it. It gets its cores back only after a message that
 * the creator sent later. */
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

void wall_core_stay(const struct wall_core *c)
{
        cpu_set_t here;
        CPU_XOR(&here, &c->all, &c->others);
        if (c->known)
                (void) sched_setaffinity(0, sizeof here, &here);
}

void wall_core_any_of(const struct wall_core *c, pid_t made)
{
        if (c->known)
                (void) sched_setaffinity(made, sizeof c->all, &c->all);
}
