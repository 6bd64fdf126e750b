/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/machine.h - what the compiler asks of a machine. The folders x86_64 and aarch64 each have
 * all of it; the build takes one.
 *
 * The header of a machine names its registers: FRAME_REG holds the frame, MERGE_INT and MERGE_FLOAT the
 * result of a block or call, ARG_REG the argument of a helper; BASE_REG, INDEX_REG and TEMP_REG are scratch
 * (MERGE_INT and BASE_REG, ARG_REG and TEMP_REG may be the same). FIRST_FLOAT is the first register of
 * floats, REGS their number. A register of an i32 has a zero upper half: an address is used as it is.
 *
 * Conditions: MC_EQ, MC_NE, MC_AE (unsigned); the inverse differs in the lowest bit. MC_IS_PAIR(cc): one that
 * only mc_set() and mc_jump_if() know.
 *
 * Moves, loads and stores of this list change no flag. */
#pragma once
#include "wall/wasm/compile/code.h"
#include "wall/wasm/wasm.h"
#if defined __aarch64__
#include "wall/wasm/compile/aarch64/a64.h"
#else
#include "wall/wasm/compile/x86_64/x64.h"
#endif

/* [0]: integers, [1]: floats. No call keeps a register of the pool; every function saves those of locals. */
struct mc_registers {
        const uint8_t *pool[2], *locals[2];
        uint8_t n_pool[2], n_locals[2];
};
extern const struct mc_registers mc_registers;

/* ---- values ---- */

static inline bool is_float(uint8_t type) { return type == WASM_F32 || type == WASM_F64; }
static inline bool is_wide(uint8_t type) { return type != WASM_I32 && type != WASM_F32; }
void mc_move(struct code *k, uint8_t type, unsigned to, unsigned from);
void mc_constant(struct code *k, uint8_t type, unsigned to, uint64_t value);
/* A store writes 64 bits: the upper half is zero for types of 32. Not for v128. */
void mc_load(struct code *k, uint8_t type, unsigned to, unsigned base, uint32_t offset);
void mc_store(struct code *k, uint8_t type, unsigned from, unsigned base, uint32_t offset);
/* 64 bits at base + index * 8. */
void mc_load_indexed(struct code *k, unsigned to, unsigned base, unsigned index);
void mc_store_constant(struct code *k, uint32_t slot, uint64_t value);
/* Copies a value of any type from slot to slot. */
void mc_copy(struct code *k, uint8_t type, uint32_t to, uint32_t from);
void mc_zero(struct code *k, uint32_t first, uint32_t n);
/* A word of the data in front of the code. */
void mc_data(struct code *k, unsigned to, uint32_t index);
void mc_add(struct code *k, unsigned reg, uint32_t value);
void mc_move_frame(struct code *k, int64_t slots);

/* ---- conditions and jumps ---- */

void mc_test(struct code *k, bool wide, unsigned reg); /* MC_EQ: it is zero */
void mc_compare(struct code *k, bool wide, unsigned a, unsigned b);
void mc_set(struct code *k, unsigned cc, unsigned reg);
/* `to` stays if the condition holds, else it becomes `other`. */
void mc_select(struct code *k, uint8_t type, unsigned cc, unsigned to, unsigned other);
/* Jumps whose targets are not known yet: where they are, for mc_patch(). The second returns how many. */
uint32_t mc_jump(struct code *k);
unsigned mc_jump_if(struct code *k, unsigned cc, uint32_t ret[2]);
/* Jumps by INDEX_REG: returns where its n + 1 entries are, the last for all that are greater. */
uint32_t mc_table(struct code *k, uint32_t n);
void mc_patch(struct code *k, uint32_t at, uint32_t target);
static inline void mc_jump_to(struct code *k, uint32_t target) { mc_patch(k, mc_jump(k), target); }
/* An entry of a table is the distance from its beginning. */
static inline void mc_patch_entry(struct code *k, uint32_t at, uint32_t table, uint32_t target)
{
        uint32_t by = target - table;

        if (!k->full)
                memcpy(k->base + at, &by, sizeof by);
}

/* ---- functions and calls ---- */

void mc_enter(struct code *k);
/* Compares the end of the frame with the end of the stack: jumps if it is over. */
uint32_t mc_check_stack(struct code *k, uint64_t slots, uint32_t data);
uint32_t mc_charge(struct code *k, uint32_t cost); /* jumps if the fuel is short */
/* Comes before a tail call, or a return. */
void mc_leave(struct code *k);
void mc_return(struct code *k);
/* A call whose target is not known yet. */
uint32_t mc_call(struct code *k, bool is_tail);
void mc_call_reg(struct code *k, unsigned reg, bool is_tail);
/* Calls a helper with the instance, the address of a slot and ARG_REG. */
void mc_helper(struct code *k, uint32_t stub, uint32_t data, uint32_t slot);

/* ---- in the process ---- */

/* Whether this processor has what the code needs. */
bool mc_has_processor(void);
/* Code was written and will be executed. */
void mc_flush(uint8_t *code, size_t n);
/* Where a signal found the process; and where it goes on, with a value in MERGE_INT. */
const void *mc_fault_at(const void *context);
void mc_fault_leave(void *context, const void *to, unsigned value);
