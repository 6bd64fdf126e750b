/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/compiler.h - the state of the compilation of one function body. */
#pragma once
#include "wall/wasm/compile/compile.h"
#include "wall/wasm/compile/machine.h"

enum place { AT_HOME = 0, IN_REG, IN_LOCAL, CONSTANT, IN_FLAGS };

struct operand {
        uint8_t place, type, reg;
        uint32_t home, local; /* slot; number */
        uint64_t value;       /* CONSTANT, not of v128; IN_FLAGS: the condition */
};

struct local {
        uint32_t slot, refs; /* refs: operands that are IN_LOCAL here */
        uint32_t weight;
        uint8_t type, reg; /* NO_REG: in its slot */
};

/* A jump forward at `at`, or an entry of a table. */
struct patch {
        uint32_t at, table, next; /* table: NOWHERE for a jump */
};

struct label {
        uint16_t op;     /* WASM_BLOCK ... */
        uint32_t height; /* operands below it */
        uint32_t target; /* WASM_LOOP */
        uint32_t patches, else_patch;
        struct wasm_functype type;
};

/* A jump out of a function: traps; a charge of fuel that failed is given back. */
struct way_out {
        uint32_t at, cost;
        enum wasm_trap trap;
};
/* A call of a function whose code is not there yet. */
struct call_site {
        uint32_t at, func;
};

struct compiler {
        struct code k;
        const struct wasm_module *m;
        const struct stubs *stubs;
        struct data_layout data;
        /* of the function */
        const struct wasm_body *body;
        struct wasm_functype type;
        struct wasm_reader r;
        struct operand *operands;
        uint32_t n_operands;
        struct label *labels;
        uint32_t n_labels;
        struct local *locals;
        uint32_t n_locals;
        uint32_t first_save, first_home, loop, dead;
        uint8_t saves[REGS];
        unsigned n_saves;
        bool has_memory;
        uint32_t hint;       /* the local that the next instruction sets, or NOWHERE */
        int32_t owner[REGS]; /* of the pool: the operand, or enum below */
        /* buffers that grow */
        struct patch *patches;
        struct way_out *exits;
        struct call_site *sites;
        uint32_t n_patches, cap_patches, n_exits, cap_exits, n_sites, cap_sites;
        bool failed;
};
enum { FREE = -1, BUSY = -2, NOT_POOL = -3 };

/* Makes room for one more element; false, and the compiler has failed, if there is no memory. */
bool cc_grow(struct compiler *c, void *array, uint32_t n, uint32_t *cap, size_t size);

/* ---- operands (registers.c) ---- */

void rg_reset(struct compiler *c);
unsigned rg_alloc(struct compiler *c, uint8_t type);
/* A register for a result: the one of the local that gets it next, or of the pool. */
unsigned rg_result(struct compiler *c, uint8_t type);
void op_push(struct compiler *c, struct operand x);
void op_push_reg(struct compiler *c, uint8_t type, unsigned reg);
void op_push_home(struct compiler *c, uint8_t type);
/* The register of a popped operand stays taken until op_free(). */
struct operand op_pop(struct compiler *c);
void op_free(struct compiler *c, const struct operand *x);
void op_drop_to(struct compiler *c, uint32_t height);
/* Copies a value; changes no flag. */
void op_load(struct compiler *c, unsigned reg, const struct operand *x);
void op_store(struct compiler *c, uint32_t slot, const struct operand *x);
/* A register with the value, to read. */
unsigned op_use(struct compiler *c, struct operand *x);
/* Whether the value is in memory only, and then in which slot. */
bool op_in_slot(const struct compiler *c, const struct operand *x, uint32_t *ret);
/* A register with the value that may be changed. */
unsigned op_own(struct compiler *c, struct operand *x);
/* A register with the value of `a` for the result, other than the one that holds `b`. */
unsigned op_dest(struct compiler *c, struct operand *a, const struct operand *b);
void op_swap(struct operand *a, struct operand *b);
void op_settle(struct compiler *c, uint32_t n);
void op_detach(struct compiler *c, uint32_t local);
uint32_t op_next_home(const struct compiler *c);
/* Flags that are still an operand become a number, before something changes them. */
void op_keep_flags(struct compiler *c);
void op_push_flags(struct compiler *c, unsigned cc);
/* Pops a condition; the flags say whether it holds. */
unsigned op_pop_condition(struct compiler *c);
static inline unsigned cc_inverse(unsigned cc) { return cc ^ 1; }

/* ---- instructions ---- */

void cc_trap_if(struct compiler *c, unsigned cc, enum wasm_trap t);
void cc_helper(struct compiler *c, unsigned helper, uint32_t slot, uint64_t arg);
void cc_charge(struct compiler *c, uint32_t cost);
void cc_begin(struct compiler *c);
void cc_end(struct compiler *c);
void cc_restore(struct compiler *c);
void cc_trap_stubs(struct compiler *c, struct stubs *ret);

void cc_block(struct compiler *c, const struct wasm_insn *x);
void cc_else(struct compiler *c, const struct wasm_insn *x);
void cc_block_end(struct compiler *c, const struct wasm_insn *x);
void cc_br(struct compiler *c, const struct wasm_insn *x);
void cc_br_if(struct compiler *c, const struct wasm_insn *x);
void cc_br_table(struct compiler *c, const struct wasm_insn *x);
void cc_return(struct compiler *c, const struct wasm_insn *x);
void cc_unreachable(struct compiler *c, const struct wasm_insn *x);
void cc_call(struct compiler *c, const struct wasm_insn *x);
/* Any instruction of reachable code. */
void cc_insn(struct compiler *c, const struct wasm_insn *x);

/* ---- of the machine ---- */

/* Arithmetic, conversions, loads and stores; false if a helper does it. */
bool mc_numeric(struct compiler *c, const struct wasm_insn *x);
/* The code that C calls, and that calls C: sets enter, leave and helper. */
void mc_stubs(struct code *k, struct stubs *ret);
