/* SPDX-License-Identifier: MIT */
/* policy/read/use.c - `use`: the union with stock and own policies. A name is taken once however often it is
 * used, so the work is bounded by the number of different names. */
#include "base/hash.h"
#include "policy/internal.h"

#include <stdlib.h>

enum { USE_MAX = 64 }; /* different names of one policy */

static int unknown_use(struct gather *g, const struct use_line *u)
{
        size_t count;
        const char *const *names = policy_stock_names(&count);
        (void) fail_at(g->scope.e, &u->at, "policy \"%s\" does not exist", show_text(u->name).text);
        hint_nearest(g->scope.e, u->name, names, count);
        return -1;
}

static int find_text(struct gather *g, const struct use_line *u, struct span *ret_text, bool *ret_stock)
{
        const struct policy_context *ctx = g->scope.ctx;
        const char *stock = policy_stock_text(u->name);
        *ret_stock = stock != NULL;
        if (stock) {
                *ret_text = span_str(stock);
                return 0;
        }

        if (strncmp(u->name, "base/", 5) == 0 || !ctx->load)
                return unknown_use(g, u);

        g->scope.e->code = ERR_NONE; /* to see whether the loader gave its own reason */
        if (ctx->load(ctx->load_ctx, u->name, ret_text, g->scope.e) == 0)
                return 0;

        if (g->scope.e->code == ERR_NONE)
                return unknown_use(g, u);

        char at[256];
        return err_in(g->scope.e, "%s: use %s", policy_place(&u->at, at, sizeof at), u->name);
}

static bool is_seen(const struct gather *g, const char *name)
{
        for (size_t i = 0; i < g->n_seen; i++)
                if (strcmp(g->seen[i], name) == 0)
                        return true;
        return false;
}

static int remember_use(struct gather *g, const struct use_line *u)
{
        if (g->n_seen == USE_MAX)
                return fail_at(g->scope.e, &u->at, "more than %d policies are used", USE_MAX);

        if (vec_room((void **) &g->seen, g->n_seen, &g->cap_seen, sizeof *g->seen) < 0)
                return fail_memory(g->scope.e);

        char *name = arena_str(g->scope.mem, u->name);
        if (!name)
                return fail_memory(g->scope.e);

        g->seen[g->n_seen++] = name;
        return 0;
}

static int check_chain(struct gather *g, const struct use_line *u, const struct use_chain *chain)
{
        for (const struct use_chain *c = chain; c; c = c->up)
                if (c->name && strcmp(c->name, u->name) == 0)
                        return fail_at(g->scope.e, &u->at, "\"%s\" uses itself", u->name);
        if (chain && chain->depth >= POLICY_MAX_USE_DEPTH)
                return fail_at(g->scope.e, &u->at, "`use` is nested deeper than %d", POLICY_MAX_USE_DEPTH);
        return 0;
}

/* ---- programs ---- */

static bool is_any(const struct door *d) { return d->kind == DOOR_RUN && strcmp(d->path, "*") == 0; }

/* `run any` of a stock policy and all programs of base/strict: the programs that may start unless the
 * policy has its own `run` lines. */
static bool is_default_run(const struct door *d)
{
        return d->from_stock && d->kind == DOOR_RUN && (is_any(d) || strcmp(d->at.file, "base/strict") == 0);
}

static bool has_own_run(const struct door_set *s, bool any)
{
        for (size_t i = 0; i < s->n; i++)
                if (s->v[i].kind == DOOR_RUN && !s->v[i].from_stock && is_any(&s->v[i]) == any)
                        return true;
        return false;
}

static int take_use(struct gather *g, const struct use_line *u, const struct use_chain *chain);

/* An expired line narrows as well: a date that passes opens nothing. */
int gather_narrow(struct gather *g)
{
        struct door_set *s = &g->c->live;
        size_t kept = 0, all = s->n;
        if (has_own_run(s, true) || (!has_own_run(s, false) && !has_own_run(&g->c->closed, false)))
                return 0;

        for (size_t i = 0; i < all; i++)
                if (!is_default_run(&s->v[i]))
                        s->v[kept++] = s->v[i];

        s->n = kept;
        if (kept == all)
                return 0;

        g->c->narrowed = true;
        static char loader[] = "base/loader"; /* the libraries that named programs are linked to */
        struct use_line u = { .name = loader, .at = { .file = "cordon" } };
        return take_use(g, &u, NULL);
}

/* A used policy's expectations are tests of that policy alone: the policy that uses it may have wider
 * doors. */
static int hold_alone(struct gather *g, const struct policy *p, const struct use_chain *chain)
{
        struct checked_policy *alone = calloc(1, sizeof *alone);
        if (!alone)
                return fail_memory(g->scope.e);

        alone->work = g->c->work; /* borrowed: they outlive it */
        alone->home = g->c->home;
        struct gather own = { .scope = g->scope, .c = alone, .nested = true };
        own.scope.mem = &alone->mem;
        int r = gather_policy(&own, p, false, chain);
        if (r == 0 && gather_narrow(&own) == 0 && door_set_seal(&alone->live, g->scope.e) == 0 &&
            door_set_seal(&alone->closed, g->scope.e) == 0)
                r = check_expects(alone, p, &own.scope, false);
        else
                r = -1;

        free(own.seen);
        policy_checked_free(alone);
        return r;
}

/* Takes the doors of the used policy, and its limits if the using policy states none: of two, the smaller. */
static void take_limits(struct gather *g, const struct policy *p)
{
        struct policy_limits *to = &g->c->limits;
        to->renew_asks |= p->limits.renew_asks;
        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                bool with_time = k == LIMIT_RENEW && p->limits.stated[LIMIT_TIME];
                if (with_time || !p->limits.stated[k] ||
                    (to->value[k] != 0 && p->limits.value[k] >= to->value[k]))
                        continue;
                to->value[k] = p->limits.value[k];
                if (k == LIMIT_TIME)
                        to->value[LIMIT_RENEW] = p->limits.value[LIMIT_RENEW];
        }
}

static int has_changed(struct gather *g, const struct use_line *u, const char *digest)
{
        (void) fail_at(g->scope.e, &u->at, "policy %s does not match its pinned digest", u->name);
        return err_hint(g->scope.e, "review the change, then pin it: `use %s sha256:%s`", u->name, digest);
}

/* A policy from outside the stock set is pinned to the text that was reviewed: it cannot be widened
 * silently. */
static int check_pin(struct gather *g, const struct use_line *u, struct span text, bool stock)
{
        struct checked_policy *c = g->c;
        char digest[65];

        if (stock && !u->pin)
                return 0;

        sha256_hex(text, digest);
        if (u->pin)
                return strcmp(u->pin, digest) == 0 ? 0 : has_changed(g, u, digest);

        if (vec_room((void **) &c->unpinned, c->n_unpinned, &c->cap_unpinned, sizeof *c->unpinned) < 0)
                return fail_memory(g->scope.e);

        struct unpinned_use *x = &c->unpinned[c->n_unpinned];
        *x = (struct unpinned_use){ .name = arena_str(g->scope.mem, u->name), .at = u->at };
        x->at.file = arena_str(g->scope.mem, u->at.file);
        memcpy(x->digest, digest, sizeof x->digest);
        if (!x->name || !x->at.file)
                return fail_memory(g->scope.e);

        c->n_unpinned++;
        return 0;
}

/* A name that is in already may be pinned by another line. */
static int check_again(struct gather *g, const struct use_line *u)
{
        struct span text;
        bool stock;

        return u->pin && (find_text(g, u, &text, &stock) < 0 || check_pin(g, u, text, stock) < 0) ? -1 : 0;
}

static int take_text(struct gather *g, const struct use_line *u, const struct use_chain *chain,
                     struct policy *p)
{
        struct use_chain link = { .up = chain, .name = u->name, .depth = chain ? chain->depth + 1 : 1 };
        struct span text;
        bool stock;
        if (find_text(g, u, &text, &stock) < 0 || check_pin(g, u, text, stock) < 0 ||
            policy_add_text(p, u->name, text, g->scope.e) < 0)
                return -1;

        if (p->n_expects > 0 && !g->nested && hold_alone(g, p, &link) < 0)
                return -1;

        take_limits(g, p);
        return gather_policy(g, p, stock, &link);
}

static int take_use(struct gather *g, const struct use_line *u, const struct use_chain *chain)
{
        if (strcmp(u->name, "none") == 0)
                return 0;

        if (check_chain(g, u, chain) < 0)
                return -1;

        if (is_seen(g, u->name))
                return check_again(g, u);

        if (remember_use(g, u) < 0)
                return -1;

        struct policy *p = policy_new();
        int r = p ? take_text(g, u, chain, p) : fail_memory(g->scope.e);
        policy_free(p);
        return r;
}

static int take_local(struct gather *g, const struct policy *p, bool stock)
{
        g->c->local |= p->local;
        g->c->rules |= p->rules;
        if (stock || !p->local)
                return 0;

        if (!g->c->local_own) {
                g->c->local_at = p->local_at;
                g->c->local_at.file = arena_str(g->scope.mem, p->local_at.file);
        }

        g->c->local_own |= p->local;
        return g->c->local_at.file ? 0 : fail_memory(g->scope.e);
}

int gather_policy(struct gather *g, const struct policy *p, bool stock, const struct use_chain *chain)
{
        if (chain && p->root.text)
                return fail_at(g->scope.e, &p->root.at, "`root` has no effect in a policy that another uses");

        for (int i = 0; chain && i < WARM__COUNT; i++)
                if (p->warm[i].text)
                        return fail_at(g->scope.e, &p->warm[i].at,
                                       "`warm` has no effect in a policy that another uses");

        if (take_local(g, p, stock) < 0)
                return -1;

        for (size_t i = 0; i < p->n_uses; i++)
                if (take_use(g, &p->uses[i], chain) < 0)
                        return -1;

        for (size_t i = 0; i < p->n_doors; i++)
                if (gather_door(g, &p->doors[i], stock) < 0)
                        return -1;

        return 0;
}
