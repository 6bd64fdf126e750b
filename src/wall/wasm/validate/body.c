/* SPDX-License-Identifier: MIT */
/* wall/wasm/validate/body.c - one function body: every instruction, its operands, and what it costs. */
#include "wall/wasm/validate/checker.h"

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

bool wasm_check_body(struct wasm_checker *c, uint32_t func)
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
