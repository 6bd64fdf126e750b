/* SPDX-License-Identifier: MIT */
/* run/api/past.c - the runs that the ledger has: when, under which policy, how they ended. */
#include "run/api/past.h"
#include "base/fd.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_start(struct past *p, const struct ledger_view *v, uint64_t gaps)
{
        char box[NAME_MAX_BYTES];
        if (ledger_member(v->more, "trial").n > 0)
                return; /* learning closed doors to see it fail: that shows nothing about open doors */

        if (vec_room((void **) &p->v, p->n, &p->cap, sizeof *p->v) < 0) {
                p->failed = true;
                return;
        }

        p->v[p->n++] = (struct past_run){ .id = arena_copy(&p->mem, v->run),
                                          .box = arena_str(&p->mem, ledger_plain(v->box, box, sizeof box)),
                                          .policy = arena_copy(&p->mem, v->policy),
                                          .time_us = v->time_us,
                                          .gaps = gaps };
}

static int by_id(const void *a, const void *b, void *ctx)
{
        const struct past_run *v = ctx;
        return strcmp(v[*(const size_t *) a].id, v[*(const size_t *) b].id);
}

static void sort(struct past *p)
{
        p->by_id = calloc(p->n + 1, sizeof *p->by_id);
        p->failed |= !p->by_id || p->mem.failed;
        if (p->failed)
                return;

        for (size_t i = 0; i < p->n; i++)
                p->by_id[i] = i;

        qsort_r(p->by_id, p->n, sizeof *p->by_id, by_id, p->v);
}

static int compare(struct span s, const char *id)
{
        size_t n = strlen(id), least = s.n < n ? s.n : n;
        int c = memcmp(s.p, id, least);
        return c ? c : s.n < n ? -1 : s.n > n;
}

struct past_run *past_find(const struct past *p, struct span run)
{
        size_t lo = 0, hi = p->n;
        while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;
                int c = compare(run, p->v[p->by_id[mid]].id);
                if (c == 0)
                        return &p->v[p->by_id[mid]];
                *(c < 0 ? &hi : &lo) = c < 0 ? mid : mid + 1;
        }

        return NULL;
}

static void note_end(struct past *p, const struct ledger_view *v, const char *passed, uint64_t gaps)
{
        struct past_run *r = past_find(p, v->run);
        uint64_t doors = 0;
        if (!r)
                return;

        struct span n = ledger_member(v->more, "doors");
        for (size_t i = 0; i < n.n && n.p[i] >= '0' && n.p[i] <= '9' && doors < 100000; i++)
                doors = doors * 10 + (n.p[i] - '0');

        r->ended = true;
        r->passed = span_is(v->result, passed);
        r->observed = span_is(ledger_member(v->more, "observed"), "all");
        r->doors = (unsigned) doors;
        r->pruned = r->gaps != gaps;
}

/* A ledger that does not exist has no runs. */
static int open_log(struct past *p, struct err *e)
{
        AUTO_FD(dir, ledger_dir_open(p->cx, false, e));
        if (dir < 0 && e->code == ERR_GONE)
                return 0;
        p->log = dir < 0 ? NULL : ledger_log_open(dir, e);
        return p->log ? 0 : -1;
}

int past_open(const struct cordon_context *cx, struct past *p, int status, struct err *e)
{
        char passed[32];
        struct ledger_view v;
        (void) snprintf(passed, sizeof passed, "exited %d", status);
        p->cx = cx;
        if (open_log(p, e) < 0)
                return -1;

        uint64_t n = p->log ? ledger_log_count(p->log) : 0;
        for (uint64_t i = 0, gaps = 0; i < n; i++)
                if (ledger_log_view(p->log, i, &v) < 0)
                        gaps++;
                else if (span_is(v.kind, "start"))
                        add_start(p, &v, gaps);

        sort(p);
        for (uint64_t i = 0, gaps = 0; i < n && !p->failed; i++)
                if (ledger_log_view(p->log, i, &v) < 0)
                        gaps++;
                else if (span_is(v.kind, "end"))
                        note_end(p, &v, passed, gaps);

        return p->failed ? err_set(e, ERR_MEMORY, 0, "no memory for the runs of the ledger") : 0;
}

void past_done(struct past *p)
{
        if (p->log)
                ledger_log_free(p->log);
        arena_done(&p->mem);
        free(p->v);
        free(p->by_id);
}
