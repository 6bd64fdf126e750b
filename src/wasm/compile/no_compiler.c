/* SPDX-License-Identifier: MIT */
/* wasm/compile/no_compiler.c - for machines that the compiler has no code for: the interpreter runs all. */
#include "wasm/wasm.h"

const struct wasm_engine *wasm_compiler(void) { return NULL; }
