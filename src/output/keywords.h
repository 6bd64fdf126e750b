/* SPDX-License-Identifier: MIT */
/* output/keywords.h - many words in one pass over a text (Aho-Corasick), in any case. Pure. */
#pragma once
#include "base/span.h"

struct keywords;
/* The words have at most 65,000 characters together. NULL: out of memory, or too many. */
struct keywords *keywords_new(const char *const *words, size_t count);
void keywords_free(struct keywords *k);
/* A place in a text: zero is its beginning. */
struct keywords_place {
        size_t at;
        unsigned state;
};
/* Finds the next word; place->at is then behind its last character. Of words that end at the same place the
 * longest. Returns its number, or -1: none is left. */
int keywords_next(const struct keywords *k, struct span text, struct keywords_place *place);
