/* SPDX-License-Identifier: MIT */
/* wasm/compile/x64.h - writes instructions of x86_64. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
        CC_FNE
};

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

/* Code in the making. Writing past its end only sets `full`. */
struct code {
        uint8_t *base;
        uint32_t at, room, restart;
        bool full;
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

static inline void put(struct code *k, const void *p, uint32_t n)
{
        if (k->at + n > k->room) {
                k->full = true;
                k->at = k->restart;
        }
        memcpy(k->base + k->at, p, n);
        k->at += n;
}
static inline void put8(struct code *k, unsigned v)
{
        uint8_t b = (uint8_t) v;
        put(k, &b, 1);
}
static inline void put32(struct code *k, uint32_t v) { put(k, &v, 4); }
static inline void put64(struct code *k, uint64_t v) { put(k, &v, 8); }

/* One instruction with a register and a register or memory. */
void x64_op(struct code *k, uint32_t op, bool wide, unsigned reg, struct rm m);
/* The same with an immediate of 8 bits behind it. */
void x64_op_imm8(struct code *k, uint32_t op, bool wide, unsigned reg, struct rm m, unsigned imm);
/* add, or, and, sub, xor, cmp (OP_...) with an immediate of 32 bits, sign-extended. */
void x64_alu_imm(struct code *k, uint32_t op, bool wide, struct rm m, int32_t imm);
/* Loads a constant; changes no flag. */
void x64_const(struct code *k, unsigned reg, uint64_t v);
/* A jump with a target of 32 bits that is not known yet: returns where it is. */
uint32_t x64_jump(struct code *k);
uint32_t x64_jcc(struct code *k, unsigned cc);
/* To a known place. */
void x64_jump_to(struct code *k, uint32_t target);
void x64_jcc_to(struct code *k, unsigned cc, uint32_t target);
/* Sets the 32 bits at `at` to `target` - `base`. */
void x64_patch(struct code *k, uint32_t at, uint32_t base, uint32_t target);
