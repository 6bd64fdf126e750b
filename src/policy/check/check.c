/* SPDX-License-Identifier: MIT */
/* policy/check/check.c - the only maker of a struct checked_policy: gathers doors, seals them, checks the
 * expectations, lints. */
#include "policy/internal.h"

#include <stdlib.h>

static int take_singletons(struct checked_policy *c, const struct policy *p)
{
        c->box.text = arena_str(&c->mem, p->box.text ? p->box.text : "box");
        c->doc.text = arena_str(&c->mem, p->doc.text ? p->doc.text : "");
        c->wall = p->wall.kind;
        c->without = p->wall.without;
        for (int k = 0; k < LIMIT_KEY__COUNT; k++) {
                uint64_t used = c->limits.value[k]; /* stated by a used policy, or 0 */
                bool own = p->limits.stated[k];
                c->limits.value[k] = own    ? p->limits.value[k]
                                     : used ? used
                                            : limit_row((enum limit_key) k)->fallback;
                c->limits.stated[k] = own || used;
        }

        return c->box.text && c->doc.text ? 0 : -1;
}

/* With no `use` at all a box still needs the loader and libraries that nearly every program is linked to. */
static int take_default(struct gather *g)
{
        static char system_name[] = "base/system", loader_name[] = "base/loader";
        bool system = g->scope.ctx->default_system;
        struct use_line u = { .name = system ? system_name : loader_name, .at = { .file = "cordon" } };
        struct policy p = { .uses = &u, .n_uses = 1 };
        return gather_policy(g, &p, true, NULL);
}

static int check_into(struct gather *g, const struct policy *p)
{
        struct checked_policy *c = g->c;
        struct err *e = g->scope.e;
        if (p->n_uses == 0 && take_default(g) < 0)
                return -1;

        if (gather_policy(g, p, false, NULL) < 0 || gather_narrow(g) < 0 || door_set_seal(&c->live, e) < 0 ||
            door_set_seal(&c->closed, e) < 0)
                return -1;

        if (take_singletons(c, p) < 0)
                return fail_memory(e);

        if (check_expects(c, p, &g->scope, true) < 0)
                return -1;

        return lint_run(c, p, g->scope.ctx, e);
}

struct checked_policy *policy_check(const struct policy *p, const struct policy_context *c, struct err *e)
{
        struct checked_policy *out = calloc(1, sizeof *out);
        if (!out) {
                (void) fail_memory(e);
                return NULL;
        }

        out->work = arena_str(&out->mem, c->work ? c->work : "");
        out->home = arena_str(&out->mem, c->home ? c->home : "");
        if (out->mem.failed) {
                policy_checked_free(out);
                (void) fail_memory(e);
                return NULL;
        }

        struct gather g = { .scope = { .ctx = c, .mem = &out->mem, .e = e }, .c = out };
        int r = check_into(&g, p);
        free(g.seen);
        if (r == 0)
                return out;

        policy_checked_free(out);
        return NULL;
}
