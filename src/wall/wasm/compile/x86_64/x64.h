/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64.h - registers and instructions of x86_64.
 *
 * rbp is the frame, rsp the stack of return addresses, r13 the fuel, r14 the memory; rax, rcx, rdx, xmm6,
 * xmm7 are scratch. */
#pragma once
#include "wall/wasm/compile/code.h"

enum {
        RAX,
        RCX,
        RDX,
        RBX,
        RSP,
        RBP,
        RSI,
        RDI,
        R8,
        R9,
        R10,
        R11,
        R12,
        R13,
        R14,
        R15,
        XMM0,
        XMM6 = XMM0 + 6,
        XMM7,
        XMM8,
        REGS = XMM0 + 16
};

enum {
        FRAME_REG = RBP,
        FUEL_REG = R13,
        MEMORY_REG = R14,
        MERGE_INT = RAX,
        MERGE_FLOAT = XMM7,
        FLOAT_SCRATCH = XMM6,
        BASE_REG = RAX,
        INDEX_REG = RCX,
        TEMP_REG = RDX,
        ARG_REG = RDX,
        FIRST_FLOAT = XMM0,
        MC_RETURN_BYTES = 8, /* that a call takes of the stack of return addresses */
        MC_MAX_CODE = 1 << 29,
};

/* Conditions of jcc, setcc and cmovcc; the inverse differs in the lowest bit. Two more are a pair of flags
 * after a comparison of floats. */
enum {
        CC_O = 0,
        CC_B = 2,
        CC_AE,
        CC_E,
        CC_NE,
        CC_BE,
        CC_A,
        CC_P = 10,
        CC_NP,
        CC_L,
        CC_GE,
        CC_LE,
        CC_G,
        CC_FEQ,
        CC_FNE,
        MC_EQ = CC_E,
        MC_NE = CC_NE,
        MC_AE = CC_AE
};
#define MC_IS_PAIR(cc) ((cc) >= CC_FEQ)

/* An opcode: its byte, the map (0: none, 1: 0f, 2: 0f 38, 3: 0f 3a) above it, then the prefix. */
#define OP_F(n)         (0x100u | (n))
#define OP_P(prefix, n) ((uint32_t) (prefix) << 16 | OP_F(n))
enum {
        OP_BYTE = 0x1000, /* operands of 8 bits: always with REX */
        OP_MOV = 0x8b,
        OP_STORE = 0x89,
        OP_LEA = 0x8d,
        OP_CMP = 0x3b,
        OP_ADD = 0x03,
        OP_TEST = 0x85,
        OP_XOR = 0x33,
        OP_AND = 0x23,
        OP_OR = 0x0b,
        OP_SUB = 0x2b,
        OP_MOVSXD = 0x63,
};

/* A register, or memory at base + index + disp. */
struct rm {
        bool is_mem;
        uint8_t reg, index; /* reg: of memory, the base; index: 0xff for none */
        uint8_t shift;
        int32_t disp;
};
static inline struct rm rm_reg(unsigned r) { return (struct rm){ .reg = (uint8_t) r }; }
static inline struct rm rm_at(unsigned base, int64_t disp)
{
        return (struct rm){ true, (uint8_t) base, 0xff, 0, (int32_t) disp };
}
static inline struct rm rm_slot(uint32_t slot) { return rm_at(RBP, (int64_t) slot * 8); }

/* One instruction with a register and a register or memory. */
void x64_op(struct code *k, uint32_t op, bool wide, unsigned reg, struct rm m);
/* The same with an immediate of 8 bits behind it. */
void x64_op_imm8(struct code *k, uint32_t op, bool wide, unsigned reg, struct rm m, unsigned imm);
/* add, or, and, sub, xor, cmp (OP_...) with an immediate of 32 bits, sign-extended. */
void x64_alu_imm(struct code *k, uint32_t op, bool wide, struct rm m, int32_t imm);
/* Loads a constant; changes no flag. */
void x64_const(struct code *k, unsigned reg, uint64_t v);
/* With a word in front of the code instead of memory; no prefix, no map. */
void x64_data(struct code *k, uint32_t op, unsigned reg, uint32_t index);
uint32_t x64_jcc(struct code *k, unsigned cc);
