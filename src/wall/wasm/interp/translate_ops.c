/* SPDX-License-Identifier: MIT */
/* wall/wasm/interp/translate_ops.c - every instruction that is not a block or a branch. */
#include "wall/wasm/interp/translator.h"

enum form { FORM_NONE = 0, FORM_BIN, FORM_CMP, FORM_FCMP, FORM_PLAIN, FORM_LOAD, FORM_STORE };

/* The instruction of the register machine for one of WebAssembly. */
static const struct {
        uint16_t op;
        uint8_t form;
} map[WASM_OP__COUNT] = {
#define BIN(n, t, e)       [WASM_##n] = { I_##n, FORM_BIN },
#define CMP(n, t, e)       [WASM_##n] = { I_##n, FORM_CMP },
#define FCMP(n, t, e)      [WASM_##n] = { I_##n, FORM_FCMP },
#define FBIN(n, t, e)      [WASM_##n] = { I_##n, FORM_PLAIN },
#define DIV(n, t, c, w, e) [WASM_##n] = { I_##n, FORM_PLAIN },
#define UN(n, t, r, e)     [WASM_##n] = { I_##n, FORM_PLAIN },
#define TRUNC(n, t, r, f)  [WASM_##n] = { I_##n, FORM_PLAIN },
#define LOAD(n, t, e)      [WASM_##n] = { I_##n, FORM_LOAD },
#define STORE(n, t)        [WASM_##n] = { I_##n, FORM_STORE },
#define ALIAS(n, m)        [WASM_##n] = { I_##m, WASM_##n < WASM_I32_STORE ? FORM_LOAD : FORM_STORE },
#define OP(n, cells, ...)
#define JUMP(n, ...)
#include "wall/wasm/interp/interp_ops.inc"
};

static bool is_commutative(uint16_t op)
{
        switch (op) {
        case I_I32_ADD:
        case I_I32_MUL:
        case I_I32_AND:
        case I_I32_OR:
        case I_I32_XOR:
        case I_I64_ADD:
        case I_I64_MUL:
        case I_I64_AND:
        case I_I64_OR:
        case I_I64_XOR:
        case I_I32_EQ:
        case I_I32_NE:
        case I_I64_EQ:
        case I_I64_NE:
                return true;
        default:
                return false;
        }
}

/* Whether an operand is a constant that a field of 16 bits can hold. */
static bool is_small(const struct operand *x)
{
        int64_t v = x->type == WASM_I32 ? (int32_t) (uint32_t) x->value : (int64_t) x->value;

        return x->kind == CONSTANT && v == (int16_t) v;
}

static uint8_t result_of(const struct wasm_insn *x) { return wasm_sig_result(x->row->sig); }

static void translate_binary(struct translator *t, const struct wasm_insn *x, bool has_constant)
{
        uint16_t op = map[x->op].op;
        struct operand b = tr_pop(t), a = tr_pop(t);

        if (has_constant && is_small(&a) && is_commutative(op)) {
                struct operand swap = a;
                a = b;
                b = swap;
        }
        bool is_k = has_constant && is_small(&b);
        uint16_t first = tr_use(t, &a);
        uint16_t second = is_k ? (uint16_t) b.value : tr_use(t, &b);
        uint16_t to = tr_push(t, result_of(x));
        (void) tr_emit_result(t, (uint16_t) (op + is_k), to, first, second);
}

static void translate_unary(struct translator *t, const struct wasm_insn *x)
{
        struct operand a = tr_pop(t);
        uint16_t from = tr_use(t, &a);

        (void) tr_emit_result(t, map[x->op].op, tr_push(t, result_of(x)), from, 0);
}

/* The slot and offset of a memory access; an offset over 16 bits is added before. `scratch` is a free slot.
 */
static uint16_t pop_address(struct translator *t, struct operand *x, uint64_t *offset, uint16_t scratch)
{
        uint16_t slot = tr_use(t, x);

        if (*offset <= UINT16_MAX)
                return slot;
        (void) tr_emit(t, (union wasm_cell){ { I_ADDRESS, scratch, slot, 0 } });
        (void) tr_emit(t, (union wasm_cell){ .u = *offset });
        *offset = 0;
        return scratch;
}

static void translate_load(struct translator *t, const struct wasm_insn *x)
{
        struct operand a = tr_pop(t);
        uint64_t offset = x->value;
        uint16_t to = tr_next_home(t), from = pop_address(t, &a, &offset, to);

        (void) tr_push(t, result_of(x));
        (void) tr_emit_result(t, map[x->op].op, to, from, (uint32_t) offset);
}

/* A slot behind the operands in use. */
static uint16_t scratch_after(struct translator *t, const struct operand *x)
{
        uint32_t slot = x->home + wasm_type_slots(x->type);

        if (slot + 1 > t->top)
                t->top = slot + 1;
        return (uint16_t) slot;
}

static void translate_store(struct translator *t, const struct wasm_insn *x)
{
        struct operand v = tr_pop(t), a = tr_pop(t);
        uint64_t offset = x->value;
        uint16_t value = tr_use(t, &v), at = pop_address(t, &a, &offset, scratch_after(t, &v));

        (void) tr_emit(t, (union wasm_cell){ { map[x->op].op, value, at, (uint16_t) offset } });
}

/* eqz is a comparison with 0, or inverts the one before it. */
static void translate_eqz(struct translator *t, const struct wasm_insn *x)
{
        struct operand a = tr_pop(t);
        union wasm_cell *c = t->last == NOWHERE ? NULL : &t->code->cells[t->last];

        if (c && x->op == WASM_I32_EQZ && a.kind == AT_HOME && c->a == a.home && tr_is_compare(c->op)) {
                uint32_t last = t->last;
                c->op = tr_inverse(c->op);
                (void) tr_push(t, WASM_I32);
                t->last = last;
                return;
        }

        uint16_t from = tr_use(t, &a), to = tr_push(t, WASM_I32);
        (void) tr_emit_result(t, x->op == WASM_I32_EQZ ? I_I32_EQ_K : I_I64_EQ_K, to, from, 0);
}

/* The same bits with another type. */
static void retype(struct translator *t, uint8_t type) { t->operands[t->n_operands - 1].type = type; }

static void translate_const(struct translator *t, const struct wasm_insn *x)
{
        if (x->op == WASM_V128_CONST) {
                union wasm_cell low, high;
                memcpy(&low, x->p, 8);
                memcpy(&high, x->p + 8, 8);
                uint32_t at = tr_emit_result(t, I_CONST128, tr_push(t, WASM_V128), 0, 0);
                (void) tr_emit(t, low);
                (void) tr_emit(t, high);
                t->last = at;
                return;
        }

        uint8_t type = x->op == WASM_REF_NULL ? x->type : result_of(x);
        tr_push_lazy(t, (struct operand){ .kind = CONSTANT, .type = type, .value = x->value });
}

static void translate_local(struct translator *t, const struct wasm_insn *x)
{
        uint16_t local = t->local_slots[x->index];
        uint8_t type = t->local_types[x->index];
        struct operand lazy = { .kind = IN_LOCAL, .type = type, .local = local };

        if (x->op == WASM_LOCAL_GET) {
                tr_push_lazy(t, lazy);
                return;
        }

        struct operand v = tr_pop(t);
        uint32_t last = t->last, had = t->n_cells;
        tr_detach(t, local);
        if (v.kind == AT_HOME && last != NOWHERE && had == t->n_cells && t->code->cells[last].a == v.home) {
                t->code->cells[last].a = local; /* the instruction writes to the local itself */
        } else if (v.kind == CONSTANT) {
                v.home = local;
                (void) tr_use(t, &v);
        } else {
                tr_move(t, local, v.kind == IN_LOCAL ? v.local : v.home, wasm_type_slots(type));
        }
        t->last = NOWHERE;
        if (x->op == WASM_LOCAL_TEE)
                tr_push_lazy(t, lazy);
}

static union wasm_cell cell_k(uint16_t op, uint16_t a, uint32_t k)
{
        union wasm_cell c = { { op, a, 0, 0 } };

        c.k = (int32_t) k;
        return c;
}

static void translate_global(struct translator *t, const struct wasm_insn *x)
{
        uint8_t type = t->m->globals[x->index].type;
        bool is_wide = type == WASM_V128;

        if (x->op == WASM_GLOBAL_SET) {
                struct operand v = tr_pop(t);
                uint16_t from = tr_use(t, &v);
                (void) tr_emit(t, cell_k(is_wide ? I_GLOBAL_SET2 : I_GLOBAL_SET, from, x->index));
                return;
        }

        uint16_t to = tr_push(t, type);
        t->last = tr_emit(t, cell_k(is_wide ? I_GLOBAL_GET2 : I_GLOBAL_GET, to, x->index));
}

static void translate_select(struct translator *t, const struct wasm_insn *x)
{
        struct operand c = tr_pop(t), b = tr_pop(t), a = tr_pop(t);
        uint16_t cond = tr_use(t, &c), second = tr_use(t, &b), first = tr_use(t, &a);
        uint16_t to = tr_push(t, a.type);
        (void) x;

        uint32_t at = tr_emit_result(t, a.type == WASM_V128 ? I_SELECT2 : I_SELECT, to, first, second);
        (void) tr_emit(t, (union wasm_cell){ { 0, cond, 0, 0 } });
        t->last = at;
}

/* Parameters are brought home, where they are the first slots of the callee's frame. */
static void translate_call(struct translator *t, const struct wasm_insn *x)
{
        bool is_indirect = x->op == WASM_CALL_INDIRECT || x->op == WASM_RETURN_CALL_INDIRECT;
        bool is_tail = x->op == WASM_RETURN_CALL || x->op == WASM_RETURN_CALL_INDIRECT;
        const struct wasm_functype *type =
                is_indirect ? &t->m->types[x->index] : wasm_type_of_func(t->m, x->index);
        uint16_t index = 0;

        if (is_indirect) {
                struct operand i = tr_pop(t);
                index = tr_use(t, &i);
        }
        tr_settle(t, type->n_params);
        t->n_operands -= type->n_params;
        uint16_t frame = tr_next_home(t);
        if (is_indirect) {
                uint16_t op = is_tail ? I_RETURN_CALL_INDIRECT : I_CALL_INDIRECT;
                (void) tr_emit(t, (union wasm_cell){ { op, frame, index, (uint16_t) x->index2 } });
                (void) tr_emit(t, (union wasm_cell){ .u = x->index });
        } else {
                (void) tr_emit(t, cell_k(is_tail ? I_RETURN_CALL : I_CALL, frame, x->index));
        }

        if (is_tail)
                t->dead = 1;
        for (uint32_t i = 0; i < type->n_results && !is_tail; i++)
                (void) tr_push(t, type->results[i]);
        t->last = NOWHERE;
}

static void translate_helper(struct translator *t, const struct wasm_insn *x)
{
        const struct wasm_help h = wasm_help(t->m, x);
        uint32_t n = wasm_sig_operands(h.sig);
        uint8_t result = wasm_sig_result(h.sig);

        tr_settle(t, n);
        t->n_operands -= n;
        (void) tr_emit(t, (union wasm_cell){ { I_HELPER, tr_next_home(t), (uint16_t) h.helper, 0 } });
        (void) tr_emit(t, (union wasm_cell){ .u = h.arg });
        if (result != WASM_NO_TYPE)
                (void) tr_push(t, result);
}

static void translate_drop_operand(struct translator *t, const struct wasm_insn *x)
{
        (void) x;
        (void) tr_pop(t);
}

static void translate_retype(struct translator *t, const struct wasm_insn *x) { retype(t, result_of(x)); }

static void translate_is_null(struct translator *t, const struct wasm_insn *x)
{
        struct operand a = tr_pop(t);
        uint16_t from = tr_use(t, &a);
        (void) x;

        (void) tr_emit_result(t, I_I64_EQ_K, tr_push(t, WASM_I32), from, 0);
}

static void translate_ref_func(struct translator *t, const struct wasm_insn *x)
{
        uint16_t to = tr_push(t, WASM_FUNCREF);

        t->last = tr_emit(t, cell_k(I_REF_FUNC, to, x->index));
}

static void translate_nop(struct translator *t, const struct wasm_insn *x)
{
        (void) t;
        (void) x;
}

typedef void translate_fn(struct translator *t, const struct wasm_insn *x);
static translate_fn *const specials[] = {
        [WASM_UNREACHABLE] = tr_unreachable,
        [WASM_NOP] = translate_nop,
        [WASM_BLOCK] = tr_block,
        [WASM_LOOP] = tr_block,
        [WASM_IF] = tr_block,
        [WASM_ELSE] = tr_else,
        [WASM_END] = tr_end,
        [WASM_BR] = tr_br,
        [WASM_BR_IF] = tr_br_if,
        [WASM_BR_TABLE] = tr_br_table,
        [WASM_RETURN] = tr_return,
        [WASM_CALL] = translate_call,
        [WASM_CALL_INDIRECT] = translate_call,
        [WASM_RETURN_CALL] = translate_call,
        [WASM_RETURN_CALL_INDIRECT] = translate_call,
        [WASM_DROP] = translate_drop_operand,
        [WASM_SELECT] = translate_select,
        [WASM_SELECT_T] = translate_select,
        [WASM_LOCAL_GET] = translate_local,
        [WASM_LOCAL_SET] = translate_local,
        [WASM_LOCAL_TEE] = translate_local,
        [WASM_GLOBAL_GET] = translate_global,
        [WASM_GLOBAL_SET] = translate_global,
        [WASM_I32_CONST] = translate_const,
        [WASM_I64_CONST] = translate_const,
        [WASM_F32_CONST] = translate_const,
        [WASM_F64_CONST] = translate_const,
        [WASM_V128_CONST] = translate_const,
        [WASM_REF_NULL] = translate_const,
        [WASM_REF_IS_NULL] = translate_is_null,
        [WASM_REF_FUNC] = translate_ref_func,
        [WASM_I32_EQZ] = translate_eqz,
        [WASM_I64_EQZ] = translate_eqz,
        [WASM_I64_EXTEND_I32_U] = translate_retype,
        [WASM_I32_REINTERPRET_F32] = translate_retype,
        [WASM_I64_REINTERPRET_F64] = translate_retype,
        [WASM_F32_REINTERPRET_I32] = translate_retype,
        [WASM_F64_REINTERPRET_I64] = translate_retype,
};

void tr_insn(struct translator *t, const struct wasm_insn *x)
{
        translate_fn *special = x->op < sizeof specials / sizeof *specials ? specials[x->op] : NULL;

        if (special) {
                special(t, x);
                return;
        }

        switch ((enum form) map[x->op].form) {
        case FORM_BIN:
        case FORM_CMP:
                translate_binary(t, x, true);
                return;
        case FORM_FCMP:
                translate_binary(t, x, false);
                return;
        case FORM_PLAIN:
                if (x->row->sig[1] == ':')
                        translate_unary(t, x);
                else
                        translate_binary(t, x, false);
                return;
        case FORM_LOAD:
                translate_load(t, x);
                return;
        case FORM_STORE:
                translate_store(t, x);
                return;
        case FORM_NONE:
                translate_helper(t, x);
        }
}
