/* SPDX-License-Identifier: MIT */
/* ledger/read/causal_order.c - orders many records: causes first, then clocks. Pure.
 *
 *     1. Finds cycles of records that cause each other (forged, or by broken clocks) with Tarjan's algorithm.
 *        The causes inside a cycle do not count for the order, and its records are marked.
 *     2. The rest has no cycle: each record waits for its causes; of those ready, the first by its key
 *        comes next.
 *
 * Some relations are soft and give way to causes: the order in which a ledger was written, and equal bytes.
 * A record that waits only for those is taken when no other is left. Takes n log n steps; the memory is a
 * few numbers for each record and cause.
 */
#include "ledger/internal.h"

#include <stdlib.h>

static const uint32_t NONE = UINT32_MAX;

struct record_key {
        int64_t clock, time_us;
};

struct heap {
        uint32_t *nodes;
        size_t n;
};

struct work {
        const struct ordering *o;
        uint32_t count;
        struct record_key *keys;
        uint32_t *first, *effects; /* of record i: effects[first[i]] .. effects[first[i + 1] - 1] */
        uint8_t *soft;             /* of each of those: it is soft */
        uint32_t *next;            /* the one written after it in its ledger, or NONE */
        uint32_t *circle;          /* the cycle it is in; usually each is alone */
        uint32_t *waits, *rather;  /* the number of causes it waits for; and of soft ones */
        uint8_t *placed;
        struct heap ready, could;
};

/* ---- comparison ---- */

static bool comes_before(const struct work *w, uint32_t a, uint32_t b)
{
        const struct ledger_log *l = w->o->log;
        const struct record_key *x = &w->keys[a], *y = &w->keys[b];
        int64_t x1 = w->o->by_time ? x->time_us : x->clock, y1 = w->o->by_time ? y->time_us : y->clock;
        int64_t x2 = w->o->by_time ? x->clock : x->time_us, y2 = w->o->by_time ? y->clock : y->time_us;

        if (x1 != y1)
                return x1 < y1;

        if (x2 != y2)
                return x2 < y2;

        if (log_from(l, a) != log_from(l, b))
                return log_from(l, a) < log_from(l, b);

        return l->own_index[a] < l->own_index[b];
}

static void heap_add(const struct work *w, struct heap *h, uint32_t node)
{
        size_t i = h->n++;
        for (; i > 0 && comes_before(w, node, h->nodes[(i - 1) / 2]); i = (i - 1) / 2)
                h->nodes[i] = h->nodes[(i - 1) / 2];
        h->nodes[i] = node;
}

static uint32_t heap_take(const struct work *w, struct heap *h)
{
        uint32_t top = h->nodes[0], last = h->nodes[--h->n];
        size_t i = 0;
        for (size_t k; (k = 2 * i + 1) < h->n; i = k) {
                k += k + 1 < h->n && comes_before(w, h->nodes[k + 1], h->nodes[k]);
                if (!comes_before(w, h->nodes[k], last))
                        break;
                h->nodes[i] = h->nodes[k];
        }

        if (h->n > 0)
                h->nodes[i] = last;

        return top;
}

/* A pruned payload has no clock: it stays with the record written before it. */
static void read_keys(struct work *w, const uint32_t *written)
{
        struct record_key last = { 0 };
        for (uint32_t n = 0; n < w->count; n++) {
                struct ledger_view v;
                uint32_t i = written[n];
                if (n > 0 && log_from(w->o->log, written[n - 1]) != log_from(w->o->log, i))
                        last = (struct record_key){ 0 };
                if (ledger_log_view(w->o->log, i, &v) == 0)
                        last = (struct record_key){ v.clock, v.time_us };
                w->keys[i] = last;
        }
}

/* Ledger by ledger, each as it was written; by counting sort, because every index occurs once. */
static void read_chains(struct work *w, uint32_t *written)
{
        const struct ledger_log *l = w->o->log;
        uint32_t base[LEDGERS_MAX + 1] = { 0 };
        for (uint32_t i = 0; i < w->count; i++)
                base[log_from(l, i) + 1]++;

        for (unsigned k = 0; k < LEDGERS_MAX; k++)
                base[k + 1] += base[k];

        for (uint32_t i = 0; i < w->count; i++)
                written[base[log_from(l, i)] + l->own_index[i]] = i;

        for (uint32_t n = 0; n < w->count; n++) {
                bool more = n + 1 < w->count && log_from(l, written[n + 1]) == log_from(l, written[n]);
                w->next[written[n]] = more ? written[n + 1] : NONE;
        }
}

/* ---- causes ---- */

static bool wants_edge(const struct ordering *o, const struct ledger_edge *x)
{
        return x->link != LINK_BYTES || o->bytes;
}

static void read_edges(struct work *w)
{
        const struct ordering *o = w->o;
        for (size_t k = 0; k < o->edge_count; k++)
                if (wants_edge(o, &o->edges[k]))
                        w->first[o->edges[k].cause + 2]++;

        for (size_t i = 2; i < (size_t) w->count + 2; i++)
                w->first[i] += w->first[i - 1];

        for (size_t k = 0; k < o->edge_count; k++)
                if (wants_edge(o, &o->edges[k])) {
                        uint32_t at = w->first[o->edges[k].cause + 1]++;
                        w->effects[at] = (uint32_t) o->edges[k].effect;
                        w->soft[at] = o->edges[k].link == LINK_BYTES;
                }
}

/* Tarjan's algorithm with an explicit stack: a chain of causes may be as long as the ledger. */
struct tarjan {
        uint32_t *low, *number, *edge, *path, *stack;
        uint32_t path_n, stack_n, counter;
};

static void enter_node(struct work *w, struct tarjan *t, uint32_t i)
{
        t->number[i] = t->low[i] = ++t->counter;
        t->edge[i] = w->first[i];
        t->path[t->path_n++] = i;
        t->stack[t->stack_n++] = i;
}

static void leave_node(struct work *w, struct tarjan *t, uint32_t i, uint8_t *ret_circle)
{
        t->path_n--;
        if (t->path_n > 0 && t->low[i] < t->low[t->path[t->path_n - 1]])
                t->low[t->path[t->path_n - 1]] = t->low[i];

        if (t->low[i] != t->number[i])
                return;

        bool alone = t->stack[t->stack_n - 1] == i;
        for (uint32_t k = NONE; k != i;) {
                k = t->stack[--t->stack_n];
                w->circle[k] = i;
                ret_circle[k] = !alone;
        }
}

static void walk_from(struct work *w, struct tarjan *t, uint32_t start, uint8_t *ret_circle)
{
        for (enter_node(w, t, start); t->path_n > 0;) {
                uint32_t i = t->path[t->path_n - 1];
                if (t->edge[i] == w->first[i + 1]) {
                        leave_node(w, t, i, ret_circle);
                        continue;
                }
                uint32_t at = t->edge[i]++, to = w->effects[at];
                if (w->soft[at])
                        continue;
                if (t->number[to] == 0)
                        enter_node(w, t, to);
                else if (w->circle[to] == NONE && t->number[to] < t->low[i]) /* on the stack */
                        t->low[i] = t->number[to];
        }
}

static bool find_circles(struct work *w, uint8_t *ret_circle)
{
        uint32_t *all = calloc((size_t) w->count * 5 + 5, sizeof *all);
        size_t n = (size_t) w->count + 1;
        struct tarjan t = { .low = all };

        if (!all)
                return false;

        t.number = all + n;
        t.edge = all + 2 * n;
        t.path = all + 3 * n;
        t.stack = all + 4 * n;
        memset(w->circle, 0xff, w->count * sizeof *w->circle);
        for (uint32_t i = 0; i < w->count; i++)
                if (t.number[i] == 0)
                        walk_from(w, &t, i, ret_circle);

        free(all);
        return true;
}

/* ---- the order ---- */

static void count_waits(struct work *w)
{
        for (uint32_t i = 0; i < w->count; i++) {
                if (w->next[i] != NONE)
                        w->rather[w->next[i]]++;
                for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
                        if (w->soft[k])
                                w->rather[w->effects[k]]++;
                        else
                                w->waits[w->effects[k]] += w->circle[i] != w->circle[w->effects[k]];
        }
}

static void offer_record(struct work *w, uint32_t i)
{
        if (w->placed[i] || w->waits[i] > 0)
                return;
        heap_add(w, w->rather[i] > 0 ? &w->could : &w->ready, i);
}

static void place_record(struct work *w, uint32_t i)
{
        w->placed[i] = 1;
        if (w->next[i] != NONE && --w->rather[w->next[i]] == 0)
                offer_record(w, w->next[i]);

        for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
                uint32_t to = w->effects[k];
                if (w->soft[k]) {
                        if (--w->rather[to] == 0)
                                offer_record(w, to);
                } else if (w->circle[i] != w->circle[to] && --w->waits[to] == 0) {
                        offer_record(w, to);
                }
        }
}

static void sort_all(struct work *w, uint32_t *ret_order)
{
        uint32_t n = 0;
        count_waits(w);
        for (uint32_t i = 0; i < w->count; i++)
                offer_record(w, i);

        while (w->ready.n + w->could.n > 0) {
                uint32_t i = heap_take(w, w->ready.n > 0 ? &w->ready : &w->could);
                if (w->placed[i]) /* it was in both heaps */
                        continue;
                place_record(w, i);
                ret_order[n++] = i;
        }
}

/* Each is pushed at most twice: when its last cause is placed, and when its last soft one is. */
static bool make_room(struct work *w)
{
        size_t n = (size_t) w->count + 3, edges = w->o->edge_count + 1;
        w->keys = calloc(n, sizeof *w->keys);
        w->first = calloc(n, sizeof *w->first);
        w->effects = calloc(edges, sizeof *w->effects);
        w->soft = calloc(edges, sizeof *w->soft);
        w->next = calloc(n, sizeof *w->next);
        w->circle = calloc(n, sizeof *w->circle);
        w->waits = calloc(n, sizeof *w->waits);
        w->rather = calloc(n, sizeof *w->rather);
        w->placed = calloc(n, sizeof *w->placed);
        w->ready.nodes = calloc(n, sizeof *w->ready.nodes);
        w->could.nodes = calloc(n, sizeof *w->could.nodes);
        return w->keys && w->first && w->effects && w->soft && w->next && w->circle && w->waits &&
               w->rather && w->placed && w->ready.nodes && w->could.nodes;
}

static void give_back(struct work *w)
{
        free(w->keys);
        free(w->first);
        free(w->effects);
        free(w->soft);
        free(w->next);
        free(w->circle);
        free(w->waits);
        free(w->rather);
        free(w->placed);
        free(w->ready.nodes);
        free(w->could.nodes);
}

int ledger_order(const struct ordering *o, uint32_t *ret_order, uint8_t *ret_circle, struct err *e)
{
        struct work w = { .o = o, .count = (uint32_t) o->log->count };
        bool fits = o->log->count < NONE / 2 && o->edge_count < NONE / 2 && make_room(&w);
        if (fits) {
                read_chains(&w, ret_order); /* initially: as they were written */
                read_keys(&w, ret_order);
                read_edges(&w);
                fits = find_circles(&w, ret_circle);
        }

        if (fits)
                sort_all(&w, ret_order);

        give_back(&w);
        return fits ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the order of the records");
}
