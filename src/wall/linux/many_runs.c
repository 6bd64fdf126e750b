/* SPDX-License-Identifier: MIT */
/* wall/linux/many_runs.c - the runs of a box with many, as init sees them: which process is which run, and
 * the net below its time limit. */
#include "wall/internal.h"

#include <signal.h>

/* The missing names of an image are not the host's. */
bool wall_is_blind(const struct wall_init *w)
{
        return w->s->watch && wall_has(w->plan->wall, WALL_OWN_ROOT) && !w->observer &&
               !plan_image_step(w->plan);
}

void wall_runs_add(struct wall_runs *r, pid_t pid, uint32_t id, uint64_t deadline_ns)
{
        if (pid <= 1 || r->count == WALL_RUNS_MAX)
                return;

        r->run[r->count].pid = pid;
        r->run[r->count].id = id;
        r->run[r->count++].deadline_ns = deadline_ns;
}

pid_t wall_runs_find(const struct wall_runs *r, uint32_t id)
{
        for (unsigned i = 0; i < r->count; i++)
                if (r->run[i].id == id)
                        return r->run[i].pid;
        return 0;
}

void wall_runs_renew(struct wall_runs *r, const struct wall_order *o, uint64_t *only)
{
        for (unsigned i = 0; i < r->count && !only; i++)
                if (r->run[i].id == o->id && r->run[i].deadline_ns != 0)
                        r->run[i].deadline_ns += o->time_ms * 1000000u;

        if (only && *only != UINT64_MAX)
                *only += o->time_ms * 1000000u;
}

void wall_runs_ended(struct wall_runs *r, const struct wall_init *w, pid_t pid, int status,
                     const struct rusage *used)
{
        unsigned i = 0;
        while (i < r->count && r->run[i].pid != pid)
                i++;

        if (i == r->count)
                return;

        struct wall_message m = { .word = WALL_SAYS_RAN,
                                  .run = r->run[i].id,
                                  .end = { .status = status,
                                           .cpu_ns = wall_cpu_ns(used),
                                           .max_rss = (uint64_t) used->ru_maxrss * 1024,
                                           .time_over = r->run[i].deadline_ns == 0,
                                           .blind = wall_is_blind(w) } };
        r->run[i] = r->run[--r->count];
        (void) wall_say(w, &m);
}

/* The keeper ends a run whose time is over; it may be stopped. */
void wall_runs_end_late(struct wall_runs *r, uint64_t now)
{
        for (unsigned i = 0; i < r->count; i++)
                if (r->run[i].deadline_ns != 0 && now >= r->run[i].deadline_ns) {
                        r->run[i].deadline_ns = 0;
                        (void) kill(-r->run[i].pid, SIGKILL);
                }
}

uint64_t wall_runs_next(const struct wall_runs *r, uint64_t next)
{
        for (unsigned i = 0; i < r->count; i++)
                if (r->run[i].deadline_ns != 0 && r->run[i].deadline_ns < next)
                        next = r->run[i].deadline_ns;
        return next;
}
