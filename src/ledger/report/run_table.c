/* SPDX-License-Identifier: MIT */
/* ledger/report/run_table.c - what became of each run, one row each, from one pass over the records. Pure. It
 * reads codes and numbers of records, never sentences. */
#include "base/str.h"
#include "ledger/internal.h"

#include <stdlib.h>

static const char *const flags[] = {
        [LEDGER_RUN_ENDED] = "ended",
        [LEDGER_RUN_FAILED] = "failed",
        [LEDGER_RUN_NOT_STARTED] = "not_started",
        [LEDGER_RUN_TRIPPED] = "tripped",
        [LEDGER_RUN_WEAK] = "weak",
        [LEDGER_RUN_CAPPED] = "capped",
        [LEDGER_RUN_DENIED] = "denied",
        [LEDGER_RUN_DENIED_NET] = "denied_net",
        [LEDGER_RUN_DENIED_SECRET] = "denied_credential",
        [LEDGER_RUN_UNEXPLAINED] = "unexplained",
        [LEDGER_RUN_OUTPUT_REFUSED] = "output_refused",
        [LEDGER_RUN_OUTPUT_CUT] = "output_cut",
        [LEDGER_RUN_OUTPUT_FOUND] = "output_found",
        [LEDGER_RUN_UNKNOWN] = "unknown",
        [LEDGER_RUN_NO_GROUPS] = "no_groups",
        [LEDGER_RUN_WAITED] = "waited",
};
_Static_assert(sizeof flags / sizeof *flags == LEDGER_RUN_FLAG__COUNT, "a name for each flag");
static const char *const sums[] = { "records",   "denials", "asked",  "approved", "refused", "expired",
                                    "incidents", "gaps",    "pruned", "strange",  "tools",   "tools_denied" };
_Static_assert(sizeof sums / sizeof *sums == LEDGER_SUM__COUNT, "a name for each sum");

const char *ledger_run_flag_name(enum ledger_run_flag f) { return flags[f]; }
const char *ledger_sum_name(enum ledger_sum s) { return sums[s]; }

/* ---- the table ---- */

static uint32_t *slot_of(const struct ledger_runs *r, struct span id)
{
        size_t mask = r->slot_count - 1, i = (size_t) ledger_hash(id) & mask;
        while (r->slots[i] && !span_eq(r->v[r->slots[i] - 1].id, id))
                i = (i + 1) & mask;
        return &r->slots[i];
}

struct ledger_run *ledger_runs_find(const struct ledger_runs *r, struct span id)
{
        uint32_t at = *slot_of(r, id);
        return at ? &r->v[at - 1] : NULL;
}

static void mark(struct ledger_run *r, enum ledger_run_flag f) { r->flags |= 1u << f; }

static uint64_t read_number(struct span more, const char *key)
{
        uint64_t n = 0;
        (void) str_to_u64(ledger_member(more, key), &n);
        return n;
}

static uint32_t read_hex(struct span s)
{
        uint32_t n = 0;
        for (size_t i = 0; i < s.n && i < 8; i++)
                n = n << 4 | (uint32_t) (str_hex(s.p[i]) & 15);
        return n;
}

/* ---- records ---- */

/* A run in a session has its start as the first cause. */
static struct span session_of(const struct ledger_view *v)
{
        static const char last[] = ".start";
        struct span p = ledger_element(v->parents, 0);
        size_t n = strlen(last);
        bool in =
                ledger_member(v->more, "in-session").n > 0 && p.n > n && memcmp(p.p + p.n - n, last, n) == 0;
        return in ? span_of(p.p, p.n - n) : span_of(NULL, 0);
}

static void add_start(struct ledger_runs *r, const struct ledger_view *v)
{
        uint32_t *slot = slot_of(r, v->run);
        if (*slot || ledger_member(v->more, "trial").n > 0)
                return;

        struct ledger_run *run = &r->v[r->n++];
        *run = (struct ledger_run){ .id = v->run,
                                    .box = v->box,
                                    .policy = v->policy,
                                    .missing = r->sum[LEDGER_SUM_PRUNED],
                                    .session = session_of(v),
                                    .job = ledger_member(v->more, "job"),
                                    .start_us = v->time_us,
                                    .layers = read_hex(ledger_member(v->more, "layers")),
                                    .start_cost_us = read_number(v->more, "start-us") };
        *slot = (uint32_t) r->n;
}

static void add_end(struct ledger_run *run, const struct ledger_view *v, uint64_t missing)
{
        struct span code = ledger_member(v->more, "code"), stopped = ledger_member(v->more, "stopped");
        mark(run, LEDGER_RUN_ENDED);
        run->result = v->result;
        run->end_us = v->time_us;
        run->cpu_us = read_number(v->more, "cpu-us");
        run->wall_us = read_number(v->more, "wall-us");
        run->memory = read_number(v->more, "memory");
        run->observed = span_is(ledger_member(v->more, "observed"), "all");
        run->doors = (unsigned) read_number(v->more, "doors");
        run->pruned = run->missing != missing;

        if (!span_is(v->result, "exited 0"))
                mark(run, LEDGER_RUN_FAILED);

        if (span_is(code, "wall") || span_is(code, "attest") || span_is(code, "host"))
                mark(run, LEDGER_RUN_NOT_STARTED);

        if (span_is(stopped, "tripwire"))
                mark(run, LEDGER_RUN_TRIPPED);
        else if (span_is(stopped, "output"))
                mark(run, LEDGER_RUN_OUTPUT_REFUSED);
}

static void add_denial(struct ledger_runs *r, struct ledger_run *run, const struct ledger_view *v)
{
        struct span reason = ledger_member(v->more, "reason"), effect = ledger_member(v->more, "effect");
        if (ledger_member(v->more, "minor").n > 0)
                return;

        if (!counted_elsewhere(v))
                r->sum[LEDGER_SUM_DENIALS] += v->count > 0 ? (uint64_t) v->count : 1;
        mark(run, LEDGER_RUN_DENIED);
        if (span_is(effect, "credential"))
                mark(run, LEDGER_RUN_DENIED_SECRET);
        else if (span_is(v->kind, "net"))
                mark(run, LEDGER_RUN_DENIED_NET);

        if (reason.n == 0 || span_is(reason, "none"))
                mark(run, LEDGER_RUN_UNEXPLAINED);
}

static void add_gate(struct ledger_runs *r, struct ledger_run *run, const struct ledger_view *v)
{
        static const struct {
                const char *state;
                enum ledger_sum sum;
        } states[] = { { "pending", LEDGER_SUM_ASKED },
                       { "approved", LEDGER_SUM_APPROVED },
                       { "denied", LEDGER_SUM_REFUSED },
                       { "expired", LEDGER_SUM_EXPIRED },
                       { "incident", LEDGER_SUM_INCIDENTS } };

        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
                r->sum[states[i].sum] += span_is(v->result, states[i].state);
        if (run)
                mark(run, LEDGER_RUN_WAITED);
}

static void add_output(struct ledger_run *run, const struct ledger_view *v)
{
        if (ledger_member(v->more, "cut").n)
                mark(run, LEDGER_RUN_OUTPUT_CUT);
        if (ledger_member(v->more, "findings").n)
                mark(run, LEDGER_RUN_OUTPUT_FOUND);
}

static void widen_reach(struct ledger_run *run, const struct ledger_view *v)
{
        for (unsigned i = run->reach + 1u; i < LEDGER_REACH__COUNT; i++)
                if (span_is(v->reach, ledger_reach_name(i)) && !span_is(v->phase, "denied") &&
                    !came_to_nothing(v))
                        run->reach = (uint8_t) i;
}

static void add_of_run(struct ledger_runs *r, struct ledger_run *run, const struct ledger_view *v)
{
        if (span_is(v->kind, "end"))
                add_end(run, v, r->sum[LEDGER_SUM_PRUNED]);
        else if (span_is(v->kind, "limit"))
                mark(run, LEDGER_RUN_CAPPED);
        else if (span_is(v->kind, "output"))
                add_output(run, v);
        else if (span_is(v->phase, "denied") && !span_is(v->kind, "gate") && !span_is(v->kind, "tool"))
                add_denial(r, run, v);

        run->used += ledger_member(v->more, "own").n > 0;
        if (v->unknown)
                mark(run, LEDGER_RUN_UNKNOWN);
        widen_reach(run, v);
}

static void add_record(struct ledger_runs *r, const struct ledger_view *v, bool recent)
{
        struct ledger_run *run = ledger_runs_find(r, v->run);
        r->sum[LEDGER_SUM_RECORDS] += recent;
        r->sum[LEDGER_SUM_STRANGE] += recent && v->strange > 0;
        r->sum[LEDGER_SUM_GAPS] += recent && span_is(v->kind, "gap");
        if (recent && span_is(v->kind, "gate"))
                add_gate(r, run, v);

        if (recent && span_is(v->kind, "tool")) {
                r->sum[LEDGER_SUM_TOOLS] += span_is(v->phase, "intent");
                r->sum[LEDGER_SUM_TOOLS_DENIED] += span_is(v->phase, "denied");
        }

        if (run)
                add_of_run(r, run, v);
}

/* ---- sessions ---- */

/* The processor time of a session includes that of its runs, which have it as well. */
static void part_sessions(struct ledger_runs *r)
{
        for (size_t i = 0; i < r->n; i++) {
                struct ledger_run *session = r->v[i].session.n ? ledger_runs_find(r, r->v[i].session) : NULL;
                if (session)
                        session->cpu_us -=
                                session->cpu_us < r->v[i].cpu_us ? session->cpu_us : r->v[i].cpu_us;
        }
}

/* ---- all of it ---- */

static size_t count_starts(const struct ledger_log *l, int64_t since_us)
{
        size_t n = 0;
        struct ledger_view v;
        for (struct ledger_walk w = { .log = l, .kind = "start" }; ledger_next(&w, &v);)
                n += v.time_us >= since_us;
        return n;
}

/* Layers are compared with those of the run that had most. A policy that lets written files run has one less.
 */
static void compare_layers(struct ledger_runs *r)
{
        enum { GROUPS = 1 << 12, MEMFD = 1 << 14 }; /* LAYER_* of wall/wall.h, which a test compares */
        for (size_t i = 0; i < r->n; i++)
                if (__builtin_popcount(r->v[i].layers) > __builtin_popcount(r->layers_most))
                        r->layers_most = r->v[i].layers;

        for (size_t i = 0; i < r->n; i++) {
                uint32_t has = r->v[i].layers;
                if (has && (r->layers_most & ~has & ~(uint32_t) (GROUPS | MEMFD)))
                        mark(&r->v[i], LEDGER_RUN_WEAK);
                if (has && !(has & GROUPS))
                        mark(&r->v[i], LEDGER_RUN_NO_GROUPS);
        }
}

int ledger_runs_read(const struct ledger_log *l, int64_t since_us, struct ledger_runs *ret, struct err *e)
{
        struct ledger_view v;
        size_t most = count_starts(l, since_us);
        *ret = (struct ledger_runs){ .slot_count = 16 };
        while (ret->slot_count < 2 * most)
                ret->slot_count *= 2;

        ret->v = calloc(most + 1, sizeof *ret->v);
        ret->slots = calloc(ret->slot_count, sizeof *ret->slots);
        if (!ret->v || !ret->slots || most > UINT32_MAX / 4)
                return err_set(e, ERR_MEMORY, 0, "no memory for the runs of the ledger");

        for (uint64_t i = 0; i < ledger_log_count(l); i++) {
                if (ledger_log_view(l, i, &v) < 0) {
                        ret->sum[LEDGER_SUM_PRUNED]++;
                        continue;
                }
                if (span_is(v.kind, "start") && v.time_us >= since_us)
                        add_start(ret, &v);
                add_record(ret, &v, v.time_us >= since_us);
        }

        part_sessions(ret);
        compare_layers(ret);
        return 0;
}

void ledger_runs_done(struct ledger_runs *r)
{
        free(r->v);
        free(r->slots);
        *r = (struct ledger_runs){ 0 };
}

uint64_t ledger_runs_count(const struct ledger_runs *r, enum ledger_run_flag f,
                           const struct ledger_run **ret_newest)
{
        uint64_t n = 0;
        *ret_newest = NULL;
        for (size_t i = 0; i < r->n; i++)
                if (ledger_run_is(&r->v[i], f)) {
                        n++;
                        *ret_newest = &r->v[i];
                }
        return n;
}
