/* SPDX-License-Identifier: MIT */
/* fuzz_wasm.c - a module as an enemy would write it: the decoder and the validator. What they accept is
 * inside of its own bytes and caps. */
#include "wasm/module.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct span all, struct span part)
{
        if (part.n && (part.p < all.p || part.p + part.n > all.p + all.n))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e;
        struct span all = span_of(data, size);
        struct wasm_module *m = wasm_module_load(all, &e);
        if (!m)
                return 0;

        for (uint32_t i = 0; i < m->n_exports; i++)
                check_inside(all, m->exports[i].name);
        for (uint32_t i = 0; i < m->n_bodies; i++) {
                check_inside(all, m->bodies[i].code);
                if (m->bodies[i].n_locals > WASM_MAX_LOCALS || m->bodies[i].operands > WASM_MAX_OPERANDS ||
                    m->bodies[i].cost > size + 1)
                        abort();
        }
        for (uint32_t i = 0; i < m->n_datas; i++)
                check_inside(all, m->datas[i].bytes);

        wasm_module_free(m);
        return 0;
}
