/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/helpers.h - instructions that both engines do by a call, with all operands at home. */
#pragma once
#include "wall/wasm/opcode.h"
#include "wall/wasm/run/runtime.h"

/* `slots` are the operands and get the result. */
typedef enum wasm_trap wasm_helper_fn(struct wasm_instance *i, uint64_t *slots, uint64_t arg);
enum wasm_helper {
        HELPER_HOST_CALL,     /* argument: the function */
        HELPER_SHUFFLE,       /* where its lanes are in the module */
        HELPER_VECTOR,        /* opcode, lane << 8 */
        HELPER_VECTOR_MEMORY, /* opcode, lane << 8, offset << 16 */
        HELPER_OPCODES,       /* one for each instruction that has its own helper */
        HELPER__COUNT = HELPER_OPCODES + 26
};
extern wasm_helper_fn *const wasm_helpers[HELPER__COUNT];

/* The call that an instruction is. */
struct wasm_help {
        unsigned helper;
        uint64_t arg;
        char sig[8]; /* its operands and result */
};
struct wasm_help wasm_help(const struct wasm_module *m, const struct wasm_insn *x);

/* A vector instruction: result, operands in their order, and the lane. For a load or store, x is the memory.
 */
typedef void wasm_simd_fn(void *d, const void *x, const void *y, const void *z, unsigned lane);
extern wasm_simd_fn *const wasm_simd[256]; /* by opcode after 0xfd */
void wasm_shuffle(void *d, const void *x, const void *y, const void *lanes);
