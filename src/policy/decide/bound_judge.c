/* SPDX-License-Identifier: MIT */
/* policy/decide/bound_judge.c - are the parameters of a request within the bounds of a door? decide_ref.c
 * implements the same again, independently. */
#include "policy/internal.h"

static bool is_string(const struct param *x) { return x->kind == PARAM_TEXT || x->kind == PARAM_STRING; }

static enum fault_kind judge_int(const struct net_bound *b, const struct param *x)
{
        int64_t v;
        if ((x->kind != PARAM_TEXT && x->kind != PARAM_INT) || param_int(x->value, &v) < 0)
                return FAULT_TYPE;
        return v < b->least || v > b->most ? FAULT_VALUE : FAULT_NONE;
}

static enum fault_kind judge_num(const struct net_bound *b, const struct param *x)
{
        int64_t v;
        bool number = x->kind == PARAM_TEXT || x->kind == PARAM_INT || x->kind == PARAM_NUMBER;
        if (!number || param_num(x->value, &v) < 0)
                return FAULT_TYPE;
        return v < b->least || v > b->most ? FAULT_VALUE : FAULT_NONE;
}

static enum fault_kind judge_one(const struct net_bound *b, const struct param *x)
{
        for (char **v = b->one; *v; v++)
                if (is_string(x) && strcmp(*v, x->value) == 0)
                        return FAULT_NONE;
        return is_string(x) ? FAULT_VALUE : FAULT_TYPE;
}

static enum fault_kind judge_text(const struct net_bound *b, const struct param *x)
{
        if (!is_string(x) || !(b->type == BOUND_LINES ? param_is_lines : param_is_text)(x->value))
                return FAULT_TYPE;
        return strlen(x->value) > (size_t) b->most ? FAULT_VALUE : FAULT_NONE;
}

static enum fault_kind judge_bool(const struct net_bound *b, const struct param *x)
{
        (void) b;
        bool word = strcmp(x->value, "true") == 0 || strcmp(x->value, "false") == 0;
        return x->kind == PARAM_BOOL || (x->kind == PARAM_TEXT && word) ? FAULT_NONE : FAULT_TYPE;
}

static enum fault_kind judge_absent(const struct net_bound *b, const struct param *x)
{
        (void) b;
        (void) x;
        return FAULT_VALUE;
}

static enum fault_kind (*const judges[])(const struct net_bound *, const struct param *) = {
        [BOUND_INT] = judge_int,       [BOUND_NUM] = judge_num,    [BOUND_ONE] = judge_one,
        [BOUND_TEXT] = judge_text,     [BOUND_LINES] = judge_text, [BOUND_BOOL] = judge_bool,
        [BOUND_ABSENT] = judge_absent,
};

static bool is_named(const struct net_bound *b, const struct param *x)
{
        return !x->odd && strcmp(b->name, x->name) == 0;
}

static bool is_misplaced(const struct net_bound *b, const struct param *x)
{
        return b->place && (b->place == BOUND_IN_BODY) != x->in_body;
}

/* An array of JSON, or a name that a query or form repeats. An empty list is a missing one. */
static struct fault judge_list(const struct net_bound *b, const struct param *found)
{
        size_t n = 0;
        if (found->kind != PARAM_ARRAY && found->kind != PARAM_TEXT)
                return (struct fault){ FAULT_TYPE, b, found };

        for (const struct param *x = found->kind == PARAM_ARRAY ? found->items : found; x; x = x->next) {
                if (!is_named(b, x))
                        continue;
                enum fault_kind kind = ++n > b->list ? FAULT_COUNT : judges[b->type](b, x);
                if (kind != FAULT_NONE)
                        return (struct fault){ kind, b, x };
        }

        return (struct fault){ n || b->optional ? FAULT_NONE : FAULT_MISSING, b, n ? found : NULL };
}

static bool is_repeated(const struct net_bound *b, const struct param *one, const struct param *next)
{
        return b->list && one->kind == PARAM_TEXT && next->kind == PARAM_TEXT &&
               one->in_body == next->in_body;
}

static struct fault judge_bound(const struct net_bound *b, const struct params *p)
{
        const struct param *found = NULL;
        for (const struct param *x = p->first; x; x = x->next) {
                if (param_fold_inside(b->fold, x->fold) || param_fold_inside(x->fold, b->fold))
                        return (struct fault){ FAULT_NEST, b, x };
                if (!param_fold_same(b->fold, x->fold))
                        continue;
                if (!is_named(b, x))
                        return (struct fault){ FAULT_SPELLED, b, x };
                if (found && !is_repeated(b, found, x))
                        return (struct fault){ FAULT_TWICE, b, x };
                found = found ? found : x;
        }

        if (!found)
                return (struct fault){ b->optional ? FAULT_NONE : FAULT_MISSING, b, NULL };

        if (is_misplaced(b, found))
                return (struct fault){ FAULT_PLACE, b, found };

        return b->list ? judge_list(b, found) : (struct fault){ judges[b->type](b, found), b, found };
}

static bool is_among(const struct net_dest *d, const struct param *x)
{
        for (size_t i = 0; i < d->bound_count; i++)
                if (is_named(&d->bounds[i], x))
                        return true;
        return false;
}

struct fault bounds_judge(const struct net_dest *d, const struct params *p)
{
        if (!p || p->unread)
                return (struct fault){ FAULT_UNREAD, &d->bounds[0], NULL };

        for (size_t i = 0; i < d->bound_count; i++) {
                struct fault f = judge_bound(&d->bounds[i], p);
                if (f.kind != FAULT_NONE)
                        return f;
        }

        for (const struct param *x = p->first; d->only && x; x = x->next)
                if (!x->shadow && !is_among(d, x))
                        return (struct fault){ FAULT_EXTRA, NULL, x };

        return (struct fault){ 0 };
}
