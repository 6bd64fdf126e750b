/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64.h - registers and instructions of aarch64.
 *
 * x29 is the frame, sp the stack of return addresses, x27 the fuel, x28 the memory; x0, x1, x2, x16, x17, v16
 * and v17 are scratch: x16 and x17 inside of one function of this folder, the others of the compiler. */
#pragma once
#include "wall/wasm/compile/code.h"

enum {
        X0,
        X1,
        X2,
        X3,
        X4,
        X11 = 11,
        X16 = 16,
        X17,
        X19 = 19,
        X27 = 27,
        X28,
        X29,
        X30,
        ZERO_REG,
        SP_REG = 31,
        V0
};

enum {
        FRAME_REG = X29,
        FUEL_REG = X27,
        MEMORY_REG = X28,
        MERGE_INT = X0,
        MERGE_FLOAT = V0 + 17,
        FLOAT_SCRATCH = V0 + 16,
        BASE_REG = X0,
        INDEX_REG = X1,
        TEMP_REG = X2,
        ARG_REG = X2,
        FIRST_FLOAT = V0,
        REGS = V0 + 32,
        MC_RETURN_BYTES = 16,  /* that a call takes of the stack of return addresses: sp is aligned */
        MC_MAX_CODE = 1 << 27, /* the reach of a branch */
};

/* The inverse differs in the lowest bit. After a comparison of floats: MI, LS, GT, GE. */
enum {
        CC_EQ,
        CC_NE,
        CC_HS,
        CC_LO,
        CC_MI,
        CC_VS = 6,
        CC_HI = 8,
        CC_LS,
        CC_GE,
        CC_LT,
        CC_GT,
        CC_LE,
        MC_EQ = CC_EQ,
        MC_NE = CC_NE,
        MC_AE = CC_HS
};
#define MC_IS_PAIR(cc) ((cc) != (cc)) /* one condition is always enough */

/* Instructions without their registers; of 32 bits, or of single precision. */
#define A64_WIDE   (1u << 31)
#define A64_DOUBLE (1u << 22)
#define A64_BL     0x94000000u
#define A64_ADRP   0x90000000u
#define A64_RET    0xd65f03c0u
enum {
        A64_ADD = 0x0b000000,
        A64_SUB = 0x4b000000,
        A64_SUBS = 0x6b000000,
        A64_AND = 0x0a000000,
        A64_ORR = 0x2a000000,
        A64_EOR = 0x4a000000,
        A64_ADD_IMM = 0x11000000,
        A64_ADDS_IMM = 0x31000000,
        A64_SUB_IMM = 0x51000000,
        A64_SUBS_IMM = 0x71000000,
        A64_MADD = 0x1b000000,
        A64_MSUB = 0x1b008000,
        A64_SDIV = 0x1ac00c00,
        A64_UDIV = 0x1ac00800,
        A64_BFM = 0x33000000,
        A64_UBFM = 0x53000000,
        A64_SBFM = 0x13000000,
        A64_EXTR = 0x13800000,
        A64_LSLV = 0x1ac02000,
        A64_RORV = 0x1ac02c00,
        A64_CLZ = 0x5ac01000,
        A64_RBIT = 0x5ac00000,
        A64_CSEL = 0x1a800000,
        A64_CSINC = 0x1a800400,
        A64_FCSEL = 0x1e200c00,
        A64_CCMP_IMM = 0x7a400800,
        A64_FCMP = 0x1e202000,
        A64_FMOV = 0x1e204000,
        A64_FMOV_TO = 0x1e270000,   /* from an integer register */
        A64_FMOV_FROM = 0x1e260000, /* to one */
        A64_FCVTZS = 0x1e380000,
        A64_FCVTZU = 0x1e390000,
        A64_B = 0x14000000,
        A64_B_COND = 0x54000000,
        A64_ADR = 0x10000000,
};
/* A load or store: the logarithm of its bytes, whether of a float register, and the operation: 0 store, 1
 * load, 2 and 3 load with sign to 64 and 32 bits. */
#define A64_MEM(size, is_float, opc)                                                                         \
        ((uint32_t) (size) << 30 | (uint32_t) (is_float) << 26 | (uint32_t) (opc) << 22)

static inline uint32_t a64_wide(bool wide) { return wide ? A64_WIDE : 0; }

/* Three registers, of integers or floats; `b` or `a` may be 0. */
static inline void a64_op(struct code *k, uint32_t op, unsigned to, unsigned a, unsigned b)
{
        put32(k, op | (b & 31) << 16 | (a & 31) << 5 | (to & 31));
}
/* UBFM, SBFM, BFM. */
static inline void a64_bits(struct code *k, uint32_t op, bool wide, unsigned to, unsigned a, unsigned r,
                            unsigned s)
{
        put32(k, op | a64_wide(wide) | (wide ? 1u << 22 : 0) | (r & 63) << 16 | (s & 63) << 10 | a << 5 | to);
}

void a64_const(struct code *k, unsigned to, uint64_t value);
/* Whether a logical instruction can have this constant; *ret are its bits. */
bool a64_bitmask(uint64_t value, bool wide, uint32_t *ret);
/* Whether an addition can have this constant; *ret are its bits. */
bool a64_imm12(uint64_t value, uint32_t *ret);
/* to = a + value, by x16 if it is great. */
void a64_add_const(struct code *k, unsigned to, unsigned a, uint64_t value);
/* One load or store (A64_MEM) at base + offset, by x17 if it is great. */
void a64_mem(struct code *k, uint32_t mem, unsigned reg, unsigned base, uint64_t offset);
void a64_mem_indexed(struct code *k, uint32_t mem, unsigned reg, unsigned base, unsigned index, bool scaled);
