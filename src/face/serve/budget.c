/* SPDX-License-Identifier: MIT */
/* face/serve/budget.c - budgets, rates and turns. Pure. */
#include "face/serve/budget.h"

const struct budget *budget_lacks(const struct budget *b, enum budget_kind kind, uint64_t n)
{
        for (; b; b = b->above)
                if (b->used[kind] > b->limit[kind] || n > b->limit[kind] - b->used[kind])
                        return b;
        return NULL;
}

bool budget_take(struct budget *b, enum budget_kind kind, uint64_t n)
{
        if (budget_lacks(b, kind, n))
                return false;

        for (; b; b = b->above)
                b->used[kind] += n;
        return true;
}

void budget_give(struct budget *b, enum budget_kind kind, uint64_t n)
{
        for (; b; b = b->above)
                b->used[kind] -= n <= b->used[kind] ? n : b->used[kind];
}

uint64_t bucket_take(struct bucket *b, uint64_t now_ns)
{
        enum { TOKEN = 1000000, HOUR_S = 3600 };
        uint64_t most = b->most * TOKEN, passed_us = (now_ns - b->at_ns) / 1000;
        if (now_ns < b->at_ns || b->per_s == 0)
                return 1000;

        b->micro = b->micro < most ? b->micro : most; /* the rate may be less than it was */
        if (passed_us > HOUR_S * 1000000ull)
                passed_us = HOUR_S * 1000000ull;
        if (passed_us) {
                uint64_t more = passed_us * b->per_s;
                b->micro = more > most - b->micro ? most : b->micro + more;
                b->at_ns += passed_us * 1000;
        }
        if (now_ns - b->at_ns > 1000)
                b->at_ns = now_ns;

        if (b->micro >= TOKEN) {
                b->micro -= TOKEN;
                return 0;
        }
        return (TOKEN - b->micro) / b->per_s / 1000 + 1;
}

size_t fair_next(struct fair_queue *const *v, size_t n, size_t *at)
{
        /* Two rounds: one to spend what is left, one with new credit. */
        for (size_t i = 0; n > 0 && i < 2 * n + 1; i++) {
                struct fair_queue *q = v[*at % n];
                if (q->waiting && q->credit > 0) {
                        q->credit--;
                        *at %= n;
                        return *at;
                }

                *at = (*at + 1) % n;
                v[*at]->credit = v[*at]->waiting ? (v[*at]->weight ? v[*at]->weight : 1) : 0;
        }

        return SIZE_MAX;
}

bool fair_may_start(struct fair_queue *const *v, size_t n, size_t index)
{
        for (size_t i = 0; i < n; i++)
                if (i != index && v[i]->running && (v[i]->alone || v[index]->alone))
                        return false;
        return true;
}
