/* SPDX-License-Identifier: MIT */
/* run/pool/recipe_diff.c - in what two recipes differ, for a run that found no box parked for its plan. Pure.
 * Both come from processes of the same user; their texts are shown as one line. */
#include "base/str.h"
#include "run/pool/pool.h"

#include <string.h>

enum { NAMED_MOST = 3 };

/* What was found so far, and how much of it stands in the text. */
struct found {
        unsigned count;
        struct buf *out;
};

static void note_difference(struct found *f, const char *what, const char *path)
{
        char shown[200];
        if (f->count++ >= NAMED_MOST)
                return;

        buf_printf(f->out, "%s%s%s%s", f->count > 1 ? ", " : "", what, path ? " " : "",
                   path ? str_inert(span_str(path), shown, sizeof shown) : "");
}

static bool is(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static const struct plan_step *find_step(const struct plan *p, const struct plan_step *s)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == s->kind && is(p->steps[i].path, s->path))
                        return &p->steps[i];
        return NULL;
}

/* The uptime is not counted: plan_digest(). */
static bool is_same_step(const struct plan_step *a, const struct plan_step *b)
{
        return a->flags == b->flags && a->dev == b->dev && a->ino == b->ino &&
               (is(a->path, PLAN_UPTIME) || is(a->text, b->text));
}

static void compare_steps(struct found *f, const struct plan *parked, const struct plan *run)
{
        for (size_t i = 0; i < parked->step_count; i++) {
                const struct plan_step *s = &parked->steps[i], *own = find_step(run, s);
                if (!own)
                        note_difference(f, "this run does not show", s->path);
                else if (s->kind != STEP_COVER && !is_same_step(s, own)) /* those follow from limits */
                        note_difference(f, "another file or other rights at", s->path);
        }

        for (size_t i = 0; i < run->step_count; i++)
                if (!find_step(parked, &run->steps[i]))
                        note_difference(f, "only this run shows", run->steps[i].path);
}

static void compare_warm(struct found *f, const struct plan *parked, const struct plan *run)
{
        if (parked->warm_count != run->warm_count) {
                note_difference(f,
                                run->warm_count ? "the parked box holds no interpreter"
                                                : "the parked box holds an interpreter",
                                NULL);
                return;
        }

        if (run->warm_count == 0)
                return;

        const struct plan_order *a = parked->warm, *b = run->warm;
        if (!is(a->argv[0], b->argv[0]) || !is(a->exec[0], b->exec[0]))
                note_difference(f, "the parked program is", a->argv[0]);
        if (!is(a->cwd, b->cwd))
                note_difference(f, "its interpreter was started in", a->cwd);

        if (a->limits.value[LIMIT_CPU] != b->limits.value[LIMIT_CPU])
                note_difference(f, "the limit of cpu, which the interpreter has", NULL);

        size_t n = 1;
        while (a->argv[n] && b->argv[n] && is(a->argv[n], b->argv[n]))
                n++;
        if (a->argv[n] || b->argv[n])
                note_difference(f, "the options of its interpreter or module", NULL);

        n = 0;
        while (a->envp[n] && b->envp[n] && is(a->envp[n], b->envp[n]))
                n++;
        if (a->envp[n] || b->envp[n])
                note_difference(f, "the variables of the interpreter", NULL);
}

static void compare_plans(struct found *f, const struct plan *parked, const struct plan *run)
{
        if (parked->wall != run->wall || parked->without != run->without)
                note_difference(f, "the wall", NULL);
        if (memcmp(parked->limits.value, run->limits.value, sizeof run->limits.value) != 0)
                note_difference(f, "a limit of memory, procs, files or disk", NULL);
        if (parked->run_any != run->run_any)
                note_difference(f, "the programs that may run", NULL);
        if (parked->local != run->local)
                note_difference(f, "`local`", NULL);
        if (parked->handle_count != run->handle_count)
                note_difference(f, "the `in` and `out` handles", NULL);
        if (parked->net != run->net)
                note_difference(f, "the `net` doors", NULL);

        compare_warm(f, parked, run);
        compare_steps(f, parked, run);
}

unsigned pool_recipe_diff(const struct pool_recipe *parked, const struct pool_recipe *run, struct buf *out)
{
        struct found f = { .out = out };
        if (parked->beside != run->beside)
                note_difference(&f, "a file beside one that is hidden", NULL);
        if (parked->mask != run->mask)
                note_difference(&f, "the umask", NULL);
        if (parked->observe != run->observe)
                note_difference(&f, "--observe", NULL);
        if (parked->require_groups != run->require_groups)
                note_difference(&f, "--require-limit", NULL);
        if (parked->root != run->root || parked->uid != run->uid || parked->gid != run->gid)
                note_difference(&f, "the user", NULL);
        if (run->plan->net && (parked->stage != run->stage || !is(parked->places, run->places)))
                note_difference(&f, "--stage or --places", NULL);
        if (run->plan->net && parked->no_ledger != run->no_ledger)
                note_difference(&f, "--ledger", NULL);

        compare_plans(&f, parked->plan, run->plan);
        if (run->plan->net && parked->plan->net && !is(parked->digest, run->digest))
                note_difference(&f, "the policy's text", NULL);

        if (f.count == 0)
                note_difference(&f, "a rule of its files", NULL);
        if (f.count > NAMED_MOST)
                buf_printf(out, " and %u more", f.count - NAMED_MOST);
        return f.count;
}
