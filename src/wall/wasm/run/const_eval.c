/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/const_eval.c - constant expressions that the validator accepted. */
#include "wall/wasm/opcode.h"
#include "wall/wasm/run/runtime.h"

struct const_values {
        uint64_t v[WASM_MAX_CONST][2];
        unsigned n;
};

static void combine_values(struct const_values *s, uint16_t op)
{
        uint64_t *x = s->v[s->n - 2], y = s->v[s->n - 1][0];
        uint16_t kind = op >= WASM_I64_ADD ? op - WASM_I64_ADD : op - WASM_I32_ADD;

        *x = kind == 0 ? *x + y : kind == 1 ? *x - y : *x * y;
        if (op < WASM_I64_ADD)
                *x = (uint32_t) *x;
        s->n--;
}

static void push_value(const struct wasm_instance *inst, const struct wasm_insn *x, uint64_t v[2])
{
        v[1] = 0;
        switch (x->op) {
        case WASM_REF_NULL:
                v[0] = 0;
                return;
        case WASM_REF_FUNC:
                v[0] = (uintptr_t) inst->funcs[x->index];
                return;
        case WASM_GLOBAL_GET:
                memcpy(v, inst->globals[x->index]->v, 16);
                return;
        case WASM_V128_CONST:
                memcpy(v, x->p, 16);
                return;
        default:
                v[0] = x->value;
        }
}

void wasm_const_value(const struct wasm_instance *inst, struct wasm_const x, uint64_t ret[2])
{
        struct wasm_reader r = { x.code.p, x.code.p, x.code.p + x.code.n, NULL, 0, NULL };
        struct const_values s = { .n = 0 };
        struct wasm_insn insn;

        while (!wasm_reader_done(&r) && wasm_insn_read(&r, &insn)) {
                if (insn.row->sig && strlen(insn.row->sig) == 4)
                        combine_values(&s, insn.op);
                else
                        push_value(inst, &insn, s.v[s.n++]);
        }
        memcpy(ret, s.v[0], 16);
}
