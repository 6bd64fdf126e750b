/* SPDX-License-Identifier: MIT */
/* policy/decide/tool_decide.c - may a client call this tool of the server in the box? decide_ref.c implements
 * the same again. */
#include "policy/internal.h"

static const char EVERY_TOOL[] = "no `tool` line: every tool may be called";

const char *policy_every_tool(void) { return EVERY_TOOL; }

static bool is_excepted(const struct door *d, const char *name)
{
        for (char **x = d->except; x && *x; x++)
                if (strcmp(*x, name) == 0)
                        return true;
        return false;
}

/* The first door that covers it; *ret_near: one that names it and does not. */
static const struct door *tool_in(const struct door_set *s, const struct effect *f,
                                  const struct door **ret_near)
{
        size_t lo, hi;
        *ret_near = NULL;
        for (door_set_find(s, DOOR_TOOL, span_str(f->target), &lo, &hi); lo < hi; lo++) {
                const struct door *d = &s->v[lo];
                if (!d->net.bounds || bounds_judge(&d->net, f->params).kind == FAULT_NONE)
                        return d;
                *ret_near = *ret_near ? *ret_near : d;
        }

        for (door_set_find(s, DOOR_TOOL, span_str("*"), &lo, &hi); lo < hi; lo++) {
                if (!is_excepted(&s->v[lo], f->target))
                        return &s->v[lo];
                *ret_near = *ret_near ? *ret_near : &s->v[lo];
        }
        return NULL;
}

static const struct door *denied_by(const struct checked_policy *c, const char *name)
{
        for (size_t i = 0; i < c->denied.n; i++)
                if (c->denied.v[i].denies && strcmp(c->denied.v[i].name, name) == 0)
                        return &c->denied.v[i];
        return NULL;
}

static bool has_tools(const struct door_set *s) { return s->start[DOOR_TOOL] < s->start[DOOR_TOOL + 1]; }

struct decision tool_decide(const struct checked_policy *c, const struct effect *f)
{
        const struct door *near, *old_near;
        const struct door *denies = denied_by(c, f->target);
        if (denies)
                return (struct decision){ .reason = REASON_EXCEPTED, .nearest = denies };

        const struct door *d = tool_in(&c->live, f, &near), *old = tool_in(&c->closed, f, &old_near);
        if (!has_tools(&c->live) && !has_tools(&c->closed))
                return (struct decision){ .answer = ANSWER_ALLOW, .built_in = EVERY_TOOL };

        if (d)
                return (struct decision){ .answer = ANSWER_ALLOW, .door = d };
        if (old)
                return (struct decision){ .reason = REASON_EXPIRED, .nearest = old };

        enum effect_reason why = !near              ? REASON_NO_DOOR
                                 : near->net.bounds ? REASON_PARAMETER
                                                    : REASON_EXCEPTED;
        return (struct decision){ .reason = why, .nearest = near };
}
