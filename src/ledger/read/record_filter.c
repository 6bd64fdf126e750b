/* SPDX-License-Identifier: MIT */
/* ledger/read/record_filter.c - whether a filter selects a record. Pure. */
#include "ledger/internal.h"

#include <stdlib.h>

int filter_by_bytes(const void *pa, const void *pb)
{
        const struct span *a = pa, *b = pb;
        int d = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);
        return d ? d : (a->n > b->n) - (a->n < b->n);
}

static bool has_run(const struct ledger_filter *f, struct span run)
{
        return run.n && f->of_job_count &&
               bsearch(&run, f->of_job, f->of_job_count, sizeof run, filter_by_bytes);
}

static bool span_contains(struct span s, const char *part)
{
        return part[0] == '\0' || (s.n > 0 && memmem(s.p, s.n, part, strlen(part)) != NULL);
}

bool ledger_matches(const struct ledger_filter *f, const struct ledger_view *v)
{
        char target[2048];
        if ((f->box && !span_is(v->box, f->box)) || (f->run && !span_starts(v->run, f->run)) ||
            (f->kind && !span_is(v->kind, f->kind) && !span_is(v->phase, f->kind) &&
             !(v->unknown && strcmp(f->kind, "unknown") == 0)) ||
            v->time_us < f->since_us || (f->job && !has_run(f, v->run)))
                return false;

        return !f->target ||
               span_contains(span_str(ledger_plain(v->target, target, sizeof target)), f->target);
}
