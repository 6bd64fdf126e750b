/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64_arithmetic.c - instructions that trap, or need more than the machine has in
 * one.
 */
#include "wall/wasm/compile/aarch64/a64_arithmetic.h"

/* The machine divides by zero, and the least number by -1, without a fault. */
void a64_divide(struct compiler *c, const struct wasm_insn *x)
{
        bool wide = x->op >= WASM_I64_DIV_S;
        unsigned kind = x->op - (wide ? WASM_I64_DIV_S : WASM_I32_DIV_S); /* div_s, div_u, rem_s, rem_u */
        bool is_signed = kind == 0 || kind == 2, is_rem = kind >= 2;
        struct operand b = op_pop(c), a = op_pop(c);
        uint64_t minus_one = wide ? UINT64_MAX : UINT32_MAX;
        bool is_safe = b.place == CONSTANT && b.value != 0 && b.value != minus_one;
        unsigned by = op_use(c, &b), from = op_use(c, &a);
        uint32_t size = a64_wide(wide);

        if (!is_safe) {
                mc_test(&c->k, wide, by);
                cc_trap_if(c, MC_EQ, WASM_TRAP_DIVIDE);
        }
        if (is_signed && !is_rem &&
            !is_safe) { /* by -1: compare with 1, which overflows for the least only */
                put32(&c->k, A64_ADDS_IMM | size | 1 << 10 | by << 5 | ZERO_REG);
                put32(&c->k, A64_CCMP_IMM | size | 1 << 16 | CC_EQ << 12 | from << 5);
                cc_trap_if(c, CC_VS, WASM_TRAP_OVERFLOW);
        }
        op_free(c, &a);
        op_free(c, &b);
        unsigned to = rg_result(c, a.type);
        uint32_t divide = (is_signed ? A64_SDIV : A64_UDIV) | size;
        a64_op(&c->k, divide, is_rem ? X16 : to, from, by);
        if (is_rem)
                a64_op(&c->k, A64_MSUB | size | from << 10, to, X16, by);
        op_push_reg(c, a.type, to);
}

void a64_count_bits(struct compiler *c, const struct wasm_insn *x)
{
        bool wide = x->op == WASM_I64_CTZ || x->op == WASM_I64_POPCNT;
        struct operand a = op_pop(c);
        unsigned from = op_use(c, &a);

        op_free(c, &a);
        unsigned to = rg_result(c, a.type);
        if (x->op == WASM_I32_CTZ || x->op == WASM_I64_CTZ) {
                a64_op(&c->k, A64_RBIT | a64_wide(wide), X16, from, 0);
                a64_op(&c->k, A64_CLZ | a64_wide(wide), to, X16, 0);
        } else { /* of the bytes of a vector, which are added; the upper half of an i32 is zero */
                a64_op(&c->k, A64_FMOV_TO | A64_WIDE | A64_DOUBLE, FLOAT_SCRATCH, from, 0);
                a64_op(&c->k, 0x0e205800, FLOAT_SCRATCH, FLOAT_SCRATCH, 0); /* cnt */
                a64_op(&c->k, 0x0e31b800, FLOAT_SCRATCH, FLOAT_SCRATCH, 0); /* addv */
                a64_op(&c->k, A64_FMOV_FROM, to, FLOAT_SCRATCH, 0);
        }
        op_push_reg(c, a.type, to);
}

/* The bounds of a truncation: below the low one, or at it if that is excluded, and from the high one on it
 * overflows. */
static const struct bounds {
        uint16_t op;
        bool is_unsigned, excludes_low;
        uint64_t low, high;
} bounds[] = {
        { WASM_I32_TRUNC_F32_S, false, false, 0xcf000000, 0x4f000000 },
        { WASM_I32_TRUNC_F32_U, true, true, 0xbf800000, 0x4f800000 },
        { WASM_I32_TRUNC_F64_S, false, true, 0xc1e0000000200000, 0x41e0000000000000 },
        { WASM_I32_TRUNC_F64_U, true, true, 0xbff0000000000000, 0x41f0000000000000 },
        { WASM_I64_TRUNC_F32_S, false, false, 0xdf000000, 0x5f000000 },
        { WASM_I64_TRUNC_F32_U, true, true, 0xbf800000, 0x5f800000 },
        { WASM_I64_TRUNC_F64_S, false, false, 0xc3e0000000000000, 0x43e0000000000000 },
        { WASM_I64_TRUNC_F64_U, true, true, 0xbff0000000000000, 0x43f0000000000000 },
};

static const struct bounds *bounds_of(uint16_t op)
{
        const struct bounds *b = bounds;

        while (b->op != op)
                b++;
        return b;
}

void a64_truncate(struct compiler *c, const struct wasm_insn *x)
{
        const struct bounds *b = bounds_of(x->op);
        struct operand a = op_pop(c);
        uint8_t type = wasm_sig_result(x->row->sig);
        uint32_t size = a.type == WASM_F64 ? A64_DOUBLE : 0;
        unsigned from = op_use(c, &a);

        a64_op(&c->k, A64_FCMP | size, 0, from, from);
        cc_trap_if(c, CC_VS, WASM_TRAP_CONVERT);
        mc_constant(&c->k, a.type, FLOAT_SCRATCH, b->low);
        a64_op(&c->k, A64_FCMP | size, 0, from, FLOAT_SCRATCH);
        cc_trap_if(c, b->excludes_low ? CC_LS : CC_MI, WASM_TRAP_OVERFLOW);
        mc_constant(&c->k, a.type, FLOAT_SCRATCH, b->high);
        a64_op(&c->k, A64_FCMP | size, 0, from, FLOAT_SCRATCH);
        cc_trap_if(c, CC_GE, WASM_TRAP_OVERFLOW);
        op_free(c, &a);
        unsigned to = rg_result(c, type);
        a64_op(&c->k, (b->is_unsigned ? A64_FCVTZU : A64_FCVTZS) | size | a64_wide(type == WASM_I64), to,
               from, 0);
        op_push_reg(c, type, to);
}

/* The sign is one bit of an integer. */
void a64_copysign(struct compiler *c, const struct wasm_insn *x)
{
        struct operand b = op_pop(c), a = op_pop(c);
        unsigned other = op_use(c, &b), from = op_use(c, &a);
        bool wide = x->op == WASM_F64_COPYSIGN;
        uint32_t size = a64_wide(wide) | (wide ? A64_DOUBLE : 0);
        unsigned top = wide ? 63 : 31;

        a64_op(&c->k, A64_FMOV_FROM | size, X16, from, 0);
        a64_op(&c->k, A64_FMOV_FROM | size, X17, other, 0);
        a64_bits(&c->k, A64_UBFM, wide, X17, X17, top, top);
        a64_bits(&c->k, A64_BFM, wide, X16, X17, 1, 0);
        op_free(c, &a);
        op_free(c, &b);
        unsigned to = rg_result(c, a.type);
        a64_op(&c->k, A64_FMOV_TO | size, to, X16, 0);
        op_push_reg(c, a.type, to);
}
