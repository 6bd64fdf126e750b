/* SPDX-License-Identifier: MIT */
/* face/serve/budget.h - budgets as a tree (host, tenant, box): what is taken from one is taken from those
 * above it as well, or from none. And who starts next: deficit round robin. Pure. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget_kind {
        BUDGET_RUNS = 0, /* at once */
        BUDGET_QUEUE,    /* runs that wait for a start */
        BUDGET_SESSIONS,
        BUDGET_GPUS,  /* boxes with a GPU at once */
        BUDGET_ASIDE, /* questions to ledger, vault and overlays at once */
        BUDGET_BYTES, /* of output that is kept for ended runs */
        BUDGET__COUNT
};

struct budget {
        struct budget *above; /* NULL: the host */
        uint64_t limit[BUDGET__COUNT], used[BUDGET__COUNT];
};

/* The first, from here upwards, that has less than `n` left; NULL: all have. */
const struct budget *budget_lacks(const struct budget *b, enum budget_kind kind, uint64_t n);
bool budget_take(struct budget *b, enum budget_kind kind, uint64_t n);
void budget_give(struct budget *b, enum budget_kind kind, uint64_t n);

/* ---- rates: a bucket of tokens ---- */

struct bucket {
        uint64_t per_s, most; /* tokens a second; the bucket holds so many */
        uint64_t micro;       /* millionths of tokens in it */
        uint64_t at_ns;
};
/* Takes one. Returns 0, or the milliseconds until there is one. */
uint64_t bucket_take(struct bucket *b, uint64_t now_ns);

/* ---- whose run starts next ---- */

struct fair_queue {
        unsigned weight; /* starts in a round; at least 1 */
        unsigned credit; /* left in this round */
        bool waiting;    /* it has a run that may start now */
        bool alone;      /* its runs share the machine with no other's */
        size_t running;  /* boxes of it */
};
/* The index of the queue whose turn it is, and one credit less; SIZE_MAX: none waits. *at: where the last
 * turn was. A queue without work keeps no credit. */
size_t fair_next(struct fair_queue *const *v, size_t n, size_t *at);
/* May a run of v[index] start beside what runs? If not, the others wait with it: else it would never be its
 * turn. */
bool fair_may_start(struct fair_queue *const *v, size_t n, size_t index);
