/* SPDX-License-Identifier: MIT */
/* wall/wasm/validate/special.c - the instructions whose types depend on the module or on the stack. */
#include "wall/wasm/validate/checker.h"

typedef bool check_fn(struct wasm_checker *c, const struct wasm_insn *x);

static bool fail(struct wasm_checker *c, const char *why) { return wasm_reader_fail(&c->r, why); }

static bool check_unreachable(struct wasm_checker *c, const struct wasm_insn *x)
{
        (void) x;
        wasm_unreachable(c);
        return true;
}

static bool check_block(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index != WASM_NO_INDEX && x->index >= c->m->n_types)
                return fail(c, "unknown type");

        struct wasm_functype t = wasm_block_type(c->m, x);
        return (x->op != WASM_IF || wasm_pop(c, WASM_I32)) && wasm_pop_all(c, t.params, t.n_params) &&
               wasm_enter(c, x->op, t) && wasm_push_all(c, t.params, t.n_params);
}

static bool check_else(struct wasm_checker *c, const struct wasm_insn *x)
{
        struct wasm_ctl was;

        if (c->ctl[c->n_ctl - 1].op != WASM_IF)
                return fail(c, "else without if");

        return wasm_leave(c, &was) && wasm_enter(c, x->op, was.type) &&
               wasm_push_all(c, was.type.params, was.type.n_params);
}

/* An `if` without `else` passes its parameters on. */
static bool check_end(struct wasm_checker *c, const struct wasm_insn *x)
{
        struct wasm_ctl was;
        (void) x;

        if (!wasm_leave(c, &was))
                return false;
        if (was.op == WASM_IF && !span_eq(span_of(was.type.params, was.type.n_params),
                                          span_of(was.type.results, was.type.n_results)))
                return fail(c, "type mismatch: if without else");

        return wasm_push_all(c, was.type.results, was.type.n_results);
}

static bool check_br(struct wasm_checker *c, const struct wasm_insn *x)
{
        const uint8_t *types;
        uint32_t n;

        if (x->op == WASM_BR_IF && !wasm_pop(c, WASM_I32))
                return false;
        if (!wasm_label(c, x->index, &types, &n) || !wasm_pop_all(c, types, n))
                return false;
        if (x->op == WASM_BR_IF)
                return wasm_push_all(c, types, n);

        wasm_unreachable(c);
        return true;
}

/* Checks the operands against one label of a br_table, and leaves them as they were. */
static bool check_br_table_label(struct wasm_checker *c, uint32_t depth, uint32_t arity)
{
        const uint8_t *types;
        uint32_t n, had = c->n_types;

        if (!wasm_label(c, depth, &types, &n))
                return false;
        if (n != arity)
                return fail(c, "type mismatch: labels of a br_table differ");
        if (!wasm_pop_all(c, types, n))
                return false;

        c->n_types = had; /* popping does not change what was there */
        return true;
}

static bool check_br_table(struct wasm_checker *c, const struct wasm_insn *x)
{
        struct wasm_reader labels = { c->r.start, x->p, c->r.p, NULL, 0, NULL };
        const uint8_t *types;
        uint32_t arity = 0, label = 0;

        if (!wasm_pop(c, WASM_I32))
                return false;
        for (uint32_t i = 0; i <= x->index; i++)
                label = wasm_get_u32(&labels);
        if (!wasm_label(c, label, &types, &arity))
                return false;

        labels.p = x->p;
        for (uint32_t i = 0; i <= x->index; i++)
                if (!check_br_table_label(c, wasm_get_u32(&labels), arity))
                        return false;

        wasm_unreachable(c);
        return true;
}

static bool check_return(struct wasm_checker *c, const struct wasm_insn *x)
{
        (void) x;
        if (!wasm_pop_all(c, c->type->results, c->type->n_results))
                return false;

        wasm_unreachable(c);
        return true;
}

static bool check_callee(struct wasm_checker *c, const struct wasm_functype *t, bool is_tail)
{
        if (!wasm_pop_all(c, t->params, t->n_params))
                return false;
        if (!is_tail)
                return wasm_push_all(c, t->results, t->n_results);
        if (!span_eq(span_of(t->results, t->n_results), span_of(c->type->results, c->type->n_results)))
                return fail(c, "type mismatch: a tail call has other results");

        wasm_unreachable(c);
        return true;
}

static bool check_call(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index >= c->m->n_funcs)
                return fail(c, "unknown function");

        return check_callee(c, wasm_type_of_func(c->m, x->index), x->op == WASM_RETURN_CALL);
}

static bool check_call_indirect(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index2 >= c->m->n_tables)
                return fail(c, "unknown table");
        if (c->m->tables[x->index2].type != WASM_FUNCREF)
                return fail(c, "type mismatch: the table has no functions");
        if (x->index >= c->m->n_types)
                return fail(c, "unknown type");

        return wasm_pop(c, WASM_I32) &&
               check_callee(c, &c->m->types[x->index], x->op == WASM_RETURN_CALL_INDIRECT);
}

static bool check_drop(struct wasm_checker *c, const struct wasm_insn *x)
{
        uint8_t t;
        (void) x;

        return wasm_pop_any(c, &t);
}

static bool check_select(struct wasm_checker *c, const struct wasm_insn *x)
{
        uint8_t a, b;
        (void) x;

        if (!wasm_pop(c, WASM_I32) || !wasm_pop_any(c, &a) || !wasm_pop_any(c, &b))
                return false;
        if (wasm_type_is_ref(a) || wasm_type_is_ref(b))
                return fail(c, "type mismatch: select of references needs a type");
        if (a != b && a != WASM_NO_TYPE && b != WASM_NO_TYPE)
                return fail(c, "type mismatch");

        return wasm_push(c, a == WASM_NO_TYPE ? b : a);
}

static bool check_select_t(struct wasm_checker *c, const struct wasm_insn *x)
{
        return wasm_pop(c, WASM_I32) && wasm_pop(c, x->type) && wasm_pop(c, x->type) && wasm_push(c, x->type);
}

static bool check_local(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index >= c->n_locals)
                return fail(c, "unknown local");

        uint8_t t = c->locals[x->index];
        return (x->op == WASM_LOCAL_GET || wasm_pop(c, t)) && (x->op == WASM_LOCAL_SET || wasm_push(c, t));
}

static bool check_global(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index >= c->m->n_globals)
                return fail(c, "unknown global");

        const struct wasm_globaltype *g = &c->m->globals[x->index];
        if (x->op == WASM_GLOBAL_GET)
                return wasm_push(c, g->type);
        if (!g->is_mutable)
                return fail(c, "global is immutable");

        return wasm_pop(c, g->type);
}

static bool check_table(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index >= c->m->n_tables)
                return fail(c, "unknown table");

        uint8_t t = c->m->tables[x->index].type;
        switch (x->op) {
        case WASM_TABLE_GET:
                return wasm_pop(c, WASM_I32) && wasm_push(c, t);
        case WASM_TABLE_SET:
                return wasm_pop(c, t) && wasm_pop(c, WASM_I32);
        case WASM_TABLE_SIZE:
                return wasm_push(c, WASM_I32);
        case WASM_TABLE_GROW:
                return wasm_pop(c, WASM_I32) && wasm_pop(c, t) && wasm_push(c, WASM_I32);
        default: /* WASM_TABLE_FILL */
                return wasm_pop(c, WASM_I32) && wasm_pop(c, t) && wasm_pop(c, WASM_I32);
        }
}

static bool pop_three(struct wasm_checker *c)
{
        static const uint8_t range[] = { WASM_I32, WASM_I32, WASM_I32 };

        return wasm_pop_all(c, range, 3);
}

static bool check_table_init(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index2 >= c->m->n_tables)
                return fail(c, "unknown table");
        if (x->index >= c->m->n_elems)
                return fail(c, "unknown elem segment");
        if (c->m->tables[x->index2].type != c->m->elems[x->index].type)
                return fail(c, "type mismatch");

        return pop_three(c);
}

static bool check_table_copy(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index >= c->m->n_tables || x->index2 >= c->m->n_tables)
                return fail(c, "unknown table");
        if (c->m->tables[x->index].type != c->m->tables[x->index2].type)
                return fail(c, "type mismatch");

        return pop_three(c);
}

static bool check_elem_drop(struct wasm_checker *c, const struct wasm_insn *x)
{
        return x->index < c->m->n_elems || fail(c, "unknown elem segment");
}

static bool check_data(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (!c->m->has_data_count)
                return fail(c, "data count section required");

        return x->index < c->m->n_datas || fail(c, "unknown data segment");
}

static bool check_ref_null(struct wasm_checker *c, const struct wasm_insn *x)
{
        return wasm_push(c, x->type);
}

static bool check_ref_is_null(struct wasm_checker *c, const struct wasm_insn *x)
{
        uint8_t t;
        (void) x;

        if (!wasm_pop_any(c, &t))
                return false;
        if (t != WASM_NO_TYPE && !wasm_type_is_ref(t))
                return fail(c, "type mismatch: not a reference");

        return wasm_push(c, WASM_I32);
}

static bool check_ref_func(struct wasm_checker *c, const struct wasm_insn *x)
{
        if (x->index >= c->m->n_funcs)
                return fail(c, "unknown function");
        if (!c->m->declared[x->index])
                return fail(c, "undeclared function reference");

        return wasm_push(c, WASM_FUNCREF);
}

static check_fn *const checks[] = {
        [WASM_UNREACHABLE] = check_unreachable,
        [WASM_BLOCK] = check_block,
        [WASM_LOOP] = check_block,
        [WASM_IF] = check_block,
        [WASM_ELSE] = check_else,
        [WASM_END] = check_end,
        [WASM_BR] = check_br,
        [WASM_BR_IF] = check_br,
        [WASM_BR_TABLE] = check_br_table,
        [WASM_RETURN] = check_return,
        [WASM_CALL] = check_call,
        [WASM_CALL_INDIRECT] = check_call_indirect,
        [WASM_RETURN_CALL] = check_call,
        [WASM_RETURN_CALL_INDIRECT] = check_call_indirect,
        [WASM_DROP] = check_drop,
        [WASM_SELECT] = check_select,
        [WASM_SELECT_T] = check_select_t,
        [WASM_LOCAL_GET] = check_local,
        [WASM_LOCAL_SET] = check_local,
        [WASM_LOCAL_TEE] = check_local,
        [WASM_GLOBAL_GET] = check_global,
        [WASM_GLOBAL_SET] = check_global,
        [WASM_TABLE_GET] = check_table,
        [WASM_TABLE_SET] = check_table,
        [WASM_TABLE_GROW] = check_table,
        [WASM_TABLE_SIZE] = check_table,
        [WASM_TABLE_FILL] = check_table,
        [WASM_TABLE_INIT] = check_table_init,
        [WASM_TABLE_COPY] = check_table_copy,
        [WASM_ELEM_DROP] = check_elem_drop,
        [WASM_MEMORY_INIT] = check_data,
        [WASM_DATA_DROP] = check_data,
        [WASM_REF_NULL] = check_ref_null,
        [WASM_REF_IS_NULL] = check_ref_is_null,
        [WASM_REF_FUNC] = check_ref_func,
};

bool wasm_check_special(struct wasm_checker *c, const struct wasm_insn *x)
{
        check_fn *f = x->op < sizeof checks / sizeof *checks ? checks[x->op] : NULL;

        if (!f) /* a row without a signature or a check: closed, not open */
                return x->row->sig ? true : fail(c, "illegal opcode");

        return f(c, x);
}
