/* SPDX-License-Identifier: MIT */
/* run/pool/pool_boxes.c - which boxes and shelves the resident has. Pure. */
#include "run/pool/resident.h"

#include <string.h>

unsigned pool_boxes(const struct pool *p, unsigned shelf, bool ready)
{
        unsigned n = 0;
        for (unsigned i = 0; i < p->s.boxes; i++)
                n += p->slots[i].box && (shelf == SHELVES_MAX || p->slots[i].shelf == shelf) &&
                     (!ready || p->slots[i].ready);
        return n;
}

struct shelf *pool_shelf(struct pool *p, const uint8_t *key, size_t n)
{
        for (unsigned i = 0; i < SHELVES_MAX; i++)
                if (p->shelves[i].is && memcmp(p->shelves[i].key, key, n) == 0)
                        return &p->shelves[i];
        return NULL;
}
