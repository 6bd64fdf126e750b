/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/sections.c - types, imports, and the sections that declare what a module has. */
#include "wall/wasm/decode/sections.h"
#include "wall/wasm/opcode.h"

void *wasm_room(struct wasm_module *m, struct wasm_reader *r, size_t n, size_t size)
{
        void *p = arena_alloc(&m->arena, (n ? n : 1) * size);

        if (!p)
                (void) wasm_reader_fail(r, "out of memory");
        return p;
}

uint8_t wasm_get_valtype(struct wasm_reader *r)
{
        uint8_t t = wasm_get_byte(r);

        if (!wasm_type_is_value(t))
                (void) wasm_reader_unknown(r, WASM_IN_TYPE, t, "malformed value type");
        return t;
}

uint8_t wasm_get_reftype(struct wasm_reader *r)
{
        uint8_t t = wasm_get_byte(r);

        if (!wasm_type_is_ref(t))
                (void) wasm_reader_unknown(r, WASM_IN_TYPE, t, "malformed reference type");
        return t;
}

struct wasm_const wasm_get_const(struct wasm_reader *r)
{
        struct wasm_insn x;
        const uint8_t *from = r->p;

        while (wasm_insn_read(r, &x))
                if (x.op == WASM_END)
                        return (struct wasm_const){ span_of(from, (size_t) (r->p - 1 - from)) };

        return (struct wasm_const){ span_of(from, 0) };
}

static const uint8_t *get_types(struct wasm_module *m, struct wasm_reader *r, uint16_t *ret_n,
                                uint16_t *ret_slots)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_PARAMS);
        uint8_t *t = wasm_room(m, r, n, 1);

        for (uint32_t i = 0; i < n && !r->bad; i++) {
                t[i] = wasm_get_valtype(r);
                *ret_slots = (uint16_t) (*ret_slots + wasm_type_slots(t[i]));
        }

        *ret_n = (uint16_t) n;
        return t;
}

void wasm_section_types(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_TYPES);

        m->types = wasm_room(m, r, n, sizeof *m->types);
        for (; m->n_types < n && !r->bad; m->n_types++) {
                struct wasm_functype *t = &m->types[m->n_types];
                uint8_t form = wasm_get_byte(r);
                if (form != 0x60) {
                        (void) wasm_reader_unknown(r, WASM_IN_TYPE, form, "malformed function type");
                        return;
                }
                t->params = get_types(m, r, &t->n_params, &t->param_slots);
                t->results = get_types(m, r, &t->n_results, &t->result_slots);
        }
}

static struct wasm_size get_size(struct wasm_reader *r)
{
        struct wasm_size s = { .max = UINT32_MAX };
        uint8_t flags = wasm_get_byte(r);

        if (flags > 1)
                (void) wasm_reader_unknown(r, WASM_IN_LIMITS, flags, "malformed limits flags");
        s.min = wasm_get_u32(r);
        s.has_max = flags & 1;
        if (s.has_max)
                s.max = wasm_get_u32(r);

        return s;
}

static struct wasm_tabletype get_table(struct wasm_reader *r)
{
        struct wasm_tabletype t = { .type = wasm_get_reftype(r) };

        t.size = get_size(r);
        return t;
}

static struct wasm_globaltype get_global(struct wasm_reader *r)
{
        struct wasm_globaltype g = { .type = wasm_get_valtype(r) };
        uint8_t flags = wasm_get_byte(r);

        if (flags > 1)
                (void) wasm_reader_fail(r, "malformed mutability");
        g.is_mutable = flags & 1;
        return g;
}

/* The index spaces are allocated for imports first, and again for the module's own. */
static void *more_rows(struct wasm_module *m, struct wasm_reader *r, const void *old, size_t n, size_t size)
{
        size_t had = n >> 32, all = had + (uint32_t) n;
        void *p = wasm_room(m, r, all, size);

        if (p && had)
                memcpy(p, old, had * size);
        return p;
}
#define MORE(m, r, array, had, n)                                                                            \
        ((array) = more_rows((m), (r), (array), (size_t) (had) << 32 | (n), sizeof *(array)))

static void get_import(struct wasm_module *m, struct wasm_reader *r, struct wasm_import *i)
{
        i->module = wasm_get_name(r);
        i->name = wasm_get_name(r);
        uint8_t kind = wasm_get_byte(r);
        if (kind >= WASM_KIND__COUNT) {
                (void) wasm_reader_unknown(r, WASM_IN_KIND, kind, "malformed import kind");
                return;
        }

        i->kind = kind;
        switch (i->kind) {
        case WASM_FUNC:
                i->index = m->n_funcs++;
                m->funcs[i->index] = wasm_get_u32(r);
                return;
        case WASM_TABLE:
                i->index = m->n_tables++;
                m->tables[i->index] = get_table(r);
                return;
        case WASM_MEMORY:
                i->index = m->n_memories++;
                m->memory = get_size(r);
                return;
        case WASM_GLOBAL:
                i->index = m->n_globals++;
                m->globals[i->index] = get_global(r);
                return;
        case WASM_KIND__COUNT:
                return;
        }
}

void wasm_section_imports(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_IMPORTS);

        m->imports = wasm_room(m, r, n, sizeof *m->imports);
        m->funcs = wasm_room(m, r, n, sizeof *m->funcs);
        m->tables = wasm_room(m, r, n, sizeof *m->tables);
        m->globals = wasm_room(m, r, n, sizeof *m->globals);
        for (; m->n_imports < n && !r->bad; m->n_imports++)
                get_import(m, r, &m->imports[m->n_imports]);

        m->n_imported_funcs = m->n_funcs;
        m->n_imported_tables = m->n_tables;
        m->n_imported_memories = m->n_memories;
        m->n_imported_globals = m->n_globals;
}

void wasm_section_funcs(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_FUNCS);

        MORE(m, r, m->funcs, m->n_funcs, n);
        for (uint32_t i = 0; i < n && !r->bad; i++)
                m->funcs[m->n_funcs++] = wasm_get_u32(r);
}

void wasm_section_tables(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_TABLES);

        MORE(m, r, m->tables, m->n_tables, n);
        for (uint32_t i = 0; i < n && !r->bad; i++)
                m->tables[m->n_tables++] = get_table(r);
}

void wasm_section_memories(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, UINT32_MAX);

        for (uint32_t i = 0; i < n && !r->bad; i++) {
                m->memory = get_size(r);
                m->n_memories++;
        }
}

void wasm_section_globals(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_GLOBALS);

        MORE(m, r, m->globals, m->n_globals, n);
        m->global_inits = wasm_room(m, r, m->n_globals + n, sizeof *m->global_inits);
        for (uint32_t i = 0; i < n && !r->bad; i++) {
                m->globals[m->n_globals] = get_global(r);
                m->global_inits[m->n_globals++] = wasm_get_const(r);
        }
}

void wasm_section_exports(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_EXPORTS);

        m->exports = wasm_room(m, r, n, sizeof *m->exports);
        for (; m->n_exports < n && !r->bad; m->n_exports++) {
                struct wasm_export *x = &m->exports[m->n_exports];
                x->name = wasm_get_name(r);
                uint8_t kind = wasm_get_byte(r);
                if (kind >= WASM_KIND__COUNT)
                        (void) wasm_reader_unknown(r, WASM_IN_KIND, kind, "malformed export kind");
                x->kind = kind;
                x->index = wasm_get_u32(r);
        }
}

void wasm_section_start(struct wasm_module *m, struct wasm_reader *r)
{
        m->has_start = true;
        m->start = wasm_get_u32(r);
}

void wasm_section_data_count(struct wasm_module *m, struct wasm_reader *r)
{
        m->has_data_count = true;
        m->data_count = wasm_get_u32(r);
}
