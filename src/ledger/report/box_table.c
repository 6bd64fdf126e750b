/* SPDX-License-Identifier: MIT */
/* ledger/report/box_table.c - each box that ran, as one row: behind how many layers (depth), at what cost,
 * and how far its effects reached (blast radius). Pure. */
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
static size_t collect(const struct ledger_runs *t, struct row *rows)
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

int ledger_tools(const struct ledger_log *l, int64_t since_us, bool json, struct buf *out, struct err *e)
{
        struct ledger_runs t = { 0 };
        struct row *rows = calloc(BOXES_MAX, sizeof *rows);
        int r = rows ? ledger_runs_read(l, since_us, &t, e)
                     : err_set(e, ERR_MEMORY, 0, "no memory for the boxes");
        if (r == 0) {
                size_t n = collect(&t, rows);
                if (n > 0)
                        qsort(rows, n, sizeof *rows, widest_first);
                buf_puts(out, json ? "[" : " RUNS LAYERS  START-US    CPU-US MEMORY-M REACH  BOX\n");
                for (size_t i = 0; i < n; i++)
                        put_row(&rows[i], json, i == 0, out);
                buf_puts(out, json ? "]\n" : "");
        }

        ledger_runs_done(&t);
        free(rows);
        return r;
}
