/* SPDX-License-Identifier: MIT */
/* base/str.c - numbers, sizes and durations as text, and neutralizing hostile text. Never: allocates, reads
 * a locale. */
#include "base/str.h"

#include <stdio.h>

struct span str_word(struct span *rest)
{
        size_t from = 0, to;
        while (from < rest->n && rest->p[from] == ' ')
                from++;
        for (to = from; to < rest->n && rest->p[to] != ' ';)
                to++;

        struct span word = span_of(rest->p + from, to - from);
        *rest = span_of(rest->p + to, rest->n - to);
        return word;
}

int str_to_u64(struct span s, uint64_t *ret_value)
{
        if (s.n == 0 || s.n > 20 || (s.n > 1 && s.p[0] == '0'))
                return -1;

        uint64_t v = 0;
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] < '0' || s.p[i] > '9')
                        return -1;
                if (__builtin_mul_overflow(v, 10u, &v) ||
                    __builtin_add_overflow(v, (uint64_t) (s.p[i] - '0'), &v))
                        return -1;
        }

        *ret_value = v;
        return 0;
}

struct unit {
        const char *suffix;
        uint64_t factor;
};

/* Largest first: the first unit that divides a value gives its shortest exact form. */
static const struct unit size_units[] = {
        { "T", UINT64_C(1) << 40 }, { "G", 1 << 30 }, { "M", 1 << 20 }, { "K", 1 << 10 }, { "", 1 },
};
static const struct unit time_units[] = {
        { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 },
};
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The unit must follow a number: "5ms" ends in "s" as well. */
static int to_units(struct span s, const struct unit *units, size_t count, uint64_t *ret_value)
{
        for (size_t i = 0; i < count; i++) {
                size_t k = strlen(units[i].suffix);
                uint64_t v;
                if (s.n <= k || memcmp(s.p + s.n - k, units[i].suffix, k) != 0 ||
                    str_to_u64(span_of(s.p, s.n - k), &v) < 0)
                        continue;
                if (__builtin_mul_overflow(v, units[i].factor, &v))
                        return -1;
                *ret_value = v;
                return 0;
        }

        return -1;
}

int str_to_size(struct span s, uint64_t *ret_bytes)
{
        return to_units(s, size_units, COUNT(size_units), ret_bytes);
}

int str_to_ms(struct span s, uint64_t *ret_ms) { return to_units(s, time_units, COUNT(time_units), ret_ms); }

static char *from_units(uint64_t v, const struct unit *units, size_t count, char buf[32])
{
        size_t i = 0;
        while (i + 1 < count && (v == 0 || v % units[i].factor != 0))
                i++;
        (void) snprintf(buf, 32, "%llu%s", (unsigned long long) (v / units[i].factor), units[i].suffix);
        return buf;
}

char *str_from_size(uint64_t bytes, char buf[32])
{
        return from_units(bytes, size_units, COUNT(size_units), buf);
}
char *str_from_ms(uint64_t ms, char buf[32]) { return from_units(ms, time_units, COUNT(time_units), buf); }

/* Decodes one character: returns its length, or 0 if the bytes are not UTF-8 (overlong forms, surrogates and
 * code points above U+10FFFF included). */
size_t str_char(struct span s, uint32_t *ret_point)
{
        if (s.n == 0)
                return 0;

        uint8_t a = s.p[0];
        if (a < 0x80) {
                *ret_point = a;
                return 1;
        }

        size_t n = a >= 0xf0 && a <= 0xf4 ? 4 : a >= 0xe0 && a < 0xf0 ? 3 : a >= 0xc2 && a < 0xe0 ? 2 : 0;
        if (n == 0 || s.n < n)
                return 0;

        uint32_t v = a & (0x7fu >> n);
        for (size_t i = 1; i < n; i++) {
                if ((s.p[i] & 0xc0) != 0x80)
                        return 0;
                v = v << 6 | (s.p[i] & 0x3fu);
        }

        if ((n == 3 && v < 0x800) || (n == 4 && (v < 0x10000 || v > 0x10ffff)) || (v >= 0xd800 && v < 0xe000))
                return 0;

        *ret_point = v;
        return n;
}

size_t str_from_char(uint32_t point, char ret[static 4])
{
        static const uint8_t first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
        size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        for (size_t i = n; i-- > 1; point >>= 6)
                ret[i] = (char) (0x80 | (point & 0x3f));
        ret[0] = (char) (first[n] | point);
        return n;
}

bool str_is_utf8(struct span s)
{
        for (size_t i = 0; i < s.n;) {
                uint32_t v;
                size_t k = str_char(span_of(s.p + i, s.n - i), &v);
                if (k == 0 || v == 0)
                        return false;
                i += k;
        }

        return true;
}

struct range {
        uint32_t first, last;
};

static bool lies_in(const struct range *r, size_t count, uint32_t v)
{
        for (size_t i = 0; i < count; i++)
                if (v >= r[i].first && v <= r[i].last)
                        return true;
        return false;
}

/* Unicode's Default_Ignorable_Code_Point: fillers, variation selectors, tags. */
static const struct range unseen[] = {
        { 0xad, 0xad },       { 0x34f, 0x34f },   { 0x61c, 0x61c },     { 0x115f, 0x1160 },
        { 0x17b4, 0x17b5 },   { 0x180b, 0x180f }, { 0x200b, 0x200f },   { 0x202a, 0x202e },
        { 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
        { 0xffa0, 0xffa0 },   { 0xfff0, 0xfff8 }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
        { 0xe0000, 0xe0fff },
};

bool str_is_unseen(uint32_t v) { return lies_in(unseen, COUNT(unseen), v); }

/* Controls, line separators, and interlinear annotation characters. */
static const struct range directing[] = {
        { 0x00, 0x1f }, { 0x7f, 0x9f }, { 0x2028, 0x2029 }, { 0xfff9, 0xfffb }
};

bool str_is_tricky(uint32_t v) { return lies_in(directing, COUNT(directing), v) || str_is_unseen(v); }

/* Characters that may have a variation selector (emoji or text) after them. */
static const struct range signs[] = {
        { 0xa9, 0xa9 },     { 0xae, 0xae },     { 0x203c, 0x203c }, { 0x2049, 0x2049 }, { 0x2122, 0x2122 },
        { 0x2139, 0x2139 }, { 0x2190, 0x21ff }, { 0x2300, 0x23ff }, { 0x24c2, 0x24c2 }, { 0x25a0, 0x27bf },
        { 0x2900, 0x297f }, { 0x2b00, 0x2bff }, { 0x3030, 0x303d }, { 0x3297, 0x3299 }, { 0x1f000, 0x1faff },
};

/* Keycaps: without the keycap mark, a selector after them is not visible. */
static const struct range keys[] = { { '#', '#' }, { '*', '*' }, { '0', '9' } };

bool str_is_selector(uint32_t before, struct span s)
{
        uint32_t point = 0, next = 0;
        size_t k = str_char(s, &point);
        if (point != 0xfe0e && point != 0xfe0f)
                return false;
        (void) str_char(span_of(s.p + k, s.n - k), &next);
        return lies_in(signs, COUNT(signs), before) || (next == 0x20e3 && lies_in(keys, COUNT(keys), before));
}

/* Writes one character, or its escape; returns the number of bytes of `s` consumed. `before` is the
 * preceding character, and is set to this one. */
static size_t inert_char(struct span s, uint32_t *before, char piece[16])
{
        uint32_t v = 0;
        size_t k = str_char(s, &v);
        bool hides = str_is_tricky(v) && !str_is_selector(*before, s);
        if (k == 0 || (k == 1 && hides))
                (void) snprintf(piece, 16, "\\x%02x", s.p[0]);
        else if (hides)
                (void) snprintf(piece, 16, "\\u{%04x}", (unsigned) v);
        else { /* the common case, for millions of lines: no printf */
                memcpy(piece, s.p, k);
                piece[k] = '\0';
        }

        *before = v;
        return k ? k : 1;
}

char *str_inert(struct span s, char *buf, size_t cap)
{
        size_t at = 0, cut = 0; /* truncation point: the last character boundary at which "..." still fits */
        uint32_t before = 0;
        if (cap == 0)
                return buf;

        for (size_t i = 0; i < s.n;) {
                char piece[16];
                i += inert_char(span_of(s.p + i, s.n - i), &before, piece);
                size_t n = strlen(piece);
                if (at + n + 1 > cap) {
                        size_t dots = cap - 1 - cut < 3 ? cap - 1 - cut : 3;
                        memcpy(buf + cut, "...", dots);
                        at = cut + dots;
                        break;
                }
                memcpy(buf + at, piece, n);
                at += n;
                if (at + 4 <= cap)
                        cut = at;
        }

        buf[at] = '\0';
        return buf;
}

size_t str_parent(const char *path, size_t n)
{
        while (n > 0 && path[--n] != '/')
                ;
        return n;
}

enum { WORD_MAX = 32 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Optimal string alignment: a swap of neighbours counts as one typo. */
unsigned str_distance(const char *a, const char *b)
{
        size_t n = strnlen(a, WORD_MAX + 1), m = strnlen(b, WORD_MAX + 1);
        if (n > WORD_MAX || m > WORD_MAX)
                return strcmp(a, b) == 0 ? 0 : WORD_MAX + 1;

        unsigned d[WORD_MAX + 1][WORD_MAX + 1];
        for (size_t i = 0; i <= n; i++)
                d[i][0] = (unsigned) i;

        for (size_t j = 0; j <= m; j++)
                d[0][j] = (unsigned) j;

        for (size_t i = 1; i <= n; i++) {
                for (size_t j = 1; j <= m; j++) {
                        unsigned v = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                        v = least(v, least(d[i - 1][j], d[i][j - 1]) + 1);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                v = least(v, d[i - 2][j - 2] + 1);
                        d[i][j] = v;
                }
        }

        return d[n][m];
}

/* True if its letters are in `word` in order, with the first and the last in place. */
static bool is_abbreviation(const char *given, const char *word)
{
        size_t n = strlen(given);
        if (n < 2 || given[0] != word[0] || given[n - 1] != word[strlen(word) - 1])
                return false;
        for (; *given && *word; word++)
                given += *given == *word;
        return !*given;
}

unsigned str_far(const char *given, const char *word)
{
        size_t n = strnlen(given, WORD_MAX + 1);
        unsigned d = str_distance(given, word);
        if (d <= 1 && n > 1)
                return d;

        if (n > 0 && strncmp(given, word, n) == 0)
                return 2;

        if (n > 0 && is_abbreviation(given, word))
                return 3;

        /* Nearly all words of three letters are two apart. */
        return d <= n / 3 + 1 && (n > 3 || (n > 2 && given[0] == word[0])) ? 2 * d : STR_TOO_FAR;
}

void str_nearer(const char *given, const char *word, const char **best)
{
        if (str_far(given, word) < (*best ? str_far(given, *best) : STR_TOO_FAR))
                *best = word;
}

bool path_under(const char *path, const char *root)
{
        size_t n = strlen(root);
        return strncmp(path, root, n) == 0 &&
               (path[n] == '\0' || path[n] == '/' || (n == 1 && root[0] == '/'));
}

bool path_is_kernels(const char *path)
{
        return (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0) ||
               strncmp(path, "/proc/", 6) == 0;
}

bool path_join(const char *start, const char *path, char *ret, size_t cap)
{
        const char *parts[2] = { path[0] == '/' ? "" : start, path };
        size_t n = 0;
        for (int i = 0; i < 2; i++)
                for (const char *at = parts[i]; *at;) {
                        at += strspn(at, "/");
                        size_t k = strcspn(at, "/");
                        if (k == 2 && at[0] == '.' && at[1] == '.')
                                while (n > 0 && ret[--n] != '/')
                                        ;
                        else if (k > 0 && !(k == 1 && at[0] == '.')) {
                                if (n + k + 2 > cap)
                                        return false;
                                ret[n++] = '/';
                                memcpy(ret + n, at, k);
                                n += k;
                        }
                        at += k;
                }

        if (cap < 2)
                return false;

        if (n == 0)
                ret[n++] = '/';

        ret[n] = '\0';
        return true;
}

bool str_is_run(const char *id)
{
        static const char digits[] = "0123456789", hex[] = "0123456789abcdef";
        for (int part = 0; part < 2; part++) {
                size_t n = strspn(id, part == 0 ? digits : hex);
                if (n == 0 || id[n] != '-')
                        return false;
                id += n + 1;
        }

        return strlen(id) == 16 && strspn(id, hex) == 16;
}

int str_run_shown(const char *id) { return (int) strlen(id) - (str_is_run(id) ? 12 : 0); }

int str_row_of(const void *rows, size_t count, size_t size, const char *word)
{
        for (size_t i = 0; i < count; i++) {
                const char *name;
                memcpy(&name, (const char *) rows + i * size, sizeof name);
                if (name && strcmp(name, word) == 0)
                        return (int) i;
        }

        return -1;
}
