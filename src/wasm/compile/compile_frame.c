/* SPDX-License-Identifier: MIT */
/* wasm/compile/compile_frame.c - the beginning and end of functions, and the code that all functions share.
 */
#include "wasm/compile/compiler.h"

static struct rm save_slot(const struct compiler *c, unsigned i) { return rm_slot(c->first_save + i); }

static void save(struct compiler *c, unsigned i)
{
        unsigned reg = c->saves[i];

        if (reg >= XMM0)
                x64_op(&c->k, OP_P(0xf2, 0x11), false, reg, save_slot(c, i));
        else
                x64_op(&c->k, OP_STORE, true, reg, save_slot(c, i));
}

void cc_restore(struct compiler *c)
{
        for (unsigned i = 0; i < c->n_saves; i++)
                if (c->saves[i] >= XMM0)
                        x64_op(&c->k, OP_P(0xf2, 0x10), false, c->saves[i], save_slot(c, i));
                else
                        x64_op(&c->k, OP_MOV, true, c->saves[i], save_slot(c, i));
}

void cc_trap_if(struct compiler *c, unsigned cc, enum wasm_trap t)
{
        x64_jcc_to(&c->k, cc, c->stubs->traps[t]);
}

void cc_charge(struct compiler *c, uint32_t cost)
{
        x64_alu_imm(&c->k, OP_SUB, true, rm_reg(FUEL_REG), (int32_t) cost);
        uint32_t at = x64_jcc(&c->k, CC_B);
        if (cc_grow(c, &c->refunds, c->n_refunds, &c->cap_refunds, sizeof *c->refunds))
                c->refunds[c->n_refunds++] = (struct refund){ at, cost };
}

/* Slots from `first` on become zero. */
static void zero_slots(struct compiler *c, uint32_t first, uint32_t n)
{
        if (n <= 8) {
                for (uint32_t i = 0; i < n; i++) {
                        x64_op(&c->k, 0xc7, true, 0, rm_slot(first + i));
                        put32(&c->k, 0);
                }
                return;
        }
        x64_op(&c->k, OP_LEA, true, RDI, rm_slot(first));
        x64_const(&c->k, RCX, n);
        x64_const(&c->k, RAX, 0);
        put(&c->k, "\xf3\x48\xab", 3); /* rep stosq */
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

/* Checks the stack with the frame, charges the call, saves registers, loads parameters. */
void cc_begin(struct compiler *c)
{
        uint64_t frame = c->first_home + 2 * (uint64_t) c->body->operands + 2;

        if (frame < c->type.result_slots)
                frame = c->type.result_slots;
        x64_op(&c->k, OP_LEA, true, RAX, rm_slot((uint32_t) frame));
        x64_const(&c->k, RCX, c->stack_end);
        x64_op(&c->k, OP_CMP, true, RAX, rm_reg(RCX));
        cc_trap_if(c, CC_A, WASM_TRAP_STACK);
        cc_charge(c, c->body->cost);
        for (unsigned i = 0; i < c->n_saves; i++)
                save(c, i);

        uint32_t run = 0;
        for (uint32_t i = c->type.n_params; i <= c->n_locals; i++) {
                bool in_slot = i < c->n_locals && c->locals[i].reg == NO_REG;
                if (in_slot)
                        run += wasm_type_slots(c->locals[i].type);
                if (!in_slot && run) {
                        uint32_t end = i < c->n_locals ? c->locals[i].slot : c->first_save;
                        zero_slots(c, end - run, run);
                        run = 0;
                }
        }
        for (uint32_t i = 0; i < c->n_locals; i++)
                begin_local(c, i);
        if (c->has_memory)
                x64_const(&c->k, MEMORY_REG, (uintptr_t) c->inst->memory->base);
}

/* Results are in their place; then the code that is rarely run. */
void cc_end(struct compiler *c)
{
        cc_restore(c);
        put8(&c->k, 0xc3);
        for (uint32_t i = 0; i < c->n_refunds; i++) {
                x64_patch(&c->k, c->refunds[i].at, c->refunds[i].at + 4, c->k.at);
                x64_alu_imm(&c->k, OP_ADD, true, rm_reg(FUEL_REG), (int32_t) c->refunds[i].cost);
                x64_jump_to(&c->k, c->stubs->traps[WASM_TRAP_FUEL]);
        }
}

void cc_helper(struct compiler *c, helper_fn *fn, uint32_t slot, uint64_t arg)
{
        x64_const(&c->k, RDI, (uintptr_t) c->inst);
        x64_op(&c->k, OP_LEA, true, RSI, rm_slot(slot));
        x64_const(&c->k, RDX, arg);
        x64_const(&c->k, RAX, (uintptr_t) fn);
        put(&c->k, "\x48\x8d\x0d\x05\0\0\0", 7); /* lea rcx, [rip + 5]: behind the jump */
        x64_jump_to(&c->k, c->stubs->helper);
}

#define FIELD(f) rm_at(R8, offsetof(struct machine, f))

static const uint8_t kept[] = { RBX, RBP, R12, R13, R14, R15 }; /* by C */

/* void enter(code, frame): C calls code. */
static void stub_enter(struct compiler *c, struct machine *m, struct stubs *ret)
{
        struct code *k = &c->k;

        ret->enter = k->at;
        for (size_t i = 0; i < sizeof kept; i++)
                x64_op(k, 0xff, false, 6, rm_reg(kept[i])); /* push */
        x64_alu_imm(k, OP_SUB, true, rm_reg(RSP), 8);       /* calls in C want 16 */
        x64_const(k, R8, (uintptr_t) m);
        x64_op(k, OP_STORE, true, RSP, FIELD(host_stack));
        x64_op(k, OP_MOV, true, RSP, FIELD(return_stack));
        x64_const(k, RAX, (uintptr_t) &m->store->fuel);
        x64_op(k, OP_MOV, true, FUEL_REG, rm_at(RAX, 0));
        x64_op(k, OP_MOV, true, RBP, rm_reg(RSI));
        x64_op(k, 0xff, false, 2, rm_reg(RDI)); /* call */
        x64_const(k, R8, (uintptr_t) m);
        x64_op(k, OP_STORE, true, RAX, FIELD(int_result));
        x64_op(k, OP_P(0xf2, 0x11), false, MERGE_FLOAT, FIELD(float_result));
        x64_const(k, RAX, WASM_OK);

        ret->leave = k->at; /* with the trap in eax */
        x64_const(k, R8, (uintptr_t) m);
        x64_const(k, RCX, (uintptr_t) &m->store->fuel);
        x64_op(k, OP_STORE, true, FUEL_REG, rm_at(RCX, 0));
        x64_op(k, OP_MOV, true, RSP, FIELD(host_stack));
        x64_alu_imm(k, OP_ADD, true, rm_reg(RSP), 8);
        for (size_t i = sizeof kept; i-- > 0;)
                x64_op(k, 0x8f, false, 0, rm_reg(kept[i])); /* pop */
        put8(k, 0xc3);
}

/* Registers of locals that C does not keep. */
static void keep(struct compiler *c, bool is_load)
{
        for (unsigned i = 0; i < 10; i++) {
                struct rm at = FIELD(saved[i]);
                if (i < 2)
                        x64_op(&c->k, is_load ? OP_MOV : OP_STORE, true, R10 + i, at);
                else
                        x64_op(&c->k, OP_P(0xf2, is_load ? 0x10 : 0x11), false, XMM8 + i - 2, at);
        }
}

/* Calls the helper rax on the stack of C, then goes on at rcx. It takes no place on the stack of return
 * addresses, so that the depth of calls is exact. */
static void stub_helper(struct compiler *c, struct machine *m, struct stubs *ret)
{
        struct code *k = &c->k;

        ret->helper = k->at;
        x64_const(k, R8, (uintptr_t) m);
        x64_op(k, OP_STORE, true, RCX, FIELD(back));
        x64_op(k, OP_STORE, true, RSP, FIELD(stack));
        keep(c, false);
        x64_const(k, RCX, (uintptr_t) &m->store->fuel);
        x64_op(k, OP_STORE, true, FUEL_REG, rm_at(RCX, 0));
        x64_op(k, OP_MOV, true, RSP, FIELD(host_stack));
        x64_op(k, 0xff, false, 2, rm_reg(RAX));
        x64_const(k, R8, (uintptr_t) m);
        x64_const(k, RCX, (uintptr_t) &m->store->fuel);
        x64_op(k, OP_MOV, true, FUEL_REG, rm_at(RCX, 0));
        x64_op(k, OP_TEST, false, RAX, rm_reg(RAX));
        x64_jcc_to(k, CC_NE, ret->leave);
        x64_op(k, OP_MOV, true, RSP, FIELD(stack));
        keep(c, true);
        x64_op(k, 0xff, false, 4, FIELD(back)); /* jmp */
}

void cc_stubs(struct compiler *c, struct machine *m, struct stubs *ret)
{
        stub_enter(c, m, ret);
        stub_helper(c, m, ret);
        for (unsigned t = 1; t < WASM_TRAP__COUNT; t++) {
                ret->traps[t] = c->k.at;
                x64_const(&c->k, RAX, t);
                x64_jump_to(&c->k, ret->leave);
        }
}
