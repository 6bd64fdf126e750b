/* SPDX-License-Identifier: MIT */
/* ledger/report/night.c - `cordon log night`: an unattended night on one page: what ran, what waited for a
 * person, what was denied, whom it reached. Pure. Text of boxes is inert. */
#include "ledger/internal.h"

#include <stdlib.h>

enum {
        BOXES_MAX = 200,
        WAITED_MAX = 100,
        DENIED_MAX = 256,
        DENIED_SHOWN = 20,
        WAITED_SHOWN = 30,
        NOTES_MAX = 100
};

struct box_row {
        struct span name;
        unsigned runs, failed, capped, denied, tripped, open;
        uint64_t cpu_us;
};
struct waited {
        struct span digest, box, target, state;
        int64_t time_us;
};
struct denied {
        struct span box, target, permit;
        uint64_t times;
};
struct job_row {
        struct span name;
        unsigned runs, failed, open;
};
struct note_row { /* an incident, or what a self-test found */
        struct span id, target, box, text;
        int64_t time_us;
};
struct notes {
        struct note_row v[NOTES_MAX];
        size_t n;
};
struct night {
        const struct ledger_log *log;
        int64_t since_us;
        struct ledger_runs runs;
        struct box_row box[BOXES_MAX];
        struct waited waited[WAITED_MAX];
        struct denied denied[DENIED_MAX];
        struct job_row job[BOXES_MAX];
        struct notes harm, audits;
        size_t boxes, waits, denials, jobs;
        uint64_t lost; /* rows that did not fit */
};

/* ---- collecting ---- */

static void add_run(struct night *n, const struct ledger_run *r)
{
        size_t i = 0;
        while (i < n->boxes && !span_eq(n->box[i].name, r->box))
                i++;
        if (i == BOXES_MAX) {
                n->lost++;
                return;
        }

        n->boxes += i == n->boxes;
        struct box_row *b = &n->box[i];
        b->name = r->box;
        b->runs++;
        b->failed += ledger_run_is(r, LEDGER_RUN_FAILED);
        b->capped += ledger_run_is(r, LEDGER_RUN_CAPPED);
        b->denied += ledger_run_is(r, LEDGER_RUN_DENIED);
        b->tripped += ledger_run_is(r, LEDGER_RUN_TRIPPED);
        b->open += !ledger_run_is(r, LEDGER_RUN_ENDED);
        b->cpu_us += r->cpu_us;
}

static void add_job(struct night *n, const struct ledger_run *r)
{
        size_t i = 0;
        if (r->job.n == 0)
                return;

        while (i < n->jobs && !span_eq(n->job[i].name, r->job))
                i++;
        if (i == BOXES_MAX) {
                n->lost++;
                return;
        }

        n->jobs += i == n->jobs;
        struct job_row *j = &n->job[i];
        j->name = r->job;
        j->runs++;
        j->failed += ledger_run_is(r, LEDGER_RUN_FAILED);
        j->open += !ledger_run_is(r, LEDGER_RUN_ENDED);
}

static void add_note(struct night *n, struct notes *to, const struct ledger_view *v, struct span text)
{
        if (to->n == NOTES_MAX)
                n->lost++;
        else
                to->v[to->n++] = (struct note_row){ v->id, v->target, v->box, text, v->time_us };
}

/* Each effect once, with its newest state. */
static void add_wait(struct night *n, const struct ledger_view *v)
{
        size_t i = 0;
        while (i < n->waits && !span_eq(n->waited[i].digest, v->digest))
                i++;
        if (i == WAITED_MAX) {
                n->lost++;
                return;
        }

        if (i == n->waits)
                n->waited[n->waits++] =
                        (struct waited){ v->digest, v->box, v->target, v->result, v->time_us };
        n->waited[i].state = v->result;
}

static void add_denial(struct night *n, const struct ledger_view *v)
{
        size_t i = 0;
        if (ledger_member(v->more, "minor").n > 0 || counted_elsewhere(v))
                return;

        while (i < n->denials &&
               !(span_eq(n->denied[i].box, v->box) && span_eq(n->denied[i].target, v->target)))
                i++;
        if (i == DENIED_MAX) {
                n->lost++;
                return;
        }

        n->denials += i == n->denials;
        struct denied *d = &n->denied[i];
        d->box = v->box;
        d->target = v->target;
        d->permit = ledger_member(v->more, "permit");
        d->times += v->count > 0 ? (uint64_t) v->count : 1;
}

static int most_first(const void *a, const void *b)
{
        const struct denied *x = a, *y = b;
        return (x->times < y->times) - (x->times > y->times);
}

static void collect(struct night *n)
{
        struct ledger_view v;
        for (size_t i = 0; i < n->runs.n; i++) {
                add_run(n, &n->runs.v[i]);
                add_job(n, &n->runs.v[i]);
        }

        for (uint64_t i = 0; i < ledger_log_count(n->log); i++) {
                if (ledger_log_view(n->log, i, &v) < 0 || v.time_us < n->since_us)
                        continue;
                if (span_is(v.kind, "gate") && span_is(v.result, "incident"))
                        add_note(n, &n->harm, &v, ledger_member(v.more, "reason"));
                else if (span_is(v.kind, "audit"))
                        add_note(n, &n->audits, &v, v.result);
                else if (span_is(v.kind, "gate") && v.digest.n)
                        add_wait(n, &v);
                else if (span_is(v.phase, "denied"))
                        add_denial(n, &v);
        }

        if (n->denials > 0)
                qsort(n->denied, n->denials, sizeof *n->denied, most_first);
}

/* ---- text ---- */

static void put_boxes(const struct night *n, struct buf *out)
{
        buf_puts(out, n->boxes ? "\nRAN\n  RUNS FAILED LIMIT DENIED STOPPED OPEN   CPU-S  BOX\n"
                               : "\nRAN\n  nothing\n");
        for (size_t i = 0; i < n->boxes; i++) {
                const struct box_row *b = &n->box[i];
                buf_printf(out, "  %4u %6u %5u %6u %7u %4u %7.1f  ", b->runs, b->failed, b->capped, b->denied,
                           b->tripped, b->open, (double) b->cpu_us / 1e6);
                text_put(out, b->name, 60);
                buf_putc(out, '\n');
        }
}

static void put_waited(const struct night *n, struct buf *out)
{
        char time[TEXT_TIME];
        buf_puts(out, n->waits ? "\nWAITED FOR A PERSON\n" : "\nWAITED FOR A PERSON\n  nothing\n");
        for (size_t i = 0; i < n->waits && i < WAITED_SHOWN; i++) {
                const struct waited *w = &n->waited[i];
                buf_printf(out, "  %s  ", text_time(w->time_us, ' ', time));
                text_put(out, w->state, 12);
                buf_puts(out, ": ");
                text_put(out, w->target, 100);
                buf_puts(out, " (");
                text_put(out, w->box, 40);
                buf_puts(out, ")\n");
        }
        if (n->waits > WAITED_SHOWN)
                buf_printf(out, "  and %zu more: cordon log --kind gate\n", n->waits - WAITED_SHOWN);
}

static void put_denied(const struct night *n, struct buf *out)
{
        buf_puts(out, n->denials ? "\nDENIED\n" : "\nDENIED\n  nothing\n");
        for (size_t i = 0; i < n->denials && i < DENIED_SHOWN; i++) {
                const struct denied *d = &n->denied[i];
                buf_printf(out, "  %6llu times  ", (unsigned long long) d->times);
                text_put(out, d->target, 100);
                buf_puts(out, " (");
                text_put(out, d->box, 40);
                buf_puts(out, ")\n");
        }
        if (n->denials > DENIED_SHOWN)
                buf_printf(out, "  and %zu more: cordon log --kind denied\n", n->denials - DENIED_SHOWN);
}

static void put_notes(const char *title, const struct notes *t, struct buf *out)
{
        char time[TEXT_TIME];
        if (t->n > 0)
                buf_printf(out, "\n%s\n", title);
        for (size_t i = 0; i < t->n; i++) {
                buf_printf(out, "  %s  ", text_time(t->v[i].time_us, ' ', time));
                text_put(out, t->v[i].target, 60);
                buf_puts(out, ": ");
                text_put(out, t->v[i].text, 100);
                buf_puts(out, " (");
                text_put(out, t->v[i].id, LEDGER_ID_MAX);
                buf_puts(out, ")\n");
        }
}

static void put_jobs(const struct night *n, struct buf *out)
{
        if (n->jobs > 0)
                buf_puts(out, "\nBATCH JOBS\n  RUNS FAILED OPEN  JOB\n");
        for (size_t i = 0; i < n->jobs; i++) {
                buf_printf(out, "  %4u %6u %4u  ", n->job[i].runs, n->job[i].failed, n->job[i].open);
                text_put(out, n->job[i].name, 60);
                buf_putc(out, '\n');
        }
}

static void put_first(const struct night *n, struct buf *out)
{
        const struct ledger_run *run;
        char id[LEDGER_ID_MAX], time[TEXT_TIME];
        uint64_t tripped = ledger_runs_count(&n->runs, LEDGER_RUN_TRIPPED, &run);
        buf_printf(out, "since %sZ: %zu runs of %zu boxes, %llu denials\n", text_time(n->since_us, 'T', time),
                   n->runs.n, n->boxes, (unsigned long long) n->runs.sum[LEDGER_SUM_DENIALS]);
        if (tripped)
                buf_printf(out, "%llu stopped by a tripwire; the newest: cordon log show %s\n",
                           (unsigned long long) tripped, ledger_plain(run->id, id, sizeof id));

        if (n->runs.sum[LEDGER_SUM_INCIDENTS])
                buf_printf(out, "%llu incidents\n", (unsigned long long) n->runs.sum[LEDGER_SUM_INCIDENTS]);

        uint64_t unknown = ledger_runs_count(&n->runs, LEDGER_RUN_UNKNOWN, &run);
        if (unknown)
                buf_printf(out,
                           "%llu runs with an effect whose outcome is unknown: cordon log --kind unknown\n",
                           (unsigned long long) unknown);
}

static void put_text(const struct night *n, struct buf *out)
{
        AUTO_BUF(reached);
        put_first(n, out);
        put_notes("INCIDENTS", &n->harm, out);
        put_boxes(n, out);
        put_jobs(n, out);
        put_waited(n, out);
        put_denied(n, out);
        put_notes("SELF-TESTS", &n->audits, out);
        buf_puts(out, "\nREACHED\n");
        if (ledger_reached_since(n->log, n->since_us, false, &reached) == 0)
                buf_puts(out, "  nobody but yourself\n");
        else
                buf_add(out, reached.p, reached.n);
        if (n->lost)
                buf_printf(out, "\n%llu rows are not shown: there are too many\n",
                           (unsigned long long) n->lost);
        out->failed |= reached.failed;
}

/* ---- JSON ---- */

static void member(struct buf *out, const char *key, struct span raw)
{
        buf_printf(out, ",\"%s\":\"", key);
        if (raw.n)
                buf_add(out, raw.p, raw.n);
        buf_putc(out, '"');
}

static void boxes_json(const struct night *n, struct buf *out)
{
        for (size_t i = 0; i < n->boxes; i++) {
                const struct box_row *b = &n->box[i];
                buf_printf(out,
                           "%s\n {\"runs\":%u,\"failed\":%u,\"limit\":%u,\"denied\":%u,\"stopped\":%u,"
                           "\"open\":%u,\"cpu_us\":%llu",
                           i ? "," : "", b->runs, b->failed, b->capped, b->denied, b->tripped, b->open,
                           (unsigned long long) b->cpu_us);
                member(out, "box", b->name);
                buf_putc(out, '}');
        }
}

static void lists_json(const struct night *n, struct buf *out)
{
        buf_puts(out, "],\n\"waited\":[");
        for (size_t i = 0; i < n->waits; i++) {
                buf_printf(out, "%s\n {\"time\":%lld", i ? "," : "", (long long) n->waited[i].time_us);
                member(out, "state", n->waited[i].state);
                member(out, "target", n->waited[i].target);
                member(out, "box", n->waited[i].box);
                buf_putc(out, '}');
        }

        buf_puts(out, "],\n\"denied\":[");
        for (size_t i = 0; i < n->denials; i++) {
                buf_printf(out, "%s\n {\"times\":%llu", i ? "," : "",
                           (unsigned long long) n->denied[i].times);
                member(out, "target", n->denied[i].target);
                member(out, "permit", n->denied[i].permit);
                member(out, "box", n->denied[i].box);
                buf_putc(out, '}');
        }
}

static void notes_json(const char *key, const struct notes *t, struct buf *out)
{
        buf_printf(out, "],\n\"%s\":[", key);
        for (size_t i = 0; i < t->n; i++) {
                buf_printf(out, "%s\n {\"time\":%lld", i ? "," : "", (long long) t->v[i].time_us);
                member(out, "id", t->v[i].id);
                member(out, "target", t->v[i].target);
                member(out, "text", t->v[i].text);
                member(out, "box", t->v[i].box);
                buf_putc(out, '}');
        }
}

static void jobs_json(const struct night *n, struct buf *out)
{
        buf_puts(out, "],\n\"jobs\":[");
        for (size_t i = 0; i < n->jobs; i++) {
                buf_printf(out, "%s\n {\"runs\":%u,\"failed\":%u,\"open\":%u", i ? "," : "", n->job[i].runs,
                           n->job[i].failed, n->job[i].open);
                member(out, "job", n->job[i].name);
                buf_putc(out, '}');
        }
}

/* Its rows are a line each. */
static void reached_json(const struct night *n, struct buf *out)
{
        AUTO_BUF(rows);
        (void) ledger_reached_since(n->log, n->since_us, true, &rows);
        buf_puts(out, "],\n\"reached\":[");
        for (const char *at = buf_str(&rows); *at;) {
                size_t len = strcspn(at, "\n");
                buf_printf(out, "%s\n ", at == buf_str(&rows) ? "" : ",");
                buf_add(out, at, len);
                at += len + (at[len] == '\n');
        }
        out->failed |= rows.failed;
}

static void put_json(const struct night *n, struct buf *out)
{
        const struct ledger_run *ignored;
        buf_printf(out, "{\"since\":%lld,\"runs\":%zu,\"boxes\":[", (long long) n->since_us, n->runs.n);
        boxes_json(n, out);
        lists_json(n, out);
        notes_json("harm", &n->harm, out);
        notes_json("selftests", &n->audits, out);
        jobs_json(n, out);
        reached_json(n, out);
        buf_printf(out, "],\n\"stopped\":%llu,\"incidents\":%llu,\"unknown\":%llu,\"left_off\":%llu}\n",
                   (unsigned long long) ledger_runs_count(&n->runs, LEDGER_RUN_TRIPPED, &ignored),
                   (unsigned long long) n->runs.sum[LEDGER_SUM_INCIDENTS],
                   (unsigned long long) ledger_runs_count(&n->runs, LEDGER_RUN_UNKNOWN, &ignored),
                   (unsigned long long) n->lost);
}

int ledger_night(const struct ledger_log *l, int64_t since_us, bool json, struct buf *out, struct err *e)
{
        struct night *n = calloc(1, sizeof *n);
        if (!n)
                return err_set(e, ERR_MEMORY, 0, "no memory for the summary");

        n->log = l;
        n->since_us = since_us;
        int r = ledger_runs_read(l, since_us, &n->runs, e);
        if (r == 0) {
                collect(n);
                (json ? put_json : put_text)(n, out);
        }

        ledger_runs_done(&n->runs);
        free(n);
        return r;
}
