/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/segments.c - element segments, data segments and function bodies. */
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

/* The flags of an element segment. */
enum { ELEM_NOT_ACTIVE = 1, ELEM_EXPLICIT = 2, ELEM_EXPRESSIONS = 4 };

static enum wasm_mode elem_mode(uint32_t flags)
{
        if (!(flags & ELEM_NOT_ACTIVE))
                return WASM_ACTIVE;
        return flags & ELEM_EXPLICIT ? WASM_DECLARED : WASM_PASSIVE;
}

/* Function indices become the expressions that they are short for: `ref.func` and the index as encoded. */
static void get_index_item(struct wasm_module *m, struct wasm_reader *r, struct wasm_const *item)
{
        const uint8_t *from = r->p;

        (void) wasm_get_u32(r);
        size_t n = (size_t) (r->p - from);
        uint8_t *code = r->bad ? NULL : wasm_room(m, r, n + 1, 1);
        if (!code)
                return;

        code[0] = WASM_REF_FUNC;
        memcpy(code + 1, from, n);
        item->code = span_of(code, n + 1);
}

static void get_elem(struct wasm_module *m, struct wasm_reader *r, struct wasm_elem *x)
{
        uint32_t flags = wasm_get_u32(r);
        bool is_typed = flags & (ELEM_NOT_ACTIVE | ELEM_EXPLICIT);
        bool is_expressions = flags & ELEM_EXPRESSIONS;

        if (flags > 7) {
                (void) wasm_reader_fail(r, "malformed elements segment kind");
                return;
        }
        x->mode = elem_mode(flags);
        x->type = WASM_FUNCREF;
        if (x->mode == WASM_ACTIVE) {
                x->table = flags & ELEM_EXPLICIT ? wasm_get_u32(r) : 0;
                x->offset = wasm_get_const(r);
        }
        if (is_typed && is_expressions)
                x->type = wasm_get_reftype(r);
        else if (is_typed && wasm_get_byte(r) != 0)
                (void) wasm_reader_fail(r, "malformed element kind");

        uint32_t n = wasm_get_count(r, WASM_MAX_ITEMS);
        x->items = wasm_room(m, r, n, sizeof *x->items);
        for (; x->count < n && !r->bad; x->count++) {
                if (is_expressions)
                        x->items[x->count] = wasm_get_const(r);
                else
                        get_index_item(m, r, &x->items[x->count]);
        }
}

void wasm_section_elems(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_SEGMENTS);

        m->elems = wasm_room(m, r, n, sizeof *m->elems);
        for (; m->n_elems < n && !r->bad; m->n_elems++)
                get_elem(m, r, &m->elems[m->n_elems]);
}

static void get_data(struct wasm_module *m, struct wasm_reader *r, struct wasm_data *x)
{
        uint32_t flags = wasm_get_u32(r);

        if (flags > 2) {
                (void) wasm_reader_fail(r, "malformed data segment kind");
                return;
        }
        x->mode = flags == 1 ? WASM_PASSIVE : WASM_ACTIVE;
        if (flags == 2 && wasm_get_u32(r) != 0)
                (void) wasm_reader_fail(r, "unknown memory");
        if (x->mode == WASM_ACTIVE)
                x->offset = wasm_get_const(r);
        if (x->mode == WASM_ACTIVE && m->n_memories == 0)
                (void) wasm_reader_fail(r, "unknown memory");

        x->bytes = wasm_get_bytes(r, wasm_get_u32(r));
}

void wasm_section_datas(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_SEGMENTS);

        m->datas = wasm_room(m, r, n, sizeof *m->datas);
        for (; m->n_datas < n && !r->bad; m->n_datas++)
                get_data(m, r, &m->datas[m->n_datas]);
}

static void get_body(struct wasm_module *m, struct wasm_reader *r, struct wasm_body *b)
{
        uint64_t total = 0;

        b->n_groups = wasm_get_count(r, UINT32_MAX);
        struct wasm_locals *locals = wasm_room(m, r, b->n_groups, sizeof *locals);
        for (uint32_t i = 0; i < b->n_groups && !r->bad; i++) {
                locals[i].count = wasm_get_u32(r);
                locals[i].type = wasm_get_valtype(r);
                total += locals[i].count;
                if (total > WASM_MAX_LOCALS)
                        (void) wasm_reader_fail(r, "too many locals");
        }

        b->locals = locals;
        b->n_locals = (uint32_t) total;
        b->code = wasm_get_bytes(r, (size_t) (r->end - r->p));
}

void wasm_section_code(struct wasm_module *m, struct wasm_reader *r)
{
        uint32_t n = wasm_get_count(r, WASM_MAX_FUNCS);

        m->bodies = wasm_room(m, r, n, sizeof *m->bodies);
        for (; m->n_bodies < n && !r->bad; m->n_bodies++) {
                struct span code = wasm_get_bytes(r, wasm_get_u32(r));
                if (code.n > WASM_MAX_BODY)
                        (void) wasm_reader_fail(r, "function body over this engine's cap");
                struct wasm_reader body = *r;
                body.p = code.p;
                body.end = code.p + code.n;
                get_body(m, &body, &m->bodies[m->n_bodies]);
                if (body.bad)
                        *r = body;
        }
}
