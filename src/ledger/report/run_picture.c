/* SPDX-License-Identifier: MIT */
/* ledger/report/run_picture.c - `cordon ledger show`: one run as a diagram in the terminal. Pure. */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 48 };

static void put_field(struct buf *out, const char *name, struct span s)
{
        if (s.n == 0)
                return;
        buf_printf(out, "  %-9s", name);
        text_put(out, s, 400);
        buf_putc(out, '\n');
}

static void put_head(const char *run, const struct log_run *r, struct buf *out)
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
        put_field(out, "end", r->end.json.n ? r->end.result : span_str(text_no_end(r->runs)));
        if (r->has_gap)
                buf_puts(out, "  pruned   payloads were, so what is below may not be all that it did\n");

        buf_printf(out, "  %s %.3f ms\n\n", r->end.json.n ? "lasted  " : "recorded",
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

static void put_row(const struct ledger_view *v, const struct log_run *r, struct buf *out)
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
        struct log_run r;
        struct ledger_view v;
        if (ledger_find_run(l, which, run, e) < 0)
                return -1;

        log_run_gather(l, run, runs, &r);
        put_head(run, &r, out);
        for (struct ledger_walk w = r.first; ledger_next(&w, &v);)
                put_row(&v, &r, out);

        buf_puts(out, "\n> start  < end  * outcome  ? intent  x denied  ~ a door that was open  $ credential "
                      " @ a person\n");
        return 0;
}
