/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/translator.h - the state of the translation of one function body to the register machine.
 *
 * The operand stack exists at translation time only. Each operand has a home, the slot that its depth gives
 * it; a local or a constant that was pushed stays where it is until something needs it at home ("lazy"). So
 * `local.get 0, i32.const 1, i32.add, local.set 0` is one instruction. */
#pragma once
#include "wall/wasm/interp/interp.h"

enum operand_kind { AT_HOME = 0, IN_LOCAL, CONSTANT };

struct operand {
        uint8_t kind, type;
        uint16_t home, local; /* slots */
        uint64_t value;       /* CONSTANT, not of v128 */
};

/* A jump forward, whose target is not known yet. */
struct patch {
        uint32_t at, next;
        uint8_t form; /* enum patch_form */
};
enum patch_form { PATCH_C = 0, PATCH_K, PATCH_U };
#define NOWHERE UINT32_MAX

struct label {
        uint16_t op;     /* WASM_BLOCK ... */
        uint32_t height; /* operands below it */
        uint32_t target; /* WASM_LOOP: its first cell */
        uint32_t patches, else_patch;
        struct wasm_functype type;
};

struct translator {
        const struct wasm_module *m;
        const struct wasm_body *body;
        struct wasm_functype type;
        struct wasm_reader r;
        struct wasm_code *code; /* cells are allocated behind it */
        uint32_t n_cells, cap_cells;
        struct operand *operands;
        uint32_t n_operands;
        struct label *labels;
        uint32_t n_labels;
        struct patch *patches;
        uint32_t n_patches, cap_patches;
        uint16_t *local_slots;
        uint8_t *local_types;
        uint32_t first_home; /* the slot after the locals */
        uint32_t top;        /* greatest number of slots used */
        uint32_t last;       /* the cell of the last instruction, if its result is in field a; else NOWHERE */
        uint32_t loop;       /* number of the next loop */
        uint32_t dead;       /* blocks opened since the code became unreachable, or 0 */
        bool is_far;         /* jumps of 16 bits do not reach: no compare-and-jump instructions */
        bool too_far, failed;
};

/* ---- operands (operand_stack.c) ---- */

uint32_t tr_emit(struct translator *t, union wasm_cell c);
/* Emits an instruction whose result goes to field a. */
uint32_t tr_emit_result(struct translator *t, uint16_t op, uint32_t a, uint32_t b, uint32_t c);
/* Pushes an operand at its home; returns the slot. */
uint16_t tr_push(struct translator *t, uint8_t type);
void tr_push_lazy(struct translator *t, struct operand x);
struct operand tr_pop(struct translator *t);
/* The slot where an operand can be read; a constant is brought home. */
uint16_t tr_use(struct translator *t, struct operand *x);
/* Brings the last `n` operands home. */
void tr_settle(struct translator *t, uint32_t n);
/* Brings home all operands that are in `local`, which is about to change. */
void tr_detach(struct translator *t, uint16_t local);
uint16_t tr_next_home(const struct translator *t);
void tr_move(struct translator *t, uint16_t to, uint16_t from, uint32_t slots);

/* ---- blocks and jumps (blocks.c); each handles one instruction ---- */

void tr_block(struct translator *t, const struct wasm_insn *x);
void tr_else(struct translator *t, const struct wasm_insn *x);
void tr_end(struct translator *t, const struct wasm_insn *x);
void tr_br(struct translator *t, const struct wasm_insn *x);
void tr_br_if(struct translator *t, const struct wasm_insn *x);
void tr_br_table(struct translator *t, const struct wasm_insn *x);
void tr_return(struct translator *t, const struct wasm_insn *x);
void tr_unreachable(struct translator *t, const struct wasm_insn *x);

/* Whether an instruction compares, and its inverse (blocks.c). */
bool tr_is_compare(uint16_t op);
uint16_t tr_inverse(uint16_t op);

/* One instruction of reachable code (translate_ops.c). */
void tr_insn(struct translator *t, const struct wasm_insn *x);
