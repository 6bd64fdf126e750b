/* SPDX-License-Identifier: MIT */
/* lib/learn_log.c - cordon_tighten_log(): which doors past runs under a policy used, as the ledger has it.
 * Net doors are recorded in every run; doors for files and programs in runs that were observed in full. */
#include "base/fd.h"
#include "ledger/ledger.h"
#include "lib/teacher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct texts {
        struct arena mem;
        const char **v;
        size_t n, cap;
};

struct history {
        const struct ledger_log *log;
        const char *digest;
        char ended[32];           /* how a run that counts ended: "exited 0" */
        struct texts runs;        /* under this policy */
        struct texts used, dests; /* lines of doors, and where connections went */
        unsigned counted, observed;
        bool failed;
};

static bool has(const struct texts *t, struct span s)
{
        for (size_t i = 0; i < t->n; i++)
                if (span_is(s, t->v[i]))
                        return true;
        return false;
}

static void keep(struct history *h, struct texts *t, struct span s)
{
        char plain[4096];
        struct span text = span_str(ledger_plain(s, plain, sizeof plain));
        if (has(t, text))
                return;
        if (t->n == t->cap) {
                size_t cap = t->cap ? 2 * t->cap : 64;
                const char **v = realloc(t->v, cap * sizeof *v);
                if (!v) {
                        h->failed = true;
                        return;
                }
                t->v = v;
                t->cap = cap;
        }
        char *copy = arena_copy(&t->mem, text);
        if (copy)
                t->v[t->n++] = copy;
        h->failed |= !copy;
}

static void texts_done(struct texts *t)
{
        arena_done(&t->mem);
        free(t->v);
}

/* Only runs that ended as the caller wants count: one that failed has used less. */
static void find_runs(struct history *h)
{
        struct texts begun = { 0 };
        for (uint64_t i = 0; i < ledger_log_count(h->log); i++) {
                struct ledger_view v;
                if (ledger_log_view(h->log, i, &v) < 0)
                        continue;
                if (span_is(v.kind, "start") && span_is(v.policy, h->digest))
                        keep(h, &begun, v.run);
                if (!span_is(v.kind, "end") || !span_is(v.result, h->ended) || !has(&begun, v.run))
                        continue;
                keep(h, &h->runs, v.run);
                h->counted++;
                h->observed += span_is(ledger_member(v.more, "observed"), "all");
        }
        texts_done(&begun);
}

static void read_uses(struct history *h)
{
        for (uint64_t i = 0; i < ledger_log_count(h->log); i++) {
                struct ledger_view v;
                if (ledger_log_view(h->log, i, &v) < 0 || !span_is(v.phase, "outcome") ||
                    !has(&h->runs, v.run))
                        continue;
                struct span line = ledger_member(v.more, "line");
                if (span_is(v.kind, "net") || span_is(v.kind, "request"))
                        keep(h, &h->dests, v.target);
                else if (line.n && span_is(v.result, "door used"))
                        keep(h, &h->used, line);
        }
}

static int read_history(struct history *h, struct err *e)
{
        AUTO_FD(dir, ledger_dir_open(false, e));
        struct ledger_log *log = dir < 0 ? NULL : ledger_log_open(dir, e);
        if (!log)
                return -1;
        h->log = log;
        find_runs(h);
        read_uses(h);
        ledger_log_free(log);
        return h->failed ? err_set(e, ERR_MEMORY, 0, "no memory") : 0;
}

static char *digest_of(const struct teacher *t, cordon_error *e)
{
        cordon_policy *p = cordon_policy_new();
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
        h.digest = digest;
        (void) snprintf(h.ended, sizeof h.ended, "exited %d", t->o->status);
        int r = read_history(&h, to_err(e));
        if (r == 0) {
                const struct learn_evidence ev = { .lines = h.used.v,
                                                   .line_count = h.used.n,
                                                   .dests = h.dests.v,
                                                   .dest_count = h.dests.n,
                                                   .runs = h.counted,
                                                   .observed = h.observed,
                                                   .need = need,
                                                   .at = t->at };
                learn_close_unused(d, &ev);
                ret->past_runs = h.counted;
                ret->past_observed = h.observed;
        }
        texts_done(&h.runs);
        texts_done(&h.used);
        texts_done(&h.dests);
        free(digest);
        return r;
}
