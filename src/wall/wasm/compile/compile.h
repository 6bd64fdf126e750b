/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/compile.h - the compiler: one pass over each function, from validated bytes to machine
 * code.
 *
 * Values of a function live in slots of its frame, as in the interpreter: parameters, locals, saved
 * registers, then a home for each operand. The locals that are used most have a register instead. Operands
 * are in registers, or stay a constant, a local or the flags of a comparison until they are needed ("lazy").
 * Where paths meet, operands are at home, except a single result, which is in the merge register.
 *
 * Code is written to memory that is not executable, then made executable and never written again. It has no
 * address in it: what belongs to the instance is in words in front of it. */
#pragma once
#include "wall/wasm/run/helpers.h"

enum {
        COMPILE_GROWTH = 64, /* bytes of code for each byte of the module */
        COMPILE_MIN_CODE = 1 << 20,
        COMPILE_SLACK = 64,   /* behind the end, for the instruction that does not fit */
        COMPILE_PAGE = 65536, /* at least a page of any machine */
        NO_REG = 0xff,
};
#define NOWHERE UINT32_MAX

/* Places that the code of an instance shares, as offsets. */
struct stubs {
        uint32_t enter, leave, helper;
        uint32_t traps[WASM_TRAP__COUNT];
};

/* The words in front of the code of an instance. */
enum data {
        DATA_INSTANCE,
        DATA_MACHINE,
        DATA_FUEL, /* its address */
        DATA_STACK_END,
        DATA_MEMORY,      /* struct wasm_memory */
        DATA_MEMORY_BASE, /* its bytes */
        DATA_OWN_FUNCS,   /* struct wasm_func of the functions that are not imported */
        DATA_HELPERS      /* one for each enum wasm_helper; then imported functions, globals, tables, types */
};
struct data_layout {
        uint32_t funcs, globals, tables, sigs, count;
};

/* The state of a store that code and the engine share. */
struct machine {
        uint64_t host_stack, return_stack; /* the C stack, and the top of the stack of return addresses */
        uint64_t back, stack;              /* of a helper call */
        uint64_t saved[10];                /* registers of locals that C does not keep */
        uint64_t int_result, float_result;
        uint8_t *returns; /* mapped; its first page is a guard */
        size_t returns_bytes;
        const struct wasm_store *store;
};

/* The code of a module, and the words in front of it for one instance. */
struct wasm_native {
        uint8_t *base; /* mapped: the words, then the code */
        size_t bytes;
        uint8_t *code;
        size_t used;
        uint32_t *entries; /* of each function that is not imported: where its code is */
        struct stubs stubs;
};

/* The words that the code of an instance reads (data.c). */
struct data_layout data_layout(const struct wasm_module *m);
void data_fill(const struct wasm_instance *inst, const struct machine *m, uint64_t *words);

/* Compiles all functions: the code is writable, and not executable. Returns 0, or -1 with *e set. */
int compile_module(const struct wasm_module *m, struct wasm_native *ret, struct err *e);
size_t compile_whole_pages(size_t n);
/* Frees it; `c` may be NULL. */
void compile_free(struct wasm_native *c);
