/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/operand_stack.c - emits cells, and keeps track of where operands are. */
#include "wall/wasm/interp/translator.h"

#include <stdlib.h>

enum { LAZY_DEPTH = 32 }; /* deeper operands are at home, so that no search is long */

uint32_t tr_emit(struct translator *t, union wasm_cell c)
{
        if (t->n_cells == t->cap_cells) {
                uint32_t cap = 2 * t->cap_cells;
                struct wasm_code *p = realloc(t->code, sizeof *p + (size_t) cap * sizeof *p->cells);
                if (!p) {
                        t->failed = true;
                        t->n_cells = 0; /* go on writing somewhere: the result is not used */
                        return 0;
                }
                t->code = p;
                t->cap_cells = cap;
        }

        t->code->cells[t->n_cells] = c;
        t->last = NOWHERE;
        return t->n_cells++;
}

uint32_t tr_emit_result(struct translator *t, uint16_t op, uint32_t a, uint32_t b, uint32_t c)
{
        uint32_t at = tr_emit(t, (union wasm_cell){ { op, (uint16_t) a, (uint16_t) b, (uint16_t) c } });

        t->last = at;
        return at;
}

uint16_t tr_next_home(const struct translator *t)
{
        if (t->n_operands == 0)
                return (uint16_t) t->first_home;

        const struct operand *x = &t->operands[t->n_operands - 1];
        return (uint16_t) (x->home + wasm_type_slots(x->type));
}

static void bring_home(struct translator *t, struct operand *x)
{
        if (x->kind == IN_LOCAL)
                tr_move(t, x->home, x->local, wasm_type_slots(x->type));
        if (x->kind == CONSTANT)
                (void) tr_use(t, x);
        x->kind = AT_HOME;
}

void tr_push_lazy(struct translator *t, struct operand x)
{
        x.home = tr_next_home(t);
        t->operands[t->n_operands++] = x;
        uint32_t top = x.home + wasm_type_slots(x.type);
        if (top > t->top)
                t->top = top;

        if (t->n_operands > LAZY_DEPTH && t->operands[t->n_operands - 1 - LAZY_DEPTH].kind != AT_HOME)
                bring_home(t, &t->operands[t->n_operands - 1 - LAZY_DEPTH]);
}

uint16_t tr_push(struct translator *t, uint8_t type)
{
        tr_push_lazy(t, (struct operand){ .kind = AT_HOME, .type = type });
        return t->operands[t->n_operands - 1].home;
}

struct operand tr_pop(struct translator *t) { return t->operands[--t->n_operands]; }

uint16_t tr_use(struct translator *t, struct operand *x)
{
        if (x->kind == IN_LOCAL)
                return x->local;
        if (x->kind == AT_HOME)
                return x->home;

        if (x->value <= UINT32_MAX) {
                uint32_t at = tr_emit_result(t, I_CONST, x->home, 0, 0);
                t->code->cells[at].k = (int32_t) (uint32_t) x->value;
        } else {
                uint32_t at = tr_emit_result(t, I_CONST64, x->home, 0, 0);
                (void) tr_emit(t, (union wasm_cell){ .u = x->value });
                t->last = at;
        }
        x->kind = AT_HOME;
        return x->home;
}

void tr_settle(struct translator *t, uint32_t n)
{
        uint32_t from = t->n_operands > n ? t->n_operands - n : 0;

        if (t->n_operands - from > LAZY_DEPTH)
                from = t->n_operands - LAZY_DEPTH;
        for (uint32_t i = from; i < t->n_operands; i++)
                if (t->operands[i].kind != AT_HOME)
                        bring_home(t, &t->operands[i]);
}

void tr_detach(struct translator *t, uint16_t local)
{
        uint32_t from = t->n_operands > LAZY_DEPTH ? t->n_operands - LAZY_DEPTH : 0;

        for (uint32_t i = from; i < t->n_operands; i++)
                if (t->operands[i].kind == IN_LOCAL && t->operands[i].local == local)
                        bring_home(t, &t->operands[i]);
}

void tr_move(struct translator *t, uint16_t to, uint16_t from, uint32_t slots)
{
        if (to == from || slots == 0)
                return;
        if (slots == 1)
                (void) tr_emit_result(t, I_MOV, to, from, 0);
        else if (slots == 2)
                (void) tr_emit_result(t, I_MOV2, to, from, 0);
        else
                (void) tr_emit(t, (union wasm_cell){ { I_MOVES, to, from, (uint16_t) slots } });
}
