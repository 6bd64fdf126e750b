/* SPDX-License-Identifier: MIT */
/* learn/widen.c - a command is run in a box with the doors it has shown to need so far, until nothing new is
 * refused. Each run starts from nothing, so that it can be said in how many runs a door was seen. */
#include "learn/internal.h"

static int run_round(struct learn *l, struct learn_runner *r, unsigned run, struct learn_result *ret,
                     struct err *e)
{
        AUTO_BUF(text);
        struct learn_draft d = { 0 };
        learn_draft(l, UINT64_C(1) << run, &d);
        learn_print(&d, true, &text);
        bool bad = d.failed || text.failed;
        learn_draft_done(&d);
        if (bad)
                return err_set(e, ERR_MEMORY, 0, "no memory");
        ret->last = (struct learn_outcome){ 0 };
        r->boxes++;
        ret->rounds++;
        return r->run(r->ctx, buf_str(&text), l, run, &ret->last, e);
}

static bool same_draft(const struct learn *l, unsigned run, struct buf *before)
{
        AUTO_BUF(now);
        struct learn_draft d = { 0 };
        learn_draft(l, UINT64_C(1) << run, &d);
        learn_print(&d, true, &now);
        learn_draft_done(&d);
        bool same = before->n > 0 && span_eq(buf_span(&now), buf_span(before));
        before->n = 0;
        buf_add(before, now.p, now.n);
        return same;
}

/* Until a round adds no line. */
static int widen_run(struct learn *l, struct learn_runner *r, unsigned run, struct learn_result *ret,
                     struct err *e)
{
        AUTO_BUF(before);
        (void) same_draft(l, run, &before);
        unsigned most = r->budget ? r->budget : LEARN_BOXES_MAX;
        for (unsigned round = 0; round < LEARN_ROUNDS_MAX && r->boxes < most; round++) {
                if (run_round(l, r, run, ret, e) < 0)
                        return -1;
                if (!ret->last.started || same_draft(l, run, &before))
                        break;
        }
        ret->runs_passed += ret->last.started && ret->last.status == r->want;
        return 0;
}

int learn_widen(struct learn *l, struct learn_runner *r, struct learn_result *ret, struct err *e)
{
        unsigned runs = l->c.runs < 1 ? 1 : l->c.runs > LEARN_RUNS_MAX ? LEARN_RUNS_MAX : l->c.runs;
        *ret = (struct learn_result){ 0 };
        for (unsigned i = 0; i < runs; i++)
                if (widen_run(l, r, i, ret, e) < 0)
                        return -1;
        learn_draft(l, runs == 64 ? UINT64_MAX : (UINT64_C(1) << runs) - 1, &ret->draft);
        if (ret->draft.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory");
        if (ret->runs_passed == 0)
                return 0; /* what never passed is not offered, and nothing can be told from closing its doors
                           */
        return learn_tighten(&ret->draft, r, 1, ret, e);
}
