/* SPDX-License-Identifier: MIT */
/* output/known.h - secrets and canaries that cordon knows, replaced in a stream wherever it is cut, in
 * fourteen encodings: as they are (in any case), base64 and base64url at each offset, with and without line
 * breaks, hexadecimal, %XX, \uXXXX, \xXX, backslashes, HTML entities, UTF-16, reversed, rot13, base32 and
 * quoted-printable. Pure. */
#pragma once
#include "base/buf.h"

enum { KNOWN_MAX = 256, KNOWN_NAMES = 64, KNOWN_LEAST = 6 };
struct known_word {
        const char *name;
        struct span word; /* shorter than KNOWN_LEAST: ignored, it cannot be distinguished from text */
        bool canary;
};

/* Each spelling that base/secret_words.c does not find by itself, and the word as it is. */
void known_spell(struct span word, void (*each)(void *ctx, struct span spelling), void *ctx);

struct known;
/* Copies the words. NULL: out of memory, or more words than KNOWN_MAX, or names than KNOWN_NAMES. */
struct known *known_new(const struct known_word *words, size_t count);
void known_free(struct known *k);
/* Looks at the next bytes of a stream that passes as it is. Returns the index of the first word of a name
 * that occurs in them, wherever the stream is cut; -1: none. Not together with known_pass(). */
int known_see(struct known *k, struct span in);
/* Appends `in` to `out`; what may be the beginning of a word is held back until more comes, or the `end`.
 * Each occurrence calls `each` with the index of the first word of its name, and becomes <secret:NAME>. */
void known_pass(struct known *k, struct span in, bool end, struct buf *out, void (*each)(void *, size_t),
                void *ctx);
