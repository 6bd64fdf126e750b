/* SPDX-License-Identifier: MIT */
/* face/serve/job.c - runs from their request to the moment they are forgotten: the queues, turns and ends. */
#include "face/serve/internal.h"

#include "base/clock.h"
#include "base/fd.h"

#include <stdlib.h>
#include <string.h>

enum { TENANTS_SEEN = 1024 };

struct job *job_find(struct tenant *t, const char *id)
{
        struct job *j = tenant_book(t)->jobs;
        while (j && !random_is(j->id, id))
                j = j->next;
        return j;
}

struct job *job_by_key(struct tenant *t, const char *key)
{
        struct job *j = tenant_book(t)->jobs;
        while (j && strcmp(j->key, key) != 0)
                j = j->next;
        return j;
}

void job_discard(struct job *j)
{
        if (j->session)
                j->session->jobs--;
        cordon_box_free(j->box);
        canary_run_free(j->canary);
        held_policy_release(j->policy);
        for (char **w = j->argv; w && *w; w++)
                free(*w);
        free(j->argv);
        buf_done(&j->input);
        fd_close(&j->input_fd);
        buf_done(&j->text[0]);
        buf_done(&j->text[1]);
        buf_done(&j->events);
        buf_done(&j->result);
        budget_give(tenant_budget(j->tenant), BUDGET_BYTES, j->charged);
        free(j);
}

struct job *job_new(struct tenant *t)
{
        struct job *j = calloc(1, sizeof *j);
        if (!j)
                return NULL;

        j->tenant = t;
        j->input_fd = -1;
        j->created_s = clock_wall_s();
        if (random_name("r", j->id) == 0) {
                j->next = tenant_book(t)->jobs;
                tenant_book(t)->jobs = j;
                return j;
        }

        free(j);
        return NULL;
}

/* Old runs that have ended and that no client waits for. */
static void forget_old(struct tenant *t)
{
        size_t kept = 0;
        bool full = budget_lacks(tenant_budget(t), BUDGET_BYTES, 0) != NULL;
        for (struct job **at = &tenant_book(t)->jobs; *at;) {
                struct job *j = *at;
                if (j->state != JOB_ENDED || j->watchers || ++kept <= (full ? 4 : KEPT_MAX)) {
                        at = &j->next;
                        continue;
                }
                *at = j->next;
                job_discard(j);
        }
}

void job_enqueue(struct job *j)
{
        struct tenant_book *b = tenant_book(j->tenant);
        j->state = JOB_QUEUED;
        if (b->last)
                b->last->waiting = j;
        else
                b->first = j;
        b->last = j;
}

static void dequeue(struct job *j)
{
        struct tenant_book *b = tenant_book(j->tenant);
        struct job *before = NULL;
        for (struct job *x = b->first; x && x != j; x = x->waiting)
                before = x;
        if (before)
                before->waiting = j->waiting;
        else
                b->first = j->waiting;
        if (b->last == j)
                b->last = before;
        j->waiting = NULL;
        budget_give(tenant_budget(j->tenant), BUDGET_QUEUE, 1);
}

/* ---- ends ---- */

/* Its clients get what they wait for. */
static void tell(struct server *s, struct job *j)
{
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (s->clients[i] && s->clients[i]->job == j)
                        client_follow(s->clients[i]);
}

static void end(struct server *s, struct job *j, const cordon_error *failed)
{
        struct tenant_book *b = tenant_book(j->tenant);
        job_finish(j, failed);
        b->asked++;
        b->ended++;
        s->heads.runs++;
        b->output_bytes += j->bytes;
        if (j->canary && j->box)
                canary_run_end(j->canary, j->box);
        cordon_box_free(j->box);
        j->box = NULL;
        canary_run_free(j->canary);
        j->canary = NULL;
        held_policy_release(j->policy);
        j->policy = NULL;
        buf_done(&j->text[0]);
        buf_done(&j->text[1]);
        buf_done(&j->input);
        fd_close(&j->input_fd);
        if (j->session)
                j->session->jobs--;
        j->session = NULL;
        j->charged = j->result.n + j->events.n;
        for (struct budget *x = tenant_budget(j->tenant); x; x = x->above)
                x->used[BUDGET_BYTES] += j->charged;
        tell(s, j);
        forget_old(j->tenant);
}

/* Of its box, if that stays; a box of one run has no more than that run. */
static struct budget *budget_of(struct job *j)
{
        return j->session ? &j->session->budget : tenant_budget(j->tenant);
}

/* A run of a box that stays has the GPU of that box. */
static bool wants_gpu(const struct job *j) { return j->policy && held_policy_gpu(j->policy); }

static bool has_room(struct job *j)
{
        return !budget_lacks(budget_of(j), BUDGET_RUNS, 1) &&
               !(wants_gpu(j) && budget_lacks(budget_of(j), BUDGET_GPUS, 1));
}

static void take(struct job *j)
{
        (void) budget_take(budget_of(j), BUDGET_RUNS, 1);
        j->gpu = wants_gpu(j) && budget_take(budget_of(j), BUDGET_GPUS, 1);
}

static void give(struct job *j)
{
        budget_give(budget_of(j), BUDGET_RUNS, 1);
        budget_give(budget_of(j), BUDGET_GPUS, j->gpu);
}

/* The oldest that may start now: one whose box is full does not hold up the others. */
static struct job *startable(struct tenant *t)
{
        struct job *j = budget_lacks(tenant_budget(t), BUDGET_RUNS, 1) ? NULL : tenant_book(t)->first;
        while (j && !has_room(j))
                j = j->waiting;
        return j;
}

static bool start_one(struct server *s, struct job *j)
{
        cordon_error e = { 0 };
        size_t at = 0;
        while (at < RUNS_MAX && s->running[at])
                at++;

        if (!j || at == RUNS_MAX || !has_room(j))
                return false;

        take(j);
        dequeue(j);
        j->state = JOB_RUNNING;
        j->started_s = clock_wall_s();
        tenant_book(j->tenant)->started++;
        if (job_start(j, &e) == 0) {
                s->running[at] = j;
                return true;
        }

        give(j);
        end(s, j, &e);
        return true;
}

/* Everybody's place in the queue. A box that stays counts as one that runs, if its tenant shares nothing; a
 * tenant that shares nothing does not wait for boxes that stay, which may be for ever. */
static size_t look_at_turns(struct server *s, struct fair_queue **turns, size_t most)
{
        size_t n = 0;
        for (struct tenant *t; n < most && (t = tenants_at(s->tenants, n)); n++) {
                const struct budget *b = tenant_budget(t);
                struct fair_queue *q = turns[n] = tenant_turns(t);
                q->alone = tenant_is_alone(t);
                q->running = b->used[BUDGET_RUNS] + (q->alone ? b->used[BUDGET_SESSIONS] : 0);
                q->waiting = startable(t) &&
                             (!q->alone || s->host.used[BUDGET_SESSIONS] == b->used[BUDGET_SESSIONS]);
        }
        return n;
}

bool jobs_leave_room(struct server *s, const struct tenant *t)
{
        struct fair_queue *turns[TENANTS_SEEN];
        size_t n = look_at_turns(s, turns, TENANTS_SEEN), at = 0;
        while (at < n && tenants_at(s->tenants, at) != t)
                at++;
        return at < n && fair_may_start(turns, n, at);
}

void jobs_start(struct server *s)
{
        for (bool more = true; more;) {
                struct fair_queue *turns[TENANTS_SEEN];
                size_t n = look_at_turns(s, turns, TENANTS_SEEN);
                size_t at = fair_next(turns, n, &s->turn);
                if (at != SIZE_MAX && !fair_may_start(turns, n, at)) {
                        turns[at]->credit++; /* its turn is not over */
                        return;
                }

                more = at != SIZE_MAX && start_one(s, startable(tenants_at(s->tenants, at)));
        }
}

/* ---- under way ---- */

static void follow(struct server *s, struct job *j, size_t events_before)
{
        if (j->events.n != events_before)
                tell(s, j);
}

void jobs_step(struct server *s, size_t index)
{
        struct job *j = s->running[index];
        size_t before = j->events.n;
        if (j->deadline_ns && !j->timed_out && clock_mono_ns() >= j->deadline_ns) {
                j->timed_out = true;
                cordon_box_kill(j->box);
        }

        if (cordon_box_step(j->box) == 0) {
                follow(s, j, before);
                return;
        }

        s->running[index] = NULL;
        give(j);
        end(s, j, NULL);
}

void job_kill(struct server *s, struct job *j)
{
        const cordon_error gone = { .what = "the run was ended before it started" };
        j->ended_by_client = true;
        if (j->state == JOB_RUNNING)
                cordon_box_kill(j->box);
        if (j->state != JOB_QUEUED)
                return;

        dequeue(j);
        end(s, j, &gone);
}

void job_unwatch(struct server *s, struct client *c)
{
        struct job *j = c->job;
        c->job = NULL;
        if (!j)
                return;

        j->watchers--;
        if (!j->stays && j->watchers == 0 && j->state != JOB_ENDED)
                job_kill(s, j);
}

void jobs_free(struct server *s, struct tenant *t)
{
        (void) s;
        for (struct job *j = tenant_book(t)->jobs, *next; j; j = next) {
                next = j->next;
                job_discard(j);
        }
        tenant_book(t)->jobs = NULL;
}
