/* SPDX-License-Identifier: MIT */
/* wall/wasm/validate/const_check.c - constant expressions, with the extension for i32 and i64 arithmetic. */
#include "wall/wasm/validate/checker.h"

struct const_stack {
        uint8_t types[WASM_MAX_CONST];
        unsigned n;
};

/* Returns the type that an instruction without operands pushes, or WASM_NO_TYPE if it is not constant. */
static uint8_t pushed_type(const struct wasm_module *m, const struct wasm_insn *x)
{
        switch (x->op) {
        case WASM_I32_CONST:
        case WASM_I64_CONST:
        case WASM_F32_CONST:
        case WASM_F64_CONST:
        case WASM_V128_CONST:
                return (uint8_t) wasm_letter_type(x->row->sig[1]);
        case WASM_REF_NULL:
                return x->type;
        case WASM_REF_FUNC:
                return x->index < m->n_funcs ? WASM_FUNCREF : WASM_NO_TYPE;
        case WASM_GLOBAL_GET:
                return x->index < m->n_imported_globals && !m->globals[x->index].is_mutable
                               ? m->globals[x->index].type
                               : WASM_NO_TYPE;
        default:
                return WASM_NO_TYPE;
        }
}

static bool is_arithmetic(uint16_t op)
{
        return (op >= WASM_I32_ADD && op <= WASM_I32_MUL) || (op >= WASM_I64_ADD && op <= WASM_I64_MUL);
}

static const char *step_const(const struct wasm_module *m, struct const_stack *s, const struct wasm_insn *x)
{
        if (is_arithmetic(x->op)) {
                uint8_t t = (uint8_t) wasm_letter_type(x->row->sig[0]);
                if (s->n < 2 || s->types[s->n - 1] != t || s->types[s->n - 2] != t)
                        return "type mismatch in a constant expression";
                s->n--;
                return NULL;
        }

        uint8_t t = pushed_type(m, x);
        if (t == WASM_NO_TYPE)
                return "constant expression required, or an unknown global or function";
        if (s->n == WASM_MAX_CONST)
                return "constant expression over this engine's cap";

        s->types[s->n++] = t;
        return NULL;
}

const char *wasm_check_const(const struct wasm_module *m, struct wasm_const x, uint8_t type)
{
        struct wasm_reader r = { x.code.p, x.code.p, x.code.p + x.code.n, NULL, 0, NULL };
        struct const_stack s = { .n = 0 };
        struct wasm_insn insn;

        while (!wasm_reader_done(&r)) {
                if (!wasm_insn_read(&r, &insn))
                        return r.bad;
                const char *bad = step_const(m, &s, &insn);
                if (bad)
                        return bad;
        }

        return s.n == 1 && s.types[0] == type ? NULL : "type mismatch in a constant expression";
}
