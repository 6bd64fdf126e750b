/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64_stubs.c - between C and code on x86_64; and faults. */
#include "wall/wasm/compile/compiler.h"

#include <cpuid.h>
#include <ucontext.h>

#define FIELD(f) rm_at(R8, offsetof(struct machine, f))

static const uint8_t kept[] = { RBX, RBP, R12, R13, R14, R15 }; /* by C */

static void load_fuel(struct code *k)
{
        mc_data(k, RCX, DATA_FUEL);
        x64_op(k, OP_MOV, true, FUEL_REG, rm_at(RCX, 0));
}

static void store_fuel(struct code *k)
{
        mc_data(k, RCX, DATA_FUEL);
        x64_op(k, OP_STORE, true, FUEL_REG, rm_at(RCX, 0));
}

/* enum wasm_trap enter(code, frame): C calls code. */
static void stub_enter(struct code *k, struct stubs *ret)
{
        ret->enter = k->at;
        for (size_t i = 0; i < sizeof kept; i++)
                x64_op(k, 0xff, false, 6, rm_reg(kept[i])); /* push */
        x64_alu_imm(k, OP_SUB, true, rm_reg(RSP), 8);       /* calls in C want 16 */
        mc_data(k, R8, DATA_MACHINE);
        x64_op(k, OP_STORE, true, RSP, FIELD(host_stack));
        x64_op(k, OP_MOV, true, RSP, FIELD(return_stack));
        load_fuel(k);
        x64_op(k, OP_MOV, true, RBP, rm_reg(RSI));
        x64_op(k, 0xff, false, 2, rm_reg(RDI)); /* call */
        mc_data(k, R8, DATA_MACHINE);
        x64_op(k, OP_STORE, true, RAX, FIELD(int_result));
        x64_op(k, OP_P(0xf2, 0x11), false, MERGE_FLOAT, FIELD(float_result));
        x64_const(k, RAX, WASM_OK);

        ret->leave = k->at; /* with the trap in eax */
        mc_data(k, R8, DATA_MACHINE);
        store_fuel(k);
        x64_op(k, OP_MOV, true, RSP, FIELD(host_stack));
        x64_alu_imm(k, OP_ADD, true, rm_reg(RSP), 8);
        for (size_t i = sizeof kept; i-- > 0;)
                x64_op(k, 0x8f, false, 0, rm_reg(kept[i])); /* pop */
        put8(k, 0xc3);
}

/* Registers of locals that C does not keep. */
static void keep_registers(struct code *k, bool is_load)
{
        for (unsigned i = 0; i < 10; i++) {
                struct rm at = FIELD(saved[i]);
                if (i < 2)
                        x64_op(k, is_load ? OP_MOV : OP_STORE, true, R10 + i, at);
                else
                        x64_op(k, OP_P(0xf2, is_load ? 0x10 : 0x11), false, XMM8 + i - 2, at);
        }
}

/* Calls the helper rax on the stack of C, then goes on at rcx. It takes no place on the stack of return
 * addresses, so that the depth of calls is exact. */
static void stub_helper(struct code *k, struct stubs *ret)
{
        ret->helper = k->at;
        mc_data(k, R8, DATA_MACHINE);
        x64_op(k, OP_STORE, true, RCX, FIELD(back));
        x64_op(k, OP_STORE, true, RSP, FIELD(stack));
        keep_registers(k, false);
        store_fuel(k);
        x64_op(k, OP_MOV, true, RSP, FIELD(host_stack));
        x64_op(k, 0xff, false, 2, rm_reg(RAX));
        mc_data(k, R8, DATA_MACHINE);
        load_fuel(k);
        x64_op(k, OP_TEST, false, RAX, rm_reg(RAX));
        mc_patch(k, x64_jcc(k, CC_NE), ret->leave);
        x64_op(k, OP_MOV, true, RSP, FIELD(stack));
        keep_registers(k, true);
        x64_op(k, 0xff, false, 4, FIELD(back)); /* jmp */
}

void mc_stubs(struct code *k, struct stubs *ret)
{
        stub_enter(k, ret);
        stub_helper(k, ret);
}

/* ---- in the process ---- */

/* Rounding needs SSE 4.1, counting bits POPCNT. */
bool mc_has_processor(void)
{
        unsigned a, b, c, d;

        return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_POPCNT);
}

void mc_flush(uint8_t *code, size_t n) { (void) code, (void) n; }

const void *mc_fault_at(const void *context)
{
        const ucontext_t *u = context;

        return (const void *) (uintptr_t) u->uc_mcontext.gregs[REG_RIP];
}

void mc_fault_leave(void *context, const void *to, unsigned value)
{
        ucontext_t *u = context;

        u->uc_mcontext.gregs[REG_RAX] = value;
        u->uc_mcontext.gregs[REG_RIP] = (greg_t) (uintptr_t) to;
}
