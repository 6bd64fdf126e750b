/* SPDX-License-Identifier: MIT */
/* ledger/report/export_metrics.c - Prometheus metrics: counters of all that the ledger has, and what the last
 * audit found. Pure. Labels are words of our own and names of boxes, never text of a box. */
#include "base/str.h"
#include "ledger/internal.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- effects ---- */

struct counter {
        struct span kind, phase, reach;
        uint64_t records, bytes, cost;
};

static int by_name(const void *pa, const void *pb)
{
        const struct counter *a = pa, *b = pb;
        const struct span x[] = { a->kind, a->phase, a->reach }, y[] = { b->kind, b->phase, b->reach };
        for (int i = 0; i < 3; i++) {
                size_t n = x[i].n < y[i].n ? x[i].n : y[i].n;
                int d = n ? memcmp(x[i].p, y[i].p, n) : 0;
                if (d || x[i].n != y[i].n)
                        return d ? d : x[i].n < y[i].n ? -1 : 1;
        }

        return 0;
}

static size_t count_all(const struct export *x, struct counter *c, size_t most)
{
        size_t n = 0;
        struct ledger_view v;
        for (struct ledger_walk w = export_walk(x); ledger_next(&w, &v);) {
                bool twice = counted_elsewhere(&v);
                if (twice && span_is(v.phase, "denied"))
                        continue;
                bool nothing = came_to_nothing(&v); /* no party was reached, and nothing crossed */
                struct counter key = { .kind = v.kind,
                                       .phase = v.phase,
                                       .reach = nothing ? span_of(NULL, 0) : v.reach };
                size_t k = 0;
                while (k < n && by_name(&c[k], &key) != 0)
                        k++;
                if (k == most)
                        continue;
                if (k == n)
                        c[n++] = key;
                c[k].records += v.count > 0 ? (uint64_t) v.count : 1;
                c[k].bytes += v.bytes > 0 && !nothing && !twice ? (uint64_t) v.bytes : 0;
                c[k].cost += v.cost > 0 ? (uint64_t) v.cost : 0;
        }

        qsort(c, n, sizeof *c, by_name);
        return n;
}

static void put_metric(struct export *x, const struct counter *c, size_t n, const char *name,
                       const char *help, size_t at)
{
        AUTO_BUF(b);
        buf_printf(&b, "# HELP cordon_%s_total %s\n# TYPE cordon_%s_total counter\n", name, help, name);
        for (size_t i = 0; i < n; i++) {
                uint64_t value;
                memcpy(&value, (const char *) &c[i] + at, sizeof value);
                buf_printf(&b, "cordon_%s_total{kind=\"%.*s\",phase=\"%.*s\",reach=\"%.*s\"} %llu\n", name,
                           (int) c[i].kind.n, (const char *) c[i].kind.p, (int) c[i].phase.n,
                           (const char *) (c[i].phase.n ? c[i].phase.p : (const uint8_t *) ""),
                           (int) c[i].reach.n,
                           (const char *) (c[i].reach.n ? c[i].reach.p : (const uint8_t *) ""),
                           (unsigned long long) value);
        }

        export_emit(x, &b);
}

static void put_effects(struct export *x)
{
        enum { MOST = 512 };
        struct counter *c = calloc(MOST, sizeof *c);
        x->failed |= !c;
        if (!c)
                return;

        size_t n = count_all(x, c, MOST);
        put_metric(x, c, n, "effects", "Effects in the ledger.", offsetof(struct counter, records));
        put_metric(x, c, n, "bytes", "Bytes that crossed.", offsetof(struct counter, bytes));
        put_metric(x, c, n, "cost", "What effects cost.", offsetof(struct counter, cost));
        free(c);
}

/* ---- runs ---- */

static void put_head(struct buf *b, const char *name, const char *type, const char *help)
{
        buf_printf(b, "# HELP cordon_%s %s\n# TYPE cordon_%s %s\n", name, help, name, type);
}

static void put_runs(struct export *x, const struct ledger_runs *t)
{
        const struct ledger_run *newest = NULL;
        uint64_t cpu_us = 0, start_us = 0, wall_us = 0;
        AUTO_BUF(b);
        put_head(&b, "runs_total", "counter", "Runs that were started.");
        buf_printf(&b, "cordon_runs_total %zu\n", t->n);
        put_head(&b, "runs_flagged_total", "counter",
                 "Runs by what happened in them; a run may have several.");
        for (unsigned f = 0; f < LEDGER_RUN_FLAG__COUNT; f++)
                buf_printf(&b, "cordon_runs_flagged_total{flag=\"%s\"} %llu\n", ledger_run_flag_name(f),
                           (unsigned long long) ledger_runs_count(t, f, &newest));

        for (size_t i = 0; i < t->n; i++) {
                cpu_us += t->v[i].cpu_us;
                wall_us += t->v[i].wall_us;
                start_us += t->v[i].start_cost_us;
        }

        const struct {
                const char *name, *help;
                uint64_t us;
        } times[] = { { "run_cpu_seconds_total", "Processor time of runs.", cpu_us },
                      { "run_seconds_total", "Time that runs took.", wall_us },
                      { "start_seconds_total", "Time that starts of runs took.", start_us } };
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
                put_head(&b, times[i].name, "counter", times[i].help);
                buf_printf(&b, "cordon_%s ", times[i].name);
                buf_fixed(&b, times[i].us, 6);
                buf_putc(&b, '\n');
        }

        put_head(&b, "last_run_timestamp_seconds", "gauge", "When the newest run began.");
        buf_printf(&b, "cordon_last_run_timestamp_seconds %lld\n",
                   (long long) (t->n ? t->v[t->n - 1].start_us / 1000000 : 0));
        export_emit(x, &b);
}

/* The name of a box is the caller's word, of letters, digits and a few signs. Boxes beyond the room are one
 * row, "": sums over all rows stay whole. */
struct box_sums {
        struct span name;
        uint64_t runs, failed, denied, cpu_us;
};
enum { BOXES_MAX = 200 };

static size_t sum_boxes(const struct ledger_runs *t, struct box_sums *b)
{
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++) {
                const struct ledger_run *r = &t->v[i];
                size_t k = 0;
                while (k < n && !span_eq(b[k].name, r->box))
                        k++;
                if (k == n && n < BOXES_MAX)
                        b[n++].name = r->box;
                b[k].runs++;
                b[k].failed += ledger_run_is(r, LEDGER_RUN_FAILED);
                b[k].denied += ledger_run_is(r, LEDGER_RUN_DENIED);
                b[k].cpu_us += r->cpu_us;
        }
        return b[BOXES_MAX].runs ? BOXES_MAX + 1 : n;
}

static void put_boxes(struct export *x, const struct ledger_runs *t)
{
        static const struct {
                const char *name, *help;
                size_t at;
        } rows[] = {
                { "box_runs_total", "Runs of a box.", offsetof(struct box_sums, runs) },
                { "box_runs_failed_total", "Of them, those that failed.", offsetof(struct box_sums, failed) },
                { "box_runs_denied_total", "Of them, those with denials.",
                  offsetof(struct box_sums, denied) },
                { "box_cpu_seconds_total", "Processor time of them.", offsetof(struct box_sums, cpu_us) }
        };
        AUTO_BUF(b);
        struct box_sums *sums = calloc(BOXES_MAX + 1, sizeof *sums);
        size_t n = sums ? sum_boxes(t, sums) : 0;
        x->failed |= !sums;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                put_head(&b, rows[i].name, "counter", rows[i].help);
                for (size_t k = 0; k < n; k++) {
                        uint64_t value;
                        memcpy(&value, (const char *) &sums[k] + rows[i].at, sizeof value);
                        buf_printf(&b, "cordon_%s{box=\"%.*s\"} ", rows[i].name, (int) sums[k].name.n,
                                   sums[k].name.n ? (const char *) sums[k].name.p : "");
                        buf_fixed(&b, value, rows[i].at == offsetof(struct box_sums, cpu_us) ? 6 : 0);
                        buf_putc(&b, '\n');
                }
        }

        free(sums);
        export_emit(x, &b);
}

static void put_sums(struct export *x, const struct ledger_runs *t)
{
        AUTO_BUF(b);
        put_head(&b, "events_total", "counter", "Denials, questions to persons, incidents and the like.");
        for (unsigned s = 0; s < LEDGER_SUM__COUNT; s++)
                buf_printf(&b, "cordon_events_total{event=\"%s\"} %llu\n", ledger_sum_name(s),
                           (unsigned long long) t->sum[s]);
        export_emit(x, &b);
}

/* ---- the last audit ---- */

static bool last_audit(const struct ledger_log *l, struct ledger_view *ret)
{
        for (struct ledger_walk w = { .log = l, .at = l->count, .kind = "audit" }; ledger_prev(&w, ret);)
                if (span_is(ret->target, "debt"))
                        return true;
        return false;
}

/* "12 id=..." has 12; of a text without a number it is empty. */
static struct span leading_number(struct span s)
{
        size_t n = 0;
        while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
                n++;
        return span_of(s.p, n);
}

static void put_audit(struct export *x)
{
        static const char *const groups[] = { "runtimes",   "caps",    "envelope", "lifetimes", "gates",
                                              "validators", "tenants", "schemas",  "host",      "self" };
        struct ledger_view v;
        AUTO_BUF(b);
        if (!last_audit(x->log, &v))
                return;

        put_head(&b, "audit_timestamp_seconds", "gauge", "When the last audit was.");
        buf_printf(&b, "cordon_audit_timestamp_seconds %lld\n", (long long) (v.time_us / 1000000));
        put_head(&b, "audit_debt", "gauge", "Debt by group, of the last audit.");
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
                struct span n = leading_number(ledger_member(v.more, groups[i]));
                if (n.n)
                        buf_printf(&b, "cordon_audit_debt{group=\"%s\"} %.*s\n", groups[i], (int) n.n,
                                   (const char *) n.p);
        }

        struct span budget = leading_number(ledger_member(v.more, "incident-budget"));
        if (budget.n) {
                put_head(&b, "incident_budget", "gauge", "Incidents that a quarter may have.");
                buf_printf(&b, "cordon_incident_budget %.*s\n", (int) budget.n, (const char *) budget.p);
        }
        export_emit(x, &b);
}

void export_metrics(struct export *x)
{
        struct ledger_runs t = { 0 };
        struct err e;
        put_effects(x);
        if (ledger_runs_read(x->log, x->filter->since_us, &t, &e) == 0) {
                put_runs(x, &t);
                put_boxes(x, &t);
                put_sums(x, &t);
                put_audit(x);
        } else {
                x->failed = true;
        }
        ledger_runs_done(&t);
}
