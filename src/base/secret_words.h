/* SPDX-License-Identifier: MIT */
/* base/secret_words.h - finds secrets in every clothing, for the broker and for the ledger. */
#pragma once
#include "base/span.h"

enum { SECRET_WORD_MIN = 6 }; /* a shorter one could not be told from ordinary text */

struct secret_words;
/* The bytes are copied, and wiped at the end. Each word has at least SECRET_WORD_MIN bytes. `owner`: which
 * bit (0 to 63) stands for a word; NULL: each its own. NULL: no memory. */
struct secret_words *secret_words_new(const struct span *words, const uint8_t *owner, size_t count);
void secret_words_free(struct secret_words *set);

struct secret_hit {
        size_t at, n;
        unsigned word; /* its bit */
};
/* The next word from `from` on. False: none, and nothing before ret->at begins one; what follows may, unless
 * this is the `end` of the text. `parts`: a word that the end cuts off is one. */
bool secret_words_next(const struct secret_words *set, struct span in, size_t from, bool end, bool parts,
                       struct secret_hit *ret);
/* The words that stand in `text`, a bit for each. `set` may be NULL. */
uint64_t secret_words_find(const struct secret_words *set, struct span text);
