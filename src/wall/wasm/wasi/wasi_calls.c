/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_calls.c - the table of calls, and the one way into each: its descriptor is checked
 * first. */
#include "wall/wasm/wasi/wasi_internal.h"

#define NEEDS(right) WASI_RIGHT(right)
const struct wasi_row wasi_rows[] = {
#define ROW(name, signature, takes, right) { #name, signature, wasi_##name, takes, right },
#include "wall/wasm/wasi/wasi_rows.inc"
};
_Static_assert(sizeof wasi_rows / sizeof *wasi_rows == WASI_CALLS, "all calls of preview 1");

enum wasi_errno wasi_dispatch(struct wasi_call *c, const struct wasi_row *row)
{
        if (row->takes != WASI_NO_FD) {
                c->file = wasi_file(c->w, wasi_u32(c, 0));
                enum wasi_errno wrong = wasi_file_check(c->file, row->takes, row->right);
                if (wrong)
                        return wrong;
        }

        return row->call(c);
}
