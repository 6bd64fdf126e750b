/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/no_compiler.c - for machines that the compiler has no code for: the interpreter runs all.
 */
#include "wall/wasm/wasm.h"

const struct wasm_engine *wasm_compiler(void) { return NULL; }

int wasm_code_write(const struct wasm_module *m, const char digest[WASM_DIGEST], int fd, struct err *e)
{
        (void) m, (void) digest, (void) fd;
        return err_set(e, ERR_HOST, 0, "this machine has no compiler");
}

bool wasm_code_is_of(int fd, const char digest[WASM_DIGEST])
{
        (void) fd, (void) digest;
        return false;
}

struct wasm_native *wasm_code_map(const struct wasm_module *m, const char digest[WASM_DIGEST], int fd)
{
        (void) m, (void) digest, (void) fd;
        return NULL;
}
