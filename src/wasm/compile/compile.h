/* SPDX-License-Identifier: MIT */
/* wasm/compile/compile.h - the compiler: one pass over each function, from validated bytes to machine code.
 *
 * Values of a function live in slots of its frame, as in the interpreter: parameters, locals, saved
 * registers, then a home for each operand. The locals that are used most have a register instead. Operands
 * are in registers, or stay a constant, a local or the flags of a comparison until they are needed ("lazy").
 * Where paths meet, operands are at home, except a single result, which is in the merge register.
 *
 * Code is written to memory that is not executable, then made executable and never written again. */
#pragma once
#include "wasm/opcode.h"
#include "wasm/run/runtime.h"

enum {
        COMPILE_MAX_CODE = 1 << 29, /* bytes of code of an instance */
        COMPILE_GROWTH = 64,        /* and for each byte of the module */
        COMPILE_MIN_CODE = 1 << 20,
        COMPILE_SLACK = 64, /* behind the end, for the instruction that does not fit */
        NO_REG = 0xff,
};
#define NOWHERE UINT32_MAX

/* Places that the code of an instance shares, as offsets. */
struct stubs {
        uint32_t enter, leave, helper;
        uint32_t traps[WASM_TRAP__COUNT];
};

/* What runs in a store: state that code and the engine share. */
struct machine {
        uint64_t host_stack, return_stack; /* the C stack, and the top of the stack of return addresses */
        uint64_t back, stack;              /* of a helper call */
        uint64_t saved[10];
        uint64_t int_result, float_result;
        uint8_t *returns; /* mapped; its first page is a guard */
        size_t returns_bytes;
        const struct wasm_store *store;
};

/* The code of an instance. */
struct compiled {
        uint8_t *code;
        size_t bytes, used;
        struct stubs stubs;
};

/* A function that code calls with all operands at home: `slots` are the operands and get the result. */
typedef enum wasm_trap helper_fn(struct wasm_instance *i, uint64_t *slots, uint64_t arg);
/* The helper of an instruction, or NULL (helpers.c). */
helper_fn *compile_helper(uint16_t op);
enum wasm_trap compile_host_call(struct wasm_instance *i, uint64_t *slots, uint64_t func);
enum wasm_trap compile_shuffle(struct wasm_instance *i, uint64_t *slots, uint64_t lanes);
enum wasm_trap compile_vector(struct wasm_instance *i, uint64_t *slots, uint64_t op_and_lane);
enum wasm_trap compile_vector_memory(struct wasm_instance *i, uint64_t *slots, uint64_t op_lane_offset);

/* Compiles all functions of the instance. Returns 0, or -1 with *e set. */
int compile_instance(struct wasm_instance *inst, struct machine *m, struct compiled *ret, struct err *e);
