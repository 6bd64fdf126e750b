/* SPDX-License-Identifier: MIT */
/* face/serve/own_gates.c - the user's boxes that wait for an approval, whichever process keeps them. */
#include "face/serve/own.h"

#include <stdio.h>
#include <unistd.h>

struct gates {
        struct server *s;
        bool (*each)(void *ctx, const struct asker *a);
        void *ctx;
        bool done;
};

static void take_gate(void *ctx, const char *run, unsigned uid)
{
        struct gates *g = ctx;
        struct asker a = { .s = g->s, .tenant = tenants_at(g->s->tenants, 0) };
        if (g->done || uid != geteuid())
                return;

        (void) snprintf(a.gate, sizeof a.gate, "%s", run);
        g->done = g->each(g->ctx, &a);
}

bool own_askers(struct server *s, bool (*each)(void *ctx, const struct asker *a), void *ctx)
{
        struct gates g = { .s = s, .each = each, .ctx = ctx };
        cordon_error ignored = { 0 };
        (void) cordon_gates(take_gate, &g, &ignored);
        return g.done;
}
