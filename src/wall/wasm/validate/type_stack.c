/* SPDX-License-Identifier: MIT */
/* wall/wasm/validate/type_stack.c - operands and blocks of a function body. */
#include "wall/wasm/validate/checker.h"

#include <stdlib.h>

bool wasm_push(struct wasm_checker *c, uint8_t type)
{
        if (c->n_types >= WASM_MAX_OPERANDS)
                return wasm_reader_fail(&c->r, "operand stack over this engine's cap");

        c->types[c->n_types++] = type;
        if (c->n_types > c->most_types)
                c->most_types = c->n_types;
        return true;
}

bool wasm_pop_any(struct wasm_checker *c, uint8_t *ret)
{
        const struct wasm_ctl *top = &c->ctl[c->n_ctl - 1];

        *ret = WASM_NO_TYPE;
        if (c->n_types > top->height)
                *ret = c->types[--c->n_types];
        else if (!top->is_unreachable)
                return wasm_reader_fail(&c->r, "type mismatch: the operand stack is empty");

        return true;
}

bool wasm_pop(struct wasm_checker *c, uint8_t type)
{
        uint8_t got;

        if (!wasm_pop_any(c, &got))
                return false;
        if (got != type && got != WASM_NO_TYPE && type != WASM_NO_TYPE)
                return wasm_reader_fail(&c->r, "type mismatch");

        return true;
}

bool wasm_spend(struct wasm_checker *c, uint32_t n)
{
        if (c->work < n)
                return wasm_reader_fail(&c->r, "more operands or locals than this engine's cap");

        c->work -= n;
        return true;
}

bool wasm_push_all(struct wasm_checker *c, const uint8_t *types, uint32_t n)
{
        if (!wasm_spend(c, n))
                return false;
        for (uint32_t i = 0; i < n; i++)
                if (!wasm_push(c, types[i]))
                        return false;

        return true;
}

bool wasm_pop_all(struct wasm_checker *c, const uint8_t *types, uint32_t n)
{
        if (!wasm_spend(c, n))
                return false;
        while (n > 0)
                if (!wasm_pop(c, types[--n]))
                        return false;

        return true;
}

bool wasm_enter(struct wasm_checker *c, uint16_t op, struct wasm_functype type)
{
        if (c->n_ctl >= WASM_MAX_NESTING)
                return wasm_reader_fail(&c->r, "blocks are nested deeper than this engine's cap");

        uint32_t loop = c->n_ctl ? c->ctl[c->n_ctl - 1].loop : WASM_NO_INDEX;
        if (op == WASM_LOOP) {
                if (c->n_loops == c->cap_loops) {
                        uint32_t cap = c->cap_loops ? 2 * c->cap_loops : 64;
                        uint32_t *p = reallocarray(c->loops, cap, sizeof *p);
                        if (!p)
                                return wasm_reader_fail(&c->r, "out of memory");
                        c->loops = p;
                        c->cap_loops = cap;
                }
                loop = c->n_loops;
                c->loops[c->n_loops++] = 1;
        }

        c->ctl[c->n_ctl++] = (struct wasm_ctl){ op, false, c->n_types, loop, type };
        if (c->n_ctl > c->most_ctl)
                c->most_ctl = c->n_ctl;
        return true;
}

bool wasm_leave(struct wasm_checker *c, struct wasm_ctl *ret)
{
        *ret = c->ctl[c->n_ctl - 1];
        if (!wasm_pop_all(c, ret->type.results, ret->type.n_results))
                return false;
        if (c->n_types != ret->height)
                return wasm_reader_fail(&c->r, "type mismatch: values are left at the end of a block");

        c->n_ctl--;
        return true;
}

void wasm_unreachable(struct wasm_checker *c)
{
        struct wasm_ctl *top = &c->ctl[c->n_ctl - 1];

        c->n_types = top->height;
        top->is_unreachable = true;
}

bool wasm_label(struct wasm_checker *c, uint32_t depth, const uint8_t **ret_types, uint32_t *ret_n)
{
        if (depth >= c->n_ctl)
                return wasm_reader_fail(&c->r, "unknown label");

        const struct wasm_ctl *to = &c->ctl[c->n_ctl - 1 - depth];
        *ret_types = to->op == WASM_LOOP ? to->type.params : to->type.results;
        *ret_n = to->op == WASM_LOOP ? to->type.n_params : to->type.n_results;
        return true;
}
