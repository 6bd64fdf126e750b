/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/interp.h - the register machine of the interpreter. A function's code is an array of cells
 * of 64 bits; operands are slots of its frame: parameters, locals, then temporaries. Slots of i32 and f32
 * have a zero upper half. */
#pragma once
#include "wall/wasm/run/helpers.h"

union wasm_cell {
        __extension__ struct {
                uint16_t op, a, b, c;
        };
        __extension__ struct {
                uint16_t op_, a_;
                int32_t k;
        };
        uint64_t u;
};
_Static_assert(sizeof(union wasm_cell) == 8, "a cell is one slot of the cache line");

enum wasm_iop {
#define BIN(n, t, e)  I_##n, I_##n##_K,
#define CMP(n, t, e)  I_##n, I_##n##_K, I_##n##_B, I_##n##_BK, I_##n##_L, I_##n##_LK,
#define FCMP(n, t, e) I_##n, I_##n##_N, I_##n##_B, I_##n##_BN, I_##n##_L, I_##n##_LN,
#define ONE(n)        I_##n,
#include "wall/wasm/interp/interp_ops.inc"
        I__COUNT
};

struct wasm_code {
        uint32_t cost;   /* fuel of a call */
        uint32_t frame;  /* slots */
        uint32_t params; /* slots; then `zeros` slots of locals */
        uint32_t zeros;
        union wasm_cell cells[];
};

/* Translates the body of a function of a validated module. Returns NULL if there is no memory. */
struct wasm_code *wasm_translate(const struct wasm_module *m, uint32_t func);
