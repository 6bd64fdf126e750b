/* SPDX-License-Identifier: MIT */
/* face/serve/job.c - runs from their request to the moment they are forgotten: the queues, turns and ends. */
#include "face/serve/internal.h"

#include "base/clock.h"
#include "base/fd.h"

#include <stdio.h>
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

static void free_words(struct job *j)
{
        for (char **w = j->argv; w && *w; w++)
                free(*w);
        free(j->argv);
        j->argv = NULL;
}

static void discard(struct job *j)
{
        if (j->session)
                j->session->jobs--;
        cordon_box_free(j->box);
        canary_run_free(j->canary);
        held_policy_release(j->policy);
        free_words(j);
        buf_done(&j->input);
        buf_done(&j->env);
        buf_done(&j->labels);
        free(j->cwd);
        fd_close(&j->input_fd);
        fd_close(&j->spill[0]);
        fd_close(&j->spill[1]);
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
        j->input_fd = j->spill[0] = j->spill[1] = -1;
        j->seq = ++tenant_book(t)->seq;
        j->created_s = clock_wall_s();
        if (random_name("r", j->id) == 0) {
                j->next = tenant_book(t)->jobs;
                tenant_book(t)->jobs = j;
                return j;
        }

        free(j);
        return NULL;
}

void job_forget(struct job *j)
{
        struct job **at = &tenant_book(j->tenant)->jobs;
        while (*at && *at != j)
                at = &(*at)->next;
        if (*at)
                *at = j->next;
        discard(j);
}

/* ---- what is kept ---- */

/* Its result is on the disk: job_put() and events have it from there. */
static void shed(struct job *j)
{
        enum { WORDS_MOST = 4096 };
        size_t words = 0;
        for (char **w = j->argv; w && *w; w++)
                words += strlen(*w) + 1;
        if (words > WORDS_MOST)
                free_words(j);
        j->recalled = false;
        buf_done(&j->result);
        buf_done(&j->events);
        budget_give(tenant_budget(j->tenant), BUDGET_BYTES, j->charged);
        j->charged = 0;
}

void job_rest(struct job *j)
{
        if (j->recalled && !j->watchers)
                shed(j);
}

static void drop(struct job *j)
{
        tenant_book(j->tenant)->kept_bytes -= j->on_disk;
        store_drop(j->tenant, j->id);
        discard(j);
}

/* Goes through the runs, the newest first, and says which are kept. */
struct keeping {
        const struct tenant_keep *most;
        int64_t now_s;
        uint64_t bytes;
        size_t runs, loaded, unstored, loaded_most;
};

static bool is_kept(struct keeping *k, const struct job *j)
{
        k->bytes += j->on_disk;
        if (j->unstored)
                return ++k->unstored <= k->loaded_most;
        return ++k->runs <= KEPT_RUNS && k->bytes <= k->most->bytes && k->now_s - j->ended_s <= k->most->s;
}

static bool store_ended(struct server *s, struct job *j)
{
        if (store_put_run(j, (struct span){ 0 }) < 0) {
                trouble_tell(s, "the result of a run", errno);
                return false;
        }
        trouble_over(s);
        return true;
}

void jobs_keep(struct server *s, struct tenant *t)
{
        enum { LOADED_MOST = 16 };
        struct tenant_book *b = tenant_book(t);
        struct keeping k = { .most = tenant_keep(t),
                             .now_s = clock_wall_s(),
                             .loaded_most = budget_lacks(tenant_budget(t), BUDGET_BYTES, 0) ? 4 : KEPT_MAX };
        b->unkept = 0;
        for (struct job **at = &b->jobs; *at;) {
                struct job *j = *at;
                bool over = j->state == JOB_ENDED && !j->watchers;
                if (over && j->unstored && clock_mono_ns() >= s->trouble.again_ns)
                        (void) store_ended(s, j);
                if (over && !is_kept(&k, j)) {
                        *at = j->next;
                        drop(j);
                        continue;
                }
                if (over && !j->unstored && j->result.n + j->events.n && ++k.loaded > LOADED_MOST)
                        shed(j);
                at = &j->next;
        }
}

/* The whole of what it said, beside its record. */
static void end_output(struct server *s, struct job *j)
{
        for (unsigned i = 0; i < 2; i++) {
                bool spilled = j->spill[i] >= 0;
                struct buf *text = &j->text[i];
                if (!spilled && text->n)
                        j->spill[i] = store_open_output(j, i + 1, true);
                if (!spilled && j->out_bytes[i])
                        continue; /* the file ends where it could not be written */
                if (!spilled && text->n &&
                    (j->spill[i] < 0 || fd_write_all(j->spill[i], text->p, text->n) < 0))
                        trouble_tell(s, "the output of a run", errno);
                else if (!spilled)
                        j->out_bytes[i] = text->n;
                fd_close(&j->spill[i]);
        }
}

void job_enqueue(struct job *j)
{
        struct tenant_book *b = tenant_book(j->tenant);
        j->state = JOB_QUEUED;
        j->asked_ns = clock_mono_ns();
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
                        s->follow(s->clients[i]);
}

static void count_word(const char *const *words, const char *word, uint64_t *counts)
{
        for (size_t i = 0; words[i]; i++)
                counts[i] += word && strcmp(words[i], word) == 0;
}

static void count_end(struct server *s, struct tenant_book *b, const struct job *j)
{
        count_word(serve_ends, j->end, b->by_end);
        b->faults += j->fault != 0;
        if (!j->box)
                return;

        cordon_usage u;
        const cordon_result *r = cordon_box_result(j->box);
        cordon_box_usage(j->box, &u);
        count_word(serve_starts, r->start, b->by_start);
        histogram_add(&b->takes, j->run_ns);
        histogram_add(&b->starts, r->start_ns);
        b->cpu_ns += r->cpu_ns;
        uint64_t crossed = u.net_bytes == CORDON_NOT_COUNTED ? 0 : u.net_bytes;
        struct usage_hour used = { .n = { 1, j->status != 0, j->blocked, r->cpu_ns, r->wall_ns,
                                          r->memory_peak / 1024 * (r->wall_ns / 1000000) / 1000 * 1024,
                                          j->bytes, crossed, j->asks } };
        b->net_bytes += crossed;
        if (usage_add(j->tenant, &used) < 0)
                trouble_tell(s, "what a run used", errno);
}

static void end(struct server *s, struct job *j, const cordon_error *failed)
{
        enum { LOOK_EVERY = 16 };
        struct tenant_book *b = tenant_book(j->tenant);
        end_output(s, j);
        j->run_ns = j->begun_ns ? clock_mono_ns() - j->begun_ns : 0;
        job_finish(j, failed);
        count_end(s, b, j);
        log_run(s, j);
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
        buf_done(&j->env);
        fd_close(&j->input_fd);
        if (j->session)
                j->session->jobs--;
        j->session = NULL;
        j->charged = j->result.n + j->events.n;
        for (struct budget *x = tenant_budget(j->tenant); x; x = x->above)
                x->used[BUDGET_BYTES] += j->charged;
        (void) store_ended(s, j);
        tell(s, j);
        if (++b->unkept >= LOOK_EVERY || b->kept_bytes > tenant_keep(j->tenant)->bytes || j->unstored)
                jobs_keep(s, j->tenant);
}

/* Of its box, if that stays; a box of one run has no more than that run. */
static struct budget *budget_of(struct job *j)
{
        return j->session ? &j->session->budget : tenant_budget(j->tenant);
}

/* A run of a box that stays has the GPU of that box. */
static bool wants_gpu(const struct job *j) { return j->policy && held_policy_gpu(j->policy); }

/* One in a box that is not up yet waits for that. */
static bool has_room(struct job *j)
{
        if (j->session && !j->session->over && !cordon_box_is_up(j->session->box))
                return false;
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

static bool is_full(int sys) { return sys == ENOSPC || sys == EDQUOT || sys == EROFS; }

/* The host has no room for a box now: it waits, first in the queue, until others have ended. So does one that
 * nobody waits for, if the disk is full. */
static bool hold_back(struct server *s, struct job *j, const cordon_error *e)
{
        enum { HELD_MOST = 600, HOLD_MS = 200 };
        static const int shortages[] = { EMFILE, ENFILE, ENOMEM, EAGAIN, EDQUOT, ENOSPC };
        bool is_short = e->code == ERR_MEMORY;
        for (size_t i = 0; i < sizeof shortages / sizeof *shortages; i++)
                is_short |= e->sys == shortages[i] && (j->on_disk || e->code != ERR_IO || !is_full(e->sys));
        if (!is_short || s->draining || j->timed_out || ++j->held > HELD_MOST)
                return false;

        struct tenant_book *b = tenant_book(j->tenant);
        cordon_box_free(j->box);
        j->box = NULL;
        canary_run_free(j->canary);
        j->canary = NULL;
        fd_close(&j->input_fd);
        j->state = JOB_QUEUED;
        j->waiting = b->first;
        b->first = j;
        b->last = b->last ? b->last : j;
        for (struct budget *x = tenant_budget(j->tenant); x; x = x->above)
                x->used[BUDGET_QUEUE]++;
        if (s->held_back++ == 0)
                serve_log(s, LOG_WARN, e->what);
        s->hold_until_ns = clock_mono_ns() + HOLD_MS * 1000000ull;
        return true;
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
        j->begun_ns = clock_mono_ns();
        j->wait_ns = j->begun_ns - j->asked_ns;
        if (j->on_disk &&
            store_put_run(j, (struct span){ 0 }) < 0) /* or it would start again after kill -9 */
                (void) err_set((struct err *) &e, ERR_IO, errno, "the start is not recorded: %s",
                               strerror(errno));
        else if (job_start(j, &e) == 0) {
                tenant_book(j->tenant)->started++;
                histogram_add(&tenant_book(j->tenant)->waits, j->wait_ns);
                s->running[at] = j;
                return true;
        }

        give(j);
        if (e.code == ERR_IO && is_full(e.sys))
                trouble_tell(s, "the start of a run", e.sys);
        if (hold_back(s, j, &e))
                return false;
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
        for (bool more = !s->draining && clock_mono_ns() >= s->hold_until_ns; more;) {
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

        const cordon_result *r = cordon_box_result(j->box);
        s->running[index] = NULL;
        give(j);
        if (r->end == CORDON_FAILED && !r->attested && !j->bytes && hold_back(s, j, r->error))
                return;
        end(s, j, NULL);
}

void job_kill(struct server *s, struct job *j)
{
        cordon_error gone = { 0 };
        (void) snprintf(gone.what, sizeof gone.what, "%s before it started",
                        j->interrupted ? "the server shut down" : "the run was ended");
        j->ended_by_client = !j->interrupted;
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
        job_rest(j);
        if (!j->stays && j->watchers == 0 && j->state != JOB_ENDED)
                job_kill(s, j);
}

void jobs_free(struct server *s, struct tenant *t)
{
        (void) s;
        for (struct job *j = tenant_book(t)->jobs, *next; j; j = next) {
                next = j->next;
                discard(j);
        }
        tenant_book(t)->jobs = NULL;
}

/* No new runs. Those that wait and are stored start with the next server; the others are told now. */
void jobs_drain(struct server *s, uint64_t until_ns)
{
        struct tenant *t;
        s->draining = true;
        s->drain_until_ns = until_ns;
        for (size_t i = 0; (t = tenants_at(s->tenants, i)); i++)
                for (struct job *j = tenant_book(t)->first, *next; j; j = next) {
                        next = j->waiting;
                        j->interrupted = !j->on_disk;
                        if (j->interrupted)
                                job_kill(s, j);
                }
        serve_log(s, LOG_INFO, "draining: no new runs; runs under way may end");
        serve_notify("STOPPING=1\nSTATUS=draining");
}
