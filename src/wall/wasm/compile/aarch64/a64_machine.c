/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64_machine.c - values, conditions, jumps and calls on aarch64. */
#include "wall/wasm/compile/machine.h"

static const uint8_t int_pool[] = { 3, 4, 5, 6, 7, 8, 9, 10 };
static const uint8_t float_pool[] = { V0, V0 + 1, V0 + 2, V0 + 3, V0 + 4, V0 + 5, V0 + 6, V0 + 7 };
static const uint8_t int_locals[] = { 19, 20, 21, 22, 23, 24, 25, 26, 11, 12, 13, 14, 15 };
static const uint8_t float_locals[] = {
        V0 + 8, V0 + 9, V0 + 10, V0 + 11, V0 + 12, V0 + 13, V0 + 14, V0 + 15
};
const struct mc_registers mc_registers = {
        { int_pool, float_pool },
        { int_locals, float_locals },
        { sizeof int_pool, sizeof float_pool },
        { sizeof int_locals, sizeof float_locals },
};

enum { LOAD = 1, STORE = 0, DWORD = 3, WORD = 2 };

void mc_move(struct code *k, uint8_t type, unsigned to, unsigned from)
{
        if (to == from)
                return;
        if (is_float(type))
                a64_op(k, A64_FMOV | (type == WASM_F64 ? A64_DOUBLE : 0), to, from, 0);
        else
                a64_op(k, A64_ORR | a64_wide(is_wide(type)), to, ZERO_REG, from);
}

void mc_constant(struct code *k, uint8_t type, unsigned to, uint64_t value)
{
        if (!is_float(type)) {
                a64_const(k, to, value);
        } else if (value == 0) {
                put32(k, 0x2f00e400 | (to & 31)); /* movi d, 0 */
        } else {
                a64_const(k, X16, value);
                a64_op(k, A64_FMOV_TO | A64_WIDE | A64_DOUBLE, to, X16, 0);
        }
}

void mc_load(struct code *k, uint8_t type, unsigned to, unsigned base, uint32_t offset)
{
        a64_mem(k, A64_MEM(is_wide(type) ? DWORD : WORD, is_float(type), LOAD), to, base, offset);
}

/* A register of 32 bits has a zero upper half, of floats too. */
void mc_store(struct code *k, uint8_t type, unsigned from, unsigned base, uint32_t offset)
{
        a64_mem(k, A64_MEM(DWORD, is_float(type), STORE), from, base, offset);
}

void mc_load_indexed(struct code *k, unsigned to, unsigned base, unsigned index)
{
        a64_mem_indexed(k, A64_MEM(DWORD, 0, LOAD), to, base, index, true);
}

void mc_store_constant(struct code *k, uint32_t slot, uint64_t value)
{
        if (value)
                a64_const(k, X16, value);
        mc_store(k, WASM_I64, value ? X16 : ZERO_REG, FRAME_REG, slot * 8);
}

void mc_copy(struct code *k, uint8_t type, uint32_t to, uint32_t from)
{
        if (to == from)
                return;
        for (uint32_t i = 0; i < (type == WASM_V128 ? 2 : 1); i++) {
                mc_load(k, type == WASM_V128 ? WASM_I64 : type, is_float(type) ? FLOAT_SCRATCH : X16,
                        FRAME_REG, (from + i) * 8);
                mc_store(k, type == WASM_V128 ? WASM_I64 : type, is_float(type) ? FLOAT_SCRATCH : X16,
                         FRAME_REG, (to + i) * 8);
        }
}

void mc_zero(struct code *k, uint32_t first, uint32_t n)
{
        if (n <= 8) {
                for (uint32_t i = 0; i < n; i++)
                        mc_store_constant(k, first + i, 0);
                return;
        }
        a64_add_const(k, X17, FRAME_REG, (uint64_t) first * 8);
        a64_const(k, X16, n);
        put32(k, 0xf8008400 | X17 << 5 | ZERO_REG); /* str xzr, [x17], 8 */
        put32(k, A64_SUBS_IMM | A64_WIDE | 1 << 10 | X16 << 5 | X16);
        put32(k, A64_B_COND | ((uint32_t) -2 & 0x7ffff) << 5 | CC_NE);
}

/* Code and words are in whole pages: the distance of their pages is known. */
void mc_data(struct code *k, unsigned to, uint32_t index)
{
        int64_t target = data_at(k, index), pages = (target >> 12) - (int64_t) (k->at >> 12);
        uint32_t imm = (uint32_t) pages;

        put32(k, A64_ADRP | (imm & 3) << 29 | (imm >> 2 & 0x7ffff) << 5 | to);
        a64_mem(k, A64_MEM(DWORD, 0, LOAD), to, to, (uint64_t) (target & 0xfff));
}

void mc_add(struct code *k, unsigned reg, uint32_t value) { a64_add_const(k, reg, reg, value); }

void mc_move_frame(struct code *k, int64_t slots)
{
        if (slots)
                a64_add_const(k, FRAME_REG, FRAME_REG, (uint64_t) (slots * 8));
}

/* ---- conditions and jumps ---- */

void mc_test(struct code *k, bool wide, unsigned reg)
{
        put32(k, A64_SUBS_IMM | a64_wide(wide) | reg << 5 | ZERO_REG);
}

void mc_compare(struct code *k, bool wide, unsigned a, unsigned b)
{
        a64_op(k, A64_SUBS | a64_wide(wide), ZERO_REG, a, b);
}

void mc_set(struct code *k, unsigned cc, unsigned reg)
{
        put32(k, A64_CSINC | ZERO_REG << 16 | (cc ^ 1) << 12 | ZERO_REG << 5 | reg);
}

void mc_select(struct code *k, uint8_t type, unsigned cc, unsigned to, unsigned other)
{
        uint32_t op = is_float(type) ? A64_FCSEL | (type == WASM_F64 ? A64_DOUBLE : 0)
                                     : A64_CSEL | a64_wide(is_wide(type));

        a64_op(k, op | cc << 12, to, to, other);
}

uint32_t mc_jump(struct code *k)
{
        put32(k, A64_B);
        return k->at - 4;
}

/* A condition reaches 1 MB. */
unsigned mc_jump_if(struct code *k, unsigned cc, uint32_t ret[2])
{
        if (k->is_far) {
                put32(k, A64_B_COND | 2 << 5 | (cc ^ 1)); /* over the jump */
                ret[0] = mc_jump(k);
                return 1;
        }
        put32(k, A64_B_COND | cc);
        ret[0] = k->at - 4;
        return 1;
}

uint32_t mc_table(struct code *k, uint32_t n)
{
        a64_const(k, X16, n);
        mc_compare(k, false, INDEX_REG, X16);
        a64_op(k, A64_CSEL | CC_LO << 12, INDEX_REG, INDEX_REG, X16);
        put32(k, A64_ADR | 4 << 5 | X17); /* the table: four instructions on */
        a64_mem_indexed(k, A64_MEM(WORD, 0, 2), INDEX_REG, X17, INDEX_REG, true);
        a64_op(k, A64_ADD | A64_WIDE, INDEX_REG, INDEX_REG, X17);
        put32(k, 0xd61f0000 | INDEX_REG << 5); /* br */

        uint32_t table = k->at;
        for (uint32_t i = 0; i <= n; i++)
                put32(k, 0);
        return table;
}

void mc_patch(struct code *k, uint32_t at, uint32_t target)
{
        int32_t by = (int32_t) (target - at) / 4;
        uint32_t insn;

        if (k->full)
                return;
        memcpy(&insn, k->base + at, sizeof insn);
        if ((insn & 0xff000000) != A64_B_COND) {
                insn |= (uint32_t) by & 0x3ffffff;
        } else {
                k->too_short |= by < -(1 << 18) || by >= 1 << 18;
                insn |= ((uint32_t) by & 0x7ffff) << 5;
        }
        memcpy(k->base + at, &insn, sizeof insn);
}

/* ---- functions and calls: every function keeps its return address ---- */

void mc_enter(struct code *k) { put32(k, 0xf81f0ffe); } /* str x30, [sp, -16]! */
void mc_leave(struct code *k) { put32(k, 0xf84107fe); } /* ldr x30, [sp], 16 */

void mc_return(struct code *k)
{
        mc_leave(k);
        put32(k, A64_RET);
}

static uint32_t jump_on(struct code *k, unsigned cc)
{
        uint32_t at[2];

        (void) mc_jump_if(k, cc, at);
        return at[0];
}

uint32_t mc_check_stack(struct code *k, uint64_t slots, uint32_t data)
{
        a64_add_const(k, X17, FRAME_REG, slots * 8);
        mc_data(k, X16, data);
        mc_compare(k, true, X17, X16);
        return jump_on(k, CC_HI);
}

uint32_t mc_charge(struct code *k, uint32_t cost)
{
        uint32_t imm;

        if (a64_imm12(cost, &imm)) {
                put32(k, A64_SUBS_IMM | A64_WIDE | imm | FUEL_REG << 5 | FUEL_REG);
        } else {
                a64_const(k, X16, cost);
                a64_op(k, A64_SUBS | A64_WIDE, FUEL_REG, FUEL_REG, X16);
        }
        return jump_on(k, CC_LO);
}

uint32_t mc_call(struct code *k, bool is_tail)
{
        put32(k, is_tail ? A64_B : A64_BL);
        return k->at - 4;
}

void mc_call_reg(struct code *k, unsigned reg, bool is_tail)
{
        put32(k, (is_tail ? 0xd61f0000 : 0xd63f0000) | reg << 5); /* br, blr */
}

void mc_helper(struct code *k, uint32_t stub, uint32_t data, uint32_t slot)
{
        mc_data(k, X0, 0);
        a64_add_const(k, X1, FRAME_REG, (uint64_t) slot * 8);
        mc_data(k, X16, data);
        mc_patch(k, mc_call(k, false), stub);
}
