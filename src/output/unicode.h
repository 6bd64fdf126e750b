/* SPDX-License-Identifier: MIT */
/* output/unicode.h - classes of code points, for neutral.c. */
#pragma once
#include "base/span.h"

enum unicode_class {
        PLAIN = 0,
        JOINS,    /* a letter of a script that uses joiners */
        EMOJI,    /* Extended_Pictographic */
        MODIFIER, /* skin tones */
        KEYCAP,   /* # * 0..9 */
        UNICODE__PASSES = KEYCAP,
        CONTROL,
        BIDI,
        JOINER,
        SELECTOR,
        TAG,
        INVISIBLE,
        PRIVATE,
        UNASSIGNED
};

enum unicode_class unicode_class(uint32_t c);
/* Decodes the first character of `s`. Returns its length; 0 if `s` is only the beginning of one; -1 if its
 * first byte is not UTF-8. Overlong forms, surrogates and code points beyond U+10FFFF are not UTF-8. */
int utf8_decode(struct span s, uint32_t *ret_char);
