/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/insn.c - the table of instructions, and one instruction with its immediates. */
#include "wall/wasm/opcode.h"

static const struct wasm_op ops[WASM_OP__COUNT] = {
#define OP(code, name, i, s, a) [code] = { .sig = (s), .imm = WASM_IMM_##i, .arg = (a), .known = true },
#include "wall/wasm/opcodes.inc"
#undef OP
};

static const struct {
        char letter;
        uint8_t type;
} letters[] = {
        { 'i', WASM_I32 },  { 'l', WASM_I64 },     { 'f', WASM_F32 },       { 'd', WASM_F64 },
        { 'v', WASM_V128 }, { 'r', WASM_FUNCREF }, { 'e', WASM_EXTERNREF },
};
const char *wasm_op_signature(uint16_t op) { return ops[op].sig; }
uint8_t wasm_op_argument(uint16_t op) { return ops[op].arg; }

enum { LETTERS = sizeof letters / sizeof *letters };

enum wasm_type wasm_letter_type(char c)
{
        for (size_t i = 0; i < LETTERS; i++)
                if (letters[i].letter == c)
                        return letters[i].type;

        return WASM_NO_TYPE;
}

char wasm_type_letter(uint8_t type)
{
        for (size_t i = 0; i < LETTERS; i++)
                if (letters[i].type == type)
                        return letters[i].letter;

        return '?';
}

bool wasm_type_is_value(uint8_t type) { return wasm_type_letter(type) != '?'; }

struct wasm_functype wasm_block_type(const struct wasm_module *m, const struct wasm_insn *x)
{
        struct wasm_functype t = { 0 };

        if (x->index != WASM_NO_INDEX)
                return m->types[x->index];

        for (size_t i = 0; i < LETTERS; i++)
                if (letters[i].type == x->type) {
                        t.results = &letters[i].type;
                        t.n_results = 1;
                        t.result_slots = (uint16_t) wasm_type_slots(x->type);
                }

        return t;
}

static void get_zero(struct wasm_reader *r)
{
        if (wasm_get_byte(r) != 0)
                (void) wasm_reader_fail(r, "zero byte expected");
}

static uint64_t get_fixed(struct wasm_reader *r, size_t n)
{
        uint64_t v = 0;
        struct span s = wasm_get_bytes(r, n);

        for (size_t i = 0; i < s.n; i++)
                v |= (uint64_t) s.p[i] << (8 * i);

        return v;
}

/* A value type, nothing (0x40), or the index of a type as a signed number of 33 bits. */
static void get_block_type(struct wasm_reader *r, struct wasm_insn *x)
{
        x->index = WASM_NO_INDEX;
        if (r->p < r->end && (*r->p == 0x40 || wasm_type_is_value(*r->p))) {
                x->type = *r->p == 0x40 ? WASM_NO_TYPE : *r->p;
                r->p++;
                return;
        }

        uint8_t first = r->p < r->end ? *r->p : 0;
        int64_t v = wasm_leb_s(r, 33);
        if (v < 0 || v >= UINT32_MAX)
                (void) wasm_reader_unknown(r, WASM_IN_TYPE, first, "unknown block type");
        else
                x->index = (uint32_t) v;
}

static void get_mem(struct wasm_reader *r, struct wasm_insn *x)
{
        x->index2 = wasm_get_u32(r);
        if (x->index2 >= 32)
                (void) wasm_reader_fail(r, "malformed memop flags");
        x->value = wasm_get_u32(r);
}

static void get_table(struct wasm_reader *r, struct wasm_insn *x)
{
        x->index = wasm_get_count(r, WASM_MAX_BODY);
        x->p = r->p;
        for (uint32_t i = 0; i <= x->index && !r->bad; i++)
                (void) wasm_get_u32(r);
}

static void get_types(struct wasm_reader *r, struct wasm_insn *x)
{
        if (wasm_get_u32(r) != 1)
                (void) wasm_reader_fail(r, "invalid result arity");
        x->type = wasm_get_byte(r);
        if (!wasm_type_is_value(x->type))
                (void) wasm_reader_unknown(r, WASM_IN_TYPE, x->type, "malformed value type");
}

static void get_reftype(struct wasm_reader *r, struct wasm_insn *x)
{
        x->type = wasm_get_byte(r);
        if (!wasm_type_is_ref(x->type))
                (void) wasm_reader_unknown(r, WASM_IN_TYPE, x->type, "malformed reference type");
}

static void get_immediates(struct wasm_reader *r, struct wasm_insn *x)
{
        switch ((enum wasm_imm) x->row->imm) {
        case WASM_IMM_NONE:
        case WASM_IMM__COUNT:
                return;
        case WASM_IMM_BLOCK:
                get_block_type(r, x);
                return;
        case WASM_IMM_INDEX2:
                x->index = wasm_get_u32(r);
                x->index2 = wasm_get_u32(r);
                return;
        case WASM_IMM_INDEX:
                x->index = wasm_get_u32(r);
                return;
        case WASM_IMM_INDEX_ZERO:
                x->index = wasm_get_u32(r);
                get_zero(r);
                return;
        case WASM_IMM_ZERO2:
                get_zero(r);
                get_zero(r);
                return;
        case WASM_IMM_ZERO:
                get_zero(r);
                return;
        case WASM_IMM_TABLE:
                get_table(r, x);
                return;
        case WASM_IMM_TYPES:
                get_types(r, x);
                return;
        case WASM_IMM_REFTYPE:
                get_reftype(r, x);
                return;
        case WASM_IMM_MEM:
                get_mem(r, x);
                return;
        case WASM_IMM_MEM_LANE:
                get_mem(r, x);
                x->lane = wasm_get_byte(r);
                return;
        case WASM_IMM_LANE:
                x->lane = wasm_get_byte(r);
                return;
        case WASM_IMM_I32:
                x->value = (uint32_t) wasm_leb_s(r, 32);
                return;
        case WASM_IMM_I64:
                x->value = (uint64_t) wasm_leb_s(r, 64);
                return;
        case WASM_IMM_F32:
                x->value = get_fixed(r, 4);
                return;
        case WASM_IMM_F64:
                x->value = get_fixed(r, 8);
                return;
        case WASM_IMM_SHUFFLE:
        case WASM_IMM_V128:
                x->p = wasm_get_bytes(r, 16).p;
                return;
        }
}

bool wasm_insn_read(struct wasm_reader *r, struct wasm_insn *ret)
{
        uint32_t op = wasm_get_byte(r), shown = op;

        if (op == 0xfc || op == 0xfd) {
                uint32_t sub = wasm_get_u32(r);
                shown = sub > 0xff && op == 0xfd ? WASM_OP_RELAXED : op;
                op = sub > 0xff ? WASM_OP__COUNT : (op == 0xfc ? 0x100 : 0x200) + sub;
        }

        if (r->bad)
                return false;
        if (op >= WASM_OP__COUNT || !ops[op].known)
                return wasm_reader_unknown(r, WASM_IN_OP, shown, "illegal opcode");

        *ret = (struct wasm_insn){ .row = &ops[op], .op = (uint16_t) op };
        get_immediates(r, ret);
        return !r->bad;
}
