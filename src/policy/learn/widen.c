/* SPDX-License-Identifier: MIT */
/* policy/learn/widen.c - runs a command in a box with the doors that it has needed so far, until nothing new
 * is denied. Each run starts from nothing, so that the number of runs that used a door is known. */
#include "policy/learn/internal.h"

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
        runner_tell(r, "run %u: what it looks for, round %u", run + 1, ret->rounds);
        return r->run(r->ctx, buf_str(&text), l, run, &ret->last, e);
}

static bool same_draft(const struct learn *l, unsigned run, struct buf *before)
{
        AUTO_BUF(now);
        struct learn_draft d = { 0 };
        learn_draft(l, UINT64_C(1) << run, &d);
        learn_print(&d, true, &now);
        learn_draft_done(&d);
        bool same =
                before->n > 0 && !now.failed && !before->failed && span_eq(buf_span(&now), buf_span(before));
        before->n = 0;
        buf_add(before, now.p, now.n);
        return same;
}

/* Until a round adds no line. */
static int widen_run(struct learn *l, struct learn_runner *r, unsigned run, struct learn_result *ret,
                     struct err *e)
{
        AUTO_BUF(before);
        struct learn_access work = { .kind = EFFECT_READ, .path = l->c.work, .program = "", .on_host = true };
        if (l->c.blind)
                (void) learn_add(l, &work, run);

        (void) same_draft(l, run, &before);
        unsigned most = r->budget ? r->budget : LEARN_BOXES_MAX;
        for (unsigned round = 0; round < LEARN_ROUNDS_MAX && r->boxes < most; round++) {
                if (run_round(l, r, run, ret, e) < 0)
                        return -1;
                bool same = same_draft(l, run, &before);
                if (!ret->last.started || (same && !ret->last.again))
                        break;
        }

        ret->runs_passed += ret->last.started && ret->last.status == r->want;
        return 0;
}

/* A directory that was only passed on the way to a file need not be shown: if its entries suffice, the
 * draft opens those. Below the box's own /tmp the way to a file can be listed, and shows that file: there
 * a run that passes proves nothing about a directory that was listed. */
static bool has_children(const struct learn *l, const struct item *dir)
{
        for (size_t i = 0; i < l->n; i++)
                if (&l->v[i] != dir && l->v[i].a.kind == EFFECT_READ && l->v[i].a.on_host &&
                    !l->v[i].sensitive && fold_inside(dir->a.path, l->v[i].a.path))
                        return true;
        return false;
}

/* With a directory open, the files read in it are not reported: so once more, without it. */
static void look_closer(struct learn *l, struct trial *t, unsigned runs)
{
        struct learn_result seen = { 0 };
        struct err none;
        for (unsigned i = 0; i < runs && !l->c.blind; i++)
                if (widen_run(l, t->r, i, &seen, &none) < 0)
                        break;
}

static bool passes_narrowed(struct learn *l, uint64_t mask, struct trial *t, struct learn_draft *d)
{
        learn_draft(l, mask, d);
        t->d = d;
        return !d->failed && trial_passes(t);
}

static void narrow_draft(struct learn *l, uint64_t mask, unsigned runs, struct trial *t,
                         struct learn_draft *draft)
{
        for (size_t i = 0; i < l->n && !t->exhausted; i++) {
                struct item *it = &l->v[i];
                struct learn_draft d = { 0 };
                if (it->a.kind != EFFECT_READ || !it->a.on_host || it->sensitive || it->a.listed ||
                    !l->c.look || l->c.look(l->c.look_ctx, it->a.path) != LEARN_DIRECTORY ||
                    !has_children(l, it))
                        continue;
                it->narrowed = true;
                bool passed = passes_narrowed(l, mask, t, &d);
                if (!passed && !t->exhausted) {
                        learn_draft_done(&d);
                        d = (struct learn_draft){ 0 };
                        look_closer(l, t, runs);
                        it = &l->v[i]; /* there may be more by now, elsewhere */
                        passed = passes_narrowed(l, mask, t, &d);
                }
                if (passed) {
                        learn_draft_done(draft);
                        *draft = d;
                } else {
                        it->narrowed = false;
                        learn_draft_done(&d);
                }
                t->d = draft;
        }
}

int learn_widen(struct learn *l, struct learn_runner *r, struct learn_result *ret, struct err *e)
{
        unsigned runs = l->c.runs < 1 ? 1 : l->c.runs > LEARN_RUNS_MAX ? LEARN_RUNS_MAX : l->c.runs;
        uint64_t all = runs == LEARN_RUNS_MAX ? UINT64_MAX : (UINT64_C(1) << runs) - 1;
        *ret = (struct learn_result){ 0 };
        for (unsigned i = 0; i < runs; i++)
                if (widen_run(l, r, i, ret, e) < 0)
                        return -1;

        learn_draft(l, all, &ret->draft);
        if (ret->draft.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory");

        if (ret->runs_passed == 0)
                return 0; /* a draft that never passed is not offered, and closing its doors proves nothing */
        struct trial t = { .d = &ret->draft, .r = r, .e = e };
        ret->passed = trial_base(&t);
        ret->last = t.base;
        if (!ret->passed)
                return t.result;

        narrow_draft(l, all, runs, &t, &ret->draft);
        trial_close(&t, 1, ret);
        return t.result;
}
