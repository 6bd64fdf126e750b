/* SPDX-License-Identifier: MIT */
/* ledger/trace.c - `cordon trace`: from an effect to its causes and onward, as a tree. Pure. */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

struct walk {
        const struct ledger_log *log;
        const struct ledger_edge *edges;
        size_t count;
        size_t *first, *order; /* edges by the node that they are left from: order[first[i]] ..
                                  order[first[i+1]-1] */
        uint8_t *seen;
        bool back, json, begun;
        struct buf *out;
};

static void put_node(struct walk *w, uint64_t i, unsigned depth, const struct ledger_edge *by)
{
        struct ledger_view v;
        if (ledger_log_view(w->log, i, &v) < 0)
                return;
        if (w->json) {
                buf_printf(w->out, "%s{\"depth\":%u,\"way\":\"%s\",\"link\":\"%s\",\"record\":%.*s}",
                           w->begun ? "," : "", depth, w->back ? "back" : "forward",
                           by ? ledger_link_name(by->link) : "self", (int) v.json.n, (const char *) v.json.p);
                w->begun = true;
                return;
        }
        for (unsigned k = 0; k < depth; k++)
                buf_puts(w->out, "  ");
        if (by)
                buf_printf(w->out, "%s %s  ", w->back ? "<-" : "->", ledger_link_name(by->link));
        ledger_line(&v, w->out);
        buf_putc(w->out, '\n');
}

static void go(struct walk *w, uint64_t i, unsigned depth)
{
        if (depth > DEPTH_MAX)
                return;
        for (size_t k = w->first[i]; k < w->first[i + 1]; k++) {
                const struct ledger_edge *x = &w->edges[w->order[k]];
                uint64_t there = w->back ? x->cause : x->effect;
                if (w->seen[there])
                        continue;
                w->seen[there] = 1;
                put_node(w, there, depth, x);
                go(w, there, depth + 1);
        }
}

static void sort_edges(struct walk *w, uint64_t count)
{
        memset(w->first, 0, (count + 2) * sizeof *w->first);
        for (size_t k = 0; k < w->count; k++)
                w->first[(w->back ? w->edges[k].effect : w->edges[k].cause) + 2]++;
        for (uint64_t i = 2; i < count + 2; i++)
                w->first[i] += w->first[i - 1];
        for (size_t k = 0; k < w->count; k++)
                w->order[w->first[(w->back ? w->edges[k].effect : w->edges[k].cause) + 1]++] = k;
}

static void one_way(struct walk *w, uint64_t from, bool back, uint64_t count)
{
        memset(w->seen, 0, count);
        w->seen[from] = 1;
        w->back = back;
        sort_edges(w, count);
        if (!w->json)
                buf_puts(w->out, back ? "causes:\n" : "effects:\n");
        size_t before = w->out->n;
        go(w, from, 1);
        if (!w->json && w->out->n == before)
                buf_puts(w->out, "  none that the ledger knows\n");
}

static void walk_both(struct walk *w, uint64_t from, unsigned ways, uint64_t count)
{
        if (w->json)
                buf_putc(w->out, '[');
        put_node(w, from, 0, NULL);
        if (ways & LEDGER_BACK)
                one_way(w, from, true, count);
        if (ways & LEDGER_FORWARD)
                one_way(w, from, false, count);
        if (w->json)
                buf_puts(w->out, "]\n");
}

int ledger_trace(const struct ledger_log *l, const char *effect, unsigned ways, bool json, struct buf *out,
                 struct err *e)
{
        struct ledger_graph *g = ledger_graph_new(l, e);
        int64_t from = g ? ledger_graph_find(g, effect, e) : -1;
        uint64_t count = ledger_log_count(l);
        struct walk w = { .log = l, .json = json, .out = out };
        int r = -1;
        if (from >= 0) {
                w.edges = ledger_graph_edges(g, &w.count);
                w.seen = malloc(count);
                w.first = calloc(count + 2, sizeof *w.first);
                w.order = calloc(w.count + 1, sizeof *w.order);
                if (w.seen && w.first && w.order) {
                        walk_both(&w, (uint64_t) from, ways, count);
                        r = 0;
                } else {
                        (void) err_set(e, ERR_MEMORY, 0, "no memory for the trace");
                }
        }
        free(w.seen);
        free(w.first);
        free(w.order);
        ledger_graph_free(g);
        return r;
}
