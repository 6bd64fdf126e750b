/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/compile_frame.c - the beginning and end of functions, traps, and calls of helpers. */
#include "wall/wasm/compile/compiler.h"

static uint8_t save_type(const struct compiler *c, unsigned i)
{
        return c->saves[i] >= FIRST_FLOAT ? WASM_F64 : WASM_I64;
}

static void save_frame(struct compiler *c)
{
        for (unsigned i = 0; i < c->n_saves; i++)
                mc_store(&c->k, save_type(c, i), c->saves[i], FRAME_REG, (c->first_save + i) * 8);
}

void cc_restore(struct compiler *c)
{
        for (unsigned i = 0; i < c->n_saves; i++)
                mc_load(&c->k, save_type(c, i), c->saves[i], FRAME_REG, (c->first_save + i) * 8);
}

static void add_exit(struct compiler *c, uint32_t at, uint32_t cost, enum wasm_trap t)
{
        if (cc_grow(c, &c->exits, c->n_exits, &c->cap_exits, sizeof *c->exits))
                c->exits[c->n_exits++] = (struct way_out){ at, cost, t };
}

void cc_trap_if(struct compiler *c, unsigned cc, enum wasm_trap t)
{
        uint32_t at[2];
        unsigned n = mc_jump_if(&c->k, cc, at);

        for (unsigned i = 0; i < n; i++)
                add_exit(c, at[i], 0, t);
}

void cc_charge(struct compiler *c, uint32_t cost)
{
        add_exit(c, mc_charge(&c->k, cost), cost, WASM_TRAP_FUEL);
}

static void begin_local(struct compiler *c, uint32_t i)
{
        const struct local *l = &c->locals[i];
        struct operand x = { .place = CONSTANT, .type = l->type };

        if (l->reg == NO_REG)
                return;
        if (i < c->type.n_params) {
                x.place = AT_HOME;
                x.home = l->slot;
        }
        op_load(c, l->reg, &x);
}

static void zero_locals(struct compiler *c)
{
        uint32_t run = 0;

        for (uint32_t i = c->type.n_params; i <= c->n_locals; i++) {
                bool in_slot = i < c->n_locals && c->locals[i].reg == NO_REG;
                if (in_slot)
                        run += wasm_type_slots(c->locals[i].type);
                if (!in_slot && run) {
                        uint32_t end = i < c->n_locals ? c->locals[i].slot : c->first_save;
                        mc_zero(&c->k, end - run, run);
                        run = 0;
                }
        }
}

/* Checks the stack with the frame, charges the call, saves registers, loads parameters. */
void cc_begin(struct compiler *c)
{
        uint64_t frame = c->first_home + 2 * (uint64_t) c->body->operands + 2;

        if (frame < c->type.result_slots)
                frame = c->type.result_slots;
        mc_enter(&c->k);
        add_exit(c, mc_check_stack(&c->k, frame, DATA_STACK_END), 0, WASM_TRAP_STACK);
        cc_charge(c, c->body->cost);
        save_frame(c);
        zero_locals(c);
        for (uint32_t i = 0; i < c->n_locals; i++)
                begin_local(c, i);
        if (c->has_memory)
                mc_data(&c->k, MEMORY_REG, DATA_MEMORY_BASE);
}

/* Results are in their place; then the code that is rarely run. */
void cc_end(struct compiler *c)
{
        uint32_t shared[WASM_TRAP__COUNT] = { 0 };

        cc_restore(c);
        mc_return(&c->k);
        for (uint32_t i = 0; i < c->n_exits; i++) {
                const struct way_out *w = &c->exits[i];
                bool is_new = w->cost || !shared[w->trap];
                if (is_new && !w->cost)
                        shared[w->trap] = c->k.at;
                mc_patch(&c->k, w->at, is_new ? c->k.at : shared[w->trap]);
                if (w->cost)
                        mc_add(&c->k, FUEL_REG, w->cost);
                if (is_new)
                        mc_jump_to(&c->k, c->stubs->traps[w->trap]);
        }
}

void cc_helper(struct compiler *c, unsigned helper, uint32_t slot, uint64_t arg)
{
        mc_constant(&c->k, WASM_I64, ARG_REG, arg);
        mc_helper(&c->k, c->stubs->helper, DATA_HELPERS + helper, slot);
}

void cc_trap_stubs(struct compiler *c, struct stubs *ret)
{
        for (unsigned t = 1; t < WASM_TRAP__COUNT; t++) {
                ret->traps[t] = c->k.at;
                mc_constant(&c->k, WASM_I32, MERGE_INT, t);
                mc_jump_to(&c->k, ret->leave);
        }
}
