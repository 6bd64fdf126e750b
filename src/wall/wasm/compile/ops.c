/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/ops.c - locals, globals, select, and what a helper does. */
#include "wall/wasm/compile/compiler.h"

static void compile_const(struct compiler *c, const struct wasm_insn *x)
{
        uint8_t type = x->op == WASM_REF_NULL ? x->type : wasm_sig_result(x->row->sig);

        if (type != WASM_V128) {
                op_push(c, (struct operand){ .place = CONSTANT, .type = type, .value = x->value });
                return;
        }
        uint32_t home = op_next_home(c);
        for (uint32_t i = 0; i < 2; i++) {
                struct operand half = { .place = CONSTANT, .type = WASM_I64 };
                memcpy(&half.value, x->p + 8 * i, 8);
                op_store(c, home + i, &half);
        }
        op_push_home(c, type);
}

static void compile_local(struct compiler *c, const struct wasm_insn *x)
{
        const struct local *l = &c->locals[x->index];
        struct operand lazy = { .place = IN_LOCAL, .type = l->type, .local = x->index };

        if (x->op == WASM_LOCAL_GET) {
                op_push(c, lazy);
                return;
        }

        struct operand v = op_pop(c);
        op_detach(c, x->index);
        if (l->reg != NO_REG)
                op_load(c, l->reg, &v);
        else
                op_store(c, l->slot, &v);
        op_free(c, &v);
        if (x->op == WASM_LOCAL_TEE)
                op_push(c, lazy);
}

/* 64 bits of a vector, through TEMP_REG; `slot` of the frame. */
static void copy_half(struct compiler *c, uint32_t slot, uint32_t half, bool is_set)
{
        uint32_t at = (uint32_t) offsetof(struct wasm_global, v) + 8 * half;

        mc_load(&c->k, WASM_I64, TEMP_REG, is_set ? FRAME_REG : BASE_REG, is_set ? (slot + half) * 8 : at);
        mc_store(&c->k, WASM_I64, TEMP_REG, is_set ? BASE_REG : FRAME_REG, is_set ? at : (slot + half) * 8);
}

static void vector_global(struct compiler *c, const struct wasm_insn *x)
{
        bool is_set = x->op == WASM_GLOBAL_SET;
        uint32_t slot = op_next_home(c);

        if (is_set) {
                struct operand v = op_pop(c);
                (void) op_in_slot(c, &v, &slot);
        }
        mc_data(&c->k, BASE_REG, c->data.globals + x->index);
        for (uint32_t i = 0; i < 2; i++)
                copy_half(c, slot, i, is_set);
        if (!is_set)
                op_push_home(c, WASM_V128);
}

static void compile_global(struct compiler *c, const struct wasm_insn *x)
{
        uint8_t type = c->m->globals[x->index].type;
        uint32_t data = c->data.globals + x->index, at = offsetof(struct wasm_global, v);

        if (type == WASM_V128) {
                vector_global(c, x);
                return;
        }
        if (x->op == WASM_GLOBAL_SET) {
                struct operand v = op_pop(c);
                unsigned from = op_use(c, &v);
                mc_data(&c->k, BASE_REG, data);
                mc_store(&c->k, type, from, BASE_REG, at);
                op_free(c, &v);
                return;
        }
        unsigned to = rg_result(c, type);
        mc_data(&c->k, BASE_REG, data);
        mc_load(&c->k, type, to, BASE_REG, at);
        op_push_reg(c, type, to);
}

/* Vectors are in memory: the second takes the place of the first. */
static void select_vector(struct compiler *c, unsigned cc, struct operand *a, struct operand *b)
{
        uint32_t skip[2];

        op_store(c, a->home, a); /* changes no flag */
        unsigned n = mc_jump_if(&c->k, cc, skip);
        op_store(c, a->home, b);
        for (unsigned i = 0; i < n; i++)
                mc_patch(&c->k, skip[i], c->k.at);
        op_push_home(c, a->type);
}

static void compile_select(struct compiler *c, const struct wasm_insn *x)
{
        const struct operand *last = &c->operands[c->n_operands - 1];
        (void) x;

        if (last->place == IN_FLAGS && MC_IS_PAIR(last->value))
                op_keep_flags(c);
        unsigned cc = op_pop_condition(c);
        struct operand b = op_pop(c), a = op_pop(c);
        if (a.type == WASM_V128) {
                select_vector(c, cc, &a, &b);
                return;
        }
        unsigned other = op_use(c, &b), to = op_own(c, &a);
        mc_select(&c->k, a.type, cc, to, other);
        op_free(c, &b);
        op_push_reg(c, a.type, to);
}

static void pop_all(struct compiler *c, uint32_t n, uint32_t *ret_slot)
{
        op_settle(c, UINT32_MAX);
        op_drop_to(c, c->n_operands - n);
        *ret_slot = op_next_home(c);
}

static void compile_by_helper(struct compiler *c, const struct wasm_insn *x)
{
        const struct wasm_help h = wasm_help(c->m, x);
        uint8_t result = wasm_sig_result(h.sig);
        uint32_t slot;

        pop_all(c, wasm_sig_operands(h.sig), &slot);
        cc_helper(c, h.helper, slot, h.arg);
        if (result != WASM_NO_TYPE)
                op_push_home(c, result);
}

static void compile_ref_func(struct compiler *c, const struct wasm_insn *x)
{
        unsigned to = rg_result(c, WASM_FUNCREF);

        if (x->index < c->m->n_imported_funcs) {
                mc_data(&c->k, to, c->data.funcs + x->index);
        } else {
                mc_data(&c->k, to, DATA_OWN_FUNCS);
                mc_add(&c->k, to, (x->index - c->m->n_imported_funcs) * (uint32_t) sizeof(struct wasm_func));
        }
        op_push_reg(c, WASM_FUNCREF, to);
}

/* A comparison that was made last is inverted. */
static void compile_eqz(struct compiler *c, const struct wasm_insn *x)
{
        struct operand *last = &c->operands[c->n_operands - 1];

        if (x->op == WASM_I32_EQZ && last->place == IN_FLAGS) {
                last->value ^= 1;
                return;
        }

        struct operand a = op_pop(c);
        mc_test(&c->k, x->op != WASM_I32_EQZ, op_use(c, &a));
        op_free(c, &a);
        op_push_flags(c, MC_EQ);
}

static void compile_drop(struct compiler *c, const struct wasm_insn *x)
{
        struct operand a = op_pop(c);
        (void) x;

        op_free(c, &a);
}

static void compile_nop(struct compiler *c, const struct wasm_insn *x)
{
        (void) c;
        (void) x;
}

typedef void compile_fn(struct compiler *, const struct wasm_insn *);
static compile_fn *const special[WASM_OP__COUNT] = {
        [WASM_UNREACHABLE] = cc_unreachable,
        [WASM_NOP] = compile_nop,
        [WASM_BLOCK] = cc_block,
        [WASM_LOOP] = cc_block,
        [WASM_IF] = cc_block,
        [WASM_ELSE] = cc_else,
        [WASM_END] = cc_block_end,
        [WASM_BR] = cc_br,
        [WASM_BR_IF] = cc_br_if,
        [WASM_BR_TABLE] = cc_br_table,
        [WASM_RETURN] = cc_return,
        [WASM_CALL] = cc_call,
        [WASM_CALL_INDIRECT] = cc_call,
        [WASM_RETURN_CALL] = cc_call,
        [WASM_RETURN_CALL_INDIRECT] = cc_call,
        [WASM_DROP] = compile_drop,
        [WASM_SELECT] = compile_select,
        [WASM_SELECT_T] = compile_select,
        [WASM_LOCAL_GET] = compile_local,
        [WASM_LOCAL_SET] = compile_local,
        [WASM_LOCAL_TEE] = compile_local,
        [WASM_GLOBAL_GET] = compile_global,
        [WASM_GLOBAL_SET] = compile_global,
        [WASM_I32_CONST] = compile_const,
        [WASM_I64_CONST] = compile_const,
        [WASM_F32_CONST] = compile_const,
        [WASM_F64_CONST] = compile_const,
        [WASM_V128_CONST] = compile_const,
        [WASM_REF_NULL] = compile_const,
        [WASM_REF_FUNC] = compile_ref_func,
        [WASM_REF_IS_NULL] = compile_eqz,
        [WASM_I32_EQZ] = compile_eqz,
        [WASM_I64_EQZ] = compile_eqz,
};

static bool consumes_flags(uint16_t op)
{
        return op == WASM_BR_IF || op == WASM_IF || op == WASM_SELECT || op == WASM_SELECT_T ||
               op == WASM_I32_EQZ || op == WASM_DROP;
}

/* The local that the next instruction sets. */
static uint32_t next_set(const struct compiler *c)
{
        struct wasm_reader r = c->r;

        if (r.p >= r.end || (*r.p != WASM_LOCAL_SET && *r.p != WASM_LOCAL_TEE))
                return NOWHERE;
        r.p++;
        return wasm_get_u32(&r);
}

void cc_insn(struct compiler *c, const struct wasm_insn *x)
{
        c->hint = NOWHERE;
        if (!c->dead && !consumes_flags(x->op))
                op_keep_flags(c);
        c->hint = next_set(c);
        if (special[x->op])
                special[x->op](c, x);
        else if (!mc_numeric(c, x))
                compile_by_helper(c, x);
}
