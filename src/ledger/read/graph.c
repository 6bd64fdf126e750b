/* SPDX-License-Identifier: MIT */
/* ledger/read/graph.c - the graph of causes, from the records alone. Pure.
 *
 *     parent  a record names it: spawn, handle, credential, request and reply, --in-from
 *     bytes   the output of one run (stdout, an out handle, a file) is the input of another, byte for byte
 *     pipe    `cordon run A | cordon run B`: the same pipe
 *     trace   a start whose trace context came from another run
 *
 * An edge goes from the cause to the effect. Causes may be in any run, of any age; with several ledgers, a
 * record's own ledger is searched first, then the others. An id that several of those contain leads to each
 * of them: none is preferred.
 */
#include "base/vec.h"
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

struct slot {
        struct span key;
        uint64_t value;
};
struct map {
        struct slot *slots;
        size_t cap, count;
};

struct ledger_graph {
        const struct ledger_log *log;
        struct map ids;
        uint32_t *twin; /* of several ledgers: the preceding record with the same id, plus one */
        struct ledger_edge *edges;
        size_t count, cap;
        bool failed;
};

static const char *const link_names[] = { "parent", "bytes", "pipe", "trace" };
_Static_assert(sizeof link_names / sizeof *link_names == LINK__COUNT, "every link has a name");
const char *ledger_link_name(enum ledger_link k) { return link_names[k < LINK__COUNT ? k : 0]; }

/* ---- a map from text to a number ---- */

static struct slot *slot_of(const struct map *m, struct span key)
{
        for (size_t i = ledger_hash(key) & (m->cap - 1);; i = (i + 1) & (m->cap - 1))
                if (!m->slots[i].key.p || span_eq(m->slots[i].key, key))
                        return &m->slots[i];
}

static bool map_grow(struct map *m)
{
        const struct map old = *m;
        struct slot *more = calloc(old.cap ? 2 * old.cap : 1024, sizeof *more);
        if (!more)
                return false;

        m->slots = more;
        m->cap = old.cap ? 2 * old.cap : 1024;
        for (size_t i = 0; i < old.cap; i++)
                if (old.slots[i].key.p)
                        *slot_of(m, old.slots[i].key) = old.slots[i];

        free(old.slots);
        return true;
}

static bool map_set(struct map *m, struct span key, uint64_t value)
{
        if (m->count * 2 >= m->cap && !map_grow(m))
                return false;
        struct slot *s = slot_of(m, key);
        m->count += s->key.p == NULL;
        *s = (struct slot){ key, value };
        return true;
}

static int64_t map_get(const struct map *m, struct span key)
{
        if (m->cap == 0 || key.n == 0)
                return -1;
        const struct slot *s = slot_of(m, key);
        return s->key.p ? (int64_t) s->value : -1;
}

/* ---- edges ---- */

static void add_edge(struct ledger_graph *g, int64_t cause, uint64_t effect, enum ledger_link link)
{
        if (cause < 0 || (uint64_t) cause == effect || g->failed)
                return;

        for (size_t i = g->count; i > 0 && g->edges[i - 1].effect == effect; i--)
                if (g->edges[i - 1].cause == (uint64_t) cause)
                        return; /* one link is enough */

        if (vec_room((void **) &g->edges, g->count, &g->cap, sizeof *g->edges) < 0) {
                g->failed = true;
                return;
        }

        g->edges[g->count++] = (struct ledger_edge){ (uint64_t) cause, effect, link };
}

static bool is_input(const struct ledger_view *v)
{
        bool shown = span_is(v->kind, "file") &&
                     span_is(v->phase, "claim"); /* a door on a file, with its digest */
        return shown ||
               (span_is(v->kind, "handle") && (span_is(v->door, "stdin") || span_starts(v->door, "in ")));
}

static bool is_output(const struct ledger_view *v)
{
        bool handle = span_is(v->kind, "handle") && span_starts(v->door, "out ");
        bool file = span_is(v->kind, "file") && span_is(v->phase, "outcome");
        return handle || file || span_is(v->kind, "output");
}

static struct span span_id(struct span traceparent)
{
        return traceparent.n == 55 ? span_of(traceparent.p + 36, 16) : span_of(NULL, 0);
}

/* Outputs by digest and by pipe; the newest represents its equals. */
struct joins {
        struct map bytes[LEDGERS_MAX], spans[LEDGERS_MAX], pipes;
};

/* The kernel numbers pipes with 32 bits: within one boot, the same number is the same pipe. The reader may
 * have been recorded before the writer. */
static void join_pipe(struct ledger_graph *g, int64_t other, uint64_t index, const struct ledger_view *v)
{
        struct ledger_view o;
        if (other < 0 || ledger_log_view(g->log, (uint64_t) other, &o) < 0 || span_eq(o.run, v->run))
                return;

        if (is_input(v) == is_input(&o))
                return;

        if (is_input(v))
                add_edge(g, other, index, LINK_PIPE);
        else
                add_edge(g, (int64_t) index, (uint64_t) other, LINK_PIPE);
}

/* Distinguishable content: all empty files are equal. */
static bool has_content(const struct ledger_view *v)
{
        static const char nothing[] =
                "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        return v->digest.n > 0 && !span_is(v->digest, nothing) && (v->bytes > 0 || span_is(v->kind, "file"));
}

/* The file itself named its origin, and still matches it: others with the same content are not causes. */
static bool has_known_origin(const struct ledger_graph *g, const struct ledger_view *v)
{
        struct ledger_view o;
        struct span parent;
        for (unsigned n = 0; (parent = ledger_element(v->parents, n)).n > 0; n++) {
                int64_t at = map_get(&g->ids, parent);
                if (at >= 0 && ledger_log_view(g->log, (uint64_t) at, &o) == 0 && is_output(&o) &&
                    span_eq(o.digest, v->digest))
                        return true;
        }

        return false;
}

/* The record that output these bytes: the newest of its own ledger, else of another. */
static int64_t bytes_from(const struct ledger_graph *g, const struct joins *j, unsigned own,
                          struct span digest)
{
        int64_t from = map_get(&j->bytes[own], digest);
        if (from >= 0)
                return from;

        for (unsigned k = 0; k < g->log->ledgers; k++) { /* its own has none: any order will do */
                int64_t other = map_get(&j->bytes[k], digest);
                from = other > from ? other : from;
        }

        return from;
}

/* As with ids: its own ledger's, else any that has it. */
static void join_trace(struct ledger_graph *g, const struct joins *j, uint64_t i, const struct ledger_view *v)
{
        struct span in = span_id(ledger_member(v->trace, "in"));
        unsigned own = log_from(g->log, i);
        int64_t at = map_get(&j->spans[own], in);

        add_edge(g, at, i, LINK_TRACE);
        for (unsigned k = 0; at < 0 && k < g->log->ledgers; k++)
                if (k != own)
                        add_edge(g, map_get(&j->spans[k], in), i, LINK_TRACE);
}

static void join_record(struct ledger_graph *g, struct joins *j, uint64_t i, const struct ledger_view *v)
{
        struct ledger_view o;
        struct span pipe = ledger_member(v->more, "pipe");
        bool bytes = has_content(v);

        if (pipe.n > 0 && (is_input(v) || is_output(v))) {
                join_pipe(g, map_get(&j->pipes, pipe), i, v);
                g->failed |= !map_set(&j->pipes, pipe, i);
        }

        if (is_input(v) && bytes && !has_known_origin(g, v)) {
                int64_t from = bytes_from(g, j, log_from(g->log, i), v->digest);
                if (from >= 0 && ledger_log_view(g->log, (uint64_t) from, &o) == 0 && !span_eq(o.run, v->run))
                        add_edge(g, from, i, LINK_BYTES);
        }

        if (is_output(v) && bytes)
                g->failed |= !map_set(&j->bytes[log_from(g->log, i)], v->digest, i);

        join_trace(g, j, i, v);
}

/* Finds the record of this id in this ledger; -1 if none. */
static int64_t find_in(const struct ledger_graph *g, struct span id, unsigned from)
{
        int64_t at = map_get(&g->ids, id);
        while (at >= 0 && log_from(g->log, (uint64_t) at) != from)
                at = g->twin && g->twin[at] ? (int64_t) g->twin[at] - 1 : -1;
        return at;
}

static void add_parent(struct ledger_graph *g, struct span id, uint64_t effect)
{
        int64_t at = find_in(g, id, log_from(g->log, effect));
        if (at >= 0) {
                add_edge(g, at, effect, LINK_PARENT);
                return;
        }

        for (at = map_get(&g->ids, id); at >= 0; at = g->twin && g->twin[at] ? (int64_t) g->twin[at] - 1 : -1)
                add_edge(g, at, effect, LINK_PARENT);
}

struct span graph_lost_cause(const struct ledger_graph *g, const struct ledger_view *v, unsigned *n)
{
        struct span parent;
        while (*n < LEDGER_PARENTS_MAX && (parent = ledger_element(v->parents, (*n)++)).n > 0)
                if (map_get(&g->ids, parent) < 0)
                        return parent;
        return span_of(NULL, 0);
}

static void add_record(struct ledger_graph *g, struct joins *j, uint64_t i)
{
        struct ledger_view v;
        struct span parent;
        if (ledger_log_view(g->log, i, &v) < 0)
                return;

        for (unsigned n = 0; n < LEDGER_PARENTS_MAX && (parent = ledger_element(v.parents, n)).n > 0; n++)
                add_parent(g, parent, i);

        join_record(g, j, i, &v);
}

/* A merged log has its edges already: its order depends on them. */
static void take_edges(struct ledger_graph *g)
{
        g->count = g->cap = g->log->edge_count;
        g->edges = calloc(g->cap + 1, sizeof *g->edges);
        g->failed |= !g->edges;
        if (g->edges && g->count > 0)
                memcpy(g->edges, g->log->edges, g->count * sizeof *g->edges);
}

/* Reads ids and spans of all records first: a cause may be written after its effect. */
static void read_ids(struct ledger_graph *g, struct joins *j)
{
        uint64_t count = ledger_log_count(g->log);
        if (g->log->ledgers > 1) {
                g->twin = calloc(count + 1, sizeof *g->twin);
                g->failed = !g->twin;
        }

        for (uint64_t i = 0; !g->failed && i < count; i++) {
                struct ledger_view v;
                if (ledger_log_view(g->log, i, &v) < 0)
                        continue;
                int64_t other = g->twin ? map_get(&g->ids, v.id) : -1;
                if (other >= 0)
                        g->twin[i] = (uint32_t) other + 1;
                struct span out = span_id(ledger_member(v.trace, "out"));
                g->failed |= !map_set(&g->ids, v.id, i);
                if (out.n)
                        g->failed |= !map_set(&j->spans[log_from(g->log, i)], out, i);
        }
}

struct ledger_graph *ledger_graph_new(const struct ledger_log *l, struct err *e)
{
        struct ledger_graph *g = calloc(1, sizeof *g);
        struct joins j = { 0 };
        if (g)
                g->log = l;

        if (g)
                read_ids(g, &j);

        if (g && l->edges)
                take_edges(g);

        for (uint64_t i = 0; g && !l->edges && !g->failed && i < ledger_log_count(l); i++)
                add_record(g, &j, i);

        for (unsigned k = 0; k < LEDGERS_MAX; k++) {
                free(j.bytes[k].slots);
                free(j.spans[k].slots);
        }

        free(j.pipes.slots);
        if (g && !g->failed)
                return g;

        ledger_graph_free(g);
        (void) err_set(e, ERR_MEMORY, 0, "no memory for the graph");
        return NULL;
}

void ledger_graph_free(struct ledger_graph *g)
{
        if (!g)
                return;
        free(g->ids.slots);
        free(g->twin);
        free(g->edges);
        free(g);
}

const struct ledger_edge *ledger_graph_edges(const struct ledger_graph *g, size_t *ret_count)
{
        *ret_count = g->count;
        return g->edges;
}

static bool map_has_run(const struct ledger_graph *g, struct span run)
{
        char start[LEDGER_ID_MAX];
        (void) snprintf(start, sizeof start, "%.*s.start", (int) (run.n < 48 ? run.n : 48),
                        (const char *) run.p);
        return map_get(&g->ids, span_str(start)) >= 0;
}

/* The start of an id, or the start of a run's and all of what follows it: 4711-1a2b3c-9f3e.end. */
static bool begins_with(struct span id, const char *given)
{
        const char *dot = strrchr(given, '.');
        size_t tail = dot ? strlen(dot) : 0;
        return span_starts(id, given) ||
               (dot && id.n >= tail && memcmp(id.p + id.n - tail, dot, tail) == 0 && id.n >= strlen(given) &&
                memcmp(id.p, given, (size_t) (dot - given)) == 0);
}

int64_t ledger_graph_find(const struct ledger_graph *g, const char *id, struct err *e)
{
        int64_t exact = map_get(&g->ids, span_str(id)), found = -1;
        unsigned matches = 0;
        if (exact >= 0)
                return exact;

        struct ledger_view v;
        struct ledger_walk w = { .log = g->log };
        while (id[0] && ledger_next(&w, &v))
                if (begins_with(v.id, id)) {
                        found = (int64_t) w.at - 1;
                        matches++;
                }

        if (matches == 1)
                return found;

        if (matches == 0)
                (void) err_set(e, ERR_GONE, 0, "the ledger has no record %.60s", id);
        else
                (void) err_set(e, ERR_USAGE, 0, "%u records begin with %.60s: give more of the id", matches,
                               id);

        const char *dot = strchr(id, '.');
        if (matches == 0 && dot && map_has_run(g, span_of(id, (size_t) (dot - id))))
                (void) err_hint(e, "`cordon ledger --run %.*s` lists what that run left", (int) (dot - id),
                                id);
        else
                (void) err_hint(e, "`cordon ledger` lists them");

        return -1;
}
