/* SPDX-License-Identifier: MIT */
/* output/unicode.c - strict UTF-8 decoding, and classes of code points. */
#include "output/unicode.h"

/* One byte for each of two thirds of the assigned code points: classification is then as fast as decoding. */
#define LOW(first, last, class) [first... last] = class,
#define HIGH(first, last, class)
__extension__ static const uint8_t low[0x20000] = {
#include "output/unicode.inc"
};
#undef LOW
#undef HIGH

static const struct {
        uint32_t first, last;
        uint8_t class;
} high[] = {
#define LOW(first, last, class)
#define HIGH(first, last, class) { first, last, class },
#include "output/unicode.inc"
};

enum unicode_class unicode_class(uint32_t c)
{
        if (c < sizeof low)
                return (enum unicode_class) low[c];

        for (size_t i = 0; i < sizeof high / sizeof *high; i++)
                if (c >= high[i].first && c <= high[i].last)
                        return (enum unicode_class) high[i].class;

        return PLAIN;
}

int utf8_decode(struct span s, uint32_t *ret_char)
{
        static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
        uint8_t b = s.p[0];
        int length = b < 0x80 ? 1 : b < 0xc2 ? -1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : -1;
        if (length <= 1) {
                *ret_char = b;
                return length;
        }

        uint32_t c = b & (0x7fu >> length);
        for (int i = 1; i < length; i++) {
                if ((size_t) i == s.n) {
                        /* Truncated: still valid so far, unless the second byte rules it out. */
                        return i > 1 && ((c << 6 * (length - i)) < least[length] &&
                                         ((c + 1) << 6 * (length - i)) <= least[length])
                                       ? -1
                                       : 0;
                }
                if ((s.p[i] & 0xc0) != 0x80)
                        return -1;
                c = c << 6 | (s.p[i] & 0x3f);
        }

        *ret_char = c;
        return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? -1 : length;
}
