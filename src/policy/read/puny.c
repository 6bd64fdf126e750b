/* SPDX-License-Identifier: MIT */
/* policy/read/puny.c - is the text after xn-- valid Punycode for a name in another script (RFC 3492)? A
 * label that one program decodes, another rejects and a third takes literally is ambiguous, and is
 * rejected. Pure. */
#include "policy/internal.h"

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST_BIAS = 72, FIRST_CODE = 128 };
enum { LABEL_MAX = 63, CODE_MAX = 0x10ffff };

/* Never part of a name: capitals and signs of Latin 1, invisible and bidi characters, full-width ASCII
 * (its full stop is a dot to some), variation selectors. Not all that RFC 5892 forbids. */
static const struct {
        uint32_t first, last;
} forbidden[] = {
        { 0x80, 0xb6 },     { 0xb8, 0xde },     { 0xf7, 0xf7 },        { 0x2000, 0x200b },
        { 0x200e, 0x206f }, { 0x2e00, 0x2e7f }, { 0x3000, 0x3004 },    { 0xd800, 0xf8ff },
        { 0xfe00, 0xfe0f }, { 0xfeff, 0xffff }, { 0xe0000, CODE_MAX },
};

static bool is_forbidden(uint32_t code)
{
        for (size_t i = 0; i < COUNT(forbidden); i++)
                if (code >= forbidden[i].first && code <= forbidden[i].last)
                        return true;
        return false;
}

static uint32_t adapt_bias(uint32_t delta, uint32_t points, bool first)
{
        uint32_t k = 0;
        delta = first ? delta / DAMP : delta / 2;
        delta += delta / points;
        for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
                delta /= BASE - T_MIN;
        return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static int digit_value(uint8_t c)
{
        return c >= 'a' && c <= 'z' ? c - 'a' : c >= '0' && c <= '9' ? c - '0' + 26 : -1;
}

/* One variable-length integer at *at. Kept far below 64 bits; false: it has no end, or is too large for
 * any name. */
static bool read_number(struct span s, size_t *at, uint32_t bias, uint64_t *ret)
{
        uint64_t weight = 1, v = 0;
        for (uint32_t k = BASE;; k += BASE) {
                int d = *at < s.n ? digit_value(s.p[(*at)++]) : -1;
                uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
                if (d < 0 || weight > UINT32_MAX)
                        return false;
                v += (uint64_t) d * weight;
                if ((uint32_t) d < t) {
                        *ret = v;
                        return v <= UINT32_MAX;
                }
                weight *= BASE - t;
        }
}

bool puny_valid(struct span s)
{
        uint64_t code = FIRST_CODE, i = 0, delta;
        uint32_t bias = FIRST_BIAS, points = 0;
        size_t at = 0;

        for (size_t k = 0; k < s.n; k++) /* the plain characters precede the last hyphen */
                if (s.p[k] == '-')
                        points = (uint32_t) k, at = k + 1;

        if (s.n > LABEL_MAX || at == 1 || at == s.n)
                return false;

        while (at < s.n) {
                bool first = i == 0 && code == FIRST_CODE;
                if (!read_number(s, &at, bias, &delta))
                        return false;
                i += delta;
                points++;
                bias = adapt_bias((uint32_t) delta, points, first);
                code += i / points;
                i = i % points + 1;
                if (code > CODE_MAX || is_forbidden((uint32_t) code))
                        return false;
        }

        return true;
}
