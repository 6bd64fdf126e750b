/* SPDX-License-Identifier: MIT */
/* run/api/past.c - the runs that the ledger has: when, under which policy, how they ended. */
#include "run/api/past.h"
#include "base/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A ledger that does not exist has no runs. */
static int open_log(const struct cordon_context *cx, struct past *p, struct err *e)
{
        AUTO_FD(dir, ledger_dir_open(cx, false, e));
        if (dir < 0 && e->code == ERR_GONE)
                return 0;
        p->log = dir < 0 ? NULL : ledger_log_open(dir, e);
        return p->log ? ledger_runs_read(p->log, INT64_MIN, &p->runs, e) : -1;
}

int past_open(const struct cordon_context *cx, struct past *p, int status, struct err *e)
{
        char passed[32], box[NAME_MAX_BYTES];
        (void) snprintf(passed, sizeof passed, "exited %d", status);
        if (open_log(cx, p, e) < 0)
                return -1;

        p->n = p->runs.n;
        p->v = calloc(p->n + 1, sizeof *p->v);
        for (size_t i = 0; p->v && i < p->n; i++) {
                const struct ledger_run *r = &p->runs.v[i];
                p->v[i] = (struct past_run){ .of = r,
                                             .box = arena_str(&p->mem, ledger_plain(r->box, box, sizeof box)),
                                             .policy = arena_copy(&p->mem, r->policy),
                                             .passed = span_is(r->result, passed) };
        }

        return p->v && !p->mem.failed ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the runs of the ledger");
}

struct past_run *past_find(const struct past *p, struct span run)
{
        const struct ledger_run *r = p->n ? ledger_runs_find(&p->runs, run) : NULL;
        return r ? &p->v[r - p->runs.v] : NULL;
}

void past_done(struct past *p)
{
        ledger_runs_done(&p->runs);
        ledger_log_free(p->log);
        arena_done(&p->mem);
        free(p->v);
}
