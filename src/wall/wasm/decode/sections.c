/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/sections.c - types, imports, and the sections that declare what a module has. */
#include "wall/wasm/decode/sections.h"
#include "wall/wasm/opcode.h"

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

static void section_types(struct wasm_module *m, struct wasm_reader *r)
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

static void section_imports(struct wasm_module *m, struct wasm_reader *r)
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

static void section_funcs(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_FUNCS);

        MORE(m, r, m->funcs, m->n_funcs, n);
        for (uint32_t i = 0; i < n && !r->bad; i++)
                m->funcs[m->n_funcs++] = wasm_get_u32(r);
}

static void section_tables(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_TABLES);

        MORE(m, r, m->tables, m->n_tables, n);
        for (uint32_t i = 0; i < n && !r->bad; i++)
                m->tables[m->n_tables++] = get_table(r);
}

static void section_memories(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, UINT32_MAX);

        for (uint32_t i = 0; i < n && !r->bad; i++) {
                m->memory = get_size(r);
                m->n_memories++;
        }
}

static void section_globals(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_GLOBALS);

        MORE(m, r, m->globals, m->n_globals, n);
        m->global_inits = wasm_room(m, r, m->n_globals + n, sizeof *m->global_inits);
        for (uint32_t i = 0; i < n && !r->bad; i++) {
                m->globals[m->n_globals] = get_global(r);
                m->global_inits[m->n_globals++] = wasm_get_const(r);
        }
}

static void section_exports(struct wasm_module *m, struct wasm_reader *r)
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

static void section_start(struct wasm_module *m, struct wasm_reader *r)
{
        m->has_start = true;
        m->start = wasm_get_u32(r);
}

static void section_data_count(struct wasm_module *m, struct wasm_reader *r)
{
        m->has_data_count = true;
        m->data_count = wasm_get_u32(r);
}

enum { SECTION_CUSTOM = 0 };

/* Indexed by section id; `order` is the place where it may stand. */
static const struct {
        uint8_t order;
        void (*read)(struct wasm_module *, struct wasm_reader *);
} sections[] = {
        [1] = { 1, section_types },       [2] = { 2, section_imports },
        [3] = { 3, section_funcs },       [4] = { 4, section_tables },
        [5] = { 5, section_memories },    [6] = { 6, section_globals },
        [7] = { 7, section_exports },     [8] = { 8, section_start },
        [9] = { 9, wasm_section_elems },  [12] = { 10, section_data_count },
        [10] = { 11, wasm_section_code }, [11] = { 12, wasm_section_datas },
};
enum { SECTION_IDS = sizeof sections / sizeof *sections };

static void read_header(struct wasm_reader *r)
{
        static const uint8_t magic[] = { 0, 'a', 's', 'm' };

        if (!span_eq(wasm_get_bytes(r, 4), span_of(magic, 4)))
                (void) wasm_reader_fail(r, "magic header not detected");

        struct span v = wasm_get_bytes(r, 4);
        uint32_t version =
                v.n < 4 ? 0
                        : v.p[0] | (uint32_t) v.p[1] << 8 | (uint32_t) v.p[2] << 16 | (uint32_t) v.p[3] << 24;
        if (version != 1)
                (void) wasm_reader_unknown(r, WASM_IN_VERSION, version, "unknown binary version");
}

/* Reads one section; *order is that of the last one. */
static void read_section(struct wasm_module *m, struct wasm_reader *r, uint8_t *order)
{
        uint8_t id = wasm_get_byte(r);
        struct span body = wasm_get_bytes(r, wasm_get_u32(r));
        struct wasm_reader in = *r;
        in.p = body.p;
        in.end = body.p + body.n;

        if (id == SECTION_CUSTOM) {
                (void) wasm_get_name(&in);
        } else if (id >= SECTION_IDS) {
                (void) wasm_reader_unknown(&in, WASM_IN_SECTION, id, "malformed section id");
        } else if (sections[id].order <= *order) {
                (void) wasm_reader_fail(&in, "unexpected content after last section");
        } else {
                *order = sections[id].order;
                sections[id].read(m, &in);
                if (!wasm_reader_done(&in))
                        (void) wasm_reader_fail(&in, "section size mismatch");
        }

        if (in.bad)
                *r = in;
}

static void check_counts(const struct wasm_module *m, struct wasm_reader *r)
{
        if (m->n_funcs - m->n_imported_funcs != m->n_bodies)
                (void) wasm_reader_fail(r, "function and code section have inconsistent lengths");
        if (m->has_data_count && m->data_count != m->n_datas)
                (void) wasm_reader_fail(r, "data count and data section have inconsistent lengths");
}

int wasm_decode(struct wasm_module *m, struct span bytes, struct err *e)
{
        uint8_t order = 0;

        if (bytes.n == 0)
                return err_set(e, ERR_EXEC, 0, "the module is empty");
        if (bytes.n >= 4 && memcmp(bytes.p, "\0asm", 4) != 0) {
                (void) err_set(e, ERR_EXEC, 0,
                               "this is no WebAssembly module: it does not begin with \\0asm");
                return err_hint(
                        e, "behind the wasm wall the command is x.wasm, x.js or x.mjs; TypeScript is made "
                           "JavaScript first (tsc, esbuild)");
        }
        if (bytes.n > WASM_MAX_BYTES)
                return err_set(e, ERR_EXEC, 0, "the module is larger than %d bytes", WASM_MAX_BYTES);

        struct wasm_reader r = { bytes.p, bytes.p, bytes.p + bytes.n, NULL, 0, NULL };
        m->bytes = bytes;
        read_header(&r);
        while (!r.bad && !wasm_reader_done(&r))
                read_section(m, &r, &order);
        if (!r.bad)
                check_counts(m, &r);

        return r.bad ? wasm_reader_err(&r, e) : 0;
}
