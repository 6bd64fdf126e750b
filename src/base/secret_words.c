/* SPDX-License-Identifier: MIT */
/* base/secret_words.c - finds words (secrets, placeholders) in a text. A word is found as it is (any case),
 * in hex, in base64 at each of the three offsets (both alphabets, with or without line breaks), in UTF-16,
 * and each of these with any of its characters escaped: %XX, \uXXXX, \xXX, \c, &#N;, &amp;, or with the
 * marks of hidden characters between them. An encrypted, reversed or split secret is not found: it is then
 * data like any other. Pure. */
#include "base/secret_words.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* One spelling of one word: one of two bytes at each position. */
struct pattern {
        uint8_t *a, *b;
        size_t n;
        unsigned word;
        uint8_t escapes; /* ESCAPE_*: several readings, because a word may itself contain something like an
                            escape */
        bool lines;      /* line breaks are allowed between characters */
};

struct secret_words {
        size_t n;
        uint8_t first[256];   /* not 0: the byte may begin a match */
        uint8_t starts[8192]; /* a bit for each pair of bytes that may begin one */
        uint16_t begin[257];  /* the patterns that begin with byte c: by_first[begin[c]] to begin[c + 1] */
        uint16_t *by_first;
        uint8_t *bytes; /* of all patterns */
        size_t bytes_used, bytes_cap;
        struct pattern v[];
};

enum { PARTIAL_MIN = 4, ENTITY_MAX = 8, GAPS = 4 };
enum { ESCAPE_PERCENT = 1, ESCAPE_BACKSLASH = 2, ESCAPE_ENTITY = 4, ESCAPE_ALL = 7 };
static const uint8_t raw_escapes[] = { 0, ESCAPE_PERCENT, ESCAPE_BACKSLASH, ESCAPE_ENTITY, ESCAPE_ALL };
enum { RAW_FORMS = sizeof raw_escapes, SPELLINGS = RAW_FORMS + 5 };

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }
static uint8_t upper(uint8_t c) { return c >= 'a' && c <= 'z' ? c & 0xdf : c; }

/* ---- one character, perhaps escaped ---- */

enum { UNIT_NO = 0, UNIT_MORE = 100 }; /* else its length */

/* *ret_value: what it stands for; else UNIT_NO or UNIT_MORE. */
static unsigned hex_read(const uint8_t *p, size_t n, unsigned lead, unsigned digits, unsigned *ret_value)
{
        unsigned v = 0;
        for (unsigned i = 0; i < digits; i++) {
                if (lead + i >= n)
                        return UNIT_MORE;
                int d = str_hex(p[lead + i]);
                if (d < 0)
                        return UNIT_NO;
                v = v << 4 | (unsigned) d;
        }

        *ret_value = v;
        return lead + digits;
}

static unsigned hex_unit(const uint8_t *p, size_t n, unsigned lead, unsigned digits, const uint8_t want[2])
{
        unsigned v = 0, u = hex_read(p, n, lead, digits, &v);
        return u == UNIT_NO || u == UNIT_MORE || v == want[0] || v == want[1] ? u : UNIT_NO;
}

static unsigned backslash_unit(const uint8_t *p, size_t n, const uint8_t want[2])
{
        if (n < 2)
                return UNIT_MORE;

        /* The number first: \u0075 is a u by its number, not an escaped u followed by 0075. */
        unsigned u = p[1] == 'u'   ? hex_unit(p, n, 2, 4, want)
                     : p[1] == 'x' ? hex_unit(p, n, 2, 2, want)
                                   : UNIT_NO;
        return u == UNIT_NO && (p[1] == want[0] || p[1] == want[1]) ? 2 : u;
}

static unsigned entity_value(const uint8_t *p, size_t n)
{
        static const struct {
                const char *name;
                uint8_t byte;
        } names[] = { { "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' }, { "apos", '\'' } };

        unsigned v = 0, base = 10;
        for (size_t i = 0; i < COUNT(names); i++)
                if (span_is(span_of(p, n), names[i].name))
                        return names[i].byte;

        if (n < 2 || p[0] != '#')
                return 0;

        size_t i = 1;
        if ((p[1] | 0x20) == 'x') {
                base = 16;
                i = 2;
        }

        for (; i < n; i++) {
                int d = str_hex(p[i]);
                if (d < 0 || (unsigned) d >= base)
                        return 0;
                v = v * base + (unsigned) d;
        }

        return v;
}

static bool entity_byte(uint8_t c)
{
        uint8_t low = c | 0x20;
        return c == '#' || (c >= '0' && c <= '9') || (low >= 'a' && low <= 'z');
}

static unsigned entity_read(const uint8_t *p, size_t n, unsigned *ret_value)
{
        size_t i = 1;
        while (i < n && i < ENTITY_MAX && entity_byte(p[i]))
                i++;

        if (i == n && i < ENTITY_MAX)
                return UNIT_MORE;

        if (i >= ENTITY_MAX || p[i] != ';')
                return UNIT_NO;

        *ret_value = entity_value(p + 1, i - 1);
        return *ret_value ? (unsigned) i + 1 : UNIT_NO;
}

static unsigned entity_unit(const uint8_t *p, size_t n, const uint8_t want[2])
{
        unsigned v = 0, u = entity_read(p, n, &v);
        return u == UNIT_NO || u == UNIT_MORE || v == want[0] || v == want[1] ? u : UNIT_NO;
}

static unsigned match_unit(const struct pattern *t, size_t k, const uint8_t *p, size_t n)
{
        const uint8_t want[2] = { t->a[k], t->b[k] };
        unsigned r = UNIT_NO;
        if (p[0] == '%' && t->escapes & ESCAPE_PERCENT)
                r = hex_unit(p, n, 1, 2, want);
        else if (p[0] == '\\' && t->escapes & ESCAPE_BACKSLASH)
                r = backslash_unit(p, n, want);
        else if (p[0] == '&' && t->escapes & ESCAPE_ENTITY)
                r = entity_unit(p, n, want);

        if (r != UNIT_NO)
                return r;

        return p[0] == want[0] || p[0] == want[1] ? 1 : UNIT_NO;
}

/* One half of a line break, which a nested text writes as \r, \n, %0D or \u000a; 0: none, or incomplete. */
static size_t line_end(const uint8_t *p, size_t n, uint8_t byte, uint8_t letter)
{
        const uint8_t want[2] = { byte, byte };
        unsigned u = UNIT_NO;
        if (n == 0 || p[0] == byte)
                return n > 0;

        if (p[0] == '%')
                u = hex_unit(p, n, 1, 2, want);
        else if (p[0] == '\\' && n >= 2)
                u = p[1] == letter ? 2 : p[1] == 'u' ? hex_unit(p, n, 2, 4, want) : UNIT_NO;

        return u == UNIT_MORE ? 0 : u;
}

/* A mark that output/neutral.c leaves in place of something hidden: <U+0000>, <ESC[31m>, <FF>. A word is not
 * hidden by marks between its characters. Returns its length; UNIT_MORE: it is not complete; UNIT_NO: no
 * mark. */
static unsigned match_gap(const uint8_t *p, size_t n)
{
        enum { GAP_MAX = 24 };
        size_t i = 1;
        while (i < n && i < GAP_MAX && p[i] > ' ' && p[i] != '>' && p[i] < 0x7f)
                i++;

        if (i == n && i < GAP_MAX)
                return UNIT_MORE;
        if (i == GAP_MAX || p[i] != '>')
                return UNIT_NO;

        bool named = (i > 3 && p[1] == 'U' && p[2] == '+') || (i > 3 && memcmp(p + 1, "ESC", 3) == 0);
        bool byte = i == 3 && str_hex(p[1]) >= 0 && str_hex(p[2]) >= 0;
        return named || byte ? (unsigned) i + 1 : UNIT_NO;
}

struct match {
        size_t full;    /* bytes of a complete match; 0: none */
        size_t partial; /* characters matched when the input ended */
};

/* Fast path for most bytes: an unescaped character. */
static bool is_plain(const struct pattern *t, size_t k, uint8_t c)
{
        return (c == t->a[k] || c == t->b[k]) && c != '%' && c != '\\' && c != '&';
}

static struct match match_at(const struct pattern *t, const uint8_t *p, size_t n)
{
        size_t at = 0, gaps = 0;
        for (size_t k = 0; k < t->n; k++) {
                if (t->lines && k) { /* one line break, not an empty line, which ends base64 data */
                        at += line_end(p + at, n - at, '\r', 'r');
                        at += line_end(p + at, n - at, '\n', 'n');
                }
                if (at < n && is_plain(t, k, p[at])) {
                        at++;
                        continue;
                }
                unsigned u = at < n ? match_unit(t, k, p + at, n - at) : UNIT_MORE;
                if (u == UNIT_NO && k && p[at] == '<' && gaps < GAPS * t->n) {
                        u = match_gap(p + at, n - at);
                        gaps++;
                        k -= u != UNIT_MORE && u != UNIT_NO; /* the same character again */
                }
                if (u == UNIT_MORE)
                        return (struct match){ .partial = k ? k : 1 };
                if (u == UNIT_NO)
                        return (struct match){ 0 };
                at += u;
        }

        return (struct match){ .full = at };
}

/* ---- the text ---- */

/* The next byte that may begin a match, or the end: the fast path for nearly all bytes of a body. */
static size_t skip_bytes(const uint8_t first[256], const uint8_t *p, size_t i, size_t n)
{
        while (i + 8 <= n && !(first[p[i]] | first[p[i + 1]] | first[p[i + 2]] | first[p[i + 3]] |
                               first[p[i + 4]] | first[p[i + 5]] | first[p[i + 6]] | first[p[i + 7]]))
                i += 8;
        while (i < n && !first[p[i]])
                i++;
        return i;
}

/* At the end, fewer bytes than a partial match do not count: a word is longer. */
static bool may_start(const struct secret_words *set, const uint8_t *p, size_t n, bool end)
{
        if (n < PARTIAL_MIN && (end || n < 2))
                return !end;
        unsigned pair = (unsigned) p[0] << 8 | p[1];
        return set->starts[pair >> 3] >> (pair & 7) & 1;
}
_Static_assert((int) PARTIAL_MIN < (int) SECRET_WORD_MIN,
               "what is too short for a part is too short for a whole");

static void try_pattern(const struct pattern *t, const uint8_t *p, size_t n, struct match *best,
                        unsigned *ret_word)
{
        struct match m = match_at(t, p, n);
        if (m.full > best->full) {
                best->full = m.full;
                *ret_word = t->word;
        }

        if (m.partial > best->partial) {
                best->partial = m.partial;
                if (!best->full)
                        *ret_word = t->word;
        }
}

/* The characters that the bytes at p may stand for: the byte itself and its escape, each once. UNIT_MORE:
 * needs more input. */
static unsigned characters_at(const uint8_t *p, size_t n, unsigned ret[3], unsigned *ret_count)
{
        unsigned u = UNIT_NO, v = p[0];
        *ret_count = 0;
        ret[(*ret_count)++] = p[0];
        if (p[0] == '%')
                u = hex_read(p, n, 1, 2, &v);
        else if (p[0] == '&')
                u = entity_read(p, n, &v);
        else if (p[0] == '\\' && n < 2)
                u = UNIT_MORE;
        else if (p[0] == '\\' && (p[1] == 'u' || p[1] == 'x'))
                u = hex_read(p, n, 2, p[1] == 'u' ? 4 : 2, &v);

        if (p[0] == '\\' && n >= 2 && p[1] != p[0])
                ret[(*ret_count)++] = p[1];

        if (u != UNIT_NO && u != UNIT_MORE && v < 256 && v != ret[0] && v != ret[*ret_count - 1])
                ret[(*ret_count)++] = v;

        return u;
}

/* Tries only the patterns that begin with this character: a sender of nothing but escape characters must not
 * make us try hundreds of them at each. */
static struct match best_at(const struct secret_words *set, const uint8_t *p, size_t n, unsigned *ret_word)
{
        struct match best = { 0 };
        unsigned c[3], count;
        if (characters_at(p, n, c, &count) == UNIT_MORE) {
                best.partial = 1;
                *ret_word = set->v[0].word;
        }

        for (unsigned k = 0; k < count; k++)
                for (unsigned i = set->begin[c[k]]; i < set->begin[c[k] + 1]; i++)
                        try_pattern(&set->v[set->by_first[i]], p, n, &best, ret_word);

        return best;
}

bool secret_words_next(const struct secret_words *set, struct span in, size_t from, bool end, bool parts,
                       struct secret_hit *ret)
{
        size_t i = from;

        while ((i = skip_bytes(set->first, in.p, i, in.n)) < in.n) {
                unsigned word = 0;
                if (!may_start(set, in.p + i, in.n - i, end)) {
                        i++;
                        continue;
                }
                struct match m = best_at(set, in.p + i, in.n - i, &word);
                if (m.partial && !end)
                        break; /* a longer match may come: wait */
                if (!m.full && end && m.partial >= PARTIAL_MIN && parts)
                        m.full = in.n - i; /* cut off in the middle of a word */
                if (m.full) {
                        *ret = (struct secret_hit){ .at = i, .n = m.full, .word = word };
                        return true;
                }
                i++;
        }

        ret->at = i;
        return false;
}

uint64_t secret_words_find(const struct secret_words *set, struct span text)
{
        struct secret_hit h = { 0 };
        uint64_t found = 0;

        if (!set || set->n == 0 || text.n == 0)
                return 0;

        for (size_t from = 0; secret_words_next(set, text, from, true, false, &h); from = h.at + h.n)
                found |= UINT64_C(1) << h.word;

        return found;
}

/* ---- making a set ---- */

/* Upper bound for all spellings of a word. */
static size_t bytes_of(size_t n) { return 2 * (RAW_FORMS * n + 2 * n + 2 * n + 3 * (n * 4 / 3 + 2)); }

static void make_room(struct secret_words *set, struct pattern *t, size_t n)
{
        t->a = set->bytes + set->bytes_used;
        t->b = t->a + n;
        t->n = n;
        set->bytes_used += 2 * n;
}

static void add_raw(struct secret_words *set, struct pattern *t, struct span word, uint8_t escapes)
{
        t->escapes = escapes;
        make_room(set, t, word.n);
        for (size_t i = 0; i < word.n; i++) {
                t->a[i] = lower(word.p[i]);
                t->b[i] = upper(word.p[i]);
        }
}

/* UTF-16 in either byte order: a zero byte between any two. */
static void add_wide(struct secret_words *set, struct pattern *t, struct span word)
{
        make_room(set, t, 2 * word.n - 1);
        for (size_t i = 0; i < 2 * word.n - 1; i++) {
                t->a[i] = i & 1 ? 0 : lower(word.p[i / 2]);
                t->b[i] = i & 1 ? 0 : upper(word.p[i / 2]);
        }
}

static void add_hex(struct secret_words *set, struct pattern *t, struct span word)
{
        static const char low[] = "0123456789abcdef";
        t->escapes = ESCAPE_ALL;
        make_room(set, t, 2 * word.n);
        for (size_t i = 0; i < 2 * word.n; i++) {
                t->a[i] = (uint8_t) low[i & 1 ? word.p[i / 2] & 15 : word.p[i / 2] >> 4];
                t->b[i] = upper(t->a[i]);
        }
}

/* The base64 characters that do not depend on `offset` unknown bytes before the word and any after it. */
static void add_base64(struct secret_words *set, struct pattern *t, struct span word, unsigned offset)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        size_t first = (8 * offset + 5) / 6, end = (8 * (offset + word.n)) / 6;
        t->lines = true;
        t->escapes = ESCAPE_ALL;
        make_room(set, t, end - first);
        for (size_t i = first; i < end; i++) {
                unsigned v = 0;
                for (size_t bit = 6 * i; bit < 6 * i + 6; bit++) {
                        size_t at = bit - 8 * offset;
                        v = v << 1 | (word.p[at / 8] >> (7 - at % 8) & 1);
                }
                char c = digits[v];
                t->a[i - first] = (uint8_t) c;
                t->b[i - first] = (uint8_t) (c == '+' ? '-' : c == '/' ? '_' : c);
        }
}

static void mark_pair(struct secret_words *set, uint8_t a, uint8_t b)
{
        unsigned pair = (unsigned) a << 8 | b;
        set->first[a] = 1;
        set->starts[pair >> 3] = (uint8_t) (set->starts[pair >> 3] | 1u << (pair & 7));
}

static void mark_pattern(struct secret_words *set, const struct pattern *t)
{
        static const uint8_t leaders[] = { '%', '\\', '&' };
        for (unsigned second = 0; second < 256; second++) {
                bool plain = second == t->a[1] || second == t->b[1] ||
                             (second && strchr("%\\&<\r\n", (int) second));
                for (size_t i = 0; i < COUNT(leaders); i++)
                        mark_pair(set, leaders[i], (uint8_t) second);
                if (plain) {
                        mark_pair(set, t->a[0], (uint8_t) second);
                        mark_pair(set, t->b[0], (uint8_t) second);
                }
        }
}

static bool has_leader(struct span word)
{
        for (size_t i = 0; i < word.n; i++)
                if (word.p[i] == '%' || word.p[i] == '\\' || word.p[i] == '&')
                        return true;
        return false;
}

/* Only a word that itself contains something like an escape has more than one reading. For all others the
 * last reading, with every escape, finds everything that the narrower ones would. */
static void add_word(struct secret_words *set, struct span word, unsigned index)
{
        struct pattern *t = &set->v[set->n], *end = t;
        for (unsigned i = has_leader(word) ? 0 : RAW_FORMS - 1; i < RAW_FORMS; i++)
                add_raw(set, end++, word, raw_escapes[i]);

        add_hex(set, end++, word);
        add_wide(set, end++, word);
        for (unsigned k = 0; k < 3; k++)
                add_base64(set, end++, word, k);

        for (; t < end; t++, set->n++) {
                t->word = index;
                mark_pattern(set, t);
        }
}

/* Sorted by first character; a pattern with two cases is listed under both. */
static void index_patterns(struct secret_words *set)
{
        uint16_t at[257] = { 0 };
        for (size_t i = 0; i < set->n; i++) {
                const struct pattern *t = &set->v[i];
                at[t->a[0] + 1]++;
                if (t->b[0] != t->a[0])
                        at[t->b[0] + 1]++;
        }

        for (unsigned c = 0; c < 256; c++)
                at[c + 1] = (uint16_t) (at[c + 1] + at[c]);

        memcpy(set->begin, at, sizeof at);
        for (size_t i = 0; i < set->n; i++) {
                const struct pattern *t = &set->v[i];
                set->by_first[at[t->a[0]]++] = (uint16_t) i;
                if (t->b[0] != t->a[0])
                        set->by_first[at[t->b[0]]++] = (uint16_t) i;
        }
}

struct secret_words *secret_words_new(const struct span *words, const uint8_t *owner, size_t count)
{
        size_t bytes = 0;

        for (size_t i = 0; i < count; i++)
                bytes += bytes_of(words[i].n);

        struct secret_words *set = calloc(1, sizeof *set + count * SPELLINGS * sizeof set->v[0]);
        if (!set)
                return NULL;

        set->bytes = calloc(1, bytes + 1);
        set->bytes_cap = bytes + 1;
        set->by_first = calloc(2 * count * SPELLINGS + 1, sizeof *set->by_first);
        if (!set->bytes || !set->by_first) {
                free(set->bytes);
                free(set->by_first);
                free(set);
                return NULL;
        }

        for (size_t i = 0; i < count; i++)
                add_word(set, words[i], owner ? owner[i] : (unsigned) i);

        index_patterns(set);
        return set;
}

void secret_words_free(struct secret_words *set)
{
        if (!set)
                return;

        explicit_bzero(set->bytes, set->bytes_cap);
        free(set->bytes);
        free(set->by_first);
        explicit_bzero(set->begin, sizeof set->begin);
        explicit_bzero(set->first, sizeof set->first);
        explicit_bzero(set->starts, sizeof set->starts);
        free(set);
}
