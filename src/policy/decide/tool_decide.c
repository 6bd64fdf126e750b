/* SPDX-License-Identifier: MIT */
/* policy/decide/tool_decide.c - may a client call this tool of the server in the box? decide_ref.c implements
 * the same again. */
#include "policy/internal.h"

/* The best of the doors with this key that cover it: one that does not ask. *ret_near: one that does not
 * cover it. */
static const struct door *best_of(const struct door_set *s, const char *key, const struct effect *f,
                                  const struct door **ret_near)
{
        const struct door *best = NULL;
        size_t lo, hi;
        for (door_set_find(s, DOOR_TOOL, span_str(key), &lo, &hi); lo < hi; lo++) {
                const struct door *d = &s->v[lo];
                if (d->net.bounds && bounds_judge(&d->net, f->params).kind != FAULT_NONE)
                        *ret_near = *ret_near ? *ret_near : d;
                else if (!best || (best->ask.on && !d->ask.on))
                        best = d;
        }
        return best;
}

/* A door of the tool's own name before `tool any`. */
static const struct door *tool_in(const struct door_set *s, const struct effect *f,
                                  const struct door **ret_near)
{
        *ret_near = NULL;
        const struct door *own = best_of(s, f->target, f, ret_near);
        return own ? own : best_of(s, "*", f, ret_near);
}

struct decision tool_decide(const struct checked_policy *c, const struct effect *f)
{
        const struct door *near, *old_near;
        const struct door *d = tool_in(&c->live, f, &near), *old = tool_in(&c->closed, f, &old_near);
        if (d)
                return (struct decision){ .answer = ANSWER_ALLOW, .door = d };
        if (old)
                return (struct decision){ .reason = REASON_EXPIRED, .nearest = old };

        return (struct decision){ .reason = near ? REASON_PARAMETER : REASON_NO_DOOR, .nearest = near };
}
