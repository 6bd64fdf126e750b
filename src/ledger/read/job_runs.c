/* SPDX-License-Identifier: MIT */
/* ledger/read/job_runs.c - the runs of one batch job: only the start of a run names its job. Pure. */
#include "base/vec.h"
#include "ledger/internal.h"

#include <stdlib.h>

/* Returns the text behind the first `mark`; empty if it does not occur. */
static struct span text_behind(struct span s, char mark)
{
        const uint8_t *at = s.n ? memchr(s.p, mark, s.n) : NULL;
        return at ? span_of(at + 1, s.n - (size_t) (at + 1 - s.p)) : span_of(s.p, 0);
}

/* "Slurm 4711" is also 4711; the task 4700_3 also belongs to 4700, its array. */
static bool is_of_job(const struct ledger_view *v, const char *job)
{
        struct span whole = ledger_member(v->more, "job"), task = ledger_member(v->more, "task");
        struct span rest = text_behind(task, '_'), array = span_of(task.p, rest.n ? task.n - rest.n - 1 : 0);
        return job[0] && (span_is(whole, job) || span_is(text_behind(whole, ' '), job) ||
                          span_is(task, job) || span_is(array, job));
}

int ledger_filter_job(const struct ledger_log *l, struct ledger_filter *f, struct err *e)
{
        size_t room = 0;
        struct ledger_view v;
        struct ledger_walk w = { .log = l, .kind = "start" };
        while (f->job && ledger_next(&w, &v)) {
                if (v.run.n == 0 || !is_of_job(&v, f->job))
                        continue;

                if (vec_room((void **) &f->of_job, f->of_job_count, &room, sizeof *f->of_job) < 0)
                        return err_set(e, ERR_MEMORY, 0, "no memory for the runs of a job");

                f->of_job[f->of_job_count++] = v.run;
        }

        if (f->of_job_count)
                qsort(f->of_job, f->of_job_count, sizeof *f->of_job, filter_by_bytes);

        return 0;
}

void ledger_filter_free(struct ledger_filter *f)
{
        free(f->of_job);
        f->of_job = NULL;
        f->of_job_count = 0;
}
