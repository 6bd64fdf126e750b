/* SPDX-License-Identifier: MIT */
/* run/keeper/limit_watch.c - the keeper's watch over budgets: which mechanism enforces each, when to check
 * again, and which limit fired. */
#include "base/clock.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_NS = 10000000, OOM_LOOK_NS = 2000000, OOM_SETTLES_NS = 500000000 };

/* With v2 a process is created in its group; moving one in later is slower than anything else. And without a
 * pid namespace, only v2 can kill all of a box at once. Otherwise init can raise its walls meanwhile, with a
 * payload that is created late; an ordinary user hardly ever has groups of v1, and finds that out in no time.
 */
bool keeper_groups_come_first(const struct box *b)
{
        return !wall_has(b->c.plan->wall, WALL_OWN_ROOT) || !b->c.root || host_cgroups_unified();
}

/* The janitor first: a keeper that is killed at any moment leaves no group. */
static int open_group(struct box *b, const struct limit_ask *ask, struct err *e)
{
        struct host_cgroups h;
        if (host_cgroups_read(&h, e) < 0 || limit_group_may(&h, e) < 0 ||
            limit_janitor_start(b->c.cx, ask->name, &b->janitor, e) < 0)
                return -1;

        int r = limit_group_open(&b->group, &h, ask, e);
        if (r < 0)
                limit_janitor_release(&b->janitor);

        return r;
}

int keeper_groups_make(struct box *b, bool late, struct err *e)
{
        if (b->c.plan->without & WITHOUT_CGROUP)
                return 0;

        uint64_t t = clock_mono_ns();
        struct limit_ask ask = { .memory = b->c.plan->limits.value[LIMIT_MEMORY],
                                 .procs = b->c.plan->limits.value[LIMIT_PROCS] + 1,
                                 .late = late,
                                 .runs = b->c.session && b->c.plan->net };
        (void) stpcpy(stpcpy(ask.name, "cordon-"), keeper_run(&b->run));
        int r = open_group(b, &ask, e);
        b->run.r.group_wait_ns = clock_mono_ns() - t;
        bool is_host = r < 0 && e->code != ERR_MEMORY && e->sys != ENOMEM; /* want of memory lowers no wall */
        if (is_host && !b->c.require_groups)
                return 0; /* reported in the result: rlimits and sampling enforce them */

        return r;
}

bool keeper_groups_are_joined(const struct box *b)
{
        bool any = b->group.v2_procs >= 0;
        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                any = any || b->group.v1_tasks[i] >= 0;
        return any;
}

int keeper_groups_enter(struct box *b, struct err *e)
{
        bool missed = b->group.v2 >= 0 && b->group.v2_procs < 0 && !b->child.born_in_cgroup;
        if (missed && limit_group_door(&b->group, e) < 0)
                return -1;

        if (b->group.v2_procs >= 0 && wall_join(&b->child, b->group.v2_procs, e) < 0)
                return -1;

        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                if (b->group.v1_tasks[i] >= 0 && wall_join(&b->child, b->group.v1_tasks[i], e) < 0)
                        return -1;

        b->run.r.memory_by_group = b->group.holds_memory;
        b->run.r.procs_by_group = b->group.holds_procs;
        b->run.r.cpu_by_group = b->group.counts_cpu;
        return 0;
}

unsigned keeper_groups_hold(const struct box *b)
{
        const struct limit_group *g = &b->group;
        unsigned held =
                (g->holds_procs ? WALL_GROUP_PROCS : 0u) | (g->holds_sockets ? WALL_GROUP_SOCKETS : 0u);
        if (!g->holds_memory || !g->holds_procs || !g->counts_cpu)
                held |= WALL_SAMPLES;
        return held;
}

/* Of the run: a parked box has used some before. */
static uint64_t own_cpu(const struct box *b, const struct limit_usage *u)
{
        return u->cpu_ns > b->parked_cpu_ns ? u->cpu_ns - b->parked_cpu_ns : 0;
}

void keeper_groups_read(struct box *b)
{
        struct limit_usage u;
        if (limit_group_usage(&b->group, &u) < 0)
                return;

        if (u.has_memory)
                b->run.r.out.memory_peak = u.memory_peak;

        if (u.has_cpu)
                b->run.r.out.cpu_ns = own_cpu(b, &u);

        if (u.oom_kills > 0)
                b->run.r.limits_hit |= 1u << LIMIT_MEMORY;

        if (u.procs_denied > 0)
                b->run.r.limits_hit |= 1u << LIMIT_PROCS;
}

/* Of a parked box they are the janitor's: nothing runs in them any more, and their removal takes time. */
unsigned keeper_groups_end(struct box *b)
{
        if ((b->emptied || (b->child.own_pids && b->janitor.child.theirs)) && b->janitor.line >= 0) {
                limit_group_close(&b->group);
                limit_janitor_leave(&b->janitor);
                return 0;
        }

        unsigned us = limit_group_end_try(&b->group);
        if (us == 0)
                limit_janitor_release(&b->janitor);

        return us;
}

/* When all of the cpu limit can be used up: all cores busy from now on. */
static uint64_t soonest_over(struct box *b, uint64_t cap, uint64_t used)
{
        if (b->cpus == 0)
                b->cpus = host_cpus();
        uint64_t soonest = (cap - used) / b->cpus;
        return soonest > LOOK_NS ? soonest : LOOK_NS;
}

/* v1 reports out-of-memory before it kills, and writes its report into the kernel's log in between: the count
 * may follow milliseconds later, without an event. */
static bool kill_may_follow(struct box *b, uint64_t now)
{
        if (b->oom_ns + OOM_SETTLES_NS < now)
                b->oom_ns = 0;
        return b->oom_ns != 0;
}

/* Memory: any kill by the kernel ends the whole box, so that half a program does not stumble on. */
static void look_at_group(struct box *b, uint64_t now)
{
        struct limit_usage u;
        b->run.next_look_ns = now + (kill_may_follow(b, now) ? OOM_LOOK_NS : LOOK_NS);
        if (limit_group_usage(&b->group, &u) < 0)
                return;

        if (u.has_memory && u.oom_kills > 0)
                keeper_limit_fired(b, LIMIT_MEMORY);

        if (!u.has_cpu)
                return;

        uint64_t cap = b->c.plan->order->limits.value[LIMIT_CPU] * 1000000u;
        if (b->c.session) /* its group holds all runs: each may use as much */
                cap *= b->id > 0 ? b->id : 1;

        if (own_cpu(b, &u) >= cap)
                keeper_limit_fired(b, LIMIT_CPU);
        else if (!b->oom_ns)
                b->run.next_look_ns = now + soonest_over(b, cap, own_cpu(b, &u));
}

void keeper_oom_noted(struct box *b)
{
        if (b->group.v1[CONTROLLER_MEMORY] >= 0)
                b->oom_ns = clock_mono_ns();
}

/* ---- a start that hangs: one of its processes was stopped, or a filesystem does not answer. It has the time
 * that any start needs, and little once the caller requests its end. ---- */

enum { START_MAX_MS = 60000, ASKED_MAX_MS = 2000 };

static int asked_to_end(const struct box *b)
{
        static const int ends[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
                if (b->run.early_signals & box_signal_bit(ends[i]))
                        return ends[i];
        return 0;
}

static uint64_t start_deadline(struct box *b, uint64_t now)
{
        if (asked_to_end(b) && !b->run.asked_ns)
                b->run.asked_ns = now;
        uint64_t late = b->run.began_ns + (uint64_t) START_MAX_MS * 1000000u,
                 soon = b->run.asked_ns + (uint64_t) ASKED_MAX_MS * 1000000u;
        return b->run.asked_ns && soon < late ? soon : late;
}

void keeper_look_at_start(struct box *b, uint64_t now)
{
        bool waits = box_is_parked(b) || (b->phase == PHASE_ASK && !asked_to_end(b));
        if (b->run.r.out.end != CORDON_RUNNING || waits || now < start_deadline(b, now))
                return;

        if (b->run.asked_ns) {
                b->run.r.out.end = CORDON_SIGNALED;
                b->run.r.out.code = asked_to_end(b);
        } else {
                b->run.r.out.end = CORDON_FAILED;
                (void) err_set(&b->run.r.error, ERR_WALL, 0, "the box was not up after %d s",
                               START_MAX_MS / 1000);
        }

        box_kill(b);
}

void keeper_limits_look(struct box *b, bool oom)
{
        uint64_t now = clock_mono_ns();
        if (!b->run.up)
                keeper_look_at_start(b, now);

        if (oom)
                keeper_oom_noted(b);

        if (b->run.up)
                keeper_lease_look(b, now);

        /* Four files: not for every line that the payload writes. */
        bool due = oom || b->group.oom_event < 0 || now >= b->run.next_look_ns;
        if (b->run.up && due && (b->group.holds_memory || b->group.counts_cpu))
                look_at_group(b, now);

        if (b->run.up)
                keeper_work_look(b, now);
}

/* v1 has an eventfd; v2 has memory.events, a file that is always readable and reports POLLPRI when it
 * changed. */
short keeper_oom_events(const struct box *b)
{
        return b->group.v1[CONTROLLER_MEMORY] >= 0 ? POLLIN : POLLPRI;
}

bool keeper_oom_drain(const struct box *b)
{
        char text[512];
        if (b->group.oom_event < 0 || pread(b->group.oom_event, text, sizeof text, 0) >= 0)
                return false;
        return read(b->group.oom_event, text, sizeof text) > 0; /* an eventfd has no place to read from */
}

uint64_t keeper_next_look(struct box *b, uint64_t now)
{
        uint64_t next = b->run.up ? lease_next_ns(&b->run.lease) : start_deadline(b, now);
        if (b->run.up && (b->group.counts_cpu || b->oom_ns) && b->run.next_look_ns < next)
                next = b->run.next_look_ns;

        if (b->run.up && (b->work || b->private.dir >= 0) && b->tally.soon_ns < next)
                next = b->tally.soon_ns;

        return next;
}
