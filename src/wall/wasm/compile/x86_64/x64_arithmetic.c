/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64_arithmetic.c - instructions that trap, or need more than the machine has in
 * one. */
#include "wall/wasm/compile/x86_64/x64_arithmetic.h"

static void bind(struct compiler *c, uint32_t at) { mc_patch(&c->k, at, c->k.at); }

void x64_divide(struct compiler *c, const struct wasm_insn *x)
{
        bool wide = x->op >= WASM_I64_DIV_S;
        unsigned kind = x->op - (wide ? WASM_I64_DIV_S : WASM_I32_DIV_S); /* div_s, div_u, rem_s, rem_u */
        bool is_signed = kind == 0 || kind == 2, is_rem = kind >= 2;
        struct operand b = op_pop(c), a = op_pop(c);
        uint64_t minus_one = wide ? UINT64_MAX : UINT32_MAX;
        bool is_safe = b.place == CONSTANT && b.value != 0 && b.value != minus_one;
        unsigned by = op_use(c, &b), to = rg_alloc(c, a.type);
        uint32_t skip = 0;

        op_load(c, RAX, &a);
        if (!is_safe) {
                x64_op(&c->k, OP_TEST, wide, by, rm_reg(by));
                cc_trap_if(c, CC_E, WASM_TRAP_DIVIDE);
        }
        if (is_signed && !is_safe) {
                if (is_rem)
                        x64_const(&c->k, RDX, 0);
                x64_alu_imm(&c->k, OP_CMP, wide, rm_reg(by), -1);
                uint32_t usual = x64_jcc(&c->k, CC_NE);
                if (is_rem) {
                        skip = mc_jump(&c->k);
                } else {
                        x64_alu_imm(&c->k, OP_CMP, wide, rm_reg(RAX), 1); /* overflows for the least only */
                        cc_trap_if(c, CC_O, WASM_TRAP_OVERFLOW);
                }
                bind(c, usual);
        }
        if (is_signed) {
                if (wide)
                        put8(&c->k, 0x48);
                put8(&c->k, 0x99); /* cdq */
        } else {
                x64_op(&c->k, OP_XOR, false, RDX, rm_reg(RDX));
        }
        x64_op(&c->k, 0xf7, wide, is_signed ? 7 : 6, rm_reg(by));
        if (skip)
                bind(c, skip);
        x64_op(&c->k, OP_MOV, wide, to, rm_reg(is_rem ? RDX : RAX));
        op_free(c, &a);
        op_free(c, &b);
        op_push_reg(c, a.type, to);
}

/* The count for zero is the number of bits. */
void x64_count_bits(struct compiler *c, const struct wasm_insn *x)
{
        bool wide = x->op == WASM_I64_CLZ || x->op == WASM_I64_CTZ;
        bool leading = x->op == WASM_I32_CLZ || x->op == WASM_I64_CLZ;
        unsigned bits = wide ? 64 : 32;
        struct operand a = op_pop(c);
        unsigned from = op_use(c, &a), to = rg_alloc(c, a.type);

        x64_const(&c->k, RAX, leading ? 2 * bits - 1 : bits);
        x64_op(&c->k, OP_F(leading ? 0xbd : 0xbc), wide, to, rm_reg(from));
        x64_op(&c->k, OP_F(0x40 | CC_E), wide, to, rm_reg(RAX));
        if (leading)
                x64_alu_imm(&c->k, OP_XOR, wide, rm_reg(to), (int32_t) bits - 1);
        op_free(c, &a);
        op_push_reg(c, a.type, to);
}

/* Truncation with traps, but for unsigned 64 bits: out of range if the result is not what its bits say. */
void x64_truncate(struct compiler *c, const struct wasm_insn *x)
{
        struct operand a = op_pop(c);
        bool is_double = a.type == WASM_F64, to_i64 = wasm_sig_result(x->row->sig) == WASM_I64;
        bool is_signed = x->op != WASM_I32_TRUNC_F32_U && x->op != WASM_I32_TRUNC_F64_U;
        unsigned from = op_use(c, &a), to = rg_alloc(c, to_i64 ? WASM_I64 : WASM_I32);
        uint32_t compare = is_double ? OP_P(0x66, 0x2e) : OP_F(0x2e);

        x64_op(&c->k, OP_P(is_double ? 0xf2 : 0xf3, 0x2c), true, RAX, rm_reg(from));
        uint32_t good;
        if (to_i64) {
                x64_alu_imm(&c->k, OP_CMP, true, rm_reg(RAX), 1);
                good = x64_jcc(&c->k, CC_O + 1);
        } else {
                x64_op(&c->k, is_signed ? OP_MOVSXD : OP_MOV, is_signed, RCX, rm_reg(RAX));
                x64_op(&c->k, OP_CMP, true, RCX, rm_reg(RAX));
                good = x64_jcc(&c->k, CC_E);
        }
        x64_op(&c->k, compare, false, from, rm_reg(from));
        cc_trap_if(c, CC_P, WASM_TRAP_CONVERT);
        if (to_i64) { /* the least number is good */
                x64_const(&c->k, RDX, is_double ? 0xc3e0000000000000 : 0xdf000000);
                x64_op(&c->k, OP_P(0x66, 0x6e), is_double, FLOAT_SCRATCH, rm_reg(RDX));
                x64_op(&c->k, compare, false, from, rm_reg(FLOAT_SCRATCH));
                cc_trap_if(c, CC_NE, WASM_TRAP_OVERFLOW);
        } else {
                mc_jump_to(&c->k, c->stubs->traps[WASM_TRAP_OVERFLOW]);
        }
        bind(c, good);
        x64_op(&c->k, OP_MOV, to_i64, to, rm_reg(RAX));
        op_free(c, &a);
        op_push_reg(c, to_i64 ? WASM_I64 : WASM_I32, to);
}

/* Equal numbers may be zeros of two signs; a NaN is added to make it quiet. */
void x64_min_max(struct compiler *c, const struct wasm_insn *x)
{
        bool is_double = x->op == WASM_F64_MIN || x->op == WASM_F64_MAX;
        bool is_min = x->op == WASM_F32_MIN || x->op == WASM_F64_MIN;
        unsigned prefix = is_double ? 0xf2 : 0xf3;
        struct operand b = op_pop(c), a = op_pop(c);
        unsigned other = op_use(c, &b), to = op_own(c, &a);

        x64_op(&c->k, is_double ? OP_P(0x66, 0x2e) : OP_F(0x2e), false, to, rm_reg(other));
        uint32_t differ = x64_jcc(&c->k, CC_NE), nan = x64_jcc(&c->k, CC_P);
        x64_op(&c->k, OP_F(is_min ? 0x56 : 0x54), false, to, rm_reg(other));
        uint32_t done = mc_jump(&c->k);
        bind(c, nan);
        x64_op(&c->k, OP_P(prefix, 0x58), false, to, rm_reg(other));
        uint32_t done_too = mc_jump(&c->k);
        bind(c, differ);
        x64_op(&c->k, OP_P(prefix, is_min ? 0x5d : 0x5f), false, to, rm_reg(other));
        bind(c, done);
        bind(c, done_too);
        op_free(c, &b);
        op_push_reg(c, a.type, to);
}

/* abs, neg, copysign: through the bits. */
void x64_sign(struct compiler *c, const struct wasm_insn *x)
{
        bool is_copy = x->op == WASM_F32_COPYSIGN || x->op == WASM_F64_COPYSIGN;
        bool is_neg = x->op == WASM_F32_NEG || x->op == WASM_F64_NEG;
        struct operand b = { 0 };
        unsigned other = 0;

        if (is_copy) {
                b = op_pop(c);
                other = op_use(c, &b);
        }
        struct operand a = op_pop(c);
        bool wide = a.type == WASM_F64;
        uint64_t sign = wide ? 1ULL << 63 : 1ULL << 31;
        unsigned to = op_own(c, &a);

        x64_const(&c->k, RAX, is_neg ? sign : sign - 1);
        x64_op(&c->k, OP_P(0x66, 0x6e), wide, FLOAT_SCRATCH, rm_reg(RAX));
        x64_op(&c->k, OP_F(is_neg ? 0x57 : 0x54), false, to, rm_reg(FLOAT_SCRATCH));
        if (is_copy) { /* the other's sign: not and */
                x64_op(&c->k, OP_F(0x55), false, FLOAT_SCRATCH, rm_reg(other));
                x64_op(&c->k, OP_F(0x56), false, to, rm_reg(FLOAT_SCRATCH));
                op_free(c, &b);
        }
        op_push_reg(c, a.type, to);
}
