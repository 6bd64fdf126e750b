/* SPDX-License-Identifier: MIT */
/* ledger/tree/merkle.c - the Merkle tree of RFC 6962, section 2.1: hashes, roots, proofs and their checks.
 * Pure. */
#include "base/hash.h"
#include "ledger/internal.h"

void ledger_leaf_hash(struct span payload, uint8_t ret[LEDGER_HASH])
{
        static const uint8_t leaf = 0;
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, &leaf, 1);
        sha256_add(&s, payload.p, payload.n);
        sha256_end(&s, ret);
}

void ledger_node_hash(const uint8_t left[LEDGER_HASH], const uint8_t right[LEDGER_HASH],
                      uint8_t ret[LEDGER_HASH])
{
        uint8_t both[1 + 2 * LEDGER_HASH] = { 1 };
        struct sha256 s;
        memcpy(both + 1, left, LEDGER_HASH);
        memcpy(both + 1 + LEDGER_HASH, right, LEDGER_HASH);
        sha256_init(&s);
        sha256_add(&s, both, sizeof both);
        sha256_end(&s, ret);
}

/* edge[k] is the root of a whole subtree of 2^k leaves when bit k of the size is set: adding one is a carry.
 */
void ledger_tree_add(struct ledger_tree *t, const uint8_t leaf[LEDGER_HASH])
{
        uint8_t h[LEDGER_HASH];
        unsigned k = 0;
        memcpy(h, leaf, sizeof h);
        for (; t->size >> k & 1; k++)
                ledger_node_hash(t->edge[k], h, h);

        memcpy(t->edge[k], h, sizeof h);
        t->size++;
}

void ledger_tree_root(const struct ledger_tree *t, uint8_t ret[LEDGER_HASH])
{
        bool have = false;
        uint8_t h[LEDGER_HASH];
        for (unsigned k = 0; k < 64; k++) {
                if (!(t->size >> k & 1))
                        continue;
                if (have)
                        ledger_node_hash(t->edge[k], h, h);
                else
                        memcpy(h, t->edge[k], sizeof h);
                have = true;
        }

        if (have) {
                memcpy(ret, h, sizeof h);
                return;
        }

        struct sha256 s;
        sha256_init(&s);
        sha256_end(&s, ret);
}

/* The greatest power of two below n; n is at least 2. */
static uint64_t split(uint64_t n) { return UINT64_C(1) << (63 - __builtin_clzll(n - 1)); }

/* A whole, aligned subtree is stored in a tile, or is folded from at most 128 hashes of one tile. */
static int whole_hash(ledger_tile_reader *read, void *ctx, uint64_t begin, unsigned bits,
                      uint8_t ret[LEDGER_HASH])
{
        if (bits % 8 == 0)
                return read(ctx, bits / 8, begin >> bits, ret);

        uint8_t left[LEDGER_HASH], right[LEDGER_HASH];
        if (whole_hash(read, ctx, begin, bits - 1, left) < 0 ||
            whole_hash(read, ctx, begin + (UINT64_C(1) << (bits - 1)), bits - 1, right) < 0)
                return -1;

        ledger_node_hash(left, right, ret);
        return 0;
}

int ledger_range_hash(ledger_tile_reader *read, void *ctx, uint64_t begin, uint64_t end,
                      uint8_t ret[LEDGER_HASH])
{
        uint64_t n = end - begin;
        if (begin >= end)
                return -1;

        if ((n & (n - 1)) == 0 && begin % n == 0)
                return whole_hash(read, ctx, begin, (unsigned) __builtin_ctzll(n), ret);

        uint64_t k = split(n);
        uint8_t left[LEDGER_HASH], right[LEDGER_HASH];
        if (ledger_range_hash(read, ctx, begin, begin + k, left) < 0 ||
            ledger_range_hash(read, ctx, begin + k, end, right) < 0)
                return -1;

        ledger_node_hash(left, right, ret);
        return 0;
}

static int push_hash(struct ledger_proof *p, ledger_tile_reader *read, void *ctx, uint64_t begin,
                     uint64_t end)
{
        if (p->count == sizeof p->hash / sizeof *p->hash)
                return -1;
        return ledger_range_hash(read, ctx, begin, end, p->hash[p->count++]);
}

static void turn_proof(struct ledger_proof *p)
{
        for (unsigned i = 0; i < p->count / 2; i++) {
                uint8_t h[LEDGER_HASH];
                memcpy(h, p->hash[i], sizeof h);
                memcpy(p->hash[i], p->hash[p->count - 1 - i], sizeof h);
                memcpy(p->hash[p->count - 1 - i], h, sizeof h);
        }
}

/* PATH(m, D[n]), from the root down and then reversed. */
int ledger_prove_inclusion(ledger_tile_reader *read, void *ctx, uint64_t index, uint64_t size,
                           struct ledger_proof *ret)
{
        uint64_t begin = 0, end = size;
        ret->count = 0;
        if (index >= size)
                return -1;

        while (end - begin > 1) {
                uint64_t k = begin + split(end - begin);
                bool left = index < k;
                if (push_hash(ret, read, ctx, left ? k : begin, left ? end : k) < 0)
                        return -1;
                *(left ? &end : &begin) = k;
        }

        turn_proof(ret);
        return 0;
}

/* RFC 9162, 2.1.3.2 */
bool ledger_check_inclusion(const uint8_t leaf[LEDGER_HASH], uint64_t index, uint64_t size,
                            const struct ledger_proof *p, const uint8_t root[LEDGER_HASH])
{
        uint8_t r[LEDGER_HASH];
        if (index >= size)
                return false;

        uint64_t fn = index, sn = size - 1;
        memcpy(r, leaf, sizeof r);
        for (unsigned i = 0; i < p->count; i++) {
                if (sn == 0)
                        return false;
                if (fn & 1 || fn == sn) {
                        ledger_node_hash(p->hash[i], r, r);
                        for (; !(fn & 1) && fn != 0; fn >>= 1)
                                sn >>= 1;
                } else {
                        ledger_node_hash(r, p->hash[i], r);
                }
                fn >>= 1;
                sn >>= 1;
        }

        return sn == 0 && memcmp(r, root, sizeof r) == 0;
}
