/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/compare.c - comparisons by the order of interp_ops.inc: six forms of each. */
#include "wall/wasm/interp/translator.h"

enum { COMPARE_FORMS = I_I32_NE - I_I32_EQ };

bool tr_is_compare(uint16_t op)
{
        if (op >= I_I32_EQ && op < I_F32_EQ)
                return (op - I_I32_EQ) % COMPARE_FORMS < 2;
        return op >= I_F32_EQ && op <= I_F64_GE_LN && (op - I_F32_EQ) % COMPARE_FORMS < 2;
}

uint16_t tr_inverse(uint16_t op)
{
        /* eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u */
        static const uint8_t inverse[] = { 1, 0, 8, 9, 6, 7, 4, 5, 2, 3 };

        if (op >= I_F32_EQ)
                return (uint16_t) (I_F32_EQ + ((op - I_F32_EQ) ^ 1));

        uint16_t base = op >= I_I64_EQ ? I_I64_EQ : I_I32_EQ;
        uint16_t which = (uint16_t) ((op - base) / COMPARE_FORMS),
                 form = (uint16_t) ((op - base) % COMPARE_FORMS);
        return (uint16_t) (base + COMPARE_FORMS * inverse[which] + form);
}
