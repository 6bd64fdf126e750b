/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/sections.h - one function for each section of a module. Each reads from r, which ends
 * where the section ends, and reports errors through it. */
#pragma once
#include "wall/wasm/decode/reader.h"
#include "wall/wasm/module.h"

void wasm_section_elems(struct wasm_module *m, struct wasm_reader *r);
void wasm_section_code(struct wasm_module *m, struct wasm_reader *r);
void wasm_section_datas(struct wasm_module *m, struct wasm_reader *r);

/* Zeroed memory for `n` elements; fails the reader if there is none. Never returns NULL for n = 0 unless it
 * fails. */
void *wasm_room(struct wasm_module *m, struct wasm_reader *r, size_t n, size_t size);
uint8_t wasm_get_valtype(struct wasm_reader *r);
uint8_t wasm_get_reftype(struct wasm_reader *r);
/* A constant expression up to its `end`. */
struct wasm_const wasm_get_const(struct wasm_reader *r);
