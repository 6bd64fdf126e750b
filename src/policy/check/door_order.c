/* SPDX-License-Identifier: MIT */
/* policy/check/door_order.c - the canonical order of doors. Sorted doors give the digest, and are at the same
 * time the index of the compiled evaluator: each kind is one range, sorted by its key. */
#include "policy/internal.h"

#include <stdlib.h>

const char *door_key(const struct door *d)
{
        switch (d->kind) {
        case DOOR_READ:
        case DOOR_EDIT:
        case DOOR_WRITE:
        case DOOR_RUN:
        case DOOR_SOCK:
        case DOOR_DEV:
                return d->path;
        case DOOR_ENV:
        case DOOR_LISTEN:
        case DOOR_SIGN:
        case DOOR_DECRYPT:
        case DOOR_TOOL:
        case DOOR_IN:
        case DOOR_OUT:
                return d->name;
        case DOOR_NET:
                return d->net.host;
        case DOOR_NONE:
        case DOOR_KIND__COUNT:
                break;
        }
        return "";
}

static int cmp_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int cmp_str(const char *a, const char *b) { return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL); }

static int cmp_list(char *const *a, char *const *b)
{
        if (!a || !b)
                return (a != NULL) - (b != NULL);

        for (; *a && *b; a++, b++) {
                int c = strcmp(*a, *b);
                if (c)
                        return c;
        }

        return (*a != NULL) - (*b != NULL);
}

static int cmp_caps(const struct net_dest *a, const struct net_dest *b)
{
        int c = 0;
        for (unsigned i = 0; !c && i < NET_CAP__COUNT; i++)
                c = cmp_u64(a->cap[i], b->cap[i]);
        return c;
}

static int cmp_net(const struct net_dest *a, const struct net_dest *b)
{
        int c;
        if ((c = cmp_u64(a->form, b->form)) || (c = cmp_u64(a->wildcard, b->wildcard)) ||
            (c = cmp_u64(a->port, b->port)) || (c = cmp_u64(a->tls, b->tls)) ||
            (c = cmp_str(a->path, b->path)) || (c = cmp_u64(a->path_tail, b->path_tail)) ||
            (c = cmp_list(a->methods, b->methods)) || (c = cmp_str(a->credential, b->credential)) ||
            (c = cmp_caps(a, b)) || (c = bounds_order(a, b)) ||
            (c = cmp_u64(b->reach, a->reach))) /* the more specific door comes first, and is found first */
                return c;

        return cmp_u64(b->touches, a->touches);
}

/* 0 if two doors grant the same power, regardless of their source and `until`. */
static int cmp_power(const struct door *a, const struct door *b)
{
        int c;
        if ((c = cmp_u64(a->kind, b->kind)) || (c = strcmp(door_key(a), door_key(b))) ||
            (c = cmp_list(a->except, b->except)) || (c = cmp_str(a->value, b->value)) ||
            (c = cmp_u64(a->max, b->max)) || (c = cmp_u64(a->type, b->type)))
                return c;
        return a->kind == DOOR_NET    ? cmp_net(&a->net, &b->net)
               : a->kind == DOOR_TOOL ? bounds_order(&a->net, &b->net)
                                      : 0;
}

/* Own lines before stock lines, so that the user's line is the one that is named. */
static int cmp_door(const void *x, const void *y)
{
        const struct door *a = x, *b = y;
        int c;
        if ((c = cmp_power(a, b)) || (c = cmp_u64(a->from_stock, b->from_stock)) ||
            (c = cmp_str(a->at.file, b->at.file)) || (c = cmp_u64(a->at.line, b->at.line)) ||
            (c = cmp_u64(a->at.column, b->at.column)))
                return c;

        if ((c = cmp_u64((uint64_t) a->until, (uint64_t) b->until)))
                return c;

        if ((c = cmp_u64(a->directory, b->directory)))
                return c;

        return cmp_u64(a->optional, b->optional);
}

int door_set_add(struct door_set *s, const struct door *d, struct err *e)
{
        if (s->n >= 4 * POLICY_MAX_DOORS) /* before duplicates are merged; the real cap is checked when the
                                             set is sealed */
                return err_set(e, ERR_POLICY, 0, "more than %d doors", POLICY_MAX_DOORS);

        if (vec_room((void **) &s->v, s->n, &s->cap, sizeof *s->v) < 0)
                return fail_memory(e);

        s->v[s->n++] = *d;
        return 0;
}

/* The union of two equal doors: open as long as the longer one, required when either is. */
static void merge_doors(struct door *to, const struct door *d)
{
        to->optional = to->optional && d->optional;
        to->directory = to->directory || d->directory;
        to->from_stock = to->from_stock && d->from_stock;
        to->max_stated = to->max_stated || d->max_stated;
        if (to->until != 0 && (d->until == 0 || d->until > to->until))
                to->until = d->until;
}

/* A variable has one value, a port one server, a handle one shape, a key one count. */
static int door_contradicts(const struct door *a, const struct door *b, struct err *e)
{
        bool single = a->kind == DOOR_ENV || a->kind == DOOR_LISTEN || a->kind == DOOR_IN ||
                      a->kind == DOOR_OUT || a->kind == DOOR_SIGN || a->kind == DOOR_DECRYPT;
        if (!single || a->kind != b->kind || strcmp(a->name, b->name) != 0)
                return 0;

        char at[256];
        return fail_at(e, &b->at, "`%s %s` contradicts the one at %s", policy_door_word(a->kind), a->name,
                       policy_place(&a->at, at, sizeof at));
}

/* The union would open the door without a question, or lose a label. */
static int asks_otherwise(const struct door *a, const struct door *b, struct err *e)
{
        char at[256];
        bool ask = !ask_same(&a->ask, &b->ask);
        if (!ask && flow_same(&a->flow, &b->flow))
                return 0;
        return fail_at(e, &b->at, "the same door at %s has %s", policy_place(&a->at, at, sizeof at),
                       ask ? "another `ask`" : "other labels");
}

int door_set_seal(struct door_set *s, struct err *e)
{
        size_t n = 0;
        if (s->n > 1)
                qsort(s->v, s->n, sizeof *s->v, cmp_door);

        for (size_t i = 0; i < s->n; i++) {
                if (n > 0 && cmp_power(&s->v[n - 1], &s->v[i]) == 0) {
                        if (asks_otherwise(&s->v[n - 1], &s->v[i], e) < 0)
                                return -1;
                        merge_doors(&s->v[n - 1], &s->v[i]);
                        continue;
                }
                if (n > 0 && door_contradicts(&s->v[n - 1], &s->v[i], e) < 0)
                        return -1;
                s->v[n++] = s->v[i];
        }

        s->n = n;
        if (n > POLICY_MAX_DOORS)
                return err_set(e, ERR_POLICY, 0, "more than %d doors", POLICY_MAX_DOORS);

        for (size_t k = 0, i = 0; k <= DOOR_KIND__COUNT; k++) {
                while (i < n && s->v[i].kind < k)
                        i++;
                s->start[k] = i;
        }

        size_t handles = s->start[DOOR_KIND__COUNT] - s->start[DOOR_IN];
        if (handles > HANDLES_MAX)
                return fail_at(e, &s->v[s->start[DOOR_IN]].at, "more than %d handles", HANDLES_MAX);

        return 0;
}

/* The position of the first door of a kind whose key is `key`, longer, or sorts after it. */
size_t door_set_from(const struct door_set *s, enum door_kind kind, struct span key)
{
        size_t lo = s->start[kind], hi = s->start[kind + 1];
        while (lo < hi) {
                size_t mid = lo + (hi - lo) / 2;
                if (strncmp(door_key(&s->v[mid]), (const char *) key.p, key.n) < 0)
                        lo = mid + 1;
                else
                        hi = mid; /* equal, or longer than the key: an equal one comes first */
        }

        return lo;
}

bool door_set_find(const struct door_set *s, enum door_kind kind, struct span key, size_t *ret_lo,
                   size_t *ret_hi)
{
        size_t lo = door_set_from(s, kind, key), end = s->start[kind + 1];
        *ret_lo = lo;
        while (lo < end && span_is(key, door_key(&s->v[lo])))
                lo++;
        *ret_hi = lo;
        return *ret_lo < *ret_hi;
}
