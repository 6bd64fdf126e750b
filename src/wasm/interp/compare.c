/* SPDX-License-Identifier: MIT */
/* wasm/interp/compare.c - comparisons by the order of interp_ops.inc: four forms of each. */
#include "wasm/interp/translator.h"

bool tr_is_compare(uint16_t op)
{
        if (op >= I_I32_EQ && op < I_F32_EQ)
                return (op - I_I32_EQ) % 4 < 2;
        return op >= I_F32_EQ && op <= I_F64_GE_BN && (op - I_F32_EQ) % 4 < 2;
}

uint16_t tr_inverse(uint16_t op)
{
        /* eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u */
        static const uint8_t inverse[] = { 1, 0, 8, 9, 6, 7, 4, 5, 2, 3 };

        if (op >= I_F32_EQ)
                return (uint16_t) (I_F32_EQ + ((op - I_F32_EQ) ^ 1));

        uint16_t base = op >= I_I64_EQ ? I_I64_EQ : I_I32_EQ;
        uint16_t which = (uint16_t) ((op - base) / 4), form = (uint16_t) ((op - base) % 4);
        return (uint16_t) (base + 4 * inverse[which] + form);
}
