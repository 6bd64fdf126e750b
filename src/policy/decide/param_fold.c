/* SPDX-License-Identifier: MIT */
/* policy/decide/param_fold.c - the name of a parameter as lenient servers read it. */
#include "policy/internal.h"

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool all_digits(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!is_digit((uint8_t) s[i]))
                        return false;
        return true;
}

struct folder {
        char *out;
        size_t n, part; /* part: the start of the one being written */
        bool nested;    /* it is not the first */
};

/* An empty part (a[]) and a number (a[0]) only mean that there are several. */
static void end_part(struct folder *f)
{
        if (f->nested && all_digits(f->out + f->part, f->n - f->part))
                f->n = f->part;

        if (f->n > f->part) {
                f->out[f->n++] = '.';
                f->part = f->n;
        }

        f->nested = f->n > 0;
}

static void fold_plain(struct folder *f, char c)
{
        if (c == '.' || c == '[' || c == ']')
                end_part(f);
        if (c >= 'A' && c <= 'Z')
                c |= 0x20;
        if ((c >= 'a' && c <= 'z') || is_digit((uint8_t) c))
                f->out[f->n++] = c;
}

/* Non-ASCII characters that a case conversion turns into ASCII: their lower or upper case is, or contains,
 * ASCII letters. */
static const struct {
        const char *wide, *plain;
} wide_letters[] = {
        { "\xc5\xbf", "s" },       { "\xe2\x84\xaa", "k" },  { "\xc4\xb0", "i" },
        { "\xc4\xb1", "i" },       { "\xc3\x9f", "ss" },     { "\xe1\xba\x9e", "ss" },
        { "\xc7\xb0", "j" },       { "\xc5\x89", "n" },      { "\xef\xac\x80", "ff" },
        { "\xef\xac\x81", "fi" },  { "\xef\xac\x82", "fl" }, { "\xef\xac\x83", "ffi" },
        { "\xef\xac\x84", "ffl" }, { "\xef\xac\x85", "st" }, { "\xef\xac\x86", "st" },
};

/* Characters that some server trims from a name or strips from a letter: spaces, combining marks,
 * zero-width characters. */
static const struct {
        uint32_t first, last;
} nothings[] = { { 0x80, 0xa0 },     { 0xad, 0xad },     { 0x300, 0x36f },
                 { 0x1680, 0x1680 }, { 0x180e, 0x180e }, { 0x2000, 0x206f },
                 { 0x3000, 0x3000 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff } };

static uint32_t point_of(const char *s, size_t *ret_bytes)
{
        static const uint8_t masks[] = { 0, 0, 0x1f, 0x0f, 0x07 };
        uint8_t c = (uint8_t) *s;
        size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
        uint32_t v = c & masks[n];

        for (size_t i = 1; i < n; i++)
                v = v << 6 | ((uint8_t) s[i] & 0x3f);

        *ret_bytes = n;
        return v;
}

/* One non-ASCII character of a name, which is UTF-8. Returns its length in bytes. */
static size_t fold_wide(struct folder *f, const char *s)
{
        enum { WIDE_FIRST = 0xff01, WIDE_LAST = 0xff5e, WIDE_TO_ASCII = 0xfee0 };
        for (size_t i = 0; i < COUNT(wide_letters); i++) {
                size_t n = strlen(wide_letters[i].wide);
                if (strncmp(s, wide_letters[i].wide, n) != 0)
                        continue;
                for (const char *p = wide_letters[i].plain; *p; p++)
                        f->out[f->n++] = *p;
                return n;
        }

        size_t n;
        uint32_t v = point_of(s, &n);
        if (v >= WIDE_FIRST && v <= WIDE_LAST) { /* as wide as an ideograph */
                fold_plain(f, (char) (v - WIDE_TO_ASCII));
                return n;
        }

        for (size_t i = 0; i < COUNT(nothings); i++)
                if (v >= nothings[i].first && v <= nothings[i].last)
                        return n;

        memcpy(f->out + f->n, s, n);
        f->n += n;
        return n;
}

/* Names that a JavaScript object inherits: a lookup finds them in any object. */
static size_t skip_prototype(const char *name)
{
        static const char word[] = "__proto__";
        size_t n = sizeof word - 1;
        return strncmp(name, word, n) == 0 && name[n] && strchr(".[]", name[n]) ? n : 0;
}

/* ASP.NET and Go ignore case; PHP turns a space, dot, sign or bracket into '_' or drops it; protobuf
 * treats '_' and case as equal; in Spring '_' or '!' before a name means its default. */
char *param_fold(struct arena *mem, const char *name)
{
        struct folder f = { .out = arena_alloc(mem, strlen(name) + 2) };
        if (!f.out)
                return NULL;

        while (*name) {
                name += f.n == f.part ? skip_prototype(name) : 0;
                if ((uint8_t) *name >= 0x80)
                        name += fold_wide(&f, name);
                else
                        fold_plain(&f, *name++);
        }

        end_part(&f);
        f.out[f.n ? f.n - 1 : 0] = '\0';
        return f.out;
}

bool param_fold_same(const char *a, const char *b)
{
        for (;; a++, b++) {
                a += *a == '.';
                b += *b == '.';
                if (*a != *b)
                        return false;
                if (!*a)
                        return true;
        }
}

bool param_fold_inside(const char *outer, const char *inner)
{
        size_t n = strlen(outer);
        return n > 0 && strncmp(outer, inner, n) == 0 && inner[n] == '.';
}
