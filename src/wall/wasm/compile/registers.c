/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/registers.c - where the operands are. */
#include "wall/wasm/compile/compiler.h"

#include <stdlib.h>

enum { LAZY_DEPTH = 32 }; /* deeper operands are at home, so that no search is long */

bool cc_grow(struct compiler *c, void *array, uint32_t n, uint32_t *cap, size_t size)
{
        void **p = array;

        if (n < *cap)
                return true;
        uint32_t more = *cap ? 2 * *cap : 64;
        void *q = reallocarray(*p, more, size);
        if (!q) {
                c->failed = true;
                return false;
        }
        *p = q;
        *cap = more;
        return true;
}

void rg_reset(struct compiler *c)
{
        for (unsigned i = 0; i < REGS; i++)
                c->owner[i] = NOT_POOL;
        for (unsigned f = 0; f < 2; f++)
                for (unsigned i = 0; i < mc_registers.n_pool[f]; i++)
                        c->owner[mc_registers.pool[f][i]] = FREE;
}

static void load_slot(struct compiler *c, uint8_t type, unsigned to, uint32_t slot)
{
        mc_load(&c->k, type, to, FRAME_REG, slot * 8);
}

void op_load(struct compiler *c, unsigned to, const struct operand *x)
{
        switch ((enum place) x->place) {
        case IN_REG:
                mc_move(&c->k, x->type, to, x->reg);
                return;
        case IN_LOCAL:
                if (c->locals[x->local].reg != NO_REG)
                        mc_move(&c->k, x->type, to, c->locals[x->local].reg);
                else
                        load_slot(c, x->type, to, c->locals[x->local].slot);
                return;
        case CONSTANT:
                mc_constant(&c->k, x->type, to, x->value);
                return;
        case AT_HOME:
        case IN_FLAGS: /* op_keep_flags() was called before */
                load_slot(c, x->type, to, x->home);
        }
}

void op_store(struct compiler *c, uint32_t slot, const struct operand *x)
{
        const struct local *l = x->place == IN_LOCAL ? &c->locals[x->local] : NULL;

        if (x->place == CONSTANT)
                mc_store_constant(&c->k, slot, x->value);
        else if (x->place == IN_REG || (l && l->reg != NO_REG))
                mc_store(&c->k, x->type, l ? l->reg : x->reg, FRAME_REG, slot * 8);
        else
                mc_copy(&c->k, x->type, slot, l ? l->slot : x->home);
}

static void bring_home(struct compiler *c, struct operand *x)
{
        if (x->place == AT_HOME)
                return;
        op_store(c, x->home, x);
        if (x->place == IN_LOCAL)
                c->locals[x->local].refs--;
        if (x->place == IN_REG && c->owner[x->reg] != NOT_POOL)
                c->owner[x->reg] = FREE;
        x->place = AT_HOME;
}

/* The deepest operand in a register gives it up if none is free. */
unsigned rg_alloc(struct compiler *c, uint8_t type)
{
        const uint8_t *pool = mc_registers.pool[is_float(type)];
        size_t n = mc_registers.n_pool[is_float(type)];
        unsigned deepest = NO_REG;

        for (size_t i = 0; i < n; i++) {
                int32_t owner = c->owner[pool[i]];
                if (owner == FREE) {
                        c->owner[pool[i]] = BUSY;
                        return pool[i];
                }
                if (owner >= 0 && (deepest == NO_REG || owner < c->owner[deepest]))
                        deepest = pool[i];
        }

        if (deepest == NO_REG) {
                c->failed = true;
                return pool[0];
        }
        bring_home(c, &c->operands[c->owner[deepest]]);
        c->owner[deepest] = BUSY;
        return deepest;
}

static void rg_free(struct compiler *c, unsigned reg)
{
        if (c->owner[reg] == BUSY)
                c->owner[reg] = FREE;
}

static unsigned hinted_register(const struct compiler *c, uint8_t type)
{
        if (c->hint == NOWHERE)
                return NO_REG;

        const struct local *l = &c->locals[c->hint];
        return l->refs == 0 && l->reg != NO_REG && l->type == type ? l->reg : NO_REG;
}

unsigned rg_result(struct compiler *c, uint8_t type)
{
        unsigned reg = hinted_register(c, type);

        return reg != NO_REG ? reg : rg_alloc(c, type);
}

uint32_t op_next_home(const struct compiler *c)
{
        if (c->n_operands == 0)
                return c->first_home;

        const struct operand *x = &c->operands[c->n_operands - 1];
        return x->home + wasm_type_slots(x->type);
}

void op_push(struct compiler *c, struct operand x)
{
        x.home = op_next_home(c);
        if (x.place == IN_REG && c->owner[x.reg] != NOT_POOL)
                c->owner[x.reg] = (int32_t) c->n_operands;
        if (x.place == IN_LOCAL)
                c->locals[x.local].refs++;
        c->operands[c->n_operands++] = x;
        if (c->n_operands > LAZY_DEPTH)
                bring_home(c, &c->operands[c->n_operands - 1 - LAZY_DEPTH]);
}

void op_push_reg(struct compiler *c, uint8_t type, unsigned reg)
{
        op_push(c, (struct operand){ .place = IN_REG, .type = type, .reg = (uint8_t) reg });
}

void op_push_home(struct compiler *c, uint8_t type)
{
        op_push(c, (struct operand){ .place = AT_HOME, .type = type });
}

struct operand op_pop(struct compiler *c)
{
        struct operand x = c->operands[--c->n_operands];

        if (x.place == IN_REG && c->owner[x.reg] != NOT_POOL)
                c->owner[x.reg] = BUSY;
        if (x.place == IN_LOCAL)
                c->locals[x.local].refs--;
        return x;
}

void op_free(struct compiler *c, const struct operand *x)
{
        if (x->place == IN_REG)
                rg_free(c, x->reg);
}

void op_drop_to(struct compiler *c, uint32_t height)
{
        while (c->n_operands > height) {
                struct operand x = op_pop(c);
                op_free(c, &x);
        }
}

static unsigned held_in(const struct compiler *c, const struct operand *x)
{
        if (x->place == IN_REG)
                return x->reg;
        return x->place == IN_LOCAL ? c->locals[x->local].reg : NO_REG;
}

static void take_register(struct compiler *c, struct operand *x, unsigned reg)
{
        op_load(c, reg, x);
        op_free(c, x);
        x->place = IN_REG;
        x->reg = (uint8_t) reg;
}

unsigned op_use(struct compiler *c, struct operand *x)
{
        unsigned reg = held_in(c, x);

        if (reg != NO_REG)
                return reg;
        take_register(c, x, rg_alloc(c, x->type));
        return x->reg;
}

bool op_in_slot(const struct compiler *c, const struct operand *x, uint32_t *ret)
{
        bool is_local = x->place == IN_LOCAL && c->locals[x->local].reg == NO_REG;

        *ret = is_local ? c->locals[x->local].slot : x->home;
        return is_local || x->place == AT_HOME;
}

unsigned op_own(struct compiler *c, struct operand *x)
{
        if (x->place != IN_REG || c->owner[x->reg] == NOT_POOL)
                take_register(c, x, rg_alloc(c, x->type));
        return x->reg;
}

unsigned op_dest(struct compiler *c, struct operand *a, const struct operand *b)
{
        unsigned reg = hinted_register(c, a->type);

        if (reg == NO_REG || (b && held_in(c, b) == reg))
                return op_own(c, a);
        take_register(c, a, reg);
        return reg;
}

void op_swap(struct operand *a, struct operand *b)
{
        struct operand t = *a;

        *a = *b;
        *b = t;
}

void op_settle(struct compiler *c, uint32_t n)
{
        uint32_t most = n < LAZY_DEPTH ? n : LAZY_DEPTH;
        uint32_t from = c->n_operands > most ? c->n_operands - most : 0;

        for (uint32_t i = from; i < c->n_operands; i++)
                bring_home(c, &c->operands[i]);
}

void op_detach(struct compiler *c, uint32_t local)
{
        for (uint32_t i = c->n_operands; i-- > 0 && c->locals[local].refs;) {
                struct operand *x = &c->operands[i];
                if (x->place != IN_LOCAL || x->local != local)
                        continue;
                if (x->type == WASM_V128) {
                        bring_home(c, x);
                        continue;
                }
                unsigned reg = rg_alloc(c, x->type);
                if (x->place != IN_LOCAL) { /* it was brought home to free a register */
                        rg_free(c, reg);
                        continue;
                }
                op_load(c, reg, x);
                c->locals[local].refs--;
                x->place = IN_REG;
                x->reg = (uint8_t) reg;
                c->owner[reg] = (int32_t) i;
        }
}

void op_push_flags(struct compiler *c, unsigned cc)
{
        op_push(c, (struct operand){ .place = IN_FLAGS, .type = WASM_I32, .value = cc });
}

void op_keep_flags(struct compiler *c)
{
        if (c->n_operands == 0 || c->operands[c->n_operands - 1].place != IN_FLAGS)
                return;

        struct operand x = op_pop(c);
        unsigned reg = rg_alloc(c, WASM_I32);
        mc_set(&c->k, (unsigned) x.value, reg);
        op_push_reg(c, WASM_I32, reg);
}

unsigned op_pop_condition(struct compiler *c)
{
        struct operand x = op_pop(c);

        if (x.place == IN_FLAGS)
                return (unsigned) x.value;

        mc_test(&c->k, false, op_use(c, &x));
        op_free(c, &x);
        return MC_NE;
}
