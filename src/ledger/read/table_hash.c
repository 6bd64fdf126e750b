/* SPDX-License-Identifier: MIT */
/* ledger/read/table_hash.c - hashes a text, for tables in memory. Keyed per process: a ledger may be
 * foreign, and ids chosen to collide would make reading it take forever. Never: stored, or compared between
 * processes. */
#include "ledger/internal.h"

#include <pthread.h>
#include <sys/random.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t fold_words(uint64_t a, uint64_t b)
{
        wide product = (wide) a * b;
        return (uint64_t) product ^ (uint64_t) (product >> 64);
}

static uint64_t key[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
        (void) !getrandom(key, sizeof key, GRND_INSECURE);
        key[0] |= 1; /* odd: multiplication by it is invertible */
        key[1] |= 1;
}

uint64_t ledger_hash(struct span s)
{
        (void) pthread_once(&once, make_key);
        uint64_t h = key[0] ^ s.n;
        for (size_t i = 0; i < s.n; i += 8) {
                uint64_t word = 0;
                memcpy(&word, s.p + i, s.n - i < 8 ? s.n - i : 8);
                h = fold_words(word ^ key[1], h ^ key[0]) + i;
        }

        return fold_words(h ^ key[1], key[0]);
}
