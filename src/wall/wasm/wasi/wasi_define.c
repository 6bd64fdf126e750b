/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_define.c - makes the calls importable. */
#include "wall/wasm/wasi/wasi_internal.h"

static enum wasm_trap enter_call(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        const struct wasi_bound *b = user;
        struct wasi_call c = { .w = b->w, .inst = caller, .a = slots };
        enum wasi_errno r = wasi_dispatch(&c, b->row);
        if (c.ends)
                return WASM_TRAP_EXIT;

        slots[0] = r;
        return WASM_OK;
}

int wasi_define(struct wasi *w, struct wasm_store *s, struct err *e)
{
        for (unsigned i = 0; i < WASI_CALLS; i++) {
                const struct wasi_row *row = &wasi_rows[i];
                w->bound[i] = (struct wasi_bound){ w, row };
                const struct wasm_host h = { .module = "wasi_snapshot_preview1",
                                             .name = row->name,
                                             .signature = row->signature,
                                             .fn = enter_call,
                                             .user = &w->bound[i] };
                if (wasm_define(s, &h, e) < 0)
                        return -1;
        }

        return 0;
}

enum wasm_trap wasi_ask(struct wasi *w, struct wasm_instance *inst, struct span name, const uint64_t *slots,
                        int *ret)
{
        struct wasi_call c = { .w = w, .inst = inst, .a = slots };
        *ret = -1;
        for (unsigned i = 0; i < WASI_CALLS && *ret < 0; i++)
                if (span_is(name, wasi_rows[i].name))
                        *ret = (int) wasi_dispatch(&c, &wasi_rows[i]);
        return c.ends ? WASM_TRAP_EXIT : WASM_OK;
}

uint32_t wasi_exit_code(const struct wasi *w) { return w->exit_code; }
