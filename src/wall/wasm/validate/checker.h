/* SPDX-License-Identifier: MIT */
/* wall/wasm/validate/checker.h - the state of the validation of one function body: the algorithm of the
 * specification's appendix, a stack of types and a stack of open blocks. */
#pragma once
#include "wall/wasm/opcode.h"

struct wasm_ctl {
        uint16_t op;         /* WASM_BLOCK, WASM_LOOP, WASM_IF, WASM_ELSE; the function itself is a block */
        bool is_unreachable; /* the rest of the block: any type can be popped */
        uint32_t height;     /* of the operand stack where it began */
        uint32_t loop;       /* the innermost loop, or WASM_NO_INDEX */
        struct wasm_functype type;
};

struct wasm_checker {
        struct wasm_module *m;
        struct wasm_reader r;
        uint8_t *types; /* operand stack; WASM_NO_TYPE: unknown */
        uint32_t n_types;
        struct wasm_ctl *ctl; /* WASM_MAX_NESTING */
        uint32_t n_ctl;
        uint8_t *locals; /* WASM_MAX_LOCALS */
        uint32_t n_locals;
        uint32_t *loops; /* cost of each */
        uint32_t n_loops, cap_loops;
        uint32_t cost, most_types, most_ctl;
        uint64_t work; /* locals, and operands of blocks, branches and calls, that may still be looked at */
        const struct wasm_functype *type; /* of the function */
};

/* All return false once the body has failed. */
bool wasm_push(struct wasm_checker *c, uint8_t type);
/* A few bytes can name a thousand operands, or twenty thousand locals: without a cap on their sum a module
 * could take minutes. */
bool wasm_spend(struct wasm_checker *c, uint32_t n);
/* Pops any type; WASM_NO_TYPE if it is unknown. */
bool wasm_pop_any(struct wasm_checker *c, uint8_t *ret);
bool wasm_pop(struct wasm_checker *c, uint8_t type);
bool wasm_push_all(struct wasm_checker *c, const uint8_t *types, uint32_t n);
bool wasm_pop_all(struct wasm_checker *c, const uint8_t *types, uint32_t n);
bool wasm_enter(struct wasm_checker *c, uint16_t op, struct wasm_functype type);
/* Closes the innermost block, which must have its results and nothing else. */
bool wasm_leave(struct wasm_checker *c, struct wasm_ctl *ret);
void wasm_unreachable(struct wasm_checker *c);
/* The types that a branch to `depth` takes. */
bool wasm_label(struct wasm_checker *c, uint32_t depth, const uint8_t **ret_types, uint32_t *ret_n);

/* Checks one instruction that has no fixed signature. */
bool wasm_check_special(struct wasm_checker *c, const struct wasm_insn *x);
