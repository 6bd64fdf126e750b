/* SPDX-License-Identifier: MIT */
/* wall/plan/path_table.c - a hash table from paths to numbers, allocated once for all, so that the check for
 * an existing rule does not scan all rules. */
#include "wall/plan/internal.h"

#include <string.h>

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

void names_add(struct names *t, const char *name, size_t number)
{
        size_t i = hash_of(name) & t->mask;
        while (t->slots[i].name)
                i = (i + 1) & t->mask;
        t->slots[i] = (struct name_slot){ name, number };
}
