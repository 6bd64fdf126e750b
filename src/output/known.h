/* SPDX-License-Identifier: MIT */
/* output/known.h - secrets and canaries that cordon knows, replaced in a stream wherever it is cut, in
 * fourteen encodings: as they are (in any case), base64 and base64url at each offset, with and without line
 * breaks, hexadecimal, %XX, \uXXXX, \xXX, backslashes, HTML entities, UTF-16, reversed, rot13, base32 and
 * quoted-printable. Pure. */
#pragma once
#include "base/buf.h"

enum { KNOWN_MAX = 64, KNOWN_LEAST = 6 };
struct known_word {
        const char *name;
        struct span word; /* shorter than KNOWN_LEAST: ignored, it cannot be distinguished from text */
        bool canary;
};

struct known;
/* Copies the words. NULL: out of memory, or more than KNOWN_MAX. */
struct known *known_new(const struct known_word *words, size_t count);
void known_free(struct known *k);
/* Appends `in` to `out`; what may be the beginning of a word is held back until more comes, or the `end`.
 * Each occurrence calls `each` with the index of its word, and becomes <secret:NAME>. */
void known_pass(struct known *k, struct span in, bool end, struct buf *out, void (*each)(void *, size_t),
                void *ctx);
