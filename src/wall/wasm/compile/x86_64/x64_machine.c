/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64_machine.c - values, conditions, jumps and calls on x86_64. */
#include "wall/wasm/compile/machine.h"

static const uint8_t int_pool[] = { RSI, RDI, R8, R9 };
static const uint8_t float_pool[] = { XMM0, XMM0 + 1, XMM0 + 2, XMM0 + 3, XMM0 + 4, XMM0 + 5 };
static const uint8_t int_locals[] = { RBX, R12, R15, R10, R11 };
static const uint8_t float_locals[] = { XMM8,     XMM8 + 1, XMM8 + 2, XMM8 + 3,
                                        XMM8 + 4, XMM8 + 5, XMM8 + 6, XMM8 + 7 };
const struct mc_registers mc_registers = {
        { int_pool, float_pool },
        { int_locals, float_locals },
        { sizeof int_pool, sizeof float_pool },
        { sizeof int_locals, sizeof float_locals },
};

void mc_move(struct code *k, uint8_t type, unsigned to, unsigned from)
{
        if (to == from)
                return;
        if (is_float(type))
                x64_op(k, OP_F(0x28), false, to, rm_reg(from)); /* movaps */
        else
                x64_op(k, OP_MOV, is_wide(type), to, rm_reg(from));
}

void mc_constant(struct code *k, uint8_t type, unsigned to, uint64_t value)
{
        if (!is_float(type)) {
                x64_const(k, to, value);
        } else if (value == 0) {
                x64_op(k, OP_F(0x57), false, to, rm_reg(to)); /* xorps */
        } else {
                x64_const(k, RAX, value);
                x64_op(k, OP_P(0x66, 0x6e), is_wide(type), to, rm_reg(RAX));
        }
}

void mc_load(struct code *k, uint8_t type, unsigned to, unsigned base, uint32_t offset)
{
        struct rm m = rm_at(base, offset);

        if (is_float(type))
                x64_op(k, OP_P(type == WASM_F32 ? 0xf3 : 0xf2, 0x10), false, to, m);
        else
                x64_op(k, OP_MOV, is_wide(type), to, m);
}

void mc_store(struct code *k, uint8_t type, unsigned from, unsigned base, uint32_t offset)
{
        if (type == WASM_F64) {
                x64_op(k, OP_P(0xf2, 0x11), false, from, rm_at(base, offset));
                return;
        }
        if (type == WASM_F32) {
                x64_op(k, OP_P(0x66, 0x7e), false, from, rm_reg(RDX));
                from = RDX;
        }
        x64_op(k, OP_STORE, true, from, rm_at(base, offset));
}

void mc_load_indexed(struct code *k, unsigned to, unsigned base, unsigned index)
{
        x64_op(k, OP_MOV, true, to, (struct rm){ true, (uint8_t) base, (uint8_t) index, 3, 0 });
}

void mc_store_constant(struct code *k, uint32_t slot, uint64_t value)
{
        if (value == (uint64_t) (int32_t) value) {
                x64_op(k, 0xc7, true, 0, rm_slot(slot));
                put32(k, (uint32_t) value);
                return;
        }
        x64_const(k, RDX, value);
        x64_op(k, OP_STORE, true, RDX, rm_slot(slot));
}

void mc_copy(struct code *k, uint8_t type, uint32_t to, uint32_t from)
{
        if (to == from)
                return;
        if (type == WASM_V128) {
                x64_op(k, OP_F(0x10), false, FLOAT_SCRATCH, rm_slot(from)); /* movups */
                x64_op(k, OP_F(0x11), false, FLOAT_SCRATCH, rm_slot(to));
                return;
        }
        x64_op(k, OP_MOV, is_wide(type), RDX, rm_slot(from));
        x64_op(k, OP_STORE, true, RDX, rm_slot(to));
}

void mc_zero(struct code *k, uint32_t first, uint32_t n)
{
        if (n <= 8) {
                for (uint32_t i = 0; i < n; i++)
                        mc_store_constant(k, first + i, 0);
                return;
        }
        x64_op(k, OP_LEA, true, RDI, rm_slot(first));
        x64_const(k, RCX, n);
        x64_const(k, RAX, 0);
        put(k, "\xf3\x48\xab", 3); /* rep stosq */
}

void mc_data(struct code *k, unsigned to, uint32_t index) { x64_data(k, OP_MOV, to, index); }

void mc_add(struct code *k, unsigned reg, uint32_t value)
{
        x64_alu_imm(k, OP_ADD, true, rm_reg(reg), (int32_t) value);
}

void mc_move_frame(struct code *k, int64_t slots)
{
        if (slots)
                x64_op(k, OP_LEA, true, RBP, rm_at(RBP, slots * 8));
}

/* ---- conditions and jumps ---- */

void mc_test(struct code *k, bool wide, unsigned reg) { x64_op(k, OP_TEST, wide, reg, rm_reg(reg)); }

void mc_compare(struct code *k, bool wide, unsigned a, unsigned b) { x64_op(k, OP_CMP, wide, a, rm_reg(b)); }

static void set_byte(struct code *k, unsigned cc, unsigned reg)
{
        x64_op(k, OP_F(0x90 | cc) | OP_BYTE, false, 0, rm_reg(reg));
}

void mc_set(struct code *k, unsigned cc, unsigned reg)
{
        if (!MC_IS_PAIR(cc)) {
                set_byte(k, cc, RAX);
        } else {
                set_byte(k, cc == CC_FEQ ? CC_E : CC_NE, RAX);
                set_byte(k, cc == CC_FEQ ? CC_NP : CC_P, RDX);
                x64_op(k, cc == CC_FEQ ? OP_AND : OP_OR, false, RAX, rm_reg(RDX));
        }
        x64_op(k, OP_F(0xb6) | OP_BYTE, false, reg, rm_reg(RAX)); /* movzx */
}

void mc_select(struct code *k, uint8_t type, unsigned cc, unsigned to, unsigned other)
{
        if (!is_float(type)) {
                x64_op(k, OP_F(0x40 | (cc ^ 1)), is_wide(type), to, rm_reg(other));
                return;
        }
        uint32_t skip = x64_jcc(k, cc);
        mc_move(k, type, to, other);
        mc_patch(k, skip, k->at);
}

uint32_t mc_jump(struct code *k)
{
        put8(k, 0xe9);
        put32(k, 0);
        return k->at - 4;
}

unsigned mc_jump_if(struct code *k, unsigned cc, uint32_t ret[2])
{
        if (cc == CC_FNE) { /* either flag */
                ret[0] = x64_jcc(k, CC_P);
                ret[1] = x64_jcc(k, CC_NE);
                return 2;
        }
        uint32_t skip = cc == CC_FEQ ? x64_jcc(k, CC_P) : 0;
        ret[0] = x64_jcc(k, cc == CC_FEQ ? CC_E : cc);
        if (cc == CC_FEQ)
                mc_patch(k, skip, k->at);
        return 1;
}

uint32_t mc_table(struct code *k, uint32_t n)
{
        x64_const(k, RDX, n);
        x64_op(k, OP_CMP, false, RCX, rm_reg(RDX));
        x64_op(k, OP_F(0x40 | CC_A), false, RCX, rm_reg(RDX));
        put(k, "\x48\x8d\x15", 3); /* lea rdx, [rip + table] */
        put32(k, 0);
        uint32_t lea = k->at - 4;
        x64_op(k, OP_MOVSXD, true, RCX, (struct rm){ true, RDX, RCX, 2, 0 });
        x64_op(k, OP_ADD, true, RCX, rm_reg(RDX));
        put(k, "\xff\xe1", 2); /* jmp rcx */

        uint32_t table = k->at;
        mc_patch(k, lea, table);
        for (uint32_t i = 0; i <= n; i++)
                put32(k, 0);
        return table;
}

void mc_patch(struct code *k, uint32_t at, uint32_t target) { mc_patch_entry(k, at, at + 4, target); }

/* ---- functions and calls: the call itself keeps the return address ---- */

void mc_enter(struct code *k) { (void) k; }
void mc_leave(struct code *k) { (void) k; }
void mc_return(struct code *k) { put8(k, 0xc3); }

uint32_t mc_check_stack(struct code *k, uint64_t slots, uint32_t data)
{
        x64_op(k, OP_LEA, true, RAX, rm_slot((uint32_t) slots));
        x64_data(k, OP_CMP, RAX, data);
        return x64_jcc(k, CC_A);
}

uint32_t mc_charge(struct code *k, uint32_t cost)
{
        x64_alu_imm(k, OP_SUB, true, rm_reg(FUEL_REG), (int32_t) cost);
        return x64_jcc(k, CC_B);
}

uint32_t mc_call(struct code *k, bool is_tail)
{
        put8(k, is_tail ? 0xe9 : 0xe8);
        put32(k, 0);
        return k->at - 4;
}

void mc_call_reg(struct code *k, unsigned reg, bool is_tail)
{
        x64_op(k, 0xff, false, is_tail ? 4 : 2, rm_reg(reg));
}

void mc_helper(struct code *k, uint32_t stub, uint32_t data, uint32_t slot)
{
        mc_data(k, RDI, 0);
        x64_op(k, OP_LEA, true, RSI, rm_slot(slot));
        mc_data(k, RAX, data);
        put(k, "\x48\x8d\x0d\x05\0\0\0", 7); /* lea rcx, [rip + 5]: behind the jump */
        mc_jump_to(k, stub);
}
