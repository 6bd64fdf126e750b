/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64_arithmetic.h - instructions that trap, or need more than the machine has in
 * one. */
#pragma once
#include "wall/wasm/compile/compiler.h"

void x64_divide(struct compiler *c, const struct wasm_insn *x);
void x64_truncate(struct compiler *c, const struct wasm_insn *x);
void x64_min_max(struct compiler *c, const struct wasm_insn *x);
void x64_count_bits(struct compiler *c, const struct wasm_insn *x);
void x64_sign(struct compiler *c, const struct wasm_insn *x);
