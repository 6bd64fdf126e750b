/* SPDX-License-Identifier: MIT */
/* fuzz_wasm.c - a module as an enemy would write it: decoder, validator, and whatever passes is run in
 * both engines, which must not differ. */
#include "../wasm_pair.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct span all, struct span part)
{
        if (part.n && (part.p < all.p || part.p + part.n > all.p + all.n))
                abort();
}

static void check_module(const struct wasm_module *m)
{
        for (uint32_t i = 0; i < m->n_exports; i++)
                check_inside(m->bytes, m->exports[i].name);
        for (uint32_t i = 0; i < m->n_bodies; i++) {
                check_inside(m->bytes, m->bodies[i].code);
                if (m->bodies[i].n_locals > WASM_MAX_LOCALS || m->bodies[i].operands > WASM_MAX_OPERANDS ||
                    m->bodies[i].cost > m->bytes.n + 1 + WASM_MAX_LOCALS / 16)
                        abort();
        }
        for (uint32_t i = 0; i < m->n_datas; i++)
                check_inside(m->bytes, m->datas[i].bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e;
        struct wasm_module *m = wasm_module_load(span_of(data, size), &e);

        if (!m)
                return 0;
        check_module(m);
        pair_run(m);
        wasm_module_free(m);
        return 0;
}
