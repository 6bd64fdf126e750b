/* SPDX-License-Identifier: MIT */
/* ledger/report/trace.c - `cordon ledger trace`: from an effect to its causes and onward, as a tree. Pure. */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

struct walk {
        const struct ledger_log *log;
        const struct ledger_graph *graph;
        const struct ledger_edge *edges;
        size_t count;
        size_t *first, *order; /* edges by the node that they are followed from: order[first[i]] ..
                                  order[first[i+1]-1] */
        uint8_t *seen;
        bool back, json, begun;
        struct buf *out;
};

static void put_indent(struct walk *w, unsigned depth)
{
        for (unsigned k = 0; k < depth; k++)
                buf_puts(w->out, "  ");
}

static void put_begin(struct walk *w, unsigned depth, const char *link)
{
        buf_printf(w->out, "%s{\"depth\":%u,\"way\":\"%s\",\"link\":\"%s\",", w->begun ? "," : "", depth,
                   w->back ? "back" : "forward", link);
        w->begun = true;
}

/* Reports causes that a record names and no ledger here contains: the walk ends there for this reason only.
 */
static void put_lost(struct walk *w, uint64_t i, unsigned depth)
{
        struct ledger_view v;
        struct span id;
        char shown[LEDGER_ID_MAX];

        if (ledger_log_view(w->log, i, &v) < 0)
                return;

        for (unsigned n = 0; (id = graph_lost_cause(w->graph, &v, &n)).n > 0;) {
                (void) text_inert(id, shown, sizeof shown);
                if (w->json) {
                        put_begin(w, depth, ledger_link_name(LINK_PARENT));
                        buf_puts(w->out, "\"lost\":");
                        buf_json(w->out, span_str(shown));
                        buf_putc(w->out, '}');
                        continue;
                }
                put_indent(w, depth);
                buf_printf(w->out, "<- %s  %s: its cause is not in %s\n", ledger_link_name(LINK_PARENT),
                           shown, v.ledger.n ? "these ledgers" : "this ledger");
        }
}

static void put_node(struct walk *w, uint64_t i, unsigned depth, const struct ledger_edge *by)
{
        struct ledger_view v;
        if (ledger_log_view(w->log, i, &v) < 0)
                return;

        if (w->json) {
                put_begin(w, depth, by ? ledger_link_name(by->link) : "self");
                if (v.ledger.n) { /* {"ledger":...,"record":...}, without its first bracket */
                        AUTO_BUF(named);
                        ledger_json(&v, &named);
                        buf_puts(w->out, buf_str(&named) + (named.n > 0));
                } else {
                        buf_puts(w->out, "\"record\":");
                        ledger_json(&v, w->out);
                        buf_putc(w->out, '}');
                }
                return;
        }

        put_indent(w, depth);
        if (by)
                buf_printf(w->out, "%s %s  ", w->back ? "<-" : "->", ledger_link_name(by->link));

        ledger_line(&v, w->out);
        buf_putc(w->out, '\n');
}

/* Marks a record with further edges that the depth limit omits. */
static void put_cut(struct walk *w, uint64_t i, unsigned depth, const struct ledger_edge *next)
{
        struct ledger_view v;
        char shown[LEDGER_ID_MAX];
        if (ledger_log_view(w->log, i, &v) < 0)
                return;

        (void) text_inert(v.id, shown, sizeof shown);
        if (w->json) {
                put_begin(w, depth, ledger_link_name(next->link));
                buf_puts(w->out, "\"cut\":");
                buf_json(w->out, span_str(shown));
                buf_putc(w->out, '}');
                return;
        }

        put_indent(w, depth);
        buf_printf(w->out, "%s cut here, %d steps deep: cordon ledger trace %s %s goes on\n",
                   w->back ? "<-" : "->", DEPTH_MAX, w->back ? "--back" : "--forward", shown);
}

static void walk_causes(struct walk *w, uint64_t i, unsigned depth)
{
        if (w->back)
                put_lost(w, i, depth);

        for (size_t k = w->first[i]; k < w->first[i + 1]; k++) {
                const struct ledger_edge *x = &w->edges[w->order[k]];
                uint64_t there = w->back ? x->cause : x->effect;
                if (w->seen[there])
                        continue;
                if (depth > DEPTH_MAX) {
                        put_cut(w, i, depth, x);
                        return;
                }
                w->seen[there] = 1;
                put_node(w, there, depth, x);
                walk_causes(w, there, depth + 1);
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
        walk_causes(w, from, 1);
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

static int trace_in(const struct walk *asked, const char *effect, unsigned ways, struct err *e)
{
        struct walk w = *asked;
        int64_t from = ledger_graph_find(w.graph, effect, e);
        uint64_t count = ledger_log_count(w.log);
        int r = 0;

        if (from < 0)
                return -1;

        w.edges = ledger_graph_edges(w.graph, &w.count);
        w.seen = malloc(count);
        w.first = calloc(count + 2, sizeof *w.first);
        w.order = calloc(w.count + 1, sizeof *w.order);
        if (w.seen && w.first && w.order)
                walk_both(&w, (uint64_t) from, ways, count);
        else
                r = err_set(e, ERR_MEMORY, 0, "no memory for the trace");

        free(w.seen);
        free(w.first);
        free(w.order);
        return r;
}

int ledger_trace_in(const struct ledger_log *l, const struct ledger_graph *g, const char *effect,
                    unsigned ways, struct buf *out, struct err *e)
{
        struct walk w = { .log = l, .graph = g, .out = out };
        return trace_in(&w, effect, ways, e);
}

int ledger_trace(const struct ledger_log *l, const char *effect, unsigned ways, bool json, struct buf *out,
                 struct err *e)
{
        struct ledger_graph *g = ledger_graph_new(l, e);
        struct walk w = { .log = l, .graph = g, .json = json, .out = out };
        int r = g ? trace_in(&w, effect, ways, e) : -1;
        ledger_graph_free(g);
        return r;
}
