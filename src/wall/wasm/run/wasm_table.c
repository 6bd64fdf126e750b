/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/wasm_table.c - tables of references and the instructions on ranges of them. */
#include "wall/wasm/opcode.h"
#include "wall/wasm/run/runtime.h"

#include <stdlib.h>

struct const_values {
        uint64_t v[WASM_MAX_CONST][2];
        unsigned n;
};

static void combine_values(struct const_values *s, uint16_t op)
{
        uint64_t *x = s->v[s->n - 2], y = s->v[s->n - 1][0];
        uint16_t kind = op >= WASM_I64_ADD ? op - WASM_I64_ADD : op - WASM_I32_ADD;

        *x = kind == 0 ? *x + y : kind == 1 ? *x - y : *x * y;
        if (op < WASM_I64_ADD)
                *x = (uint32_t) *x;
        s->n--;
}

static void push_value(const struct wasm_instance *inst, const struct wasm_insn *x, uint64_t v[2])
{
        v[1] = 0;
        switch (x->op) {
        case WASM_REF_NULL:
                v[0] = 0;
                return;
        case WASM_REF_FUNC:
                v[0] = (uintptr_t) inst->funcs[x->index];
                return;
        case WASM_GLOBAL_GET:
                memcpy(v, inst->globals[x->index]->v, 16);
                return;
        case WASM_V128_CONST:
                memcpy(v, x->p, 16);
                return;
        default:
                v[0] = x->value;
        }
}

void wasm_const_value(const struct wasm_instance *inst, struct wasm_const x, uint64_t ret[2])
{
        struct wasm_reader r = { x.code.p, x.code.p, x.code.p + x.code.n, NULL, 0, NULL };
        struct const_values s = { .n = 0 };
        struct wasm_insn insn;

        while (!wasm_reader_done(&r) && wasm_insn_read(&r, &insn)) {
                if (insn.row->sig && strlen(insn.row->sig) == 4)
                        combine_values(&s, insn.op);
                else
                        push_value(inst, &insn, s.v[s.n++]);
        }
        memcpy(ret, s.v[0], 16);
}

enum { FUEL_SHIFT = 6 }; /* one for 64 items */

static bool is_inside(uint64_t size, uint32_t at, uint32_t n) { return (uint64_t) at + n <= size; }

uint32_t wasm_table_grow(struct wasm_table *t, uint64_t ref, uint32_t n)
{
        uint32_t had = t->size;

        if (n > t->most - had)
                return UINT32_MAX;
        uint64_t *p = reallocarray(t->items, (size_t) had + n + 1, sizeof *p);
        if (!p)
                return UINT32_MAX;

        t->items = p;
        for (uint32_t i = 0; i < n; i++)
                p[had + i] = ref;
        t->size = had + n;
        return had;
}

struct wasm_table *wasm_table_new(struct wasm_store *s, struct wasm_tabletype type, struct err *e)
{
        struct wasm_table *t = arena_alloc(&s->arena, sizeof *t);

        if (!t) {
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
                return NULL;
        }
        t->type = type;
        t->most = type.size.max < s->limits.table_items ? type.size.max : s->limits.table_items;
        t->next = s->tables;
        s->tables = t;
        if (type.size.min > t->most || wasm_table_grow(t, 0, type.size.min) == UINT32_MAX) {
                (void) err_set(e, ERR_LIMIT, 0, "the module needs a table of %u items, the limit is %u",
                               type.size.min, t->most);
                return NULL;
        }

        return t;
}

enum wasm_trap wasm_table_fill(struct wasm_instance *i, uint32_t table, uint32_t to, uint64_t ref, uint32_t n)
{
        struct wasm_table *t = i->tables[table];

        if (!is_inside(t->size, to, n))
                return WASM_TRAP_TABLE;
        if (!wasm_burn(i->store, n >> FUEL_SHIFT))
                return WASM_TRAP_FUEL;

        for (uint32_t k = 0; k < n; k++)
                t->items[to + k] = ref;
        return WASM_OK;
}

enum wasm_trap wasm_table_copy(struct wasm_instance *i, uint32_t to, uint32_t from, struct wasm_span3 s)
{
        struct wasm_table *d = i->tables[to], *f = i->tables[from];

        if (!is_inside(d->size, s.to, s.n) || !is_inside(f->size, s.from, s.n))
                return WASM_TRAP_TABLE;
        if (!wasm_burn(i->store, s.n >> FUEL_SHIFT))
                return WASM_TRAP_FUEL;

        memmove(d->items + s.to, f->items + s.from, (size_t) s.n * sizeof *d->items);
        return WASM_OK;
}

enum wasm_trap wasm_table_init(struct wasm_instance *i, uint32_t elem, uint32_t table, struct wasm_span3 s)
{
        struct wasm_table *t = i->tables[table];
        const struct wasm_elem *x = &i->module->elems[elem];
        uint64_t ref[2];

        if (!is_inside(t->size, s.to, s.n) || !is_inside(i->dropped_elems[elem] ? 0 : x->count, s.from, s.n))
                return WASM_TRAP_TABLE;
        if (!wasm_burn(i->store, s.n >> FUEL_SHIFT))
                return WASM_TRAP_FUEL;

        for (uint32_t k = 0; k < s.n; k++) {
                wasm_const_value(i, x->items[s.from + k], ref);
                t->items[s.to + k] = ref[0];
        }
        return WASM_OK;
}

void wasm_elem_drop(struct wasm_instance *i, uint32_t elem) { i->dropped_elems[elem] = 1; }
