/* SPDX-License-Identifier: MIT */
/* ledger/report/run_picture.c - `cordon ledger show`: one run as a diagram in the terminal. Pure. */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 48 };

struct run {
        uint64_t first; /* index of its first record */
        int64_t begin_us, end_us;
        struct ledger_view start, end;
        bool has_start, has_end, has_gap, runs;
};

static void gather(const struct ledger_log *l, const char *run, struct run *r)
{
        *r = (struct run){ .first = log_run_begin(l, run) };
        r->has_gap = ledger_log_has_gap(l, run, r->first);
        for (uint64_t i = r->first; i < ledger_log_count(l); i++) {
                struct ledger_view v;
                if (!log_view_of_run(l, i, run, &v))
                        continue;
                if (r->begin_us == 0)
                        r->begin_us = v.time_us;
                r->end_us = v.time_us;
                if (span_is(v.kind, "start") && !r->has_start) {
                        r->start = v;
                        r->has_start = true;
                } else if (span_is(v.kind, "end")) {
                        r->end = v;
                        r->has_end = true;
                }
        }
}

static void put_field(struct buf *out, const char *name, struct span s)
{
        if (s.n == 0)
                return;
        buf_printf(out, "  %-9s", name);
        text_put(out, s, 400);
        buf_putc(out, '\n');
}

static void put_head(const char *run, const struct run *r, struct buf *out)
{
        buf_puts(out, "run ");
        text_put(out, span_str(run), LEDGER_ID_MAX);
        buf_putc(out, '\n');
        put_field(out, "ledger", r->start.ledger);
        put_field(out, "box", r->start.box);
        put_field(out, "command", r->start.target);
        put_field(out, "policy", r->start.policy);
        put_field(out, "wall", ledger_member(r->start.more, "wall"));
        put_field(out, "gpu", ledger_member(r->start.more, "gpu"));
        put_field(out, "job", ledger_member(r->start.more, "job"));
        put_field(out, "task", ledger_member(r->start.more, "task"));
        put_field(out, "trace", ledger_member(r->start.trace, "out"));
        put_field(out, "end", r->has_end ? r->end.result : span_str(text_no_end(r->runs)));
        if (r->has_gap)
                buf_puts(out, "  pruned   payloads were, so what is below may not be all that it did\n");

        buf_printf(out, "  %s %.3f ms\n\n", r->has_end ? "lasted  " : "recorded",
                   (double) (r->end_us - r->begin_us) / 1e3);
}

static char mark_of(const struct ledger_view *v)
{
        static const struct {
                const char *phase;
                char mark;
        } marks[] = { { "start", '>' },   { "end", '<' },   { "denied", 'x' }, { "intent", '?' },
                      { "outcome", '*' }, { "human", '@' }, { "claim", '~' },  { "credential", '$' } };

        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
                if (span_is(v->phase, marks[i].phase))
                        return marks[i].mark;

        return '.';
}

static void put_row(const struct ledger_view *v, const struct run *r, struct buf *out)
{
        int64_t span = r->end_us > r->begin_us ? r->end_us - r->begin_us : 1;
        double where = (double) (v->time_us - r->begin_us) * (WIDTH - 1) / (double) span;
        int at = where < 0 ? 0 : where >= WIDTH ? WIDTH - 1 : (int) where;
        buf_putc(out, '|');
        for (int i = 0; i < WIDTH; i++)
                buf_putc(out, i == at ? mark_of(v) : i < at ? '-' : ' ');

        buf_printf(out, "| %9.3f ms  ", (double) (v->time_us - r->begin_us) / 1e3);
        if (v->ledger.n && !span_eq(v->ledger, r->start.ledger)) { /* the run id in another ledger */
                text_put(out, v->ledger, LEDGER_NAME_MAX);
                buf_putc(out, ' ');
        }

        text_put(out, v->kind, 24);
        struct span rest[] = { v->door, v->target, v->result };
        for (size_t i = 0; i < 3; i++)
                if (rest[i].n && !(i == 1 && v->door.n > v->target.n && span_is(v->kind, "handle"))) {
                        buf_puts(out, i == 2 ? ": " : " ");
                        text_put(out, rest[i], 100);
                }

        if (v->bytes >= 0)
                buf_printf(out, ", %lld bytes", (long long) v->bytes);

        if (v->count > 1)
                buf_printf(out, ", %lld times", (long long) v->count);

        text_marks(out, v);
        buf_putc(out, '\n');
}

int ledger_show(const struct ledger_log *l, const char *which, bool runs, struct buf *out, struct err *e)
{
        char run[LEDGER_ID_MAX];
        struct run r;
        if (ledger_find_run(l, which, run, e) < 0)
                return -1;

        gather(l, run, &r);
        r.runs = runs;
        put_head(run, &r, out);
        for (uint64_t i = r.first; i < ledger_log_count(l); i++) {
                struct ledger_view v;
                if (log_view_of_run(l, i, run, &v))
                        put_row(&v, &r, out);
        }

        buf_puts(out, "\n> start  < end  * outcome  ? intent  x denied  ~ a door that was open  $ credential "
                      " @ a person\n");
        return 0;
}
