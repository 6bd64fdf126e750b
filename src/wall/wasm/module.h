/* SPDX-License-Identifier: MIT */
/* wall/wasm/module.h - a decoded module. Names, code and data point into the module's bytes. Index spaces
 * (funcs, tables, memories, globals) start with the imports, as in the specification. */
#pragma once
#include "base/arena.h"
#include "wall/wasm/wasm.h"

struct wasm_functype {
        const uint8_t *params, *results; /* enum wasm_type */
        uint16_t n_params, n_results;
        uint16_t param_slots, result_slots;
};

struct wasm_size {
        uint32_t min, max; /* without a maximum: UINT32_MAX */
        bool has_max;
};

struct wasm_tabletype {
        uint8_t type;
        struct wasm_size size;
};

struct wasm_globaltype {
        uint8_t type;
        bool is_mutable;
};

/* A constant expression: its instructions, without the final `end`. */
struct wasm_const {
        struct span code;
};

struct wasm_import {
        struct span module, name;
        enum wasm_kind kind;
        uint32_t index; /* in its index space */
};

struct wasm_export {
        struct span name;
        enum wasm_kind kind;
        uint32_t index;
};

enum wasm_mode { WASM_ACTIVE = 0, WASM_PASSIVE, WASM_DECLARED };

struct wasm_elem {
        enum wasm_mode mode;
        uint8_t type;
        uint32_t table;
        uint32_t count;
        struct wasm_const offset; /* WASM_ACTIVE */
        struct wasm_const *items; /* constant expressions of `type` */
};

struct wasm_data {
        enum wasm_mode mode;
        struct wasm_const offset;
        struct span bytes;
};

struct wasm_locals {
        uint32_t count;
        uint8_t type;
};

/* The body of a function that is not imported. Written by the validator: cost, loop_costs, n_loops, operands,
 * nesting. */
struct wasm_body {
        struct span code; /* after the locals, with the final `end` */
        const struct wasm_locals *locals;
        uint32_t n_groups;
        uint32_t n_locals; /* without parameters */
        uint32_t cost;     /* fuel of a call */
        uint32_t n_loops;
        const uint32_t *loop_costs; /* fuel of each round of the loops, in the order of their `loop` */
        uint32_t operands;          /* greatest depth of the operand stack */
        uint32_t nesting;           /* greatest number of open blocks */
};

struct wasm_module {
        struct arena arena;
        struct span bytes;

        struct wasm_functype *types;
        uint32_t n_types;
        struct wasm_import *imports;
        uint32_t n_imports;

        uint32_t *funcs; /* the type of each */
        uint32_t n_funcs, n_imported_funcs;
        struct wasm_tabletype *tables;
        uint32_t n_tables, n_imported_tables;
        struct wasm_size memory; /* at most one */
        uint32_t n_memories, n_imported_memories;
        struct wasm_globaltype *globals;
        struct wasm_const *global_inits; /* by global; of imported ones empty */
        uint32_t n_globals, n_imported_globals;

        struct wasm_export *exports;
        uint32_t n_exports;
        struct wasm_elem *elems;
        uint32_t n_elems;
        struct wasm_data *datas;
        uint32_t n_datas;
        bool has_data_count;
        bool has_start;
        uint32_t data_count, start;

        struct wasm_body *bodies; /* of function n_imported_funcs + i */
        uint32_t n_bodies;
        uint8_t *declared; /* by function: `ref.func` may name it */
};

static inline const struct wasm_functype *wasm_type_of_func(const struct wasm_module *m, uint32_t func)
{
        return &m->types[m->funcs[func]];
}

/* The first half of wasm_module_load(): checks the binary format, except that of function bodies. */
int wasm_decode(struct wasm_module *m, struct span bytes, struct err *e);
