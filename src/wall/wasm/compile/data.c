/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/data.c - the words in front of the code: where the things of one instance are. */
#include "wall/wasm/compile/compile.h"

struct data_layout data_layout(const struct wasm_module *m)
{
        struct data_layout l = { .funcs = DATA_HELPERS + HELPER__COUNT };

        l.globals = l.funcs + m->n_imported_funcs;
        l.tables = l.globals + m->n_globals;
        l.sigs = l.tables + m->n_tables;
        l.count = l.sigs + m->n_types;
        return l;
}

static uint64_t word(const void *p) { return (uintptr_t) p; }

void data_fill(const struct wasm_instance *inst, const struct machine *machine, uint64_t *words)
{
        const struct wasm_module *m = inst->module;
        struct data_layout l = data_layout(m);

        words[DATA_INSTANCE] = word(inst);
        words[DATA_MACHINE] = word(machine);
        words[DATA_FUEL] = word(&inst->store->fuel);
        words[DATA_STACK_END] = word(inst->store->stack_end);
        words[DATA_MEMORY] = word(inst->memory);
        words[DATA_MEMORY_BASE] = word(inst->memory->base);
        words[DATA_OWN_FUNCS] = word(inst->own_funcs);
        for (unsigned i = 0; i < HELPER__COUNT; i++)
                words[DATA_HELPERS + i] = (uintptr_t) wasm_helpers[i];

        for (uint32_t i = 0; i < m->n_imported_funcs; i++)
                words[l.funcs + i] = word(inst->funcs[i]);
        for (uint32_t i = 0; i < m->n_globals; i++)
                words[l.globals + i] = word(inst->globals[i]);
        for (uint32_t i = 0; i < m->n_tables; i++)
                words[l.tables + i] = word(inst->tables[i]);
        for (uint32_t i = 0; i < m->n_types; i++)
                words[l.sigs + i] = word(inst->sigs[i]);
}
