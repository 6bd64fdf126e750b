/* SPDX-License-Identifier: MIT */
/* wall/plan/steps.c - adds one step or one rule, if there is room for it; a table of paths. */
#include "wall/plan/internal.h"

#include <string.h>

/* A hash table from paths to numbers, allocated once for all, so that the check for an existing rule does not
 * scan all rules. */
struct name_slot {
        const char *name; /* NULL: free */
        size_t number;
};

int names_init(struct names *t, struct arena *a, size_t most)
{
        size_t count = 16;
        while (count < 2 * most)
                count *= 2;
        *t = (struct names){ .slots = arena_alloc(a, count * sizeof *t->slots), .mask = count - 1 };
        return t->slots ? 0 : -1;
}

/* FNV-1a: short; a policy does not attack itself with collisions. */
static size_t hash_of(const char *name)
{
        uint64_t h = UINT64_C(14695981039346656037);
        for (; *name; name++)
                h = (h ^ (uint8_t) *name) * UINT64_C(1099511628211);
        return (size_t) (h ^ h >> 32);
}

bool names_find(const struct names *t, const char *name, size_t *ret_number)
{
        size_t i = hash_of(name) & t->mask;
        while (t->slots[i].name && strcmp(t->slots[i].name, name) != 0)
                i = (i + 1) & t->mask;

        if (!t->slots[i].name)
                return false;

        *ret_number = t->slots[i].number;
        return true;
}

static void names_add(struct names *t, const char *name, size_t number)
{
        size_t i = hash_of(name) & t->mask;
        while (t->slots[i].name)
                i = (i + 1) & t->mask;
        t->slots[i] = (struct name_slot){ name, number };
}

struct plan_step *build_step(struct builder *b, enum step_kind kind, const char *path, const char *text,
                             unsigned flags)
{
        struct plan *p = b->p;
        if (p->step_count == b->step_cap || !path)
                return &b->lost;

        struct plan_step *s = &p->steps[p->step_count++];
        *s = (struct plan_step){ .kind = kind, .flags = flags, .path = path, .text = text };
        size_t had;
        bool mounts = kind == STEP_BIND || kind == STEP_EDIT || kind == STEP_PIN || kind == STEP_COPY;
        if (mounts && !names_find(&b->binds, path, &had))
                names_add(&b->binds, path, p->step_count - 1);

        return s;
}

struct plan_rule *build_rule(struct builder *b, const char *path, unsigned rights, bool optional)
{
        static struct plan_rule lost; /* as above */
        struct plan *p = b->p;
        size_t i;
        if (names_find(&b->rules, path, &i)) {
                p->rules[i].rights |= rights;
                p->rules[i].optional &= optional;
                return &p->rules[i];
        }

        if (p->rule_count == b->rule_cap)
                return &lost;

        names_add(&b->rules, path, p->rule_count);
        p->rules[p->rule_count] = (struct plan_rule){ .path = path, .rights = rights, .optional = optional };
        return &p->rules[p->rule_count++];
}

void build_pin(const struct builder *b, struct plan_rule *r, uint64_t dev, uint64_t ino)
{
        r->pinned = !wall_has(b->p->wall, WALL_OWN_ROOT);
        r->dev = dev;
        r->ino = ino;
}

bool build_has_bind(const struct builder *b, const char *path)
{
        size_t at;
        return names_find(&b->binds, path, &at);
}
