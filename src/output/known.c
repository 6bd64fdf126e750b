/* SPDX-License-Identifier: MIT */
/* output/known.c - known secrets in a stream. base/secret_words.c finds a word in most encodings; those it
 * does not know become words of their own with the same owner. Pure. */
#include "output/known.h"
#include "base/secret_words.h"

#include <stdlib.h>

enum { SPELLINGS = 10, SPELLING_BYTES = 4 }; /* of a word, and at most so many bytes for one of it */

struct known {
        struct secret_words *set;
        char *names[KNOWN_NAMES];
        size_t first[KNOWN_NAMES]; /* word of that name */
        size_t count;              /* of names */
        struct buf held;
};

struct spelling {
        struct span words[KNOWN_MAX * SPELLINGS];
        uint8_t owner[KNOWN_MAX * SPELLINGS];
        size_t n;
        uint8_t *bytes, *at;
};

static void add_spelling(struct spelling *s, size_t from, uint8_t owner)
{
        size_t n = (size_t) (s->at - s->bytes) - from;
        if (n < SECRET_WORD_MIN)
                return;
        s->words[s->n] = span_of(s->bytes + from, n);
        s->owner[s->n++] = owner;
}

static size_t here(const struct spelling *s) { return (size_t) (s->at - s->bytes); }

static void add_reversed(struct spelling *s, struct span w, uint8_t owner)
{
        size_t from = here(s);
        for (size_t i = w.n; i > 0; i--)
                *s->at++ = w.p[i - 1];
        add_spelling(s, from, owner);
}

static void add_rot13(struct spelling *s, struct span w, uint8_t owner)
{
        size_t from = here(s);
        for (size_t i = 0; i < w.n; i++) {
                uint8_t c = w.p[i], low = c | 0x20;
                bool letter = low >= 'a' && low <= 'z';
                *s->at++ = letter ? (uint8_t) ((c & 0x20) | (((low - 'a' + 13) % 26) + 'A')) : c;
        }
        add_spelling(s, from, owner);
}

/* The characters that depend on the word alone, if `skip` bytes stand before it in its block of five. */
static void add_base32(struct spelling *s, struct span w, unsigned skip, uint8_t owner)
{
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        size_t from = here(s), bit = (5 - skip * 8 % 5) % 5;
        for (; bit + 5 <= w.n * 8; bit += 5) {
                unsigned v = (unsigned) w.p[bit / 8] << 8 | (bit / 8 + 1 < w.n ? w.p[bit / 8 + 1] : 0);
                *s->at++ = (uint8_t) alphabet[v >> (11 - bit % 8) & 31];
        }
        add_spelling(s, from, owner);
}

static void add_quoted(struct spelling *s, struct span w, uint8_t owner)
{
        static const char digits[] = "0123456789ABCDEF";
        size_t from = here(s);
        for (size_t i = 0; i < w.n; i++) {
                *s->at++ = '=';
                *s->at++ = (uint8_t) digits[w.p[i] >> 4];
                *s->at++ = (uint8_t) digits[w.p[i] & 15];
        }
        add_spelling(s, from, owner);
}

static void add_spellings(struct spelling *s, struct span w, uint8_t owner)
{
        if (w.n < KNOWN_LEAST)
                return;
        s->words[s->n] = w;
        s->owner[s->n++] = owner;
        add_reversed(s, w, owner);
        add_rot13(s, w, owner);
        add_quoted(s, w, owner);
        for (unsigned skip = 0; skip < 5; skip++)
                add_base32(s, w, skip, owner);
}

/* The place of its name, which may be new; -1: no room. */
static int owner_of(struct known *k, const struct known_word *words, size_t i)
{
        for (size_t n = 0; n < k->count; n++)
                if (strcmp(k->names[n], words[i].name) == 0)
                        return (int) n;

        if (k->count == KNOWN_NAMES || !(k->names[k->count] = strdup(words[i].name)))
                return -1;
        k->first[k->count] = i;
        return (int) k->count++;
}

void known_spell(struct span word, void (*each)(void *ctx, struct span spelling), void *ctx)
{
        size_t bytes = word.n * SPELLINGS * SPELLING_BYTES + 1;
        struct spelling *s = calloc(1, sizeof *s);
        if (s && (s->at = s->bytes = calloc(1, bytes))) {
                add_spellings(s, word, 0);
                for (size_t i = 0; i < s->n; i++)
                        each(ctx, s->words[i]);
                explicit_bzero(s->bytes, bytes);
                free(s->bytes);
        }
        free(s);
}

static int fill_words(struct known *k, const struct known_word *words, size_t count)
{
        size_t bytes = 1;
        for (size_t i = 0; i < count; i++)
                bytes += words[i].word.n * SPELLINGS * SPELLING_BYTES;

        struct spelling *s = calloc(1, sizeof *s);
        if (s)
                s->at = s->bytes = calloc(1, bytes);
        if (!s || !s->bytes) {
                free(s);
                return -1;
        }

        int bad = 0;
        for (size_t i = 0; bad == 0 && i < count; i++) {
                int owner = owner_of(k, words, i);
                bad = owner < 0 ? -1 : 0;
                if (owner >= 0)
                        add_spellings(s, words[i].word, (uint8_t) owner);
        }

        k->set = s->n && bad == 0 ? secret_words_new(s->words, s->owner, s->n) : NULL;
        bad = s->n && !k->set ? -1 : bad;
        explicit_bzero(s->bytes, bytes);
        free(s->bytes);
        free(s);
        return bad;
}

struct known *known_new(const struct known_word *words, size_t count)
{
        struct known *k = count > KNOWN_MAX ? NULL : calloc(1, sizeof *k);
        if (!k)
                return NULL;

        if (fill_words(k, words, count) == 0)
                return k;
        known_free(k);
        return NULL;
}

void known_free(struct known *k)
{
        if (!k)
                return;
        for (size_t i = 0; i < k->count; i++)
                free(k->names[i]);
        secret_words_free(k->set);
        buf_done(&k->held);
        free(k);
}

/* How much of `in` is decided. */
static size_t replace_word(struct known *k, struct span in, bool end, struct buf *out,
                           void (*each)(void *, size_t), void *ctx)
{
        struct secret_hit h = { 0 };
        size_t from = 0;
        while (secret_words_next(k->set, in, from, end, true, &h)) {
                buf_add(out, in.p + from, h.at - from);
                buf_printf(out, "<secret:%s>", k->names[h.word]);
                each(ctx, k->first[h.word]);
                from = h.at + h.n;
        }

        buf_add(out, in.p + from, h.at - from);
        return h.at;
}

void known_pass(struct known *k, struct span in, bool end, struct buf *out, void (*each)(void *, size_t),
                void *ctx)
{
        if (!k->set) {
                buf_add(out, in.p, in.n);
                return;
        }

        if (k->held.n == 0) {
                size_t n = in.n ? replace_word(k, in, end, out, each, ctx) : 0;
                if (n < in.n)
                        buf_add(&k->held, in.p + n, in.n - n);
        } else {
                buf_add(&k->held, in.p, in.n);
                size_t n = replace_word(k, buf_span(&k->held), end, out, each, ctx);
                memmove(k->held.p, k->held.p + n, k->held.n - n);
                k->held.n -= n;
        }

        out->failed |= k->held.failed; /* bytes that could not be held cannot be checked */
}

/* The longest spelling of a word that a run may have as a canary, and some. */
enum { SEEN_TAIL = 1024 };

int known_see(struct known *k, struct span in)
{
        if (!k->set)
                return -1;

        buf_add(&k->held, in.p, in.n);
        uint64_t found = secret_words_find(k->set, buf_span(&k->held));
        if (k->held.n > SEEN_TAIL) {
                memmove(k->held.p, k->held.p + k->held.n - SEEN_TAIL, SEEN_TAIL);
                k->held.n = SEEN_TAIL;
        }

        for (size_t i = 0; i < k->count; i++)
                if (found >> i & 1)
                        return (int) k->first[i];
        return -1;
}
