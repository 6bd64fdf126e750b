/* SPDX-License-Identifier: MIT */
/* ledger/tree/pruned_set.c - names the set of pruned records by a digest. The tree cannot show that a payload
 * is gone, because its leaf stays. Pure. */
#include "ledger/internal.h"

void pruned_init(struct pruned *p)
{
        p->count = 0;
        sha256_init(&p->sum);
}

void pruned_add(struct pruned *p, uint64_t index)
{
        uint8_t bytes[8];
        put_u64(bytes, index);
        sha256_add(&p->sum, bytes, sizeof bytes);
        p->count++;
}

void pruned_digest(const struct pruned *p, char ret[LEDGER_DIGEST])
{
        struct sha256 sum = p->sum;
        sha256_end_hex(&sum, stpcpy(ret, "sha256:"));
}
