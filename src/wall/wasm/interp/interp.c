/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/interp.c - runs translated code. The value stack of the store grows up from its beginning,
 * the frames of the callers grow down from its end; when they meet, the call stack is exhausted. */
#include "wall/wasm/interp/interp.h"
#include "wall/wasm/run/numeric.h"

#include <stdlib.h>

/* Addresses of labels are an extension that both compilers have. */
#pragma GCC diagnostic ignored "-Wpedantic"

struct frame {
        const union wasm_cell *pc;
        uint64_t *r;
        struct wasm_instance *inst;
};
enum { FRAME_SLOTS = sizeof(struct frame) / sizeof(uint64_t) };

static const struct wasm_code *code_of(struct wasm_func *f)
{
        if (!f->code)
                f->code = wasm_translate(f->inst->module, f->index);

        return f->code;
}

static size_t most_frames(const struct wasm_store *s)
{
        size_t room = (size_t) (s->stack_end - s->stack) / FRAME_SLOTS;

        return s->limits.call_depth < room ? s->limits.call_depth : room;
}

/* The function that a table holds at `i`, if it has this type. */
static enum wasm_trap find_callee(const struct wasm_table *t, uint32_t i, const struct wasm_sig *sig,
                                  struct wasm_func **ret)
{
        struct wasm_func *f = i < t->size ? (struct wasm_func *) (uintptr_t) t->items[i] : NULL;

        if (i >= t->size)
                return WASM_TRAP_ELEMENT;
        if (!f)
                return WASM_TRAP_NULL;
        if (f->sig != sig)
                return WASM_TRAP_TYPE;

        *ret = f;
        return WASM_OK;
}

/* Slots as the types of the instructions. */
#define GET_u32(s)    ((uint32_t) R[s])
#define GET_u64(s)    (R[s])
#define GET_f32(s)    wasm_f32((uint32_t) R[s])
#define GET_f64(s)    wasm_f64(R[s])
#define PUT_u32(s, v) (R[s] = (uint32_t) (v))
#define PUT_u64(s, v) (R[s] = (v))
#define PUT_f32(s, v) (R[s] = wasm_bits32(v))
#define PUT_f64(s, v) (R[s] = wasm_bits64(v))
#define TYPE_u32      uint32_t
#define TYPE_u64      uint64_t
#define TYPE_f32      float
#define TYPE_f64      double

#define NEXT goto *labels[pc->op]
#define TRAP(t)                                                                                              \
        do {                                                                                                 \
                trap = (t);                                                                                  \
                goto out;                                                                                    \
        } while (0)
#define CHARGE(units)                                                                                        \
        do {                                                                                                 \
                uint32_t cost = (uint32_t) (units);                                                          \
                if (fuel < cost)                                                                             \
                        TRAP(WASM_TRAP_FUEL);                                                                \
                fuel -= cost;                                                                                \
        } while (0)
#define LOAD_MEMORY                                                                                          \
        do {                                                                                                 \
                mem = inst->memory->base;                                                                    \
                bytes = inst->memory->bytes;                                                                 \
        } while (0)
#define HELP(call)                                                                                           \
        do {                                                                                                 \
                store->fuel = fuel;                                                                          \
                trap = (call);                                                                               \
                fuel = store->fuel;                                                                          \
                if (trap != WASM_OK)                                                                         \
                        goto out;                                                                            \
        } while (0)
#define INDIRECT                                                                                             \
        trap = find_callee(inst->tables[pc->c], (uint32_t) R[pc->b], inst->sigs[pc[1].u], &f);               \
        if (trap != WASM_OK)                                                                                 \
        goto out

/* Code of one instruction. */
#define CODE(n, cells, ...)                                                                                  \
        L_##n:                                                                                               \
        {                                                                                                    \
                __VA_ARGS__;                                                                                 \
                pc += cells;                                                                                 \
                NEXT;                                                                                        \
        }
#define XY(t, first, second)                                                                                 \
        TYPE_##t x = GET_##t(first);                                                                         \
        TYPE_##t y = second
#define K(t, field) ((TYPE_##t)(int64_t) (int16_t) (field))
#define BRANCH(n, ...)                                                                                       \
        L_##n:                                                                                               \
        {                                                                                                    \
                __VA_ARGS__;                                                                                 \
                NEXT;                                                                                        \
        }
/* A jump back to a loop: it begins behind the FUEL cell, whose charge is taken here. */
#define REPEAT(cond)                                                                                         \
        if (cond) {                                                                                          \
                pc += (int16_t) pc->c;                                                                       \
                CHARGE(pc[-1].k);                                                                            \
        } else {                                                                                             \
                pc++;                                                                                        \
        }

/* The table of labels. */
#define BIN(n, t, e)  [I_##n] = &&L_##n, [I_##n##_K] = &&L_##n##_K,
#define CMP(n, t, e)  BIN(n, t, e) SHAPES(n, _B, _BK, _L, _LK)
#define FCMP(n, t, e) [I_##n] = &&L_##n, [I_##n##_N] = &&L_##n##_N, SHAPES(n, _B, _BN, _L, _LN)
#define SHAPES(n, a, b, c, d)                                                                                \
        [I_##n##a] = &&L_##n##a, [I_##n##b] = &&L_##n##b, [I_##n##c] = &&L_##n##c, [I_##n##d] = &&L_##n##d,
#define ONE(n) [I_##n] = &&L_##n,

/* Runs `f` with its parameters at R. All state is in local variables, so that it stays in registers. */
static enum wasm_trap run_code(struct wasm_func *f, uint64_t *R)
{
        static const void *const labels[I__COUNT] = {
#include "wall/wasm/interp/interp_ops.inc"
        };
        struct wasm_store *store = f->inst->store;
        struct wasm_instance *inst = f->inst;
        struct frame *const top = (struct frame *) (void *) store->stack_end;
        struct frame *const lowest = top - most_frames(store);
        struct frame *fp = top;
        const union wasm_cell *pc = NULL, *back = NULL;
        const struct wasm_code *code;
        uint64_t fuel = store->fuel, bytes, *frame = R;
        uint8_t *mem;
        enum wasm_trap trap = WASM_OK;

        LOAD_MEMORY;

enter: /* calls f with its parameters at `frame`, to return to `back` */
        if (f->host) {
                store->stack_end = (uint64_t *) (void *) fp;
                HELP(wasm_call_host(inst, f, frame));
                LOAD_MEMORY;
                pc = back;
                NEXT;
        }
        if (fp == lowest)
                TRAP(WASM_TRAP_STACK);
        fp--;
        *fp = (struct frame){ back, R, inst };
        R = frame;

begin: /* begins f with its parameters at R */
        if (!(code = code_of(f)))
                TRAP(WASM_TRAP_NO_MEMORY);
        if ((uint64_t *) (void *) fp - R < (ptrdiff_t) code->frame + FRAME_SLOTS)
                TRAP(WASM_TRAP_STACK);
        if (fuel < code->cost)
                TRAP(WASM_TRAP_FUEL);
        fuel -= code->cost;
        for (uint32_t i = 0; i < code->zeros; i++)
                R[code->params + i] = 0;
        if (inst != f->inst) {
                inst = f->inst;
                LOAD_MEMORY;
        }
        pc = code->cells;
        NEXT;

replace: /* a tail call: f with its parameters at `frame` takes the place of this frame */
        if ((uint64_t *) (void *) fp - R < f->sig->param_slots)
                TRAP(WASM_TRAP_STACK);
        memmove(R, frame, f->sig->param_slots * sizeof *R);
        if (!f->host)
                goto begin;
        store->stack_end = (uint64_t *) (void *) fp;
        HELP(wasm_call_host(inst, f, R));

leave: /* results are at R */
        pc = fp->pc;
        R = fp->r;
        inst = fp->inst;
        fp++;
        if (fp == top)
                goto out;
        LOAD_MEMORY;
        NEXT;

#include "wall/wasm/interp/interp_code.inc"
#include "wall/wasm/interp/interp_ops.inc"

out:
        store->stack_end = (uint64_t *) (void *) top;
        store->fuel = fuel;
        return trap;
}

static enum wasm_trap interpreter_call(struct wasm_func *f, uint64_t *slots)
{
        struct wasm_store *s = f->inst->store;
        const struct wasm_sig *sig = f->sig;
        uint32_t room = sig->param_slots > sig->result_slots ? sig->param_slots : sig->result_slots;

        if (s->stack_end - s->stack < (ptrdiff_t) room + FRAME_SLOTS)
                return WASM_TRAP_STACK;
        memcpy(s->stack, slots, sig->param_slots * sizeof *slots);
        enum wasm_trap t = run_code(f, s->stack);
        if (t == WASM_OK)
                memcpy(slots, s->stack, sig->result_slots * sizeof *slots);

        return t;
}

/* Functions are translated when they are called first. */
static int interpreter_prepare(struct wasm_instance *inst, struct err *e)
{
        (void) inst;
        (void) e;
        return 0;
}

static void interpreter_release(struct wasm_instance *inst)
{
        for (uint32_t i = 0; i < inst->module->n_bodies; i++) {
                union {
                        const void *is;
                        void *was;
                } code = { inst->own_funcs[i].code };
                free(code.was);
        }
}

const struct wasm_engine wasm_interpreter = {
        .name = "interpreter",
        .prepare = interpreter_prepare,
        .call = interpreter_call,
        .release = interpreter_release,
};
