/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/compile_control.c - blocks, branches and calls. */
#include "wall/wasm/compile/compiler.h"

static struct label *label_at(struct compiler *c, uint32_t depth)
{
        return &c->labels[c->n_labels - 1 - depth];
}

static void add_patch(struct compiler *c, uint32_t *list, uint32_t at, uint32_t table)
{
        if (!cc_grow(c, &c->patches, c->n_patches, &c->cap_patches, sizeof *c->patches))
                return;
        c->patches[c->n_patches] = (struct patch){ at, table, *list };
        *list = c->n_patches++;
}

static void set_target(struct compiler *c, uint32_t at, uint32_t table, uint32_t target)
{
        if (table == NOWHERE)
                mc_patch(&c->k, at, target);
        else
                mc_patch_entry(&c->k, at, table, target);
}

static void bind_jumps(struct compiler *c, uint32_t list)
{
        for (; list != NOWHERE; list = c->patches[list].next)
                set_target(c, c->patches[list].at, c->patches[list].table, c->k.at);
}

static void to_label(struct compiler *c, struct label *l, uint32_t at, uint32_t table)
{
        if (l->op == WASM_LOOP)
                set_target(c, at, table, l->target);
        else
                add_patch(c, &l->patches, at, table);
}

/* A label that is no block of the module's. */
static struct label plain_label(void)
{
        return (struct label){ .op = WASM_BLOCK, .patches = NOWHERE, .else_patch = NOWHERE };
}

/* Jumps if the condition holds. */
static void jump_if(struct compiler *c, unsigned cc, struct label *l)
{
        uint32_t at[2];
        unsigned n = mc_jump_if(&c->k, cc, at);

        for (unsigned i = 0; i < n; i++)
                to_label(c, l, at[i], NOWHERE);
}

static void jump(struct compiler *c, struct label *l) { to_label(c, l, mc_jump(&c->k), NOWHERE); }

void cc_unreachable(struct compiler *c, const struct wasm_insn *x)
{
        (void) x;
        mc_jump_to(&c->k, c->stubs->traps[WASM_TRAP_UNREACHABLE]);
        c->dead = 1;
}

static const uint8_t *label_types(const struct label *l, uint32_t *ret_n)
{
        *ret_n = l->op == WASM_LOOP ? l->type.n_params : l->type.n_results;
        return l->op == WASM_LOOP ? l->type.params : l->type.results;
}

/* Whether the operands of a branch to this label are one value in the merge register. */
static bool label_merges(const struct label *l)
{
        return l->op != WASM_LOOP && l->type.n_results == 1 && l->type.results[0] != WASM_V128;
}

static unsigned merge_reg(uint8_t type) { return is_float(type) ? MERGE_FLOAT : MERGE_INT; }

/* The slot where the operands of a branch belong; those of the function's label are its results. */
static uint32_t label_home(const struct compiler *c, const struct label *l)
{
        if (l == c->labels)
                return 0;
        if (l->height == 0)
                return c->first_home;

        const struct operand *below = &c->operands[l->height - 1];
        return below->home + wasm_type_slots(below->type);
}

static uint32_t first_home_of(const struct compiler *c, uint32_t n)
{
        return c->operands[c->n_operands - n].home;
}

static bool needs_moves(const struct compiler *c, const struct label *l)
{
        uint32_t n;

        (void) label_types(l, &n);
        return n > 0 && !label_merges(l) && first_home_of(c, n) != label_home(c, l);
}

/* The operands of a branch, which are at home, go to their place at the label. */
static void emit_moves(struct compiler *c, const struct label *l)
{
        uint32_t n;
        const uint8_t *types = label_types(l, &n);

        if (!needs_moves(c, l))
                return;
        uint32_t slots = 0, from = first_home_of(c, n), to = label_home(c, l);
        for (uint32_t i = 0; i < n; i++)
                slots += wasm_type_slots(types[i]);
        for (uint32_t i = 0; i < slots; i++)
                mc_copy(&c->k, WASM_I64, to + i, from + i);
}

/* A branch finds a single value in the merge register, others at home. Changes no flag. */
static void prepare_branch(struct compiler *c, const struct label *l)
{
        uint32_t n;

        (void) label_types(l, &n);
        if (label_merges(l))
                op_load(c, merge_reg(l->type.results[0]), &c->operands[c->n_operands - 1]);
        else
                op_settle(c, n);
}

static void emit_branch(struct compiler *c, struct label *l)
{
        prepare_branch(c, l);
        emit_moves(c, l);
        jump(c, l);
}

void cc_br(struct compiler *c, const struct wasm_insn *x)
{
        emit_branch(c, label_at(c, x->index));
        c->dead = 1;
}

void cc_return(struct compiler *c, const struct wasm_insn *x)
{
        (void) x;
        emit_branch(c, c->labels);
        c->dead = 1;
}

void cc_br_if(struct compiler *c, const struct wasm_insn *x)
{
        unsigned cc = op_pop_condition(c);
        struct label *l = label_at(c, x->index);

        prepare_branch(c, l);
        if (!needs_moves(c, l)) {
                jump_if(c, cc, l);
                return;
        }

        struct label skip = plain_label();
        jump_if(c, cc_inverse(cc), &skip);
        emit_branch(c, l);
        bind_jumps(c, skip.patches);
}

/* A table of distances from its own beginning; labels that need moves get some code behind it. */
void cc_br_table(struct compiler *c, const struct wasm_insn *x)
{
        struct wasm_reader r = { x->p, x->p, c->r.p, NULL, 0, NULL };
        struct operand index = op_pop(c);
        struct label *first = label_at(c, wasm_get_u32(&r));
        uint32_t n = x->index;

        op_load(c, INDEX_REG, &index);
        op_free(c, &index);
        prepare_branch(c, first); /* all labels have operands of the same types */
        if (label_merges(first))
                op_settle(c, 1); /* for labels of loops */
        uint32_t table = mc_table(&c->k, n);
        r.p = x->p;
        for (uint32_t i = 0; i <= n && !c->failed && !c->k.full; i++) {
                struct label *l = label_at(c, wasm_get_u32(&r));
                if (label_merges(l) == label_merges(first) && !needs_moves(c, l)) {
                        to_label(c, l, table + 4 * i, table);
                        continue;
                }
                mc_patch_entry(&c->k, table + 4 * i, table, c->k.at);
                emit_branch(c, l);
        }
        c->dead = 1;
}

static void push_results(struct compiler *c, const uint8_t *types, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                op_push_home(c, types[i]);
}

/* The result of a call or block, in the merge register, becomes an operand. */
static void push_merged(struct compiler *c, uint8_t type)
{
        unsigned reg = rg_result(c, type);
        struct operand x = { .place = IN_REG, .type = type, .reg = (uint8_t) merge_reg(type) };

        op_load(c, reg, &x);
        op_push_reg(c, type, reg);
}

void cc_block(struct compiler *c, const struct wasm_insn *x)
{
        struct wasm_functype type = wasm_block_type(c->m, x);
        unsigned cc = x->op == WASM_IF ? op_pop_condition(c) : 0;

        op_settle(c, UINT32_MAX);
        struct label *l = &c->labels[c->n_labels++];
        *l = (struct label){ x->op, c->n_operands - type.n_params, 0, NOWHERE, NOWHERE, type };
        if (x->op == WASM_IF) {
                struct label otherwise = plain_label();
                jump_if(c, cc_inverse(cc), &otherwise);
                l->else_patch = otherwise.patches;
        }
        if (x->op == WASM_LOOP) {
                l->target = c->k.at;
                cc_charge(c, c->body->loop_costs[c->loop++]);
        }
}

/* The end of the code of a block: its results go to their place at the label. */
static void finish_label(struct compiler *c, const struct label *l)
{
        if (c->dead)
                return;
        if (l->op == WASM_LOOP)
                op_settle(c, l->type.n_results);
        else
                prepare_branch(c, l);
}

void cc_else(struct compiler *c, const struct wasm_insn *x)
{
        struct label *l = label_at(c, 0);
        (void) x;

        finish_label(c, l);
        if (!c->dead)
                add_patch(c, &l->patches, mc_jump(&c->k), NOWHERE);
        bind_jumps(c, l->else_patch);
        l->else_patch = NOWHERE;
        l->op = WASM_ELSE;
        c->dead = 0;
        op_drop_to(c, l->height);
        push_results(c, l->type.params, l->type.n_params);
}

/* An `if` without `else` passes its parameters on. */
static void pass_parameters(struct compiler *c, struct label *l)
{
        struct wasm_insn x = { 0 };

        cc_else(c, &x);
        finish_label(c, l);
}

static void end_function(struct compiler *c)
{
        struct label *l = c->labels;

        if (!c->dead) {
                prepare_branch(c, l);
                emit_moves(c, l);
        }
        bind_jumps(c, l->patches);
        cc_end(c);
        c->n_labels--;
}

void cc_block_end(struct compiler *c, const struct wasm_insn *x)
{
        struct label *l = label_at(c, 0);
        (void) x;

        if (l == c->labels) {
                end_function(c);
                return;
        }
        if (l->op == WASM_LOOP ||
            (l->op == WASM_BLOCK && l->patches == NOWHERE)) { /* only one path leads here */
                if (c->dead) {
                        op_drop_to(c, l->height);
                        push_results(c, l->type.results, l->type.n_results);
                        c->dead = 1; /* and so is what follows; its operands are of no use */
                }
                c->n_labels--;
                return;
        }

        if (l->else_patch != NOWHERE)
                pass_parameters(c, l);
        else
                finish_label(c, l);
        bind_jumps(c, l->patches);
        c->dead = 0;
        op_drop_to(c, l->height);
        c->n_labels--;
        if (label_merges(l))
                push_merged(c, l->type.results[0]);
        else
                push_results(c, l->type.results, l->type.n_results);
}

/* Finds the function of an indirect call: its address in BASE_REG. */
static void find_callee(struct compiler *c, const struct wasm_insn *x, struct operand *index)
{
        struct code *k = &c->k;

        op_load(c, INDEX_REG, index);
        op_free(c, index);
        mc_data(k, BASE_REG, c->data.tables + x->index2);
        mc_load(k, WASM_I32, TEMP_REG, BASE_REG, offsetof(struct wasm_table, size));
        mc_compare(k, false, INDEX_REG, TEMP_REG);
        cc_trap_if(c, MC_AE, WASM_TRAP_ELEMENT);
        mc_load(k, WASM_I64, BASE_REG, BASE_REG, offsetof(struct wasm_table, items));
        mc_load_indexed(k, BASE_REG, BASE_REG, INDEX_REG);
        mc_test(k, true, BASE_REG);
        cc_trap_if(c, MC_EQ, WASM_TRAP_NULL);
        mc_data(k, INDEX_REG, c->data.sigs + x->index);
        mc_load(k, WASM_I64, TEMP_REG, BASE_REG, offsetof(struct wasm_func, sig));
        mc_compare(k, true, INDEX_REG, TEMP_REG);
        cc_trap_if(c, MC_NE, WASM_TRAP_TYPE);
}

static bool in_register(const struct wasm_functype *t)
{
        return t->n_results == 1 && t->results[0] != WASM_V128;
}

/* A function of the host, which is in ARG_REG; the frame is set. Its result goes where that of code would be.
 */
static void call_host(struct compiler *c, const struct wasm_functype *t)
{
        mc_helper(&c->k, c->stubs->helper, DATA_HELPERS + HELPER_HOST_CALL, 0);
        if (in_register(t)) {
                struct operand home = { .place = AT_HOME, .type = t->results[0], .home = 0 };
                op_load(c, merge_reg(home.type), &home);
        }
}

/* BASE_REG is the function: its code, or the host's. */
static void call_found(struct compiler *c, const struct wasm_functype *t, bool is_tail)
{
        struct label to_host = plain_label(), done = plain_label();

        mc_load(&c->k, WASM_I64, INDEX_REG, BASE_REG, offsetof(struct wasm_func, code));
        mc_test(&c->k, true, INDEX_REG);
        jump_if(c, MC_EQ, &to_host);
        if (is_tail)
                mc_leave(&c->k);
        mc_call_reg(&c->k, INDEX_REG, is_tail);
        if (!is_tail)
                jump(c, &done);
        bind_jumps(c, to_host.patches);
        mc_move(&c->k, WASM_I64, ARG_REG, BASE_REG);
        call_host(c, t);
        if (is_tail)
                mc_return(&c->k);
        bind_jumps(c, done.patches);
}

static void call_own(struct compiler *c, uint32_t index, bool is_tail)
{
        if (is_tail)
                mc_leave(&c->k);
        uint32_t at = mc_call(&c->k, is_tail);
        if (cc_grow(c, &c->sites, c->n_sites, &c->cap_sites, sizeof *c->sites))
                c->sites[c->n_sites++] = (struct call_site){ at, index };
}

static void take_results(struct compiler *c, const struct wasm_functype *t)
{
        if (in_register(t))
                push_merged(c, t->results[0]);
        else
                push_results(c, t->results, t->n_results);
        if (c->has_memory)
                mc_data(&c->k, MEMORY_REG, DATA_MEMORY_BASE);
}

/* The parameters of a tail call take the place of this function's. */
static void replace_frame(struct compiler *c, uint32_t from, uint32_t slots)
{
        cc_restore(c);
        for (uint32_t i = 0; i < slots; i++)
                mc_copy(&c->k, WASM_I64, i, from + i);
}

/* Parameters are brought home, where they are the first slots of the callee's frame. */
void cc_call(struct compiler *c, const struct wasm_insn *x)
{
        bool is_indirect = x->op == WASM_CALL_INDIRECT || x->op == WASM_RETURN_CALL_INDIRECT;
        bool is_tail = x->op == WASM_RETURN_CALL || x->op == WASM_RETURN_CALL_INDIRECT;
        const struct wasm_functype *t =
                is_indirect ? &c->m->types[x->index] : wasm_type_of_func(c->m, x->index);

        struct operand index = { 0 };
        if (is_indirect)
                index = op_pop(c);
        op_settle(c, UINT32_MAX);
        if (is_indirect)
                find_callee(c, x, &index);
        c->n_operands -= t->n_params;
        uint32_t frame = op_next_home(c);
        if (is_tail)
                replace_frame(c, frame, t->param_slots);
        else
                mc_move_frame(&c->k, frame);
        bool is_own = !is_indirect && x->index >= c->m->n_imported_funcs;
        if (!is_indirect && !is_own)
                mc_data(&c->k, BASE_REG, c->data.funcs + x->index);
        if (is_own)
                call_own(c, x->index, is_tail);
        else
                call_found(c, t, is_tail);
        if (is_tail) {
                c->dead = 1;
                return;
        }
        mc_move_frame(&c->k, -(int64_t) frame);
        take_results(c, t);
}
