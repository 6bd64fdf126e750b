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
#include "run/api/internal.h"
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

int cordon_work_list(const cordon_context *cx, int json, cordon_sink out, void *ctx, cordon_error *e)
{
        return work_list(cx, json != 0, out, ctx, to_err(e));
}

enum { FLUSH_MS = 1000, CHANCE = 6 };

struct effects {
        const struct cordon_context *cx;
        void (*each)(void *ctx, const cordon_work_effect *effect);
        void *ctx;
        struct ledger *ledger; /* NULL: not yet, or not wanted */
        bool off;
        bool late;             /* found out by a later command: a file may have been replaced by now */
        char name[CHANCE + 2]; /* the end of its intent's id */
        char intent[LEDGER_ID_MAX];
        struct api_label_apply label;
};

static bool is_off(const struct cordon_context *cx)
{
        const char *asked = context_get(cx, "CORDON_LEDGER");
        return asked && strcmp(asked, "off") == 0;
}

/* An apply may come again after an undo: chance makes its records' ids others. */
static int choose_name(struct effects *f, struct err *e)
{
        uint32_t number = 0;
        if (getrandom(&number, sizeof number, 0) < 0)
                return err_set(e, ERR_IO, errno, "no random number for the ledger");
        (void) snprintf(f->name, sizeof f->name, "q%06x", number & 0xffffff);
        return 0;
}

static int open_ledger(struct effects *f, const char *run, struct err *e)
{
        char source[sizeof f->name];
        (void) snprintf(source, sizeof source, "a%s", f->name + 1);
        f->ledger = ledger_open(f->cx, run, source, e);
        return f->ledger ? 0 : -1;
}

static void name_target(const struct work_effect *x, char target[PATH_MAX_BYTES])
{
        char path[PATH_MAX_BYTES];
        (void) snprintf(target, PATH_MAX_BYTES, "%s%s%s", x->host, x->path.n ? "/" : "",
                        str_inert(x->path, path, sizeof path));
}

/* The host's files are changed only after the intent is on the disk. */
static int record_intent(void *ctx, const struct work_effect *first, size_t count, struct err *e)
{
        struct effects *f = ctx;
        char target[PATH_MAX_BYTES], end[LEDGER_ID_MAX];
        if (api_label_apply_begin(&f->label, f->cx, first->run, first->host, e) < 0)
                return -1;

        if (f->off)
                return 0;

        name_target(first, target);
        (void) snprintf(end, sizeof end, "%s.end", first->run);
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_INTENT);
        r.name = f->name;
        r.writes = true;
        r.target = target;
        r.count = (int64_t) count;
        r.parents[r.parent_count++] = end;
        if (open_ledger(f, first->run, e) == 0 && ledger_append(f->ledger, &r, true, f->intent, e) == 0)
                return 0;

        return err_hint(e, "nothing was applied; --ledger off applies without a record");
}

/* Later readers of the file find the effect that created it. Never: follows a symlink, opens anything but a
 * regular file. */
static void stamp(const struct work_effect *x, bool late, const char *id)
{
        char path[PATH_MAX_BYTES];
        const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        struct stat st;

        if (x->path.n >= sizeof path)
                return;

        memcpy(path, x->path.p, x->path.n);
        path[x->path.n] = '\0';
        AUTO_FD(top, open(x->host, O_PATH | O_CLOEXEC));
        AUTO_FD(fd, top < 0          ? -1
                    : x->path.n == 0 ? open(x->host, flags)
                                     : fd_open2(top, path, (uint64_t) flags, resolve));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return;

        char now[LEDGER_ID_MAX] = "";
        if (late)
                ledger_read_origin(fd, now);

        if (!late || strncmp(now, x->run, strlen(x->run)) == 0)
                ledger_stamp_origin(fd, id);
}

static bool is_sha256(const char *digest)
{
        return strlen(digest) == 64 && strspn(digest, "0123456789abcdef") == 64;
}

/* The changes that reached the host, with the content before and after; caused by the run's end. */
static void record_effect(struct effects *f, const struct work_effect *x)
{
        char target[PATH_MAX_BYTES], end[LEDGER_ID_MAX], id[LEDGER_ID_MAX], after[80], before[80];
        struct err none;
        if (!f->ledger)
                return;

        name_target(x, target);
        (void) snprintf(end, sizeof end, "%s.end", x->run);
        (void) snprintf(after, sizeof after, "sha256:%.64s", x->after);
        (void) snprintf(before, sizeof before, "sha256:%.64s", x->before);
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
        r.writes = true;
        r.target = target;
        r.result = "applied";
        r.digest = is_sha256(x->after) ? after : NULL;
        r.parents[r.parent_count++] = end;
        r.parents[r.parent_count++] = f->intent;
        if (is_sha256(x->before))
                ledger_more_text(&r, "before", before);

        if (ledger_append(f->ledger, &r, false, id, &none) == 0 && r.digest && !x->linked)
                stamp(x, f->late, id);
}

/* Returns true if all of it is in the file. Else none of it is: the command that settles the apply reports
 * it, and it is not reported twice. */
static bool close_ledger(struct effects *f)
{
        struct err none;
        if (!f->ledger)
                return true;

        bool written = ledger_flush(f->ledger, FLUSH_MS, &none) == 0;
        ledger_wake_sealer(f->ledger);
        if (written)
                ledger_close(f->ledger);
        else
                ledger_give_up(f->ledger);

        f->ledger = NULL;
        return written;
}

/* One record of a run that has ended; not delayed by a ledger that cannot be written. Returns true if it is
 * written, or not wanted. */
static bool record_after(const struct cordon_context *cx, const char *run, struct ledger_record *r)
{
        struct effects f = { .cx = cx, .off = is_off(cx) };
        struct err none;
        char end[LEDGER_ID_MAX];

        if (f.off)
                return true;

        if (choose_name(&f, &none) < 0 || open_ledger(&f, run, &none) < 0)
                return false;

        (void) snprintf(end, sizeof end, "%.48s.end", run);
        r->parents[r->parent_count++] = end;
        bool kept = ledger_append(f.ledger, r, false, NULL, &none) == 0;
        return close_ledger(&f) && kept;
}

/* A person took it back. */
static bool record_undo(const struct cordon_context *cx, const char *run, size_t count)
{
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_HUMAN);
        r.writes = true;
        r.target = run;
        r.result = "taken back";
        r.count = (int64_t) count;
        return record_after(cx, run, &r);
}

static bool record_taken_back(const struct work_settled *s, const char *intent)
{
        char target[PATH_MAX_BYTES];
        struct ledger_record r = ledger_record_of(LEDGER_FILE, LEDGER_OUTCOME);
        name_target(&s->effects[0], target);
        r.target = target;
        r.result = "taken back";
        r.count = (int64_t) s->count;
        r.parents[r.parent_count++] = intent;
        return record_after(s->cx, s->run, &r);
}

/* An apply that failed, or was killed and came to its end in a later command: its intent gets its outcome. */
static bool record_settled(const struct work_settled *s)
{
        struct effects f = { .cx = s->cx, .off = is_off(s->cx), .late = true };
        struct err none;
        if (!s->mark)
                return true;

        (void) snprintf(f.intent, sizeof f.intent, "%.48s.%.12s", s->run, s->mark);
        if (s->how == WORK_UNDONE)
                return record_undo(s->cx, s->run, s->count);

        if (s->how == WORK_TAKEN_BACK)
                return record_taken_back(s, f.intent);

        if (f.off)
                return true;

        if (choose_name(&f, &none) < 0 || open_ledger(&f, s->run, &none) < 0)
                return false;

        for (size_t i = 0; i < s->count; i++)
                record_effect(&f, &s->effects[i]);

        return close_ledger(&f);
}

bool api_work_settled(const struct work_settled *s)
{
        bool recorded = record_settled(s);
        if (recorded && s->later && s->cx->on_settled)
                s->cx->on_settled(s->cx->settled_ctx, s->run, s->how == WORK_LANDED, s->count);
        return recorded;
}

void cordon_context_settled(cordon_context *cx, cordon_settled fn, void *ctx)
{
        cx->on_settled = fn;
        cx->settled_ctx = ctx;
}

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
        (void) record_after(cx, run, &r);
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
static void label_effect(struct effects *f, const struct work_effect *x)
{
        char path[PATH_MAX_BYTES];
        int n = snprintf(path, sizeof path, "%s%s%.*s", x->host, x->path.n ? "/" : "", (int) x->path.n,
                         (const char *) x->path.p);
        if (x->after && x->after[0] && n > 0 && (size_t) n < sizeof path)
                api_label_apply_one(&f->label, x->host, path);
}

static void pass_effect(void *ctx, const struct work_effect *x)
{
        struct effects *f = ctx;
        const cordon_work_effect shown = { x->run, x->host, x->path.p, x->path.n, x->before, x->after };
        record_effect(f, x);
        label_effect(f, x);
        if (f->each)
                f->each(f->ctx, &shown);
}

/* A ledger that another writer holds for long: the next command records the outcome of the intent. */
static bool flush_effects(void *ctx) { return close_ledger(ctx); }

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
        struct effects effects = {
                .each = o->effect, .ctx = o->effect_ctx, .off = o->no_ledger || is_off(cx), .cx = cx
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
                                .before = record_intent,
                                .effect = pass_effect,
                                .after = flush_effects,
                                .effect_ctx = &effects };
        struct work_outcome got = { 0 };

        if (o->patch && (o->to || o->json))
                return err_set(to_err(e), ERR_USAGE, 0, "a patch goes into no directory and no JSON");

        sha256_init(&patch.sum);
        struct err why;
        int r = choose_name(&effects, to_err(e));
        if (r == 0 && o->held && !o->patch && api_apply_ask(&question, &a, o, effects.off, &why) < 0)
                a.unapproved = &why;

        if (r == 0 && o->patch)
                r = pass_label(cx, o->run, o->label_fd, to_err(e));
        if (r == 0)
                r = work_apply(&a, &got, to_err(e));

        work_question_done(&question);
        (void) close_ledger(&effects);
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
                (void) record_undo(cx, got.run, got.applied);

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

int cordon_work_find(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e)
{
        return work_find(cx, run, ret_run, to_err(e));
}

int cordon_work_fork(const cordon_context *cx, const char *run, char ret_run[64], cordon_error *e)
{
        char name[48];
        limit_name(name);
        const char *copy = name + strlen("cordon-");
        char from[WORK_RUN_MAX];
        if (work_find(cx, run, from, to_err(e)) < 0 || copy_label(cx, from, copy, to_err(e)) < 0 ||
            work_fork(cx, from, copy, ret_run, to_err(e)) < 0)
                return -1;
        return copy_label(cx, from, copy, to_err(e));
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
