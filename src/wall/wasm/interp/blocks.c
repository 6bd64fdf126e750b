/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/blocks.c - blocks, branches and returns. Where paths meet, operands are at home. */
#include "wall/wasm/interp/translator.h"

#include <stdlib.h>

/* Comparisons stand in the order of interp_ops.inc: six forms of each. */
enum { COMPARE_FORMS = I_I32_NE - I_I32_EQ };

bool tr_is_compare(uint16_t op)
{
        if (op >= I_I32_EQ && op < I_F32_EQ)
                return (op - I_I32_EQ) % COMPARE_FORMS < 2;
        return op >= I_F32_EQ && op <= I_F64_GE_LN && (op - I_F32_EQ) % COMPARE_FORMS < 2;
}

uint16_t tr_inverse(uint16_t op)
{
        /* eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u */
        static const uint8_t inverse[] = { 1, 0, 8, 9, 6, 7, 4, 5, 2, 3 };

        if (op >= I_F32_EQ)
                return (uint16_t) (I_F32_EQ + ((op - I_F32_EQ) ^ 1));

        uint16_t base = op >= I_I64_EQ ? I_I64_EQ : I_I32_EQ;
        uint16_t which = (uint16_t) ((op - base) / COMPARE_FORMS),
                 form = (uint16_t) ((op - base) % COMPARE_FORMS);
        return (uint16_t) (base + COMPARE_FORMS * inverse[which] + form);
}

static struct label *label_at(struct translator *t, uint32_t depth)
{
        return &t->labels[t->n_labels - 1 - depth];
}

static void set_target(struct translator *t, uint32_t at, enum patch_form form, uint32_t target)
{
        union wasm_cell *c = &t->code->cells[at];
        int64_t by = (int64_t) target - at;

        if (t->failed)
                return;
        if (form == PATCH_C && by != (int16_t) by)
                t->too_far = true;
        if (form == PATCH_C)
                c->c = (uint16_t) by;
        if (form == PATCH_K)
                c->k = (int32_t) by;
        if (form == PATCH_U)
                c->u = (uint64_t) by;
}

static void add_patch(struct translator *t, uint32_t *list, uint32_t at, enum patch_form form)
{
        if (t->n_patches == t->cap_patches) {
                uint32_t cap = t->cap_patches ? 2 * t->cap_patches : 32;
                struct patch *p = reallocarray(t->patches, cap, sizeof *p);
                if (!p) {
                        t->failed = true;
                        return;
                }
                t->patches = p;
                t->cap_patches = cap;
        }

        t->patches[t->n_patches] = (struct patch){ at, *list, (uint8_t) form };
        *list = t->n_patches++;
}

/* All jumps of the list lead here. */
static void bind_jumps(struct translator *t, uint32_t list)
{
        for (; list != NOWHERE; list = t->patches[list].next)
                set_target(t, t->patches[list].at, (enum patch_form) t->patches[list].form, t->n_cells);
        t->last = NOWHERE;
}

/* The jump in cell `at` leads to a label that is not the function's own. */
static void jump_to(struct translator *t, struct label *l, uint32_t at, enum patch_form form)
{
        uint16_t *op = &t->code->cells[at].op;

        if (l->op != WASM_LOOP) {
                add_patch(t, &l->patches, at, form);
                return;
        }

        /* Jumps that take the fuel of the loop themselves. */
        bool charges = form == PATCH_C || (form == PATCH_K && *op == I_BR);
        if (form == PATCH_C)
                *op = (uint16_t) (*op + I_I32_EQ_L - I_I32_EQ_B);
        else if (charges)
                *op = I_BR_LOOP;
        set_target(t, at, form, l->target + charges);
}

/* A condition: the jump instruction that is taken when it is true, without its target. */
struct condition {
        union wasm_cell jump;
        enum patch_form form;
};

/* Pops the condition. A comparison that was emitted last becomes part of the jump. */
static struct condition pop_condition(struct translator *t)
{
        struct operand x = tr_pop(t);
        const union wasm_cell *c = t->last == NOWHERE ? NULL : &t->code->cells[t->last];

        if (t->is_far)
                return (struct condition){ { { I_BR_NZ, tr_use(t, &x), 0, 0 } }, PATCH_K };
        if (c && x.kind == AT_HOME && c->a == x.home && tr_is_compare(c->op) && t->last + 1 == t->n_cells) {
                struct condition fused = { { { (uint16_t) (c->op + 2), c->b, c->c, 0 } }, PATCH_C };
                t->n_cells--;
                t->last = NOWHERE;
                return fused;
        }

        return (struct condition){ { { I_I32_NE_BK, tr_use(t, &x), 0, 0 } }, PATCH_C };
}

static struct condition invert_condition(struct condition c)
{
        c.jump.op = c.form == PATCH_K ? I_BR_Z : tr_inverse(c.jump.op);
        return c;
}

static void dead(struct translator *t) { t->dead = 1; }

void tr_unreachable(struct translator *t, const struct wasm_insn *x)
{
        (void) x;
        (void) tr_emit(t, (union wasm_cell){ { I_UNREACHABLE, 0, 0, 0 } });
        dead(t);
}

static void emit_return(struct translator *t)
{
        uint32_t n = t->type.n_results;

        if (n == 0) {
                (void) tr_emit(t, (union wasm_cell){ { I_RET0, 0, 0, 0 } });
                return;
        }
        if (n == 1 && t->type.result_slots == 1) {
                struct operand x = t->operands[t->n_operands - 1];
                (void) tr_emit(t, (union wasm_cell){ { I_RET1, tr_use(t, &x), 0, 0 } });
                return;
        }

        tr_settle(t, n);
        uint16_t from = t->operands[t->n_operands - n].home;
        (void) tr_emit(t, (union wasm_cell){ { I_RETS, from, t->type.result_slots, 0 } });
}

void tr_return(struct translator *t, const struct wasm_insn *x)
{
        (void) x;
        emit_return(t);
        dead(t);
}

static uint32_t label_arity(const struct label *l, uint32_t *ret_slots)
{
        *ret_slots = l->op == WASM_LOOP ? l->type.param_slots : l->type.result_slots;
        return l->op == WASM_LOOP ? l->type.n_params : l->type.n_results;
}

/* The slot where the operands of a branch to this label belong. */
static uint16_t label_home(const struct translator *t, const struct label *l)
{
        if (l->height == 0)
                return (uint16_t) t->first_home;

        const struct operand *below = &t->operands[l->height - 1];
        return (uint16_t) (below->home + wasm_type_slots(below->type));
}

/* Moves the operands of a branch to their place at the label; they must be at home if there are several. */
static void emit_moves(struct translator *t, const struct label *l)
{
        uint32_t slots, n = label_arity(l, &slots);

        if (n == 0)
                return;
        struct operand x = t->operands[t->n_operands - n];
        uint16_t to = label_home(t, l);
        if (n == 1 && x.kind == CONSTANT) {
                x.home = to;
                (void) tr_use(t, &x);
        } else {
                tr_move(t, to, x.kind == IN_LOCAL ? x.local : x.home, slots);
        }
}

static bool needs_moves(const struct translator *t, const struct label *l)
{
        uint32_t slots, n = label_arity(l, &slots);

        if (n == 0)
                return false;
        const struct operand *first = &t->operands[t->n_operands - n];
        return n == 1 ? first->kind != AT_HOME || first->home != label_home(t, l)
                      : first->home != label_home(t, l);
}

/* A branch to the function's own label is a return. */
static bool is_return(const struct translator *t, const struct label *l) { return l == t->labels; }

/* Before a branch that may not be taken: what is moved only on its way must not change where operands are. */
static void prepare_branch(struct translator *t, const struct label *l)
{
        uint32_t slots, n = label_arity(l, &slots);

        if (slots > 1)
                tr_settle(t, n);
}

static void emit_branch(struct translator *t, struct label *l)
{
        if (is_return(t, l)) {
                emit_return(t);
                return;
        }

        prepare_branch(t, l);
        emit_moves(t, l);
        jump_to(t, l, tr_emit(t, (union wasm_cell){ { I_BR, 0, 0, 0 } }), PATCH_K);
}

void tr_br(struct translator *t, const struct wasm_insn *x)
{
        emit_branch(t, label_at(t, x->index));
        dead(t);
}

void tr_br_if(struct translator *t, const struct wasm_insn *x)
{
        struct condition c = pop_condition(t);
        struct label *l = label_at(t, x->index);

        prepare_branch(t, l);
        if (!is_return(t, l) && !needs_moves(t, l)) {
                jump_to(t, l, tr_emit(t, c.jump), c.form);
                return;
        }

        uint32_t skip = NOWHERE;
        add_patch(t, &skip, tr_emit(t, invert_condition(c).jump), c.form);
        emit_branch(t, l);
        bind_jumps(t, skip);
}

/* The targets follow in cells; labels that need moves, or return, get some code behind the table. */
void tr_br_table(struct translator *t, const struct wasm_insn *x)
{
        struct wasm_reader r = { x->p, x->p, t->r.p, NULL, 0, NULL };
        struct operand index = tr_pop(t);
        uint16_t slot = tr_use(t, &index);
        uint32_t slots;

        /* All labels have the same number of operands. */
        tr_settle(t, label_arity(label_at(t, wasm_get_u32(&r)), &slots));
        uint32_t at = tr_emit(t, (union wasm_cell){ { I_BR_TABLE, slot, 0, 0 } });
        t->code->cells[at].k = (int32_t) x->index;
        uint32_t table = t->n_cells;
        for (uint32_t i = 0; i <= x->index; i++)
                (void) tr_emit(t, (union wasm_cell){ .u = 0 });

        r.p = x->p;
        for (uint32_t i = 0; i <= x->index && !t->failed; i++) {
                struct label *l = label_at(t, wasm_get_u32(&r));
                if (!is_return(t, l) && !needs_moves(t, l)) {
                        jump_to(t, l, table + i, PATCH_U);
                        continue;
                }
                set_target(t, table + i, PATCH_U, t->n_cells);
                emit_branch(t, l);
        }
        dead(t);
}

/* The operands of a block that begins or ends here become those of the label: all at home. */
static void set_operands(struct translator *t, uint32_t height, const uint8_t *types, uint32_t n)
{
        t->n_operands = height;
        for (uint32_t i = 0; i < n; i++)
                (void) tr_push(t, types[i]);
}

void tr_block(struct translator *t, const struct wasm_insn *x)
{
        struct wasm_functype type = wasm_block_type(t->m, x);
        struct condition c = { 0 };

        if (x->op == WASM_IF)
                c = pop_condition(t);
        tr_settle(t, UINT32_MAX);

        struct label *l = &t->labels[t->n_labels++];
        *l = (struct label){ x->op, t->n_operands - type.n_params, 0, NOWHERE, NOWHERE, type };
        if (x->op == WASM_IF)
                add_patch(t, &l->else_patch, tr_emit(t, invert_condition(c).jump), c.form);
        if (x->op == WASM_LOOP) {
                bind_jumps(t, NOWHERE);
                l->target = t->n_cells;
                uint32_t at = tr_emit(t, (union wasm_cell){ { I_FUEL, 0, 0, 0 } });
                t->code->cells[at].k = (int32_t) t->body->loop_costs[t->loop++];
        }
}

/* The end of the code of a block: its results belong at the label. */
static void finish_block(struct translator *t)
{
        if (!t->dead)
                tr_settle(t, label_at(t, 0)->type.n_results);
}

void tr_else(struct translator *t, const struct wasm_insn *x)
{
        struct label *l = label_at(t, 0);
        (void) x;

        finish_block(t);
        if (!t->dead)
                add_patch(t, &l->patches, tr_emit(t, (union wasm_cell){ { I_BR, 0, 0, 0 } }), PATCH_K);
        bind_jumps(t, l->else_patch);
        l->else_patch = NOWHERE;
        l->op = WASM_ELSE;
        t->dead = 0;
        set_operands(t, l->height, l->type.params, l->type.n_params);
}

void tr_end(struct translator *t, const struct wasm_insn *x)
{
        struct label *l = label_at(t, 0);
        (void) x;

        if (is_return(t, l)) {
                if (!t->dead)
                        emit_return(t);
                t->n_labels--;
                return;
        }

        finish_block(t);
        bind_jumps(t, l->else_patch);
        bind_jumps(t, l->patches);
        t->dead = 0;
        set_operands(t, l->height, l->type.results, l->type.n_results);
        t->n_labels--;
}
