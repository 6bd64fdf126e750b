/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64_arithmetic.h - instructions that trap, or need more than the machine has in
 * one.
 */
#pragma once
#include "wall/wasm/compile/compiler.h"

void a64_divide(struct compiler *c, const struct wasm_insn *x);
void a64_truncate(struct compiler *c, const struct wasm_insn *x);
void a64_count_bits(struct compiler *c, const struct wasm_insn *x);
void a64_copysign(struct compiler *c, const struct wasm_insn *x);
