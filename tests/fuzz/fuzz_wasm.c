/* SPDX-License-Identifier: MIT */
/* fuzz_wasm.c - a module as an enemy would write it: decoder, validator, and whatever passes is run with
 * little fuel, memory and stack, in both engines. All its function imports exist and return zero. */
#include "../wasm_host.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 2 * WASM_MAX_PARAMS };

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

static enum wasm_trap host(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        const struct host_import *i = user;

        (void) wasm_memory_at(caller, slots[0], 8);
        memset(slots, 0, i->type->result_slots * sizeof *slots);
        return WASM_OK;
}

/* A result of 32 bits has a zero upper half, whatever the module did. */
static void check_results(const struct wasm_func *f, const uint64_t *slots)
{
        for (const char *p = strchr(f->sig->text, ':') + 1; *p; p++) {
                if ((*p == 'i' || *p == 'f') && *slots >> 32)
                        abort();
                slots += *p == 'v' ? 2 : 1;
        }
}

static void run(const struct wasm_module *m, const struct wasm_engine *engine)
{
        static const struct wasm_limits limits = {
                .memory_pages = 4, .table_items = 1000, .stack_slots = 2048, .call_depth = 64, .fuel = 2000
        };
        struct err e;
        enum wasm_trap trap;
        struct wasm_instance *inst = NULL;
        struct wasm_store *s = wasm_store_new(engine, &limits, &e);

        if (s)
                define_imports(s, m, host);
        if (s && wasm_instantiate(s, m, &inst, &trap, &e) == 0) {
                for (uint32_t i = 0; i < m->n_exports && i < 32; i++) {
                        struct wasm_func *f = wasm_export_func(inst, m->exports[i].name);
                        uint64_t slots[SLOTS] = { 0 };
                        wasm_set_fuel(s, limits.fuel);
                        if (f && wasm_call(inst, f, slots) == WASM_OK)
                                check_results(f, slots);
                }
        }
        wasm_store_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err e;
        struct wasm_module *m = wasm_module_load(span_of(data, size), &e);

        if (!m)
                return 0;
        check_module(m);
        run(m, &wasm_interpreter);
        if (wasm_compiler())
                run(m, wasm_compiler());
        wasm_module_free(m);
        return 0;
}
