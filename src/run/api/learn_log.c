/* SPDX-License-Identifier: MIT */
/* run/api/learn_log.c - cordon_tighten_log(cx): which doors past runs under a policy used, as the ledger has
 * it. Net doors are recorded in every run; doors for files and programs in runs that were observed in full.
 */
#include "run/api/past.h"
#include "run/api/teacher.h"

#include <stdlib.h>
#include <string.h>

struct history {
        struct past past;
        struct past_uses uses;
        unsigned counted, observed;
};

/* Only runs that ended as the caller wants count: a failed run has used less. */
static void find_runs(struct history *h, const char *digest)
{
        for (size_t i = 0; i < h->past.n; i++) {
                struct past_run *r = &h->past.v[i];
                if (!r->passed || r->of->pruned || strcmp(r->policy, digest) != 0)
                        continue;
                r->group = 1;
                h->counted++;
                h->observed += r->of->observed;
        }
}

static void read_uses(struct history *h)
{
        struct ledger_view v;
        for (struct ledger_walk w = { .log = h->past.log }; ledger_next(&w, &v);) {
                const struct past_run *r = past_find(&h->past, v.run);
                if (r && r->group)
                        past_uses_note(&h->uses, &v, true);
        }
}

static int read_history(const struct cordon_context *cx, struct history *h, int status, const char *digest,
                        struct err *e)
{
        if (past_open(cx, &h->past, status, e) < 0 || !h->past.log)
                return -1;
        find_runs(h, digest);
        read_uses(h);
        return h->uses.mem.failed ? err_set(e, ERR_MEMORY, 0, "no memory") : 0;
}

static char *digest_of(const struct teacher *t, cordon_error *e)
{
        cordon_policy *p = cordon_policy_new(t->cx);
        char *digest = NULL;
        if (!p)
                (void) err_set(to_err(e), ERR_MEMORY, 0, "no memory");
        else if (cordon_policy_roots(p, t->at.work, t->at.home, e) == 0 &&
                 cordon_policy_add_text(p, t->o->name ? t->o->name : "policy", t->o->policy, t->o->policy_len,
                                        e) == 0)
                digest = cordon_policy_view(p, CORDON_VIEW_DIGEST, e);

        cordon_policy_free(p);
        if (digest)
                digest[strcspn(digest, "\n")] = '\0';

        return digest;
}

int teacher_close_unused(const struct teacher *t, struct learn_draft *d, cordon_learned *ret, cordon_error *e)
{
        struct history h = { 0 };
        char *digest = digest_of(t, e);
        unsigned need = t->o->runs ? t->o->runs : 3;

        if (!digest)
                return -1;

        int r = read_history(t->cx, &h, t->o->status, digest, to_err(e));
        if (r == 0) {
                const struct learn_evidence ev = { .lines = h.uses.used.v,
                                                   .line_count = h.uses.used.n,
                                                   .dests = h.uses.dests.v,
                                                   .dest_count = h.uses.dests.n,
                                                   .runs = h.counted,
                                                   .observed = h.observed,
                                                   .need = need,
                                                   .at = t->at };
                learn_close_unused(d, &ev);
                ret->past_runs = h.counted;
                ret->past_observed = h.observed;
        }

        past_uses_done(&h.uses);
        past_done(&h.past);
        free(digest);
        return r;
}
