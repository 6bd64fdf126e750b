/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64_stubs.c - between C and code on aarch64; and faults. */
#include "wall/wasm/compile/compiler.h"

#include <ucontext.h>

#define FIELD(f) ((uint32_t) offsetof(struct machine, f))
enum { FIRST_PAIR = 19, INT_PAIRS = 6, FLOAT_PAIRS = 4, KEPT_LOCALS = 5 };

static void push_pairs(struct code *k)
{
        for (unsigned i = 0; i < INT_PAIRS; i++)
                put32(k, 0xa9bf0000 | (X19 + 2 * i + 1) << 10 | SP_REG << 5 | (X19 + 2 * i)); /* stp */
        for (unsigned i = 0; i < FLOAT_PAIRS; i++)
                put32(k, 0x6dbf0000 | (8 + 2 * i + 1) << 10 | SP_REG << 5 | (8 + 2 * i));
}

static void pop_pairs(struct code *k)
{
        for (unsigned i = FLOAT_PAIRS; i-- > 0;)
                put32(k, 0x6cc10000 | (8 + 2 * i + 1) << 10 | SP_REG << 5 | (8 + 2 * i)); /* ldp */
        for (unsigned i = INT_PAIRS; i-- > 0;)
                put32(k, 0xa8c10000 | (X19 + 2 * i + 1) << 10 | SP_REG << 5 | (X19 + 2 * i));
}

static void move_sp(struct code *k, unsigned to, unsigned from)
{
        put32(k, A64_ADD_IMM | A64_WIDE | from << 5 | to);
}

static void emit_fuel(struct code *k, bool is_load)
{
        mc_data(k, X4, DATA_FUEL);
        if (is_load)
                mc_load(k, WASM_I64, FUEL_REG, X4, 0);
        else
                mc_store(k, WASM_I64, FUEL_REG, X4, 0);
}

/* To the stack whose address is in a field of x3. */
static void switch_stack(struct code *k, uint32_t field)
{
        mc_load(k, WASM_I64, X4, X3, field);
        move_sp(k, SP_REG, X4);
}

static void store_stack(struct code *k, uint32_t field)
{
        move_sp(k, X4, SP_REG);
        mc_store(k, WASM_I64, X4, X3, field);
}

/* enum wasm_trap enter(code, frame): C calls code. */
static void stub_enter(struct code *k, struct stubs *ret)
{
        ret->enter = k->at;
        push_pairs(k);
        mc_data(k, X3, DATA_MACHINE);
        store_stack(k, FIELD(host_stack));
        switch_stack(k, FIELD(return_stack));
        emit_fuel(k, true);
        mc_move(k, WASM_I64, FRAME_REG, X1);
        mc_call_reg(k, X0, false);
        mc_data(k, X3, DATA_MACHINE);
        mc_store(k, WASM_I64, MERGE_INT, X3, FIELD(int_result));
        mc_store(k, WASM_F64, MERGE_FLOAT, X3, FIELD(float_result));
        a64_const(k, X0, WASM_OK);

        ret->leave = k->at; /* with the trap in x0 */
        mc_data(k, X3, DATA_MACHINE);
        emit_fuel(k, false);
        switch_stack(k, FIELD(host_stack));
        pop_pairs(k);
        put32(k, A64_RET);
}

/* Registers of locals that C does not keep. */
static void keep_registers(struct code *k, bool is_load)
{
        for (unsigned i = 0; i < KEPT_LOCALS; i++) {
                uint32_t at = FIELD(saved) + 8 * i;
                if (is_load)
                        mc_load(k, WASM_I64, X11 + i, X3, at);
                else
                        mc_store(k, WASM_I64, X11 + i, X3, at);
        }
}

/* Calls the helper x16 on the stack of C, then goes on at x30. */
static void stub_helper(struct code *k, struct stubs *ret)
{
        ret->helper = k->at;
        mc_data(k, X3, DATA_MACHINE);
        mc_store(k, WASM_I64, X30, X3, FIELD(back));
        store_stack(k, FIELD(stack));
        keep_registers(k, false);
        emit_fuel(k, false);
        switch_stack(k, FIELD(host_stack));
        mc_call_reg(k, X16, false);
        mc_data(k, X3, DATA_MACHINE);
        emit_fuel(k, true);
        mc_test(k, false, X0);
        uint32_t at[2];
        (void) mc_jump_if(k, CC_NE, at);
        mc_patch(k, at[0], ret->leave);
        switch_stack(k, FIELD(stack));
        keep_registers(k, true);
        mc_load(k, WASM_I64, X30, X3, FIELD(back));
        put32(k, A64_RET);
}

void mc_stubs(struct code *k, struct stubs *ret)
{
        stub_enter(k, ret);
        stub_helper(k, ret);
}

/* ---- in the process ---- */

bool mc_has_processor(void) { return true; }

void mc_flush(uint8_t *code, size_t n) { __builtin___clear_cache((char *) code, (char *) code + n); }

const void *mc_fault_at(const void *context)
{
        const ucontext_t *u = context;

        return (const void *) (uintptr_t) u->uc_mcontext.pc;
}

void mc_fault_leave(void *context, const void *to, unsigned value)
{
        ucontext_t *u = context;

        u->uc_mcontext.regs[MERGE_INT] = value;
        u->uc_mcontext.pc = (uintptr_t) to;
}
