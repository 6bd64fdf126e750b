/* SPDX-License-Identifier: MIT */
/* wall/wasm/validate/validate.c - a whole module: what its parts say about each other, then every body. A
 * module that passes is safe to run; the engines check nothing of this again. */
#include "wall/wasm/validate/checker.h"

#include <stdlib.h>

static bool check_immediates(struct wasm_checker *c, const struct wasm_insn *x)
{
        enum wasm_imm imm = x->row->imm;
        uint32_t arg = x->row->arg;
        bool is_mem = imm == WASM_IMM_MEM || imm == WASM_IMM_MEM_LANE;

        if (is_mem || imm == WASM_IMM_ZERO || imm == WASM_IMM_ZERO2 || imm == WASM_IMM_INDEX_ZERO)
                if (c->m->n_memories == 0)
                        return wasm_reader_fail(&c->r, "unknown memory");
        if (is_mem && x->index2 > arg)
                return wasm_reader_fail(&c->r, "alignment must not be larger than natural");
        if ((imm == WASM_IMM_LANE && x->lane >= arg) || (imm == WASM_IMM_MEM_LANE && x->lane >= 16 >> arg))
                return wasm_reader_fail(&c->r, "invalid lane index");
        if (imm == WASM_IMM_SHUFFLE)
                for (unsigned i = 0; i < 16; i++)
                        if (x->p[i] >= 32)
                                return wasm_reader_fail(&c->r, "invalid lane index");

        return true;
}

/* Pops the operands of "ab:c" from the last, then pushes the result. */
static bool check_signature(struct wasm_checker *c, const char *sig)
{
        uint8_t result = wasm_sig_result(sig);

        for (uint32_t i = wasm_sig_operands(sig); i-- > 0;)
                if (!wasm_pop(c, (uint8_t) wasm_letter_type(sig[i])))
                        return false;

        return result == WASM_NO_TYPE || wasm_push(c, result);
}

static bool check_insn(struct wasm_checker *c, const struct wasm_insn *x)
{
        uint32_t loop = c->ctl[c->n_ctl - 1].loop;

        if (loop == WASM_NO_INDEX)
                c->cost++;
        else
                c->loops[loop]++;

        return check_immediates(c, x) && wasm_check_special(c, x) &&
               (!x->row->sig || check_signature(c, x->row->sig));
}

static bool set_locals(struct wasm_checker *c, const struct wasm_body *b)
{
        c->n_locals = c->type->n_params;
        if (c->n_locals + b->n_locals > WASM_MAX_LOCALS)
                return wasm_reader_fail(&c->r, "too many locals");
        if (!wasm_spend(c, c->n_locals + b->n_locals))
                return false;

        memcpy(c->locals, c->type->params, c->n_locals);
        for (uint32_t i = 0; i < b->n_groups; i++) {
                memset(c->locals + c->n_locals, b->locals[i].type, b->locals[i].count);
                c->n_locals += b->locals[i].count;
        }

        return true;
}

static bool keep_counts(struct wasm_checker *c, struct wasm_body *b)
{
        uint32_t *loops = arena_alloc(&c->m->arena, (c->n_loops ? c->n_loops : 1) * sizeof *loops);

        if (!loops)
                return wasm_reader_fail(&c->r, "out of memory");
        if (c->n_loops)
                memcpy(loops, c->loops, c->n_loops * sizeof *loops);

        b->loop_costs = loops;
        b->n_loops = c->n_loops;
        b->cost = c->cost;
        b->operands = c->most_types;
        b->nesting = c->most_ctl;
        return true;
}

static bool wasm_check_body(struct wasm_checker *c, uint32_t func)
{
        struct wasm_body *b = &c->m->bodies[func - c->m->n_imported_funcs];
        struct wasm_insn x;

        c->type = wasm_type_of_func(c->m, func);
        c->r.p = b->code.p;
        c->r.end = b->code.p + b->code.n;
        c->n_types = c->n_ctl = c->n_loops = c->most_types = c->most_ctl = 0;
        c->cost = 1 + b->n_locals / 16;
        struct wasm_functype block = *c->type;
        block.n_params = 0;
        if (!set_locals(c, b) || !wasm_enter(c, WASM_BLOCK, block))
                return false;

        while (c->n_ctl > 0)
                if (!wasm_insn_read(&c->r, &x) || !check_insn(c, &x))
                        return false;
        if (!wasm_reader_done(&c->r))
                return wasm_reader_fail(&c->r, "code after the end of a function");

        return keep_counts(c, b);
}

struct const_stack {
        uint8_t types[WASM_MAX_CONST];
        unsigned n;
};

/* Returns the type that an instruction without operands pushes, or WASM_NO_TYPE if it is not constant. */
static uint8_t pushed_type(const struct wasm_module *m, const struct wasm_insn *x)
{
        switch (x->op) {
        case WASM_I32_CONST:
        case WASM_I64_CONST:
        case WASM_F32_CONST:
        case WASM_F64_CONST:
        case WASM_V128_CONST:
                return (uint8_t) wasm_letter_type(x->row->sig[1]);
        case WASM_REF_NULL:
                return x->type;
        case WASM_REF_FUNC:
                return x->index < m->n_funcs ? WASM_FUNCREF : WASM_NO_TYPE;
        case WASM_GLOBAL_GET:
                return x->index < m->n_imported_globals && !m->globals[x->index].is_mutable
                               ? m->globals[x->index].type
                               : WASM_NO_TYPE;
        default:
                return WASM_NO_TYPE;
        }
}

static bool is_arithmetic(uint16_t op)
{
        return (op >= WASM_I32_ADD && op <= WASM_I32_MUL) || (op >= WASM_I64_ADD && op <= WASM_I64_MUL);
}

static const char *step_const(const struct wasm_module *m, struct const_stack *s, const struct wasm_insn *x)
{
        if (is_arithmetic(x->op)) {
                uint8_t t = (uint8_t) wasm_letter_type(x->row->sig[0]);
                if (s->n < 2 || s->types[s->n - 1] != t || s->types[s->n - 2] != t)
                        return "type mismatch in a constant expression";
                s->n--;
                return NULL;
        }

        uint8_t t = pushed_type(m, x);
        if (t == WASM_NO_TYPE)
                return "constant expression required, or an unknown global or function";
        if (s->n == WASM_MAX_CONST)
                return "constant expression over this engine's cap";

        s->types[s->n++] = t;
        return NULL;
}

static const char *wasm_check_const(const struct wasm_module *m, struct wasm_const x, uint8_t type)
{
        struct wasm_reader r = { x.code.p, x.code.p, x.code.p + x.code.n, NULL, 0, NULL };
        struct const_stack s = { .n = 0 };
        struct wasm_insn insn;

        while (!wasm_reader_done(&r)) {
                if (!wasm_insn_read(&r, &insn))
                        return r.bad;
                const char *bad = step_const(m, &s, &insn);
                if (bad)
                        return bad;
        }

        return s.n == 1 && s.types[0] == type ? NULL : "type mismatch in a constant expression";
}

static int bad_module(struct err *e, const char *why)
{
        return err_set(e, ERR_EXEC, 0, "the module is not valid: %s", why);
}

static int check_types(const struct wasm_module *m, struct err *e)
{
        for (uint32_t i = 0; i < m->n_funcs; i++)
                if (m->funcs[i] >= m->n_types)
                        return bad_module(e, "unknown type");

        return 0;
}

static int check_sizes(const struct wasm_module *m, struct err *e)
{
        if (m->n_tables > WASM_MAX_TABLES)
                return bad_module(e, "more tables than this engine's cap");
        for (uint32_t i = 0; i < m->n_tables; i++)
                if (m->tables[i].size.min > m->tables[i].size.max)
                        return bad_module(e, "size minimum must not be greater than maximum");

        if (m->n_memories > 1)
                return err_set(e, ERR_EXEC, 0,
                               "the module needs several memories, which cordon's engine does not have");
        if (m->n_memories == 0)
                return 0;
        if (m->memory.min > m->memory.max)
                return bad_module(e, "size minimum must not be greater than maximum");
        if (m->memory.min > WASM_MAX_PAGES || (m->memory.has_max && m->memory.max > WASM_MAX_PAGES))
                return bad_module(e, "memory size must be at most 65536 pages (4GiB)");

        return 0;
}

static int check_globals(const struct wasm_module *m, struct err *e)
{
        for (uint32_t i = m->n_imported_globals; i < m->n_globals; i++) {
                const char *why = wasm_check_const(m, m->global_inits[i], m->globals[i].type);
                if (why)
                        return bad_module(e, why);
        }

        return 0;
}

static uint32_t count_of(const struct wasm_module *m, enum wasm_kind kind)
{
        const uint32_t counts[] = { m->n_funcs, m->n_tables, m->n_memories, m->n_globals };

        return counts[kind];
}

static int by_name(const void *a, const void *b)
{
        const struct wasm_export *x = a, *y = b;
        size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
        int c = n ? memcmp(x->name.p, y->name.p, n) : 0;

        return c ? c : (x->name.n > y->name.n) - (x->name.n < y->name.n);
}

static int check_exports(const struct wasm_module *m, struct err *e)
{
        struct wasm_export *sorted = calloc(m->n_exports + 1, sizeof *sorted);
        int failed = sorted ? 0 : bad_module(e, "out of memory");

        for (uint32_t i = 0; i < m->n_exports && !failed; i++) {
                sorted[i] = m->exports[i];
                if (m->exports[i].index >= count_of(m, m->exports[i].kind))
                        failed = bad_module(e, "an export is unknown");
        }

        if (!failed && m->n_exports)
                qsort(sorted, m->n_exports, sizeof *sorted, by_name);
        for (uint32_t i = 1; i < m->n_exports && !failed; i++)
                if (by_name(&sorted[i - 1], &sorted[i]) == 0)
                        failed = bad_module(e, "duplicate export name");

        free(sorted);
        return failed;
}

static int check_start(const struct wasm_module *m, struct err *e)
{
        if (!m->has_start)
                return 0;
        if (m->start >= m->n_funcs)
                return bad_module(e, "unknown function");

        const struct wasm_functype *t = wasm_type_of_func(m, m->start);
        return t->n_params || t->n_results ? bad_module(e, "start function") : 0;
}

static int check_elem(const struct wasm_module *m, const struct wasm_elem *x, struct err *e)
{
        const char *why = NULL;

        if (x->mode == WASM_ACTIVE) {
                if (x->table >= m->n_tables)
                        return bad_module(e, "unknown table");
                if (m->tables[x->table].type != x->type)
                        return bad_module(e, "type mismatch: an element segment and its table");
                why = wasm_check_const(m, x->offset, WASM_I32);
        }
        for (uint32_t i = 0; i < x->count && !why; i++)
                why = wasm_check_const(m, x->items[i], x->type);

        return why ? bad_module(e, why) : 0;
}

static int check_segments(const struct wasm_module *m, struct err *e)
{
        for (uint32_t i = 0; i < m->n_elems; i++)
                if (check_elem(m, &m->elems[i], e) < 0)
                        return -1;

        for (uint32_t i = 0; i < m->n_datas; i++) {
                const char *why = m->datas[i].mode == WASM_ACTIVE
                                          ? wasm_check_const(m, m->datas[i].offset, WASM_I32)
                                          : NULL;
                if (why)
                        return bad_module(e, why);
        }

        return 0;
}

static void declare_refs(struct wasm_module *m, struct wasm_const x)
{
        struct wasm_reader r = { x.code.p, x.code.p, x.code.p + x.code.n, NULL, 0, NULL };
        struct wasm_insn insn;

        while (!wasm_reader_done(&r) && wasm_insn_read(&r, &insn))
                if (insn.op == WASM_REF_FUNC)
                        m->declared[insn.index] = 1;
}

/* A function that a body refers to must be named outside of the bodies: exports, globals and segments. */
static int declare_all(struct wasm_module *m, struct err *e)
{
        m->declared = arena_alloc(&m->arena, m->n_funcs + 1);
        if (!m->declared)
                return bad_module(e, "out of memory");

        for (uint32_t i = 0; i < m->n_exports; i++)
                if (m->exports[i].kind == WASM_FUNC)
                        m->declared[m->exports[i].index] = 1;
        for (uint32_t i = m->n_imported_globals; i < m->n_globals; i++)
                declare_refs(m, m->global_inits[i]);
        for (uint32_t i = 0; i < m->n_elems; i++)
                for (uint32_t k = 0; k < m->elems[i].count; k++)
                        declare_refs(m, m->elems[i].items[k]);

        return 0;
}

static int check_bodies(struct wasm_module *m, struct err *e)
{
        struct wasm_checker c = { .m = m, .r.start = m->bytes.p };
        int failed = 0;

        c.work = WASM_MIN_WORK + (uint64_t) WASM_MAX_WORK * m->bytes.n;
        c.types = malloc(WASM_MAX_OPERANDS);
        c.ctl = reallocarray(NULL, WASM_MAX_NESTING, sizeof *c.ctl);
        c.locals = malloc(WASM_MAX_LOCALS);
        if (!c.types || !c.ctl || !c.locals)
                failed = bad_module(e, "out of memory");

        for (uint32_t i = m->n_imported_funcs; i < m->n_funcs && !failed; i++)
                if (!wasm_check_body(&c, i)) {
                        (void) wasm_reader_err(&c.r, e);
                        failed = err_in(e, "function %u", i);
                }

        free(c.types);
        free(c.ctl);
        free(c.locals);
        free(c.loops);
        return failed;
}

/* Without the bodies of functions. */
static int validate_module(struct wasm_module *m, struct err *e)
{
        static int (*const parts[])(const struct wasm_module *, struct err *) = {
                check_types, check_sizes, check_globals, check_exports, check_start, check_segments,
        };

        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (parts[i](m, e) < 0)
                        return -1;

        return declare_all(m, e);
}

static struct wasm_module *load_bytes(struct span bytes, bool is_known, struct err *e)
{
        struct wasm_module *m = calloc(1, sizeof *m);

        if (!m) {
                (void) bad_module(e, "out of memory");
                return NULL;
        }
        if (wasm_decode(m, bytes, e) < 0 || validate_module(m, e) < 0 ||
            (!is_known && check_bodies(m, e) < 0)) {
                wasm_module_free(m);
                return NULL;
        }

        return m;
}

struct wasm_module *wasm_module_load(struct span bytes, struct err *e) { return load_bytes(bytes, false, e); }

struct wasm_module *wasm_module_load_known(struct span bytes, struct err *e)
{
        return load_bytes(bytes, true, e);
}

void wasm_module_free(struct wasm_module *m)
{
        if (!m)
                return;

        arena_done(&m->arena);
        free(m);
}
