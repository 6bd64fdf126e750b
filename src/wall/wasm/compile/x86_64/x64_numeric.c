/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/x86_64/x64_numeric.c - instructions that are one or two of the machine's. */
#include "wall/wasm/compile/x86_64/x64_arithmetic.h"

enum form {
        NO_FORM = 0,
        ALU,
        MUL,
        SHIFT,
        COMPARE,
        FLOAT2,
        FLOAT1,
        ROUND,
        FCOMPARE,
        CONVERT,
        EXTEND,
        LOAD,
        STORE,
        COUNT,
        DIVIDE,
        MIN_MAX,
        SIGN,
        TRUNCATE
};

#define SINGLE(n) OP_P(0xf3, n)
#define DOUBLE(n) OP_P(0xf2, n)

/* `more`: the condition, the digit of a shift, the mode of rounding; of FCOMPARE also 0x80: swap. */
static const struct row {
        uint8_t form;
        bool wide;
        uint8_t more;
        uint32_t op;
} rows[WASM_OP__COUNT] = {
#define BOTH(name, form, more, op)                                                                           \
        [WASM_I32_##name] = { form, false, more, op }, [WASM_I64_##name] = { form, true, more, op }
        BOTH(ADD, ALU, 1, OP_ADD),
        BOTH(SUB, ALU, 0, OP_SUB),
        BOTH(AND, ALU, 1, OP_AND),
        BOTH(OR, ALU, 1, OP_OR),
        BOTH(XOR, ALU, 1, OP_XOR),
        BOTH(MUL, MUL, 1, OP_F(0xaf)),
        BOTH(SHL, SHIFT, 4, 0),
        BOTH(SHR_S, SHIFT, 7, 0),
        BOTH(SHR_U, SHIFT, 5, 0),
        BOTH(ROTL, SHIFT, 0, 0),
        BOTH(ROTR, SHIFT, 1, 0),
        BOTH(EQ, COMPARE, CC_E, 0),
        BOTH(NE, COMPARE, CC_NE, 0),
        BOTH(LT_S, COMPARE, CC_L, 0),
        BOTH(LT_U, COMPARE, CC_B, 0),
        BOTH(GT_S, COMPARE, CC_G, 0),
        BOTH(GT_U, COMPARE, CC_A, 0),
        BOTH(LE_S, COMPARE, CC_LE, 0),
        BOTH(LE_U, COMPARE, CC_BE, 0),
        BOTH(GE_S, COMPARE, CC_GE, 0),
        BOTH(GE_U, COMPARE, CC_AE, 0),
        BOTH(CLZ, COUNT, 0, 0),
        BOTH(CTZ, COUNT, 0, 0),
        BOTH(DIV_S, DIVIDE, 0, 0),
        BOTH(DIV_U, DIVIDE, 0, 0),
        BOTH(REM_S, DIVIDE, 0, 0),
        BOTH(REM_U, DIVIDE, 0, 0),
        BOTH(TRUNC_F32_S, TRUNCATE, 0, 0),
        BOTH(TRUNC_F64_S, TRUNCATE, 0, 0),
#undef BOTH
#define BOTH(name, form, more, s, d)                                                                         \
        [WASM_F32_##name] = { form, false, more, s }, [WASM_F64_##name] = { form, true, more, d }
        BOTH(ADD, FLOAT2, 1, SINGLE(0x58), DOUBLE(0x58)),
        BOTH(SUB, FLOAT2, 0, SINGLE(0x5c), DOUBLE(0x5c)),
        BOTH(MUL, FLOAT2, 1, SINGLE(0x59), DOUBLE(0x59)),
        BOTH(DIV, FLOAT2, 0, SINGLE(0x5e), DOUBLE(0x5e)),
        BOTH(SQRT, FLOAT1, 0, SINGLE(0x51), DOUBLE(0x51)),
        BOTH(CEIL, ROUND, 10, OP_P(0x66, 0x20a), OP_P(0x66, 0x20b)),
        BOTH(FLOOR, ROUND, 9, OP_P(0x66, 0x20a), OP_P(0x66, 0x20b)),
        BOTH(TRUNC, ROUND, 11, OP_P(0x66, 0x20a), OP_P(0x66, 0x20b)),
        BOTH(NEAREST, ROUND, 8, OP_P(0x66, 0x20a), OP_P(0x66, 0x20b)),
        BOTH(EQ, FCOMPARE, CC_FEQ, OP_F(0x2e), OP_P(0x66, 0x2e)),
        BOTH(NE, FCOMPARE, CC_FNE, OP_F(0x2e), OP_P(0x66, 0x2e)),
        BOTH(LT, FCOMPARE, CC_A | 0x80, OP_F(0x2e), OP_P(0x66, 0x2e)),
        BOTH(GT, FCOMPARE, CC_A, OP_F(0x2e), OP_P(0x66, 0x2e)),
        BOTH(LE, FCOMPARE, CC_AE | 0x80, OP_F(0x2e), OP_P(0x66, 0x2e)),
        BOTH(GE, FCOMPARE, CC_AE, OP_F(0x2e), OP_P(0x66, 0x2e)),
        BOTH(MIN, MIN_MAX, 0, 0, 0),
        BOTH(MAX, MIN_MAX, 0, 0, 0),
        BOTH(ABS, SIGN, 0, 0, 0),
        BOTH(NEG, SIGN, 0, 0, 0),
        BOTH(COPYSIGN, SIGN, 0, 0, 0),
#undef BOTH
        [WASM_I32_TRUNC_F32_U] = { TRUNCATE, false, 0, 0 },
        [WASM_I32_TRUNC_F64_U] = { TRUNCATE, false, 0, 0 },
        [WASM_I32_POPCNT] = { EXTEND, false, 0, SINGLE(0xb8) },
        [WASM_I64_POPCNT] = { EXTEND, true, 0, SINGLE(0xb8) },
        [WASM_I32_WRAP_I64] = { EXTEND, false, 0, OP_MOV },
        [WASM_I64_EXTEND_I32_U] = { EXTEND, false, 0, OP_MOV },
        [WASM_I64_EXTEND_I32_S] = { EXTEND, true, 0, OP_MOVSXD },
        [WASM_I64_EXTEND32_S] = { EXTEND, true, 0, OP_MOVSXD },
        [WASM_I32_EXTEND8_S] = { EXTEND, false, 0, OP_F(0xbe) | OP_BYTE },
        [WASM_I32_EXTEND16_S] = { EXTEND, false, 0, OP_F(0xbf) },
        [WASM_I64_EXTEND8_S] = { EXTEND, true, 0, OP_F(0xbe) | OP_BYTE },
        [WASM_I64_EXTEND16_S] = { EXTEND, true, 0, OP_F(0xbf) },
        [WASM_I32_REINTERPRET_F32] = { CONVERT, false, 1, OP_P(0x66, 0x7e) },
        [WASM_I64_REINTERPRET_F64] = { CONVERT, true, 1, OP_P(0x66, 0x7e) },
        [WASM_F32_REINTERPRET_I32] = { CONVERT, false, 0, OP_P(0x66, 0x6e) },
        [WASM_F64_REINTERPRET_I64] = { CONVERT, true, 0, OP_P(0x66, 0x6e) },
        [WASM_F32_CONVERT_I32_S] = { CONVERT, false, 0, SINGLE(0x2a) },
        [WASM_F32_CONVERT_I32_U] = { CONVERT, true, 0, SINGLE(0x2a) }, /* its upper half is zero */
        [WASM_F32_CONVERT_I64_S] = { CONVERT, true, 0, SINGLE(0x2a) },
        [WASM_F64_CONVERT_I32_S] = { CONVERT, false, 0, DOUBLE(0x2a) },
        [WASM_F64_CONVERT_I32_U] = { CONVERT, true, 0, DOUBLE(0x2a) },
        [WASM_F64_CONVERT_I64_S] = { CONVERT, true, 0, DOUBLE(0x2a) },
        [WASM_F32_DEMOTE_F64] = { CONVERT, false, 0, DOUBLE(0x5a) },
        [WASM_F64_PROMOTE_F32] = { CONVERT, false, 0, SINGLE(0x5a) },
        [WASM_I32_LOAD] = { LOAD, false, 0, OP_MOV },
        [WASM_I64_LOAD] = { LOAD, true, 0, OP_MOV },
        [WASM_F32_LOAD] = { LOAD, false, 0, SINGLE(0x10) },
        [WASM_F64_LOAD] = { LOAD, false, 0, DOUBLE(0x10) },
        [WASM_I32_LOAD8_S] = { LOAD, false, 0, OP_F(0xbe) },
        [WASM_I32_LOAD8_U] = { LOAD, false, 0, OP_F(0xb6) },
        [WASM_I32_LOAD16_S] = { LOAD, false, 0, OP_F(0xbf) },
        [WASM_I32_LOAD16_U] = { LOAD, false, 0, OP_F(0xb7) },
        [WASM_I64_LOAD8_S] = { LOAD, true, 0, OP_F(0xbe) },
        [WASM_I64_LOAD8_U] = { LOAD, false, 0, OP_F(0xb6) },
        [WASM_I64_LOAD16_S] = { LOAD, true, 0, OP_F(0xbf) },
        [WASM_I64_LOAD16_U] = { LOAD, false, 0, OP_F(0xb7) },
        [WASM_I64_LOAD32_S] = { LOAD, true, 0, OP_MOVSXD },
        [WASM_I64_LOAD32_U] = { LOAD, false, 0, OP_MOV },
        [WASM_I32_STORE] = { STORE, false, 0, OP_STORE },
        [WASM_I64_STORE] = { STORE, true, 0, OP_STORE },
        [WASM_F32_STORE] = { STORE, false, 0, SINGLE(0x11) },
        [WASM_F64_STORE] = { STORE, false, 0, DOUBLE(0x11) },
        [WASM_I32_STORE8] = { STORE, false, 0, 0x88 | OP_BYTE },
        [WASM_I32_STORE16] = { STORE, false, 0, 0x66u << 16 | OP_STORE },
        [WASM_I64_STORE8] = { STORE, false, 0, 0x88 | OP_BYTE },
        [WASM_I64_STORE16] = { STORE, false, 0, 0x66u << 16 | OP_STORE },
        [WASM_I64_STORE32] = { STORE, false, 0, OP_STORE },
};

/* A register with the value to read, or its place in memory. */
static struct rm op_rm(struct compiler *c, struct operand *x)
{
        uint32_t slot;

        return op_in_slot(c, x, &slot) ? rm_slot(slot) : rm_reg(op_use(c, x));
}

static uint8_t result_of(const struct wasm_insn *x) { return wasm_sig_result(x->row->sig); }

/* Whether an operand is a constant that an immediate of 32 bits, sign-extended, can be. */
static bool is_imm(const struct operand *x, int32_t *ret)
{
        *ret = (int32_t) (uint32_t) x->value;
        if (x->place != CONSTANT)
                return false;
        return x->type == WASM_I32 || x->value == (uint64_t) (int64_t) *ret;
}

/* a + b in a register that is not one of them. */
static bool add_by_lea(struct compiler *c, const struct row *w, struct operand *a, struct operand *b)
{
        int32_t imm;
        bool by_imm = is_imm(b, &imm);
        bool is_local = a->place == IN_LOCAL && c->locals[a->local].reg != NO_REG;

        if (w->op != OP_ADD || !is_local || !(by_imm || b->place == IN_REG || b->place == IN_LOCAL))
                return false;
        unsigned x = op_use(c, a), y = by_imm ? 0 : op_use(c, b), to = rg_result(c, a->type);
        if (to == x || to == y)
                by_imm ? x64_alu_imm(&c->k, OP_ADD, w->wide, rm_reg(to), imm)
                       : x64_op(&c->k, OP_ADD, w->wide, to, rm_reg(to == x ? y : x));
        else if (by_imm)
                x64_op(&c->k, OP_LEA, w->wide, to, rm_at(x, imm));
        else
                x64_op(&c->k, OP_LEA, w->wide, to, (struct rm){ true, (uint8_t) x, (uint8_t) y, 0, 0 });
        op_free(c, b);
        op_push_reg(c, a->type, to);
        return true;
}

static void emit_binary(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);
        int32_t imm;

        if (w->more && (a.place == CONSTANT || (a.place != IN_REG && b.place == IN_REG)))
                op_swap(&a, &b);
        if (add_by_lea(c, w, &a, &b))
                return;

        bool by_imm = w->form != FLOAT2 && is_imm(&b, &imm);
        struct rm m = by_imm ? rm_reg(0) : op_rm(c, &b);
        if (by_imm && w->form == MUL) {
                unsigned from = op_use(c, &a), to = rg_result(c, a.type);
                x64_op(&c->k, 0x69, w->wide, to, rm_reg(from));
                put32(&c->k, (uint32_t) imm);
                op_free(c, &a);
                op_push_reg(c, a.type, to);
                return;
        }
        unsigned to = op_dest(c, &a, &b);
        if (by_imm)
                x64_alu_imm(&c->k, w->op, w->wide, rm_reg(to), imm);
        else
                x64_op(&c->k, w->op, w->form != FLOAT2 && w->wide, to, m);
        op_free(c, &b);
        op_push_reg(c, a.type, to);
}

static void emit_shift(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);

        if (b.place == CONSTANT) {
                unsigned to = op_dest(c, &a, NULL);
                x64_op_imm8(&c->k, 0xc1, w->wide, w->more, rm_reg(to),
                            (unsigned) b.value & (w->wide ? 63 : 31));
                op_push_reg(c, a.type, to);
                return;
        }
        op_load(c, RCX, &b);
        op_free(c, &b);
        unsigned to = op_dest(c, &a, NULL);
        x64_op(&c->k, 0xd3, w->wide, w->more, rm_reg(to));
        op_push_reg(c, a.type, to);
}

static unsigned swapped_cond(unsigned cc)
{
        static const uint8_t other[] = {
                [CC_E] = CC_E,   [CC_NE] = CC_NE, [CC_L] = CC_G, [CC_G] = CC_L,   [CC_LE] = CC_GE,
                [CC_GE] = CC_LE, [CC_B] = CC_A,   [CC_A] = CC_B, [CC_BE] = CC_AE, [CC_AE] = CC_BE,
        };
        return other[cc];
}

static void emit_compare(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);
        unsigned cc = w->more;
        int32_t imm;

        if (a.place == CONSTANT) {
                op_swap(&a, &b);
                cc = swapped_cond(cc);
        }
        if (is_imm(&b, &imm)) {
                struct rm m = op_rm(c, &a);
                if (imm == 0 && !m.is_mem)
                        x64_op(&c->k, OP_TEST, w->wide, m.reg, m);
                else
                        x64_alu_imm(&c->k, OP_CMP, w->wide, m, imm);
        } else {
                struct rm m = op_rm(c, &b);
                x64_op(&c->k, OP_CMP, w->wide, op_use(c, &a), m);
        }
        op_free(c, &a);
        op_free(c, &b);
        op_push_flags(c, cc);
}

static void compare_floats(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand b = op_pop(c), a = op_pop(c);

        if (w->more & 0x80)
                op_swap(&a, &b);
        unsigned first = op_use(c, &a);
        x64_op(&c->k, w->op, false, first, op_rm(c, &b));
        op_free(c, &a);
        op_free(c, &b);
        op_push_flags(c, w->more & 0x7f);
}

/* One operand; the result may have another type. */
static void emit_unary(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand a = op_pop(c);
        uint8_t type = result_of(x);
        struct rm m = op_rm(c, &a);
        unsigned to = rg_result(c, type);
        bool has_wide = w->form == EXTEND || w->form == CONVERT;
        bool to_float = w->form == CONVERT && is_float(type) && (w->op & 0xff) == 0x2a;

        if (w->form == CONVERT && w->more && m.is_mem) { /* a plain load */
                x64_op(&c->k, OP_MOV, w->wide, to, m);
        } else if (w->form == CONVERT && w->more) { /* the other direction: to m */
                x64_op(&c->k, w->op, w->wide, m.reg, rm_reg(to));
        } else {
                if (to_float && m.is_mem) { /* an i32 in a slot is read as it is */
                        x64_op(&c->k, OP_MOV, is_wide(a.type), RAX, m);
                        m = rm_reg(RAX);
                }
                if (to_float)
                        x64_op(&c->k, OP_F(0x57), false, to,
                               rm_reg(to)); /* xorps: no old value to wait for */
                x64_op(&c->k, w->op, has_wide && w->wide, to, m);
                if (w->form == ROUND)
                        put8(&c->k, w->more);
        }
        op_free(c, &a);
        op_push_reg(c, type, to);
}

/* The memory at an address and offset. It is inside the memory's guards, whatever the address. */
static struct rm emit_address(struct compiler *c, struct operand *a, uint64_t offset)
{
        if (a->place == CONSTANT) {
                uint64_t at = a->value + offset;
                if (at <= INT32_MAX)
                        return rm_at(MEMORY_REG, (int64_t) at);
                x64_const(&c->k, RCX, at);
                return (struct rm){ true, MEMORY_REG, RCX, 0, 0 };
        }

        unsigned reg = op_use(c, a);
        if (offset <= INT32_MAX)
                return (struct rm){ true, MEMORY_REG, (uint8_t) reg, 0, (int32_t) offset };
        x64_const(&c->k, RCX, offset);
        x64_op(&c->k, OP_ADD, true, RCX, rm_reg(reg));
        return (struct rm){ true, MEMORY_REG, RCX, 0, 0 };
}

static void emit_load(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand a = op_pop(c);
        struct rm m = emit_address(c, &a, x->value);

        op_free(c, &a);
        unsigned to = rg_result(c, result_of(x));
        x64_op(&c->k, w->op, w->wide, to, m);
        op_push_reg(c, result_of(x), to);
}

static void emit_store(struct compiler *c, const struct wasm_insn *x)
{
        const struct row *w = &rows[x->op];
        struct operand v = op_pop(c), a = op_pop(c);
        unsigned value = op_use(c, &v);
        struct rm m = emit_address(c, &a, x->value);

        x64_op(&c->k, w->op, w->wide, value, m);
        op_free(c, &v);
        op_free(c, &a);
}

bool mc_numeric(struct compiler *c, const struct wasm_insn *x)
{
        static void (*const emitters[])(struct compiler *, const struct wasm_insn *) = {
                [ALU] = emit_binary,      [MUL] = emit_binary,       [FLOAT2] = emit_binary,
                [SHIFT] = emit_shift,     [COMPARE] = emit_compare,  [FCOMPARE] = compare_floats,
                [FLOAT1] = emit_unary,    [ROUND] = emit_unary,      [CONVERT] = emit_unary,
                [EXTEND] = emit_unary,    [LOAD] = emit_load,        [STORE] = emit_store,
                [COUNT] = x64_count_bits, [DIVIDE] = x64_divide,     [MIN_MAX] = x64_min_max,
                [SIGN] = x64_sign,        [TRUNCATE] = x64_truncate,
        };
        const struct row *w = &rows[x->op];

        if (w->form != NO_FORM)
                emitters[w->form](c, x);
        return w->form != NO_FORM;
}
