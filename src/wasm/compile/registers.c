/* SPDX-License-Identifier: MIT */
/* wasm/compile/registers.c - where the operands are. */
#include "wasm/compile/compiler.h"

#include <stdlib.h>

enum { LAZY_DEPTH = 32 }; /* deeper operands are at home, so that no search is long */

static const uint8_t int_pool[] = { RSI, RDI, R8, R9 };
static const uint8_t float_pool[] = { XMM0, XMM0 + 1, XMM0 + 2, XMM0 + 3, XMM0 + 4, XMM0 + 5 };

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
        for (size_t i = 0; i < sizeof int_pool; i++)
                c->owner[int_pool[i]] = FREE;
        for (size_t i = 0; i < sizeof float_pool; i++)
                c->owner[float_pool[i]] = FREE;
}

static void move(struct compiler *c, uint8_t type, unsigned to, unsigned from)
{
        if (to == from)
                return;
        if (is_float(type))
                x64_op(&c->k, OP_F(0x28), false, to, rm_reg(from)); /* movaps */
        else
                x64_op(&c->k, OP_MOV, is_wide(type), to, rm_reg(from));
}

static void load_slot(struct compiler *c, uint8_t type, unsigned to, uint32_t slot)
{
        if (is_float(type))
                x64_op(&c->k, OP_P(type == WASM_F32 ? 0xf3 : 0xf2, 0x10), false, to, rm_slot(slot));
        else
                x64_op(&c->k, OP_MOV, is_wide(type), to, rm_slot(slot));
}

static void load_constant(struct compiler *c, const struct operand *x, unsigned to)
{
        if (!is_float(x->type)) {
                x64_const(&c->k, to, x->value);
        } else if (x->value == 0) {
                x64_op(&c->k, OP_F(0x57), false, to, rm_reg(to)); /* xorps */
        } else {
                x64_const(&c->k, RAX, x->value);
                x64_op(&c->k, OP_P(0x66, 0x6e), is_wide(x->type), to, rm_reg(RAX));
        }
}

void op_load(struct compiler *c, unsigned to, const struct operand *x)
{
        switch ((enum place) x->place) {
        case IN_REG:
                move(c, x->type, to, x->reg);
                return;
        case IN_LOCAL:
                if (c->locals[x->local].reg != NO_REG)
                        move(c, x->type, to, c->locals[x->local].reg);
                else
                        load_slot(c, x->type, to, c->locals[x->local].slot);
                return;
        case CONSTANT:
                load_constant(c, x, to);
                return;
        case AT_HOME:
        case IN_FLAGS: /* op_keep_flags() was called before */
                load_slot(c, x->type, to, x->home);
        }
}

/* Slots of 32-bit values have a zero upper half. */
static void store_reg(struct compiler *c, uint8_t type, uint32_t slot, unsigned from)
{
        if (type == WASM_F64) {
                x64_op(&c->k, OP_P(0xf2, 0x11), false, from, rm_slot(slot));
                return;
        }
        if (type == WASM_F32) {
                x64_op(&c->k, OP_P(0x66, 0x7e), false, from, rm_reg(RDX));
                from = RDX;
        }
        x64_op(&c->k, OP_STORE, true, from, rm_slot(slot));
}

static void copy_slots(struct compiler *c, uint8_t type, uint32_t to, uint32_t from)
{
        if (to == from)
                return;
        if (type == WASM_V128) {
                x64_op(&c->k, OP_F(0x10), false, FLOAT_SCRATCH, rm_slot(from)); /* movups */
                x64_op(&c->k, OP_F(0x11), false, FLOAT_SCRATCH, rm_slot(to));
                return;
        }
        x64_op(&c->k, OP_MOV, is_wide(type), RDX, rm_slot(from));
        x64_op(&c->k, OP_STORE, true, RDX, rm_slot(to));
}

static void store_constant(struct compiler *c, uint32_t slot, uint64_t value)
{
        if (value == (uint64_t) (int32_t) value) {
                x64_op(&c->k, 0xc7, true, 0, rm_slot(slot));
                put32(&c->k, (uint32_t) value);
                return;
        }
        x64_const(&c->k, RDX, value);
        x64_op(&c->k, OP_STORE, true, RDX, rm_slot(slot));
}

void op_store(struct compiler *c, uint32_t slot, const struct operand *x)
{
        const struct local *l = x->place == IN_LOCAL ? &c->locals[x->local] : NULL;

        if (x->place == CONSTANT)
                store_constant(c, slot, x->value);
        else if (x->place == IN_REG || (l && l->reg != NO_REG))
                store_reg(c, x->type, slot, l ? l->reg : x->reg);
        else
                copy_slots(c, x->type, slot, l ? l->slot : x->home);
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
        const uint8_t *pool = is_float(type) ? float_pool : int_pool;
        size_t n = is_float(type) ? sizeof float_pool : sizeof int_pool;
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

static unsigned hinted(const struct compiler *c, uint8_t type)
{
        if (c->hint == NOWHERE)
                return NO_REG;

        const struct local *l = &c->locals[c->hint];
        return l->refs == 0 && l->reg != NO_REG && l->type == type ? l->reg : NO_REG;
}

unsigned rg_result(struct compiler *c, uint8_t type)
{
        unsigned reg = hinted(c, type);

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

static void take(struct compiler *c, struct operand *x, unsigned reg)
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
        take(c, x, rg_alloc(c, x->type));
        return x->reg;
}

struct rm op_rm(struct compiler *c, struct operand *x)
{
        if (x->place == AT_HOME)
                return rm_slot(x->home);
        if (x->place == IN_LOCAL && c->locals[x->local].reg == NO_REG)
                return rm_slot(c->locals[x->local].slot);
        return rm_reg(op_use(c, x));
}

unsigned op_own(struct compiler *c, struct operand *x)
{
        if (x->place != IN_REG || c->owner[x->reg] == NOT_POOL)
                take(c, x, rg_alloc(c, x->type));
        return x->reg;
}

unsigned op_dest(struct compiler *c, struct operand *a, const struct operand *b)
{
        unsigned reg = hinted(c, a->type);

        if (reg == NO_REG || (b && held_in(c, b) == reg))
                return op_own(c, a);
        take(c, a, reg);
        return reg;
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

static void set_byte(struct compiler *c, unsigned cc, unsigned reg)
{
        x64_op(&c->k, OP_F(0x90 | cc) | OP_BYTE, false, 0, rm_reg(reg));
}

void op_keep_flags(struct compiler *c)
{
        if (c->n_operands == 0 || c->operands[c->n_operands - 1].place != IN_FLAGS)
                return;

        struct operand x = op_pop(c);
        unsigned cc = (unsigned) x.value;
        if (cc < CC_FEQ) {
                set_byte(c, cc, RAX);
        } else {
                set_byte(c, cc == CC_FEQ ? CC_E : CC_NE, RAX);
                set_byte(c, cc == CC_FEQ ? CC_NP : CC_P, RDX);
                x64_op(&c->k, cc == CC_FEQ ? OP_AND : OP_OR, false, RAX, rm_reg(RDX));
        }
        unsigned reg = rg_alloc(c, WASM_I32);
        x64_op(&c->k, OP_F(0xb6) | OP_BYTE, false, reg, rm_reg(RAX)); /* movzx */
        op_push_reg(c, WASM_I32, reg);
}

unsigned op_pop_condition(struct compiler *c)
{
        struct operand x = op_pop(c);

        if (x.place == IN_FLAGS)
                return (unsigned) x.value;

        struct rm m = op_rm(c, &x);
        if (m.is_mem)
                x64_alu_imm(&c->k, OP_CMP, false, m, 0);
        else
                x64_op(&c->k, OP_TEST, false, m.reg, m);
        op_free(c, &x);
        return CC_NE;
}
