/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/aarch64/a64_numeric.c - instructions that are one or two of the machine's. */
#include "wall/wasm/compile/aarch64/a64_arithmetic.h"

enum form {
        NO_FORM = 0,
        SUM,
        LOGIC,
        MULTIPLY,
        SHIFT,
        COMPARE,
        FLOAT2,
        UNARY,
        BITS,
        FCOMPARE,
        ACCESS,
        DIVIDE,
        COUNT,
        TRUNCATE,
        COPYSIGN
};

/* `op` is whole, with the size of its operands; `more`: the condition; 1: the operands may be swapped; of a
 * shift, the digit below; of BITS, the last bit. */
static const struct row {
        uint8_t form;
        bool wide;
        uint8_t more;
        uint32_t op;
} rows[WASM_OP__COUNT] = {
#define BOTH(name, form, more, op)                                                                           \
        [WASM_I32_##name] = { form, false, more, op },                                                       \
        [WASM_I64_##name] = { form, true, more, (op) | A64_WIDE }
        BOTH(ADD, SUM, 1, A64_ADD),
        BOTH(SUB, SUM, 0, A64_SUB),
        BOTH(AND, LOGIC, 1, A64_AND),
        BOTH(OR, LOGIC, 1, A64_ORR),
        BOTH(XOR, LOGIC, 1, A64_EOR),
        BOTH(MUL, MULTIPLY, 1, A64_MADD | ZERO_REG << 10),
        BOTH(SHL, SHIFT, 0, A64_LSLV),
        BOTH(SHR_U, SHIFT, 1, A64_LSLV + 0x400),
        BOTH(SHR_S, SHIFT, 2, A64_LSLV + 0x800),
        BOTH(ROTR, SHIFT, 3, A64_RORV),
        BOTH(ROTL, SHIFT, 4, A64_RORV),
        BOTH(EQ, COMPARE, CC_EQ, 0),
        BOTH(NE, COMPARE, CC_NE, 0),
        BOTH(LT_S, COMPARE, CC_LT, 0),
        BOTH(LT_U, COMPARE, CC_LO, 0),
        BOTH(GT_S, COMPARE, CC_GT, 0),
        BOTH(GT_U, COMPARE, CC_HI, 0),
        BOTH(LE_S, COMPARE, CC_LE, 0),
        BOTH(LE_U, COMPARE, CC_LS, 0),
        BOTH(GE_S, COMPARE, CC_GE, 0),
        BOTH(GE_U, COMPARE, CC_HS, 0),
        BOTH(CLZ, UNARY, 0, A64_CLZ),
        BOTH(CTZ, COUNT, 0, 0),
        BOTH(POPCNT, COUNT, 0, 0),
        BOTH(DIV_S, DIVIDE, 0, 0),
        BOTH(DIV_U, DIVIDE, 0, 0),
        BOTH(REM_S, DIVIDE, 0, 0),
        BOTH(REM_U, DIVIDE, 0, 0),
        BOTH(TRUNC_F32_S, TRUNCATE, 0, 0),
        BOTH(TRUNC_F32_U, TRUNCATE, 0, 0),
        BOTH(TRUNC_F64_S, TRUNCATE, 0, 0),
        BOTH(TRUNC_F64_U, TRUNCATE, 0, 0),
        BOTH(TRUNC_SAT_F32_S, UNARY, 0, A64_FCVTZS),
        BOTH(TRUNC_SAT_F32_U, UNARY, 0, A64_FCVTZU),
        BOTH(TRUNC_SAT_F64_S, UNARY, 0, A64_FCVTZS | A64_DOUBLE),
        BOTH(TRUNC_SAT_F64_U, UNARY, 0, A64_FCVTZU | A64_DOUBLE),
        BOTH(EXTEND8_S, BITS, 7, A64_SBFM),
        BOTH(EXTEND16_S, BITS, 15, A64_SBFM),
#undef BOTH
        [WASM_I64_EXTEND32_S] = { BITS, true, 31, A64_SBFM },
        [WASM_I64_EXTEND_I32_S] = { BITS, true, 31, A64_SBFM },
        [WASM_I64_EXTEND_I32_U] = { BITS, false, 31, A64_UBFM },
        [WASM_I32_WRAP_I64] = { BITS, false, 31, A64_UBFM },
#define BOTH(name, form, more, op)                                                                           \
        [WASM_F32_##name] = { form, false, more, op },                                                       \
        [WASM_F64_##name] = { form, true, more, (op) | A64_DOUBLE }
        BOTH(ADD, FLOAT2, 0, 0x1e202800),
        BOTH(SUB, FLOAT2, 0, 0x1e203800),
        BOTH(MUL, FLOAT2, 0, 0x1e200800),
        BOTH(DIV, FLOAT2, 0, 0x1e201800),
        BOTH(MAX, FLOAT2, 0, 0x1e204800),
        BOTH(MIN, FLOAT2, 0, 0x1e205800),
        BOTH(COPYSIGN, COPYSIGN, 0, 0),
        BOTH(SQRT, UNARY, 0, 0x1e21c000),
        BOTH(ABS, UNARY, 0, 0x1e20c000),
        BOTH(NEG, UNARY, 0, 0x1e214000),
        BOTH(NEAREST, UNARY, 0, 0x1e244000),
        BOTH(CEIL, UNARY, 0, 0x1e24c000),
        BOTH(FLOOR, UNARY, 0, 0x1e254000),
        BOTH(TRUNC, UNARY, 0, 0x1e25c000),
        BOTH(EQ, FCOMPARE, CC_EQ, A64_FCMP),
        BOTH(NE, FCOMPARE, CC_NE, A64_FCMP),
        BOTH(LT, FCOMPARE, CC_MI, A64_FCMP),
        BOTH(GT, FCOMPARE, CC_GT, A64_FCMP),
        BOTH(LE, FCOMPARE, CC_LS, A64_FCMP),
        BOTH(GE, FCOMPARE, CC_GE, A64_FCMP),
        BOTH(CONVERT_I32_S, UNARY, 0, 0x1e220000),
        BOTH(CONVERT_I32_U, UNARY, 0, 0x1e230000),
        BOTH(CONVERT_I64_S, UNARY, 0, 0x1e220000 | A64_WIDE),
        BOTH(CONVERT_I64_U, UNARY, 0, 0x1e230000 | A64_WIDE),
#undef BOTH
        [WASM_F32_DEMOTE_F64] = { UNARY, false, 0, 0x1e624000 },
        [WASM_F64_PROMOTE_F32] = { UNARY, false, 0, 0x1e22c000 },
        [WASM_I32_REINTERPRET_F32] = { UNARY, false, 0, A64_FMOV_FROM },
        [WASM_I64_REINTERPRET_F64] = { UNARY, false, 0, A64_FMOV_FROM | A64_WIDE | A64_DOUBLE },
        [WASM_F32_REINTERPRET_I32] = { UNARY, false, 0, A64_FMOV_TO },
        [WASM_F64_REINTERPRET_I64] = { UNARY, false, 0, A64_FMOV_TO | A64_WIDE | A64_DOUBLE },
#define MEM(name, size, is_float, opc) [WASM_##name] = { ACCESS, false, 0, A64_MEM(size, is_float, opc) }
        MEM(I32_LOAD, 2, 0, 1),
        MEM(I64_LOAD, 3, 0, 1),
        MEM(F32_LOAD, 2, 1, 1),
        MEM(F64_LOAD, 3, 1, 1),
        MEM(I32_LOAD8_S, 0, 0, 3),
        MEM(I32_LOAD8_U, 0, 0, 1),
        MEM(I32_LOAD16_S, 1, 0, 3),
        MEM(I32_LOAD16_U, 1, 0, 1),
        MEM(I64_LOAD8_S, 0, 0, 2),
        MEM(I64_LOAD8_U, 0, 0, 1),
        MEM(I64_LOAD16_S, 1, 0, 2),
        MEM(I64_LOAD16_U, 1, 0, 1),
        MEM(I64_LOAD32_S, 2, 0, 2),
        MEM(I64_LOAD32_U, 2, 0, 1),
        MEM(I32_STORE, 2, 0, 0),
        MEM(I64_STORE, 3, 0, 0),
        MEM(F32_STORE, 2, 1, 0),
        MEM(F64_STORE, 3, 1, 0),
        MEM(I32_STORE8, 0, 0, 0),
        MEM(I32_STORE16, 1, 0, 0),
        MEM(I64_STORE8, 0, 0, 0),
        MEM(I64_STORE16, 1, 0, 0),
        MEM(I64_STORE32, 2, 0, 0),
#undef MEM
};

/* The operands are read by one instruction, which writes the result. */
static unsigned result_after(struct compiler *c, uint8_t type, const struct operand *a,
                             const struct operand *b)
{
        op_free(c, a);
        if (b)
                op_free(c, b);
        return rg_result(c, type);
}

/* An addition, subtraction or logical instruction with a constant; false if it cannot have this one. */
static bool with_constant(const struct row *w, const struct operand *b, uint32_t *ret)
{
        uint64_t minus = w->wide ? 0 - b->value : (uint32_t) (0 - b->value);
        uint32_t imm, size = w->op & A64_WIDE;

        if (b->place != CONSTANT)
                return false;
        if (w->form == LOGIC) {
                *ret = (w->op & 0x60000000) | 0x12000000 | size; /* the same with an immediate */
                if (!a64_bitmask(b->value, w->wide, &imm))
                        return false;
                *ret |= imm;
                return true;
        }
        bool is_sub = (w->op & 0x40000000) != 0, is_minus = !a64_imm12(b->value, &imm);
        if (is_minus && !a64_imm12(minus, &imm))
                return false;
        *ret = (is_sub != is_minus ? A64_SUB_IMM : A64_ADD_IMM) | size | imm;
        return true;
}

static void emit_binary(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);
        uint32_t op;

        if (w->more && a.place == CONSTANT)
                op_swap(&a, &b);
        if ((w->form == SUM || w->form == LOGIC) && with_constant(w, &b, &op)) {
                unsigned from = op_use(c, &a);
                unsigned to = result_after(c, a.type, &a, NULL);
                a64_op(&c->k, op, to, from, 0);
                op_push_reg(c, a.type, to);
                return;
        }
        unsigned second = op_use(c, &b), first = op_use(c, &a);
        unsigned to = result_after(c, a.type, &a, &b);
        a64_op(&c->k, w->op, to, first, second);
        op_push_reg(c, a.type, to);
}

/* UBFM, SBFM and EXTR shift by a constant. */
static void shift_by(struct compiler *c, const struct row *w, unsigned to, unsigned from, unsigned by)
{
        unsigned bits = w->wide ? 64 : 32;

        if (w->more == 0)
                a64_bits(&c->k, A64_UBFM, w->wide, to, from, (bits - by) & (bits - 1), bits - 1 - by);
        else if (w->more <= 2)
                a64_bits(&c->k, w->more == 1 ? A64_UBFM : A64_SBFM, w->wide, to, from, by, bits - 1);
        else
                put32(&c->k, A64_EXTR | (w->wide ? A64_WIDE | 1u << 22 : 0) | from << 16 |
                                     ((w->more == 3 ? by : bits - by) & (bits - 1)) << 10 | from << 5 | to);
}

static void emit_shift(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);
        unsigned from = op_use(c, &a);

        if (b.place == CONSTANT) {
                unsigned to = result_after(c, a.type, &a, NULL);
                shift_by(c, w, to, from, (unsigned) b.value & (w->wide ? 63 : 31));
                op_push_reg(c, a.type, to);
                return;
        }
        unsigned by = op_use(c, &b), to = result_after(c, a.type, &a, &b);
        if (w->more == 4) { /* to the left: by its negative to the right */
                a64_op(&c->k, A64_SUB | a64_wide(w->wide), X16, ZERO_REG, by);
                by = X16;
        }
        a64_op(&c->k, w->op, to, from, by);
        op_push_reg(c, a.type, to);
}

static unsigned swapped_cond(unsigned cc)
{
        static const uint8_t other[] = {
                [CC_EQ] = CC_EQ, [CC_NE] = CC_NE, [CC_HS] = CC_LS, [CC_LS] = CC_HS, [CC_LO] = CC_HI,
                [CC_HI] = CC_LO, [CC_GE] = CC_LE, [CC_LE] = CC_GE, [CC_LT] = CC_GT, [CC_GT] = CC_LT,
        };
        return other[cc];
}

static void emit_compare(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);
        unsigned cc = w->more;
        uint32_t imm, size = a64_wide(w->wide);

        if (a.place == CONSTANT) {
                op_swap(&a, &b);
                cc = swapped_cond(cc);
        }
        unsigned first = op_use(c, &a);
        uint64_t minus = w->wide ? 0 - b.value : (uint32_t) (0 - b.value);
        if (b.place == CONSTANT && a64_imm12(b.value, &imm))
                put32(&c->k, A64_SUBS_IMM | size | imm | first << 5 | ZERO_REG);
        else if (b.place == CONSTANT && a64_imm12(minus, &imm))
                put32(&c->k, A64_ADDS_IMM | size | imm | first << 5 | ZERO_REG);
        else
                mc_compare(&c->k, w->wide, first, op_use(c, &b));
        op_free(c, &a);
        op_free(c, &b);
        op_push_flags(c, cc);
}

static void compare_floats(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);
        unsigned second = op_use(c, &b), first = op_use(c, &a);

        a64_op(&c->k, w->op, 0, first, second);
        op_free(c, &a);
        op_free(c, &b);
        op_push_flags(c, w->more);
}

/* One operand; the result may have another type. */
static void emit_unary(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand a = op_pop(c);
        uint8_t type = wasm_sig_result(x->row->sig);
        unsigned from = op_use(c, &a), to = result_after(c, type, &a, NULL);

        if (w->form == BITS)
                a64_bits(&c->k, w->op, w->wide, to, from, 0, w->more);
        else
                a64_op(&c->k, w->op, to, from, 0);
        op_push_reg(c, type, to);
}

/* The register with the address and offset, to be added to the memory. It is inside the memory's guards,
 * whatever the address. */
static unsigned emit_address(struct compiler *c, struct operand *a, uint64_t offset)
{
        if (a->place == CONSTANT) {
                a64_const(&c->k, X16, a->value + offset);
                return X16;
        }

        unsigned reg = op_use(c, a);
        if (offset == 0)
                return reg;
        a64_add_const(&c->k, X16, reg, offset);
        return X16;
}

static void emit_access(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        uint8_t type = wasm_sig_result(x->row->sig);
        struct operand v = { .place = CONSTANT, .type = WASM_I32 };
        bool is_store = type == WASM_NO_TYPE;

        if (is_store)
                v = op_pop(c);
        bool is_zero = v.place == CONSTANT && v.value == 0 && !is_float(v.type);
        unsigned reg = is_zero ? ZERO_REG : op_use(c, &v);
        struct operand a = op_pop(c);
        unsigned at = emit_address(c, &a, x->value);
        op_free(c, &a);
        op_free(c, &v);
        if (!is_store)
                reg = rg_result(c, type);
        a64_mem_indexed(&c->k, w->op, reg, MEMORY_REG, at, false);
        if (!is_store)
                op_push_reg(c, type, reg);
}

bool mc_numeric(struct compiler *c, const struct wasm_insn *x)
{
        static void (*const emitters[])(struct compiler *, const struct wasm_insn *) = {
                [SUM] = emit_binary,         [LOGIC] = emit_binary,     [MULTIPLY] = emit_binary,
                [FLOAT2] = emit_binary,      [SHIFT] = emit_shift,      [COMPARE] = emit_compare,
                [FCOMPARE] = compare_floats, [UNARY] = emit_unary,      [BITS] = emit_unary,
                [ACCESS] = emit_access,      [DIVIDE] = a64_divide,     [COUNT] = a64_count_bits,
                [TRUNCATE] = a64_truncate,   [COPYSIGN] = a64_copysign,
        };
        const struct row *w = &rows[x->op];

        if (w->form != NO_FORM)
                emitters[w->form](c, x);
        return w->form != NO_FORM;
}
