/* SPDX-License-Identifier: MIT */
/* run/api/api_work.c - cordon_work_*: overlays of edit doors, for faces. */
#include "base/fd.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/store/store.h"
#include "base/str.h"
#include "effect/stamp/stamp.h"
#include "files/work/work.h"
#include "ledger/ledger.h"
#include "run/api/work_record.h"
#include "wall/limit/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

_Static_assert(sizeof(((cordon_work_outcome *) 0)->run) == WORK_RUN_MAX, "a run's id fits");

/* A patch leaves as bytes, and may be applied out of our sight: its digest leads back to the run. */
struct patch {
        cordon_sink out;
        void *ctx;
        struct sha256 sum;
        uint64_t bytes;
};

static void pass_patch(void *ctx, const void *data, size_t len)
{
        struct patch *p = ctx;
        sha256_add(&p->sum, data, len);
        p->bytes += len;
        p->out(p->ctx, data, len);
}

static void record_patch(const struct cordon_context *cx, struct patch *p, const char *run)
{
        char digest[80] = "sha256:";
        sha256_end_hex(&p->sum, digest + strlen(digest));
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
        r.target = "patch";
        r.result = "written";
        r.digest = digest;
        r.bytes = (int64_t) p->bytes;
        (void) api_record_after(cx, run, &r);
}

/* What is printed of an overlay goes on with its label. */
static int pass_label(const struct cordon_context *cx, const char *which, int fd, struct err *e)
{
        struct err none;
        char run[WORK_RUN_MAX];
        if (fd <= 0 || work_find(cx, which, run, &none) < 0) /* who reads it says why */
                return 0;
        return box_label_pass(cx, "work", run, fd, e);
}

/* A copy has the label from before its first file on, and what the first one has got meanwhile. */
static int copy_label(const struct cordon_context *cx, const char *from, const char *to, struct err *e)
{
        char state[STORE_PATH_MAX], path[STORE_PATH_MAX + WORK_RUN_MAX + 8];
        struct stamp_index x;
        if (store_path(cx, state, e) < 0 || stamp_read(cx, &x, e) < 0)
                return -1;

        (void) snprintf(path, sizeof path, "%s/work/%s", state, from);
        struct label l = stamp_own(&x, path);
        stamp_done(&x);
        (void) snprintf(path, sizeof path, "%s/work/%s", state, to);
        return label_is_empty(&l) ? 0 : stamp_add(cx, path, &l, from, e);
}

int cordon_work_diff(const cordon_context *cx, const cordon_work_diff_options *o, size_t *ret_entries,
                     cordon_error *e)
{
        static const enum work_form forms[] = { [CORDON_WORK_TEXT] = WORK_TEXT,
                                                [CORDON_WORK_STAT] = WORK_STAT,
                                                [CORDON_WORK_NAMES] = WORK_NAMES,
                                                [CORDON_WORK_JSON] = WORK_JSON };
        const struct work_look look = { .cx = cx,
                                        .run = o->run,
                                        .form = forms[o->form],
                                        .colour = o->colour != 0,
                                        .verbose = o->verbose != 0,
                                        .paths = o->paths,
                                        .theirs = o->theirs,
                                        .out = o->out,
                                        .out_ctx = o->out_ctx,
                                        .progress = o->progress,
                                        .progress_ctx = o->progress_ctx };
        return pass_label(cx, o->run, o->label_fd, to_err(e)) < 0 ? -1
                                                                  : work_diff(&look, ret_entries, to_err(e));
}

/* The label of the run that made it, unless it was deleted. */
static void label_effect(struct work_effects *f, const struct work_effect *x)
{
        char path[PATH_MAX_BYTES];
        int n = snprintf(path, sizeof path, "%s%s%.*s", x->host, x->path.n ? "/" : "", (int) x->path.n,
                         (const char *) x->path.p);
        if (n > 0 && (size_t) n < sizeof path)
                api_label_apply_one(&f->label, x->host, path);
}

static void pass_effect(void *ctx, const struct work_effect *x)
{
        struct work_effects *f = ctx;
        const cordon_work_effect shown = { x->run, x->host, x->path.p, x->path.n, x->before, x->after };
        api_effects_add(f, x);
        label_effect(f, x);
        if (f->each)
                f->each(f->ctx, &shown);
}

/* A ledger that another writer holds for long: the next command records the outcome of the intent. */
static bool flush_effects(void *ctx) { return api_effects_close(ctx); }

static void copy_outcome(const struct work_outcome *from, cordon_work_outcome *to)
{
        memcpy(to->run, from->run, sizeof to->run);
        to->applied = from->applied;
        to->held = from->held;
        to->conflicts = from->conflicts;
        to->closed = from->closed;
        memcpy(to->approval, from->approval, sizeof to->approval);
}

int cordon_work_apply(const cordon_context *cx, const cordon_work_apply_options *o, cordon_work_outcome *ret,
                      cordon_error *e)
{
        struct work_effects effects = {
                .each = o->effect, .ctx = o->effect_ctx, .off = o->no_ledger || api_log_off(cx), .cx = cx
        };
        struct patch patch = { .out = o->patch, .ctx = o->patch_ctx };
        struct work_question question = { 0 };
        struct work_apply a = { .cx = cx,
                                .run = o->run,
                                .mark = effects.off ? NULL : effects.name,
                                .paths = o->paths,
                                .but = o->all_but,
                                .flagged = o->include_flagged != 0,
                                .kinds = o->flagged,
                                .to = o->to,
                                .approved = o->approved,
                                .out = o->out,
                                .out_ctx = o->out_ctx,
                                .patch = o->patch ? pass_patch : NULL,
                                .patch_ctx = &patch,
                                .progress = o->progress,
                                .progress_ctx = o->progress_ctx,
                                .json = o->json != 0,
                                .before = api_effects_intent,
                                .effect = pass_effect,
                                .after = flush_effects,
                                .effect_ctx = &effects };
        struct work_outcome got = { 0 };

        if (o->patch && (o->to || o->json))
                return err_set(to_err(e), ERR_USAGE, 0, "a patch goes into no directory and no JSON");

        sha256_init(&patch.sum);
        struct err why;
        int r = api_effects_name(&effects, to_err(e));
        if (r == 0 && o->held && !o->patch && api_apply_ask(&question, &a, o, effects.off, &why) < 0)
                a.unapproved = &why;

        if (r == 0 && o->patch)
                r = pass_label(cx, o->run, o->label_fd, to_err(e));
        if (r == 0)
                r = work_apply(&a, &got, to_err(e));

        work_question_done(&question);
        (void) api_effects_close(&effects);
        if (r == 0)
                api_label_apply_end(&effects.label);
        if (r == 0 && o->patch && !effects.off)
                record_patch(cx, &patch, got.run);

        copy_outcome(&got, ret);
        return r;
}

int cordon_work_undo(const cordon_context *cx, const cordon_work_undo_options *o, cordon_work_outcome *ret,
                     cordon_error *e)
{
        const struct work_undo u = { .cx = cx,
                                     .run = o->run,
                                     .json = o->json != 0,
                                     .out = o->out,
                                     .out_ctx = o->out_ctx,
                                     .progress = o->progress,
                                     .progress_ctx = o->progress_ctx };
        struct work_outcome got;
        int r = work_undo(&u, &got, to_err(e));
        if (r == 0 && got.applied > 0 && got.conflicts == 0)
                (void) api_effects_undone(cx, got.run, got.applied);

        copy_outcome(&got, ret);
        return r;
}

int cordon_work_discard(const cordon_context *cx, const char *run, int json, cordon_sink out, void *ctx,
                        char ret_run[64], cordon_error *e)
{
        const struct work_undo u = { .cx = cx, .run = run, .json = json != 0, .out = out, .out_ctx = ctx };
        int r = work_discard(&u, ret_run, to_err(e));
        if (r == 0) {
                box_logs_forget(cx, ret_run);
                box_label_forget(cx, "work", ret_run);
        }
        return r;
}

int cordon_work_copy_running(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e)
{
        char name[48];
        limit_name(name);
        (void) snprintf(ret_run, 64, "%s", name + strlen("cordon-"));
        if (copy_label(cx, run, ret_run, to_err(e)) < 0 || work_fork_running(cx, run, ret_run, to_err(e)) < 0)
                return -1;
        return copy_label(cx, run, ret_run, to_err(e));
}
