/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/translate.c - one function body, from the validated bytes to cells. */
#include "wall/wasm/interp/translator.h"

#include <stdlib.h>

static void set_locals(struct translator *t)
{
        uint32_t n = 0, slot = 0;

        for (; n < t->type.n_params; n++) {
                t->local_types[n] = t->type.params[n];
                t->local_slots[n] = (uint16_t) slot;
                slot += wasm_type_slots(t->type.params[n]);
        }
        for (uint32_t i = 0; i < t->body->n_groups; i++)
                for (uint32_t k = 0; k < t->body->locals[i].count; k++, n++) {
                        t->local_types[n] = t->body->locals[i].type;
                        t->local_slots[n] = (uint16_t) slot;
                        slot += wasm_type_slots(t->body->locals[i].type);
                }

        t->first_home = slot;
        t->top = slot > t->type.result_slots ? slot : t->type.result_slots;
}

/* Unreachable code is skipped up to the `else` or `end` of its block. */
static void skip_dead(struct translator *t, const struct wasm_insn *x)
{
        if (x->op == WASM_LOOP)
                t->loop++;
        if (x->op == WASM_BLOCK || x->op == WASM_LOOP || x->op == WASM_IF)
                t->dead++;
        else if (x->op == WASM_END && t->dead > 1)
                t->dead--;
        else if (t->dead == 1 && (x->op == WASM_END || x->op == WASM_ELSE))
                tr_insn(t, x);
}

static void translate_body(struct translator *t)
{
        struct wasm_insn x;

        t->n_cells = t->n_operands = t->n_patches = t->loop = t->dead = 0;
        t->last = NOWHERE;
        t->r = (struct wasm_reader){
                t->body->code.p, t->body->code.p, t->body->code.p + t->body->code.n, NULL, 0, NULL
        };
        set_locals(t);
        t->labels[0] = (struct label){ WASM_BLOCK, 0, 0, NOWHERE, NOWHERE, t->type };
        t->n_labels = 1;

        while (t->n_labels > 0 && !t->failed && wasm_insn_read(&t->r, &x)) {
                if (t->dead)
                        skip_dead(t, &x);
                else
                        tr_insn(t, &x);
        }
}

static bool allocate_code(struct translator *t)
{
        uint32_t locals = t->type.n_params + t->body->n_locals;

        t->cap_cells = 64;
        t->code = malloc(sizeof *t->code + t->cap_cells * sizeof *t->code->cells);
        t->operands = reallocarray(NULL, t->body->operands + 1, sizeof *t->operands);
        t->labels = reallocarray(NULL, t->body->nesting + 1, sizeof *t->labels);
        t->local_slots = reallocarray(NULL, locals + 1, sizeof *t->local_slots);
        t->local_types = malloc(locals + 1);
        return t->code && t->operands && t->labels && t->local_slots && t->local_types;
}

struct wasm_code *wasm_translate(const struct wasm_module *m, uint32_t func)
{
        struct translator t = { .m = m, .body = &m->bodies[func - m->n_imported_funcs] };

        t.type = *wasm_type_of_func(m, func);
        t.failed = !allocate_code(&t);
        if (!t.failed)
                translate_body(&t);
        if (!t.failed && t.too_far) {
                t.is_far = true;
                translate_body(&t);
        }

        if (!t.failed) {
                t.code->cost = t.body->cost;
                t.code->frame = t.top + 1;
                t.code->params = t.type.param_slots;
                t.code->zeros = t.first_home - t.type.param_slots;
        } else {
                free(t.code);
                t.code = NULL;
        }
        free(t.operands);
        free(t.labels);
        free(t.patches);
        free(t.local_slots);
        free(t.local_types);
        return t.code;
}
