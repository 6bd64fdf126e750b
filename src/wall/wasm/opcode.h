/* SPDX-License-Identifier: MIT */
/* wall/wasm/opcode.h - the table of instructions and their immediates, shared by the validator, the
 * interpreter and the compiler. */
#pragma once
#include "wall/wasm/decode/reader.h"
#include "wall/wasm/module.h"

enum {
#define OP(code, name, imm, sig, arg) WASM_##name = (code),
#include "wall/wasm/opcodes.inc"
#undef OP
        WASM_OP__COUNT = 0x300
};

/* The immediates of an instruction, in the order in which they are encoded. */
enum wasm_imm {
        WASM_IMM_NONE = 0,
        WASM_IMM_BLOCK,      /* block type */
        WASM_IMM_INDEX,      /* one index */
        WASM_IMM_INDEX2,     /* two: call_indirect type, table; table.init elem, table; table.copy to, from */
        WASM_IMM_INDEX_ZERO, /* memory.init: data segment, memory */
        WASM_IMM_ZERO,       /* memory */
        WASM_IMM_ZERO2,      /* memory, memory */
        WASM_IMM_TABLE,      /* br_table: labels */
        WASM_IMM_TYPES,      /* select: one value type */
        WASM_IMM_REFTYPE,
        WASM_IMM_MEM, /* alignment, offset */
        WASM_IMM_MEM_LANE,
        WASM_IMM_LANE,
        WASM_IMM_SHUFFLE,
        WASM_IMM_I32,
        WASM_IMM_I64,
        WASM_IMM_F32,
        WASM_IMM_F64,
        WASM_IMM_V128,
        WASM_IMM__COUNT
};

struct wasm_op {
        const char *sig;
        uint8_t imm, arg;
        bool known;
};

/* One decoded instruction. */
struct wasm_insn {
        const struct wasm_op *row;
        uint16_t op;
        uint8_t lane;   /* LANE, MEM_LANE */
        uint8_t type;   /* REFTYPE, TYPES; BLOCK: the only result, or 0 */
        uint32_t index; /* first index; BLOCK: type index or WASM_NO_INDEX; TABLE: number of labels but one */
        uint32_t index2;  /* second index; MEM: log2 of the alignment */
        uint64_t value;   /* constant of at most 64 bits (i32 zero-extended); MEM: offset */
        const uint8_t *p; /* V128 and SHUFFLE: 16 bytes; TABLE: the labels, LEB128, index + 1 of them */
};
#define WASM_NO_INDEX UINT32_MAX

/* Reads the next instruction. Returns false, and the reader has failed, if it is malformed. */
bool wasm_insn_read(struct wasm_reader *r, struct wasm_insn *ret);
/* The type of a block, loop or if that the validator accepted. */
struct wasm_functype wasm_block_type(const struct wasm_module *m, const struct wasm_insn *x);
/* The type of a letter of a signature. */
enum wasm_type wasm_letter_type(char c);
char wasm_type_letter(uint8_t type);
/* The operands of a signature. Its result, if any, stands after the colon. */
static inline uint32_t wasm_sig_operands(const char *sig)
{
        uint32_t n = 0;

        while (sig[n] != ':')
                n++;
        return n;
}
static inline uint8_t wasm_sig_result(const char *sig)
{
        return (uint8_t) wasm_letter_type(sig[wasm_sig_operands(sig) + 1]);
}
/* 2 for v128, else 1. */
static inline uint32_t wasm_type_slots(uint8_t type) { return type == WASM_V128 ? 2 : 1; }
static inline bool wasm_type_is_ref(uint8_t type) { return type == WASM_FUNCREF || type == WASM_EXTERNREF; }
bool wasm_type_is_value(uint8_t type);
/* Columns of the table of instructions. */
const char *wasm_op_signature(uint16_t op);
uint8_t wasm_op_argument(uint16_t op);
