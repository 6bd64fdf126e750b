/* SPDX-License-Identifier: MIT */
/* ledger/read/merge.c - merges the records of several ledgers into one log, in an order that respects all
 * causes. Pure.
 *
 * The run whose bytes another run read is known by their digest and by what came first; what came first is
 * known from the causes. So it sorts twice: first by the named causes and the wall clock, then with the byte
 * links found by that and the logical clock. An effect never precedes its cause because of a wrong clock.
 */
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { RECORDS_MAX = 1 << 24 };

static int no_memory(struct err *e)
{
        return err_set(e, ERR_MEMORY, 0, "no memory for the ledgers' records");
}

/* ---- concatenation ---- */

struct source {
        struct ledger_log *log;
        const char *name;
};

static int by_name(const void *pa, const void *pb)
{
        const struct source *a = pa, *b = pb;
        return strcmp(a->name, b->name);
}

static bool make_room(struct ledger_log *l, const struct source *s, size_t n)
{
        uint64_t records = 0;
        size_t maps = 0;
        for (size_t k = 0; k < n; k++) {
                records += s[k].log->count;
                maps += s[k].log->segment_count;
        }

        l->at = calloc(records + 1, sizeof *l->at);
        l->from = calloc(records + 1, sizeof *l->from);
        l->own_index = calloc(records + 1, sizeof *l->own_index);
        l->marks = calloc(records + 1, sizeof *l->marks);
        l->segments = calloc(maps + 1, sizeof *l->segments);
        l->answered = answered_new();
        return l->at && l->from && l->own_index && l->marks && l->segments && l->answered;
}

static void take_records(struct ledger_log *l, const struct source *s, unsigned k)
{
        (void) snprintf(l->names[k], sizeof l->names[k], "%s", s->name);
        log_load_all(s->log);
        for (uint64_t i = 0; i < s->log->count; i++, l->count++) {
                l->at[l->count] = s->log->at[i];
                l->from[l->count] = (uint8_t) k;
                l->own_index[l->count] = (uint32_t) i;
        }

        for (size_t i = 0; i < s->log->segment_count; i++)
                l->segments[l->segment_count++] =
                        s->log->segments[i]; /* scanned: its position is no longer needed */

        s->log->segment_count = 0; /* ownership moved */
        l->ledgers = k + 1;
}

/* ---- in order ---- */

static int rearrange_log(struct ledger_log *l, const uint32_t *order, struct err *e)
{
        struct ledger_log new = { .count = l->count };
        new.at = calloc(l->count + 1, sizeof *new.at);
        new.from = calloc(l->count + 1, sizeof *new.from);
        new.own_index = calloc(l->count + 1, sizeof *new.own_index);
        if (!new.at || !new.from || !new.own_index) {
                free(new.at);
                free(new.from);
                free(new.own_index);
                return no_memory(e);
        }

        for (uint64_t n = 0; n < l->count; n++) {
                new.at[n] = l->at[order[n]];
                new.from[n] = l->from[order[n]];
                new.own_index[n] = l->own_index[order[n]];
        }

        free(l->at);
        free(l->from);
        free(l->own_index);
        l->at = new.at;
        l->from = new.from;
        l->own_index = new.own_index;
        return 0;
}

/* Takes the graph's edges, with the new numbers of the records. Equal bytes that came too late are not a
 * cause. */
static int keep_edges(struct ledger_log *l, const struct ordering *o, const uint32_t *order, struct err *e)
{
        uint32_t *place = calloc(l->count + 1, sizeof *place);
        l->edges = calloc(o->edge_count + 1, sizeof *l->edges);
        if (!place || !l->edges) {
                free(place);
                return no_memory(e);
        }

        for (uint64_t n = 0; n < l->count; n++)
                place[order[n]] = (uint32_t) n;

        for (size_t k = 0; k < o->edge_count; k++) {
                struct ledger_edge x = o->edges[k];
                x.cause = place[x.cause];
                x.effect = place[x.effect];
                if (x.link != LINK_BYTES || x.cause < x.effect)
                        l->edges[l->edge_count++] = x;
        }

        free(place);
        return 0;
}

static void mark_records(struct ledger_log *l, const struct ledger_graph *g, const uint32_t *order,
                         const uint8_t *circle)
{
        for (uint64_t n = 0; n < l->count; n++) {
                struct ledger_view v;
                unsigned from = 0;
                uint32_t i = order[n];
                l->marks[n] = circle[i] ? RECORD_IN_CIRCLE : 0;
                if (ledger_log_view(l, i, &v) == 0 && graph_lost_cause(g, &v, &from).n > 0)
                        l->marks[n] |= RECORD_LOST_CAUSE;
        }
}

static int order_pass(struct ledger_log *l, bool last, uint32_t *order, uint8_t *circle, struct err *e)
{
        struct ledger_graph *g = ledger_graph_new(l, e);
        struct ordering o = { .log = l, .bytes = last, .by_time = !last };
        if (!g)
                return -1;

        o.edges = ledger_graph_edges(g, &o.edge_count);
        int r = ledger_order(&o, order, circle, e);
        if (r == 0 && last) {
                r = keep_edges(l, &o, order, e);
                mark_records(l, g, order, circle);
        }

        ledger_graph_free(g);
        return r < 0 ? -1 : rearrange_log(l, order, e);
}

static int put_in_order(struct ledger_log *l, struct err *e)
{
        uint32_t *order = calloc(l->count + 1, sizeof *order);
        uint8_t *circle = calloc(l->count + 1, 1);
        int r = order && circle ? 0 : no_memory(e);
        if (r == 0)
                r = order_pass(l, false, order, circle, e);

        if (r == 0) {
                memset(circle, 0, l->count + 1);
                r = order_pass(l, true, order, circle, e);
        }

        free(order);
        free(circle);
        return r;
}

static int check_sources(const struct source *s, size_t n, struct err *e)
{
        uint64_t records = 0;
        for (size_t k = 0; k < n; k++) {
                records += s[k].log->count;
                if (k > 0 && strcmp(s[k - 1].name, s[k].name) == 0)
                        return err_set(e, ERR_USAGE, 0, "the ledger %.80s is given twice", s[k].name);
        }

        if (records > RECORDS_MAX)
                return err_set(e, ERR_USAGE, 0, "these ledgers have %llu records, and %d can be read as one",
                               (unsigned long long) records, RECORDS_MAX);

        return 0;
}

static struct ledger_log *merge_sources(struct source *s, size_t count, struct err *e)
{
        qsort(s, count, sizeof *s, by_name); /* the same result for any order of arguments */
        if (check_sources(s, count, e) < 0)
                return NULL;

        struct ledger_log *l = calloc(1, sizeof *l);
        if (!l || !make_room(l, s, count)) {
                ledger_log_free(l);
                (void) no_memory(e);
                return NULL;
        }

        for (size_t k = 0; k < count; k++)
                take_records(l, &s[k], (unsigned) k);

        if (put_in_order(l, e) == 0)
                return l;

        ledger_log_free(l);
        return NULL;
}

struct ledger_log *ledger_log_merge(struct ledger_log **logs, const char *const *names, size_t count,
                                    struct err *e)
{
        struct source s[LEDGERS_MAX];
        struct ledger_log *l = NULL;
        for (size_t k = 0; k < count && k < LEDGERS_MAX; k++)
                s[k] = (struct source){ logs[k], names[k] };

        if (count > 0 && count <= LEDGERS_MAX)
                l = merge_sources(s, count, e);
        else
                (void) err_set(e, ERR_USAGE, 0, "up to %d ledgers can be read at once", LEDGERS_MAX);

        for (size_t k = 0; k < count; k++)
                ledger_log_free(logs[k]);

        return l;
}
