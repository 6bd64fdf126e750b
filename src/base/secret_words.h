/* SPDX-License-Identifier: MIT */
/* base/secret_words.h - finds secrets in plain and encoded form, for the broker and the ledger. */
#pragma once
#include "base/span.h"

enum { SECRET_WORD_MIN = 6 }; /* a shorter one cannot be distinguished from ordinary text */

struct secret_words;
/* Copies the words, and wipes them when freed. Each has at least SECRET_WORD_MIN bytes. `owner`: the bit (0
 * to 63) of each word; NULL: each its own. Returns NULL if out of memory. */
struct secret_words *secret_words_new(const struct span *words, const uint8_t *owner, size_t count);
void secret_words_free(struct secret_words *set);

struct secret_hit {
        size_t at, n;
        unsigned word; /* its bit */
};
/* Finds the next word from `from` on. Returns false if none is found; then no word begins before ret->at,
 * but one may begin after it unless this is the `end` of the text. `parts`: a word cut off by the end
 * counts. */
bool secret_words_next(const struct secret_words *set, struct span in, size_t from, bool end, bool parts,
                       struct secret_hit *ret);
/* Returns a bit for each word in `text`. `set` may be NULL. */
uint64_t secret_words_find(const struct secret_words *set, struct span text);
