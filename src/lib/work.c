/* SPDX-License-Identifier: MIT */
/* lib/work.c - cordon_work_*: layers of edit doors, for faces. */
#include "work/work.h"
#include "lib/internal.h"
#include "limit/limit.h"

#include <string.h>

_Static_assert(sizeof(((cordon_work_outcome *) 0)->run) == WORK_RUN_MAX, "a run's id fits");

int cordon_work_diff(const char *run, cordon_work_form form, int colour, const char *const *paths,
                     cordon_sink out, void *ctx, size_t *ret_entries, cordon_error *e)
{
        static const enum work_form forms[] = { [CORDON_WORK_TEXT] = WORK_TEXT,
                                                [CORDON_WORK_STAT] = WORK_STAT,
                                                [CORDON_WORK_NAMES] = WORK_NAMES,
                                                [CORDON_WORK_JSON] = WORK_JSON,
                                                [CORDON_WORK_PATCH] = WORK_PATCH };
        const struct work_look look = { .run = run,
                                        .form = forms[form],
                                        .colour = colour != 0,
                                        .paths = paths,
                                        .out = out,
                                        .out_ctx = ctx };
        return work_diff(&look, ret_entries, to_err(e));
}

int cordon_work_list(int json, cordon_sink out, void *ctx, cordon_error *e)
{
        return work_list(json != 0, out, ctx, to_err(e));
}

struct effects {
        void (*each)(void *ctx, const cordon_work_effect *effect);
        void *ctx;
};

static void pass_effect(void *ctx, const struct work_effect *x)
{
        const struct effects *f = ctx;
        const cordon_work_effect shown = { x->run, x->host, x->path.p, x->path.n, x->before, x->after };
        f->each(f->ctx, &shown);
}

static void tell(const struct work_outcome *from, cordon_work_outcome *to)
{
        memcpy(to->run, from->run, sizeof to->run);
        to->applied = from->applied;
        to->held = from->held;
        to->conflicts = from->conflicts;
}

int cordon_work_apply(const cordon_work_apply_options *o, cordon_work_outcome *ret, cordon_error *e)
{
        struct effects effects = { o->effect, o->effect_ctx };
        const struct work_apply a = { .run = o->run,
                                      .paths = o->paths,
                                      .flagged = o->include_flagged != 0,
                                      .to = o->to,
                                      .out = o->out,
                                      .out_ctx = o->out_ctx,
                                      .effect = o->effect ? pass_effect : NULL,
                                      .effect_ctx = &effects };
        struct work_outcome got;
        int r = work_apply(&a, &got, to_err(e));
        tell(&got, ret);
        return r;
}

int cordon_work_undo(const char *run, cordon_sink out, void *ctx, cordon_work_outcome *ret, cordon_error *e)
{
        struct work_outcome got;
        int r = work_undo(run, out, ctx, &got, to_err(e));
        tell(&got, ret);
        return r;
}

int cordon_work_discard(const char *run, char ret_run[64], cordon_error *e)
{
        return work_discard(run, ret_run, to_err(e));
}

int cordon_work_fork(const char *run, char ret_run[64], cordon_error *e)
{
        char name[48];
        limit_name(name);
        return work_fork(run, name + strlen("cordon-"), ret_run, to_err(e));
}
