/* SPDX-License-Identifier: MIT */
/* ledger/report/box_table.c - each box that ran, and each tool of a server in one, as one row: behind how
 * many layers (depth), at what cost, and how far its effects reached (blast radius). Pure. */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { BOXES_MAX = 512 };

struct row {
        struct span box;
        unsigned runs;
        unsigned depth; /* the fewest layers of any run that came so far; 0: none did */
        uint64_t start_us, cpu_us, memory;
        uint8_t reach;
};

/* Returns the number of rows. */
static size_t collect_rows(const struct ledger_runs *t, struct row *rows)
{
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++) {
                const struct ledger_run *r = &t->v[i];
                unsigned depth = (unsigned) __builtin_popcount(r->layers);
                size_t k = 0;
                while (k < n && !span_eq(rows[k].box, r->box))
                        k++;
                if (k == BOXES_MAX)
                        continue;
                if (k == n)
                        rows[n++] = (struct row){ .box = r->box, .depth = depth };
                rows[k].runs++;
                if (depth && (depth < rows[k].depth || !rows[k].depth))
                        rows[k].depth = depth;
                rows[k].start_us += r->start_cost_us;
                rows[k].cpu_us += r->cpu_us;
                rows[k].memory = r->memory > rows[k].memory ? r->memory : rows[k].memory;
                rows[k].reach = r->reach > rows[k].reach ? r->reach : rows[k].reach;
        }
        return n;
}

/* The widest reach first, then the fewest layers: the most for the least. */
static int widest_first(const void *a, const void *b)
{
        const struct row *x = a, *y = b;
        if (x->reach != y->reach)
                return x->reach < y->reach ? 1 : -1;
        return (x->depth > y->depth) - (x->depth < y->depth);
}

static void put_row(const struct row *r, bool json, bool first, struct buf *out)
{
        unsigned long long start = r->start_us / r->runs, cpu = r->cpu_us / r->runs;
        if (!json) {
                char depth[12] = "-";
                if (r->depth)
                        (void) snprintf(depth, sizeof depth, "%u", r->depth);
                buf_printf(out, "%5u %6s %9llu %9llu %7llu  %-6s  ", r->runs, depth, start, cpu,
                           (unsigned long long) r->memory >> 20, ledger_reach_name(r->reach));
                text_put(out, r->box, 60);
                buf_putc(out, '\n');
                return;
        }

        buf_printf(out, "%s\n {\"runs\":%u,\"depth\":%u,\"start_us\":%llu,\"cpu_us\":%llu,\"memory\":%llu",
                   first ? "" : ",", r->runs, r->depth, start, cpu, (unsigned long long) r->memory);
        buf_printf(out, ",\"reach\":\"%s\",\"box\":\"", ledger_reach_name(r->reach));
        if (r->box.n)
                buf_add(out, r->box.p, r->box.n);
        buf_puts(out, "\"}");
}

/* ---- tools of servers in boxes ---- */

struct tool {
        struct span box, name;
        unsigned calls, denied, answered;
        uint64_t answer_us; /* from the call to its result, of those answered */
};
struct call { /* that has no result yet */
        struct span id;
        int64_t at_us;
};

static struct tool *tool_of(struct tool *v, size_t *n, const struct ledger_view *r)
{
        size_t i = 0;
        while (i < *n && !(span_eq(v[i].box, r->box) && span_eq(v[i].name, r->target)))
                i++;
        if (i == BOXES_MAX)
                return NULL;
        if (i == *n)
                v[(*n)++] = (struct tool){ .box = r->box, .name = r->target };
        return &v[i];
}

enum { CALLS_OPEN = 64 };

static void add_answer(struct tool *t, const struct call *open, const struct ledger_view *r)
{
        struct span cause;
        for (unsigned i = 0; (cause = ledger_element(r->parents, i)).n > 0; i++)
                for (size_t k = 0; k < CALLS_OPEN; k++)
                        if (open[k].id.n && span_eq(open[k].id, cause) && r->mono_us >= open[k].at_us) {
                                t->answered++;
                                t->answer_us += (uint64_t) (r->mono_us - open[k].at_us);
                        }
}

/* Returns the number of tools. */
static size_t collect_tools(const struct ledger_log *l, int64_t since_us, struct tool *v)
{
        struct call open[CALLS_OPEN] = { 0 };
        size_t n = 0, next = 0;
        struct ledger_view r;
        const struct ledger_filter recent = { .since_us = since_us };
        for (struct ledger_walk w = { .log = l, .kind = "tool", .filter = &recent }; ledger_next(&w, &r);) {
                struct tool *t = tool_of(v, &n, &r);
                if (!t)
                        continue;
                if (span_is(r.phase, "intent")) {
                        t->calls++;
                        open[next++ % CALLS_OPEN] = (struct call){ r.id, r.mono_us };
                }
                t->denied += span_is(r.phase, "denied");
                if (span_is(r.phase, "outcome"))
                        add_answer(t, open, &r);
        }
        return n;
}

static const struct row *row_of(const struct row *rows, size_t n, struct span box)
{
        static const struct row none;
        for (size_t i = 0; i < n; i++)
                if (span_eq(rows[i].box, box))
                        return &rows[i];
        return &none;
}

static void put_tool(const struct tool *t, const struct row *box, bool json, struct buf *out)
{
        unsigned long long each = t->answered ? t->answer_us / t->answered : 0;
        if (!json) {
                buf_printf(out, "%6u %6u %6u %9llu  %-6s  ", t->calls, t->denied, box->depth, each,
                           ledger_reach_name(box->reach));
                text_put(out, t->box, 60);
                buf_puts(out, ": ");
                text_put(out, t->name, 60);
                buf_putc(out, '\n');
                return;
        }

        buf_printf(out,
                   "{\"calls\":%u,\"denied\":%u,\"depth\":%u,\"answer_us\":%llu,\"reach\":\"%s\",\"box\":\"",
                   t->calls, t->denied, box->depth, each, ledger_reach_name(box->reach));
        if (t->box.n)
                buf_add(out, t->box.p, t->box.n);
        buf_puts(out, "\",\"tool\":\"");
        if (t->name.n)
                buf_add(out, t->name.p, t->name.n);
        buf_puts(out, "\"}");
}

static int put_tools(const struct ledger_log *l, int64_t since_us, const struct row *rows, size_t boxes,
                     bool json, struct buf *out)
{
        struct tool *v = calloc(BOXES_MAX, sizeof *v);
        size_t n = v ? collect_tools(l, since_us, v) : 0;
        if (n > 0 && !json)
                buf_puts(out, "\n CALLS DENIED LAYERS ANSWER-US  REACH   BOX: TOOL\n");
        for (size_t i = 0; i < n; i++) {
                if (json)
                        buf_puts(out, i || boxes ? ",\n " : "\n ");
                put_tool(&v[i], row_of(rows, boxes, v[i].box), json, out);
        }
        free(v);
        return v ? 0 : -1;
}

int ledger_tools(const struct ledger_log *l, int64_t since_us, bool json, struct buf *out, struct err *e)
{
        struct ledger_runs t = { 0 };
        struct row *rows = calloc(BOXES_MAX, sizeof *rows);
        int r = rows ? ledger_runs_read(l, since_us, &t, e)
                     : err_set(e, ERR_MEMORY, 0, "no memory for the boxes");
        if (r == 0) {
                size_t n = collect_rows(&t, rows);
                if (n > 0)
                        qsort(rows, n, sizeof *rows, widest_first);
                buf_puts(out, json ? "[" : " RUNS LAYERS  START-US    CPU-US MEMORY-M REACH  BOX\n");
                for (size_t i = 0; i < n; i++)
                        put_row(&rows[i], json, i == 0, out);
                if (put_tools(l, since_us, rows, n, json, out) < 0)
                        r = err_set(e, ERR_MEMORY, 0, "no memory for the tools");
                buf_puts(out, json ? "]\n" : "");
        }

        ledger_runs_done(&t);
        free(rows);
        return r;
}
