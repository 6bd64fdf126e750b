/* SPDX-License-Identifier: MIT */
/* effect/gate/gate_grants.c - approvals of more than one effect: of a template, for some uses or some time;
 * and batches.
 */
#include "effect/gate/gate.h"

#include <string.h>

bool gate_grant_of(const struct gate_item *it, struct gate_grant *ret)
{
        bool more = it->scope.uses > 1 || (it->scope.uses == 0 && it->scope.until_ms != 0);
        if ((it->state != GATE_APPROVED && it->state != GATE_CONSUMED) || !more)
                return false;

        *ret = (struct gate_grant){ .left = it->scope };
        memcpy(ret->template, it->template, sizeof ret->template);
        if (ret->left.uses)
                ret->left.uses--; /* the approved effect itself */
        return true;
}

/* `uses` 0: only the time ends it. */
bool gate_grant_use(struct gate_grant *g, const char *template_id, int64_t now_ms)
{
        bool counted = g->left.uses > 0, timed = g->left.until_ms != 0;
        if (g->revoked || !g->template[0] || strcmp(g->template, template_id) != 0 ||
            (timed && now_ms >= g->left.until_ms) || (!counted && !timed))
                return false;

        if (counted && --g->left.uses == 0)
                g->revoked = true;
        return true;
}

bool gate_batch_fits(const struct gate_batch_row *rows, size_t n)
{
        if (n == 0 || n > GATE_BATCH_MAX)
                return false;

        for (size_t i = 1; i < n; i++)
                if (strcmp(rows[i].door, rows[0].door) != 0 ||
                    strcmp(rows[i].template, rows[0].template) != 0 || rows[i].high != rows[0].high)
                        return false;

        return true;
}
