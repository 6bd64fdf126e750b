/* SPDX-License-Identifier: MIT */
/* run/api/widened.c - doors with an end and wide ones: on how many days they were open, and how many are
 * left.
 *
 * The ledger names policies by digest, and a policy whose door has expired has another digest than before:
 * so the digests of the times just before each end are looked for as well. */
#include "base/clock.h"
#include "policy/learn/learn.h"
#include "run/api/past.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES_MAX = 32, DAY = 86400 };

struct version { /* the policy, as it was from one end to the next */
        int64_t time;
        char digest[72];
};
struct counted {
        struct learn_widened w;
        int64_t until, day, day_used; /* the newest days that were counted */
        bool net;
};
struct count {
        const struct past *past;
        struct version versions[TIMES_MAX];
        size_t version_count;
        struct counted *v;
        size_t n;
        struct policy_context at;
};

static bool is_wide(const struct door *d)
{
        bool any = d->kind == DOOR_RUN && strcmp(d->path, "*") == 0;
        return !d->from_stock && (d->until || any);
}

static void add_door(struct count *c, const struct door *d, struct arena *mem)
{
        AUTO_BUF(line);
        struct counted *x = &c->v[c->n];
        if (!is_wide(d))
                return;

        *x = (struct counted){ .until = d->until, .day = -1, .day_used = -1, .net = d->kind == DOOR_NET };
        policy_door_without_end(d, &line, x->w.until);
        x->w.line = arena_str(mem, buf_str(&line));
        mem->failed |= line.failed;
        int64_t left = d->until - c->at.now;
        x->w.expired = d->until && left <= 0;
        x->w.days_left = d->until == 0 ? -1 : left > 0 ? (left + DAY - 1) / DAY : 0;
        c->n++;
}

/* A version that does not hold any more, for whatever reason, has no runs that could be found. */
static void add_version(struct count *c, cordon_policy *p, int64_t time)
{
        struct err ignored;
        if (c->version_count == TIMES_MAX)
                return;

        struct checked_policy *was = api_check_at(p, time, &ignored);
        if (!was)
                return;

        struct version *v = &c->versions[c->version_count++];
        v->time = time;
        (void) snprintf(v->digest, sizeof v->digest, "%s", policy_digest(was));
        policy_checked_free(was);
}

static const struct version *version_of(const struct count *c, const struct past_run *r)
{
        for (size_t i = 0; i < c->version_count; i++)
                if (strcmp(c->versions[i].digest, r->policy) == 0)
                        return &c->versions[i];
        return NULL;
}

static bool was_open(const struct counted *x, const struct version *v)
{
        return v && (x->until == 0 || v->time < x->until);
}

static void count_runs(struct count *c)
{
        for (size_t i = 0; i < c->past->n; i++) {
                const struct past_run *r = &c->past->v[i];
                const struct version *v = version_of(c, r);
                for (size_t k = 0; k < c->n; k++) {
                        struct counted *x = &c->v[k];
                        if (!was_open(x, v))
                                continue;
                        x->w.runs++;
                        x->w.days += past_day(r->of->start_us) != x->day;
                        x->day = past_day(r->of->start_us);
                        x->w.use_known |= !r->of->pruned && (r->of->observed || x->net);
                }
        }
}

/* "read /a until 2026-12-01T00:00Z" is the door `read /a`. */
static bool is_line(struct span used, const char *line)
{
        size_t n = strlen(line);
        static const char end[] = " until ";
        if (used.n < n || memcmp(used.p, line, n) != 0)
                return false;
        return used.n == n || (used.n > n + sizeof end && memcmp(used.p + n, end, sizeof end - 1) == 0);
}

static bool is_use(const struct count *c, const struct counted *x, const struct ledger_view *v)
{
        char line[4096];
        if (!x->net) {
                struct span used = ledger_member(v->more, "line");
                return used.n && is_line(span_str(ledger_plain(used, line, sizeof line)), x->w.line);
        }

        const char *to = ledger_plain(v->target, line, sizeof line);
        const struct learn_evidence ev = { .dests = &to, .dest_count = 1, .need = 1, .at = c->at };
        return (span_is(v->kind, "net") || span_is(v->kind, "request")) &&
               learn_line_use(x->w.line, &ev) == LEARN_USED;
}

static void count_uses(struct count *c)
{
        struct ledger_view v;
        struct ledger_walk w = { .log = c->past->log };
        while (w.log && c->n && ledger_next(&w, &v)) {
                if (!span_is(v.phase, "outcome"))
                        continue;
                const struct past_run *r = past_find(c->past, v.run);
                const struct version *version = r ? version_of(c, r) : NULL;
                for (size_t k = 0; k < c->n; k++) {
                        struct counted *x = &c->v[k];
                        if (past_day(v.time_us) == x->day_used || !was_open(x, version) || !is_use(c, x, &v))
                                continue;
                        x->w.days_used++;
                        x->day_used = past_day(v.time_us);
                }
        }
}

static void find_doors(struct count *c, cordon_policy *p, struct arena *mem)
{
        size_t live, closed;
        const struct door *a = policy_doors(p->checked, &live), *b = policy_doors_closed(p->checked, &closed);
        for (size_t i = 0; i < live; i++)
                add_door(c, &a[i], mem);

        for (size_t i = 0; i < closed; i++) {
                add_door(c, &b[i], mem);
                add_version(c, p, b[i].until - 1);
        }

        add_version(c, p, c->at.now);
}

int past_widened(const struct past *past, cordon_policy *p, struct arena *mem, struct learn_widened **ret,
                 size_t *ret_count, struct err *e)
{
        size_t live, closed;
        (void) policy_doors(p->checked, &live);
        (void) policy_doors_closed(p->checked, &closed);
        struct count c = { .past = past, .at = api_context(p) };
        c.v = calloc(live + closed + 1, sizeof *c.v);
        struct learn_widened *w = calloc(live + closed + 1, sizeof *w);
        if (c.v && w) {
                find_doors(&c, p, mem);
                count_runs(&c);
                count_uses(&c);
                for (size_t i = 0; i < c.n; i++)
                        w[i] = c.v[i].w;
        }

        bool failed = !c.v || !w || mem->failed;
        free(c.v);
        if (failed) {
                free(w);
                return err_set(e, ERR_MEMORY, 0, "no memory");
        }

        *ret = w;
        *ret_count = c.n;
        return 0;
}

char *cordon_policy_widened(cordon_policy *p, cordon_error *pe)
{
        struct past past = { 0 };
        struct arena mem = { 0 };
        struct learn_widened *w = NULL;
        size_t n = 0;
        AUTO_BUF(out);
        int r = cordon_policy_check(p, pe);
        if (r == 0)
                r = past_open(p->cx, &past, 0, to_err(pe));

        if (r == 0)
                r = past_widened(&past, p, &mem, &w, &n, to_err(pe));

        for (size_t i = 0; i < n; i++)
                learn_widened_text(&w[i], &out);

        past_done(&past);
        arena_done(&mem);
        free(w);
        return r < 0 ? NULL : api_give(&out, to_err(pe));
}
