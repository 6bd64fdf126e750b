/* SPDX-License-Identifier: MIT */
/* output/regex.h - regular expressions in time linear in the text: the syntax of ECMA-262 with its `u` flag,
 * without back-references and look-around, which cannot be matched in linear time. Pure. */
#pragma once
#include "base/span.h"

enum { REGEX_MAX_BYTES = 4096, REGEX_MAX_PROGRAM = 20000, REGEX_MAX_DEPTH = 64, REGEX_MAX_COUNT = 1000 };

struct regex;
/* Compiles a pattern. On failure returns NULL; *ret_why is one clause. */
struct regex *regex_new(struct span pattern, const char **ret_why);
void regex_free(struct regex *r);

enum regex_match { REGEX_NO = 0, REGEX_YES, REGEX_BUDGET /* *steps is used up: neither */ };
/* Is there a match anywhere in `text`? Each visited state takes one of *steps. A regex serves one call at a
 * time. */
enum regex_match regex_search(struct regex *r, struct span text, uint64_t *steps);
/* The longest match that begins at `at`. */
enum regex_match regex_at(struct regex *r, struct span text, size_t at, uint64_t *steps, size_t *ret_end);
