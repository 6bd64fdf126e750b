/* SPDX-License-Identifier: MIT */
/* run/api/api_diagnose.c - cordon_diagnose(cx): collects the records of past runs for policy/learn/fit.c to
 * judge. Reads and runs nothing. Text of a box is inert in the ledger, and is shown unchanged. */
#include "base/str.h"
#include "policy/learn/learn.h"
#include "run/api/past.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GROUPS_MAX = 64, REFUSALS_MAX = 512, TEXTS_MAX = 4096 };

struct group { /* the runs of one box under one policy */
        struct learn_fit f;
        const char *box, *policy;
        struct learn_refusal refusals[REFUSALS_MAX];
        size_t newest[REFUSALS_MAX]; /* the run, as its index + 1, that had it last: once a run */
        struct past_uses uses;       /* if some are lost, no door is called unused */
        int64_t day;
};
struct diagnosis {
        const struct cordon_context *cx;
        const cordon_diagnosis *o;
        cordon_policy *policy; /* or NULL */
        struct past past;
        struct arena mem;
        struct group *groups[GROUPS_MAX];
        size_t count;
        bool left_off;
        struct learn_widened *widened;
        size_t widened_count;
};

/* ---- which runs ---- */

/* Its number, from 1 on; 0: the table is full. */
static size_t group_for(struct diagnosis *d, const struct past_run *r)
{
        for (size_t i = 0; i < d->count; i++) {
                const struct group *g = d->groups[i];
                if (strcmp(g->policy, r->policy) == 0 && (d->policy || strcmp(g->box, r->box) == 0))
                        return i + 1;
        }

        if (d->count == GROUPS_MAX) {
                d->left_off = true;
                return 0;
        }

        struct group *g = calloc(1, sizeof *g);
        d->mem.failed |= !g;
        if (!g)
                return 0;

        g->box = r->box;
        g->policy = r->policy;
        g->day = -1;
        g->uses.most = TEXTS_MAX;
        d->groups[d->count++] = g;
        return d->count;
}

static bool is_asked_for(const struct diagnosis *d, const struct past_run *r, const char *digest)
{
        return ledger_run_is(r->of, LEDGER_RUN_ENDED) && !r->of->pruned &&
               r->of->start_us >= d->o->since_us && (!digest || strcmp(r->policy, digest) == 0) &&
               (!d->o->box || strcmp(r->box, d->o->box) == 0);
}

static void count_run(struct group *g, const struct past_run *r)
{
        g->f.runs++;
        g->f.failed += !r->passed;
        g->f.observed += r->passed && r->of->observed;
        g->f.days += past_day(r->of->start_us) != g->day;
        g->day = past_day(r->of->start_us);
        if (g->f.doors_counted < r->of->doors)
                g->f.doors_counted = r->of->doors;
}

/* The newest of each group first, so that the window is theirs. */
static void choose_runs(struct diagnosis *d, const char *digest)
{
        unsigned most = d->o->last ? d->o->last : learn_threshold(LEARN_WINDOW)->value;
        for (size_t i = d->past.n; i-- > 0;) {
                struct past_run *r = &d->past.v[i];
                size_t group = is_asked_for(d, r, digest) ? group_for(d, r) : 0;
                if (group == 0 || d->groups[group - 1]->f.runs == most)
                        continue;
                count_run(d->groups[group - 1], r);
                r->group = group;
        }
}

/* ---- their effects ---- */

/* Also the targets of a path's symlinks, as they are now: a door would follow them. */
static enum effect_reason sensitive_path(enum effect_kind kind, const char *path)
{
        char real[PATH_MAX];
        struct stat st;
        struct learn_access a = { .kind = kind, .path = path };
        enum effect_reason why = learn_is_sensitive(&a);
        if (why || !realpath(path, real))
                return why;

        a.path = real;
        if (stat(real, &st) == 0 && S_ISSOCK(st.st_mode))
                return REASON_AGENT;

        return learn_is_sensitive(&a);
}

/* Why no line is ever proposed for this; the same list as of `cordon learn`. */
static enum effect_reason never_proposed(const struct ledger_view *v, const char *line)
{
        char to[PATH_MAX];
        enum effect_kind kind = effect_kind_find(ledger_member(v->more, "effect"));
        (void) ledger_plain(ledger_member(v->more, "to"), to, sizeof to);

        if (kind == EFFECT_SOCK)
                return REASON_AGENT;

        if (effect_kind_has_path(kind))
                return sensitive_path(kind, to);

        if (!span_is(ledger_member(v->more, "layer"), "egress"))
                return learn_is_sensitive(&(struct learn_access){
                        .kind = EFFECT_CALL, .path = to, .internet = kind == EFFECT_NET });

        if (!line[0])
                return REASON_NO_LINE;

        return learn_is_sensitive(&(struct learn_access){ .kind = EFFECT_NET, .path = to });
}

/* As text that a terminal only shows: most of it is the box's own words. */
static const char *inert_text(struct diagnosis *d, const char *text)
{
        char shown[1024];
        return arena_str(&d->mem, str_inert(span_str(text), shown, sizeof shown));
}

static struct learn_refusal *refusal_for(struct diagnosis *d, struct group *g, const char *what,
                                         const char *program)
{
        const char *shown = inert_text(d, what), *who = inert_text(d, program);
        if (!shown || !who)
                return NULL;

        for (size_t i = 0; i < g->f.refusal_count; i++)
                if (strcmp(g->refusals[i].what, shown) == 0 && strcmp(g->refusals[i].program, who) == 0)
                        return &g->refusals[i];

        if (g->f.refusal_count == REFUSALS_MAX)
                return NULL;

        struct learn_refusal *r = &g->refusals[g->f.refusal_count++];
        *r = (struct learn_refusal){ .what = shown, .program = who, .line = "" };
        return r;
}

static void count_refusal(struct diagnosis *d, struct group *g, struct past_run *run, struct learn_refusal *r)
{
        size_t *newest = &g->newest[r - g->refusals], here = (size_t) (run - d->past.v) + 1;
        if (*newest == here)
                return;

        *newest = here;
        *(run->passed ? &r->passed : &r->failed) += 1;
        g->f.failed_refused += !run->passed && !run->refused;
        run->refused = true;
}

static void note_refusal(struct diagnosis *d, struct group *g, struct past_run *run,
                         const struct ledger_view *v)
{
        char what[600], program[80], line[600];
        struct span minor = ledger_member(v->more, "minor");
        (void) ledger_plain(v->target, what, sizeof what);
        (void) ledger_plain(ledger_member(v->more, "program"), program, sizeof program);
        (void) ledger_plain(ledger_member(v->more, "permit"), line, sizeof line);
        bool habit = minor.n == 1 && minor.p[0] == '2', setting = minor.n == 1 && minor.p[0] == '1';
        struct learn_refusal *r = habit || (setting && run->passed) ? NULL : refusal_for(d, g, what, program);
        if (!r)
                return;

        r->setting = setting;
        if (r->line && !r->line[0] && line[0])
                r->line = inert_text(d, line);

        r->never = never_proposed(v, line);
        if (r->never == REASON_NETWORK)
                r->line = "a `net` door: `cordon learn` finds out where to";

        count_refusal(d, g, run, r);
}

/* Twice as much: the amount that would have been enough is unknown. */
static void note_limit(struct diagnosis *d, struct group *g, struct past_run *run,
                       const struct ledger_view *v)
{
        char what[80];
        AUTO_BUF(line);
        (void) snprintf(what, sizeof what, "limit %.*s", (int) (v->target.n < 32 ? v->target.n : 32),
                        (const char *) v->target.p);
        struct learn_refusal *r = refusal_for(d, g, what, "");
        if (!r)
                return;

        for (unsigned k = 0; d->policy && k < LIMIT_KEY__COUNT; k++)
                if (span_is(v->target, policy_limit_name(k)))
                        policy_limit_line(k, 2 * policy_limits(d->policy->checked)->value[k], &line);

        d->mem.failed |= line.failed;
        r->line = arena_str(&d->mem, line.n ? buf_str(&line) : "a larger one");
        count_refusal(d, g, run, r);
}

static void read_effects(struct diagnosis *d)
{
        struct ledger_view v;
        struct ledger_walk w = { .log = d->past.log };
        while (w.log && d->count && ledger_next(&w, &v)) {
                struct past_run *run = past_find(&d->past, v.run);
                struct group *g = run && run->group ? d->groups[run->group - 1] : NULL;
                if (!g)
                        continue;
                if (span_is(v.kind, "limit"))
                        note_limit(d, g, run, &v);
                else if (span_is(v.phase, "denied"))
                        note_refusal(d, g, run, &v);
                else /* without a policy to name its doors, only doors from the user's own lines count */
                        past_uses_note(&g->uses, &v, d->policy != NULL);
        }
}

/* ---- the doors of the policy that was given ---- */

static int split_policy(struct diagnosis *d, struct learn_draft *ret, cordon_error *e)
{
        struct err ignored;
        if (learn_split(span_of(d->o->policy, d->o->policy_len), ret, &ignored) == 0)
                return 0;

        learn_draft_done(ret); /* JSON has no lines: those that mean the same */
        *ret = (struct learn_draft){ 0 };
        char *lines = cordon_policy_view(d->policy, CORDON_VIEW_LINES, e);
        int r = lines ? learn_split(span_str(lines), ret, to_err(e)) : -1;
        cordon_free(lines);
        return r;
}

static int judge_doors(struct diagnosis *d, struct group *g, cordon_error *e)
{
        struct learn_draft draft = { 0 };
        const struct learn_evidence ev = { .lines = g->uses.used.v,
                                           .line_count = g->uses.used.n,
                                           .dests = g->uses.dests.v,
                                           .dest_count = g->uses.dests.n,
                                           .runs = g->uses.lost ? 0 : g->f.runs - g->f.failed,
                                           .observed = g->uses.lost ? 0 : g->f.observed,
                                           .need = learn_threshold(LEARN_NEED_RUNS)->value,
                                           .at = api_context(d->policy) };
        int r = split_policy(d, &draft, e);
        struct learn_door_use *doors = r < 0 ? NULL : arena_alloc(&d->mem, (draft.n + 1) * sizeof *doors);

        for (size_t i = 0; doors && i < draft.n; i++)
                if (draft.v[i].door)
                        doors[g->f.door_count++] =
                                (struct learn_door_use){ arena_str(&d->mem, draft.v[i].text),
                                                         learn_line_use(draft.v[i].text, &ev) };

        g->f.doors = doors;
        learn_draft_done(&draft);
        return r;
}

static int judge_group(struct diagnosis *d, struct group *g, cordon_error *e)
{
        g->f.box = g->box;
        g->f.policy = g->policy;
        g->f.file = d->o->name ? d->o->name : "";
        g->f.refusals = g->refusals;
        g->f.counted = !d->policy;
        g->f.used_counted = (unsigned) g->uses.used.n;
        g->f.widened = d->widened;
        g->f.widened_count = d->widened_count;
        if (g->uses.lost)
                g->f.observed = 0;

        if (d->policy && judge_doors(d, g, e) < 0)
                return -1;

        learn_fit_judge(&g->f);
        return 0;
}

static int load_policy(struct diagnosis *d, char **ret_digest, cordon_error *e)
{
        const cordon_diagnosis *o = d->o;
        if (!o->policy)
                return 0;

        d->policy = cordon_policy_new(d->cx);
        if (!d->policy)
                return err_set(to_err(e), ERR_MEMORY, 0, "no memory");

        if (cordon_policy_add_text(d->policy, o->name ? o->name : "policy", o->policy, o->policy_len, e) <
                    0 ||
            cordon_policy_check(d->policy, e) < 0)
                return -1;

        *ret_digest = cordon_policy_view(d->policy, CORDON_VIEW_DIGEST, e);
        if (*ret_digest)
                (*ret_digest)[strcspn(*ret_digest, "\n")] = '\0';

        return *ret_digest ? 0 : -1;
}

/* A named policy is judged even if no run used it: then it has too few runs. */
static void add_empty(struct diagnosis *d, const char *digest)
{
        const struct past_run none = { .box = policy_box(d->policy->checked), .policy = digest };
        if (d->count == 0)
                (void) group_for(d, &none);
}

static int gather_runs(struct diagnosis *d, const char *digest, cordon_error *e)
{
        if (past_open(d->cx, &d->past, d->o->status, to_err(e)) < 0)
                return -1;

        choose_runs(d, digest);
        read_effects(d);
        if (d->policy) {
                add_empty(d, digest);
                if (past_widened(&d->past, d->policy, &d->mem, &d->widened, &d->widened_count, to_err(e)) < 0)
                        return -1;
        }

        for (size_t i = 0; i < d->count; i++) {
                if (judge_group(d, d->groups[i], e) < 0)
                        return -1;
                d->mem.failed |= d->groups[i]->uses.mem.failed;
        }

        return d->mem.failed ? err_set(to_err(e), ERR_MEMORY, 0, "no memory") : 0;
}

/* ---- reported ---- */

static void put_json(const struct diagnosis *d, struct buf *out)
{
        buf_puts(out, "{\"thresholds\":{");
        for (unsigned i = 0; i < LEARN_THRESHOLD__COUNT; i++)
                buf_printf(out, "%s\"%s\":%u", i ? "," : "", learn_threshold(i)->name,
                           learn_threshold(i)->value);

        buf_puts(out, "},\"boxes\":[");
        for (size_t i = 0; i < d->count; i++) {
                buf_puts(out, i ? "," : "");
                learn_fit_json(&d->groups[i]->f, out);
        }

        buf_printf(out, "],\"left_off\":%s}\n", d->left_off ? "true" : "false");
}

static void put_text(const struct diagnosis *d, struct buf *out)
{
        for (size_t i = 0; i < d->count; i++) {
                buf_puts(out, i ? "\n" : "");
                learn_fit_text(&d->groups[i]->f, out);
        }

        if (d->count == 0)
                buf_puts(out, "not enough runs: the ledger has none that this asks for\n");

        if (d->left_off)
                buf_printf(out, "\nOnly the newest %d boxes are listed; --box NAME selects one.\n",
                           GROUPS_MAX);
}

/* The worst of them: a policy that does not fit before one with too little data. */
static int fit_of(const struct diagnosis *d)
{
        int fit = d->count ? 1 : -1;
        for (size_t i = 0; i < d->count; i++) {
                enum learn_verdict v = d->groups[i]->f.verdict;
                if (v != LEARN_FITS && v != LEARN_TOO_FEW)
                        return 0;
                fit = v == LEARN_TOO_FEW ? -1 : fit;
        }

        return fit;
}

char *cordon_diagnose(const cordon_context *cx, const cordon_diagnosis *o, int json, int *ret_fit,
                      cordon_error *e)
{
        struct diagnosis d = { .cx = cx, .o = o };
        char *digest = NULL;
        AUTO_BUF(out);
        int r = load_policy(&d, &digest, e);
        if (r == 0)
                r = gather_runs(&d, digest, e);

        if (r == 0) {
                (json ? put_json : put_text)(&d, &out);
                *ret_fit = fit_of(&d);
        }

        for (size_t i = 0; i < d.count; i++) {
                past_uses_done(&d.groups[i]->uses);
                free(d.groups[i]);
        }

        past_done(&d.past);
        arena_done(&d.mem);
        free(d.widened);
        cordon_policy_free(d.policy);
        cordon_free(digest);
        return r < 0 ? NULL : api_give(&out, to_err(e));
}
