/* SPDX-License-Identifier: MIT */
/* policy/use.c - `use`: the union with stock and own policies. A name is taken once however often it is used,
 * so the work is bounded by the number of different names. */
#include "policy/internal.h"

#include <stdlib.h>

enum { USE_MAX = 64 }; /* different names of one policy */

static int unknown_use(struct gather *g, const struct use_line *u)
{
        size_t count;
        const char *const *names = policy_stock_names(&count);
        (void) fail_at(g->scope.e, &u->at, "there is no policy \"%s\"", show_text(u->name).text);
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
        g->scope.e->code = ERR_NONE; /* to see whether the loader gave a reason of its own */
        if (ctx->load(ctx->load_ctx, u->name, ret_text, g->scope.e) == 0)
                return 0;
        if (g->scope.e->code == ERR_NONE)
                return unknown_use(g, u);
        char at[256];
        return err_in(g->scope.e, "%s: use %s", policy_place(&u->at, at, sizeof at), u->name);
}

static bool seen(const struct gather *g, const char *name)
{
        for (size_t i = 0; i < g->n_seen; i++)
                if (strcmp(g->seen[i], name) == 0)
                        return true;
        return false;
}

static int remember(struct gather *g, const struct use_line *u)
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

/* A used policy's expectations are tests of that policy alone: the doors of the one who uses it may be wider.
 */
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
        if (r == 0 && door_set_seal(&alone->live, g->scope.e) == 0 &&
            door_set_seal(&alone->closed, g->scope.e) == 0)
                r = check_expects(alone, p, &own.scope, false);
        else
                r = -1;
        free(own.seen);
        policy_checked_free(alone);
        return r;
}

/* Nothing of the used policy but its doors, and limits where the user states none: of two, the smaller. */
static void take_limits(struct gather *g, const struct policy *p)
{
        struct policy_limits *to = &g->c->limits;
        for (int k = 0; k < LIMIT_KEY__COUNT; k++)
                if (p->limits.stated[k] && (to->value[k] == 0 || p->limits.value[k] < to->value[k]))
                        to->value[k] = p->limits.value[k];
}

static int take_text(struct gather *g, const struct use_line *u, const struct use_chain *chain,
                     struct policy *p)
{
        struct use_chain link = { .up = chain, .name = u->name, .depth = chain ? chain->depth + 1 : 1 };
        struct span text;
        bool stock;
        if (find_text(g, u, &text, &stock) < 0 || policy_add_text(p, u->name, text, g->scope.e) < 0)
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
        if (seen(g, u->name))
                return 0;
        if (remember(g, u) < 0)
                return -1;
        struct policy *p = policy_new();
        int r = p ? take_text(g, u, chain, p) : fail_memory(g->scope.e);
        policy_free(p);
        return r;
}

int gather_policy(struct gather *g, const struct policy *p, bool stock, const struct use_chain *chain)
{
        for (size_t i = 0; i < p->n_uses; i++)
                if (take_use(g, &p->uses[i], chain) < 0)
                        return -1;
        for (size_t i = 0; i < p->n_doors; i++)
                if (gather_door(g, &p->doors[i], stock) < 0)
                        return -1;
        return 0;
}
