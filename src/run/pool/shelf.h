/* SPDX-License-Identifier: MIT */
/* run/pool/shelf.h - the boxes that are parked for one plan. */
#pragma once
#include "run/pool/pool.h"

enum { SHELVES_MAX = 64, SHELF_ERROR = 200 };

struct shelf {
        bool is;
        uint8_t key[POOL_KEY];
        char *blocks; /* of the recipe */
        struct pool_recipe recipe;
        struct checked_policy *checked;
        unsigned want;
        bool automatic;
        bool was_full;  /* since it grew */
        unsigned spare; /* of an automatic one: boxes that nobody has taken since `counted_ns` */
        uint64_t made_ns, used_ns, counted_ns, next_try_ns;
        unsigned failures;
        char error[SHELF_ERROR]; /* why the last one could not be parked; or "" */
        char uptime[32];
        uint64_t hits, misses, parked, parked_ns;
};

/* Takes the recipe's bytes. Returns 0, or -1 with *e set: it does not belong to this key, or this process
 * cannot park boxes for it. */
int shelf_fill(struct shelf *s, const uint8_t key[POOL_KEY], const void *blocks, size_t n, struct err *e);
void shelf_clear(struct shelf *s);
/* Begins to park one more; NULL: it cannot, s->error has the reason. */
struct box *shelf_park(struct shelf *s, const struct cordon_context *cx);
