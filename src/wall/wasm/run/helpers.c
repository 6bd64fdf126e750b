/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/helpers.c - what both engines call: the host's functions, memories, ranges, tables, vectors,
 * and conversions that are rare. The argument of an instruction holds its indices: the first below, the
 * second above. */
#include "wall/wasm/run/helpers.h"
#include "wall/wasm/run/numeric.h"

static enum wasm_trap host_call(struct wasm_instance *i, uint64_t *slots, uint64_t func)
{
        const struct wasm_func *f = (const struct wasm_func *) (uintptr_t) func;

        return wasm_call_host(i, f, slots);
}

#define U32(n) ((uint32_t) slots[n])
#define FIRST  ((uint32_t) arg)
#define SECOND ((uint32_t) (arg >> 32))
#define HELPER(name, ...)                                                                                    \
        static enum wasm_trap name(struct wasm_instance *i, uint64_t *slots, uint64_t arg)                   \
        {                                                                                                    \
                (void) i, (void) slots, (void) arg;                                                          \
                __VA_ARGS__;                                                                                 \
        }
#define SPAN3 ((struct wasm_span3){ U32(0), U32(1), U32(2) })

HELPER(memory_size, slots[0] = i->memory->pages; return WASM_OK)
HELPER(memory_grow, slots[0] = wasm_memory_grow(i->memory, U32(0)); return WASM_OK)
HELPER(memory_fill, return wasm_memory_fill(i, U32(0), U32(1), U32(2)))
HELPER(memory_copy, return wasm_memory_copy(i, U32(0), U32(1), U32(2)))
HELPER(memory_init, return wasm_memory_init(i, FIRST, U32(0), U32(1), U32(2)))
HELPER(data_drop, wasm_data_drop(i, FIRST); return WASM_OK)
HELPER(elem_drop, wasm_elem_drop(i, FIRST); return WASM_OK)
HELPER(table_init, return wasm_table_init(i, FIRST, SECOND, SPAN3))
HELPER(table_copy, return wasm_table_copy(i, FIRST, SECOND, SPAN3))
HELPER(table_fill, return wasm_table_fill(i, FIRST, U32(0), slots[1], U32(2)))
HELPER(table_grow, slots[0] = wasm_table_grow(i->tables[FIRST], slots[0], U32(1)); return WASM_OK)
HELPER(table_size, slots[0] = i->tables[FIRST]->size; return WASM_OK)
HELPER(table_get, const struct wasm_table *t = i->tables[FIRST];
       if (U32(0) >= t->size) return WASM_TRAP_TABLE; slots[0] = t->items[U32(0)]; return WASM_OK)
HELPER(table_set, const struct wasm_table *t = i->tables[FIRST];
       if (U32(0) >= t->size) return WASM_TRAP_TABLE; t->items[U32(0)] = slots[1]; return WASM_OK)

#define F32(n)               wasm_f32((uint32_t) slots[n])
#define F64(n)               wasm_f64(slots[n])
#define SATURATE(name, from) HELPER(sat_##name, slots[0] = wasm_sat_##name(from); return WASM_OK)
SATURATE(i32_f32_s, F32(0))
SATURATE(i32_f32_u, F32(0))
SATURATE(i32_f64_s, F64(0))
SATURATE(i32_f64_u, F64(0))
SATURATE(i64_f32_s, F32(0))
SATURATE(i64_f32_u, F32(0))
SATURATE(i64_f64_s, F64(0))
SATURATE(i64_f64_u, F64(0))
HELPER(to_i64_f32_u, return wasm_to_i64_f32_u(F32(0), slots))
HELPER(to_i64_f64_u, return wasm_to_i64_f64_u(F64(0), slots))
HELPER(f32_of_u64, slots[0] = wasm_bits32((float) slots[0]); return WASM_OK)
HELPER(f64_of_u64, slots[0] = wasm_bits64((double) slots[0]); return WASM_OK)

/* ---- vectors ---- */

static const char *signature_of(uint64_t arg) { return wasm_op_signature((uint16_t) (0x200 | (arg & 0xff))); }

static enum wasm_trap shuffle_lanes(struct wasm_instance *i, uint64_t *slots, uint64_t lanes)
{
        wasm_shuffle(slots, slots, slots + 2, i->module->bytes.p + lanes);
        return WASM_OK;
}

static enum wasm_trap vector_op(struct wasm_instance *i, uint64_t *slots, uint64_t arg)
{
        const char *sig = signature_of(arg);
        uint64_t *at[3] = { slots, slots, slots }, *p = slots;
        (void) i;

        for (unsigned n = 0; sig[n] != ':'; n++) {
                at[n] = p;
                p += sig[n] == 'v' ? 2 : 1;
        }
        wasm_simd[arg & 0xff](slots, at[0], at[1], at[2], (unsigned) (arg >> 8 & 0xff));
        return WASM_OK;
}

static enum wasm_trap vector_memory(struct wasm_instance *i, uint64_t *slots, uint64_t arg)
{
        uint16_t op = (uint16_t) (0x200 | (arg & 0xff));
        const char *sig = signature_of(arg);
        bool has_result = sig[wasm_sig_operands(sig) + 1] != '\0';
        uint8_t *at = wasm_memory_at(i, (uint64_t) U32(0) + (arg >> 16), 1u << wasm_op_argument(op));
        unsigned lane = (unsigned) (arg >> 8 & 0xff);

        if (!at)
                return WASM_TRAP_MEMORY;
        if (has_result)
                wasm_simd[arg & 0xff](slots, at, slots + 1, NULL, lane);
        else
                wasm_simd[arg & 0xff](at, NULL, slots + 1, NULL, lane);
        return WASM_OK;
}

/* ---- the table ---- */

/* Instructions that have a helper of their own. */
#define OPCODES(ROW)                                                                                         \
        ROW(MEMORY_SIZE, memory_size)                                                                        \
        ROW(MEMORY_GROW, memory_grow)                                                                        \
        ROW(MEMORY_FILL, memory_fill)                                                                        \
        ROW(MEMORY_COPY, memory_copy)                                                                        \
        ROW(MEMORY_INIT, memory_init)                                                                        \
        ROW(DATA_DROP, data_drop)                                                                            \
        ROW(ELEM_DROP, elem_drop)                                                                            \
        ROW(TABLE_INIT, table_init)                                                                          \
        ROW(TABLE_COPY, table_copy)                                                                          \
        ROW(TABLE_FILL, table_fill)                                                                          \
        ROW(TABLE_GROW, table_grow)                                                                          \
        ROW(TABLE_SIZE, table_size)                                                                          \
        ROW(TABLE_GET, table_get)                                                                            \
        ROW(TABLE_SET, table_set)                                                                            \
        ROW(I32_TRUNC_SAT_F32_S, sat_i32_f32_s)                                                              \
        ROW(I32_TRUNC_SAT_F32_U, sat_i32_f32_u)                                                              \
        ROW(I32_TRUNC_SAT_F64_S, sat_i32_f64_s)                                                              \
        ROW(I32_TRUNC_SAT_F64_U, sat_i32_f64_u)                                                              \
        ROW(I64_TRUNC_SAT_F32_S, sat_i64_f32_s)                                                              \
        ROW(I64_TRUNC_SAT_F32_U, sat_i64_f32_u)                                                              \
        ROW(I64_TRUNC_SAT_F64_S, sat_i64_f64_s)                                                              \
        ROW(I64_TRUNC_SAT_F64_U, sat_i64_f64_u)                                                              \
        ROW(I64_TRUNC_F32_U, to_i64_f32_u)                                                                   \
        ROW(I64_TRUNC_F64_U, to_i64_f64_u)                                                                   \
        ROW(F32_CONVERT_I64_U, f32_of_u64)                                                                   \
        ROW(F64_CONVERT_I64_U, f64_of_u64)

#define NUMBER(op, fn) OPCODE_##op,
#define INDEX(op, fn)  [WASM_##op] = HELPER_OPCODES + OPCODE_##op,
#define ENTRY(op, fn)  [HELPER_OPCODES + OPCODE_##op] = fn,
enum { OPCODES(NUMBER) OPCODE__COUNT };
_Static_assert(HELPER_OPCODES + OPCODE__COUNT == HELPER__COUNT, "a number for each helper");

wasm_helper_fn *const wasm_helpers[HELPER__COUNT] = { [HELPER_HOST_CALL] = host_call,
                                                      [HELPER_SHUFFLE] = shuffle_lanes,
                                                      [HELPER_VECTOR] = vector_op,
                                                      [HELPER_VECTOR_MEMORY] = vector_memory,
                                                      OPCODES(ENTRY) };

/* Operands and results; R is a reference of the instruction's table. */
static const char *signature_form(const struct wasm_insn *x)
{
        switch (x->op) {
        case WASM_TABLE_GET:
                return "i:R";
        case WASM_TABLE_SET:
                return "iR:";
        case WASM_TABLE_GROW:
                return "Ri:i";
        case WASM_TABLE_FILL:
                return "iRi:";
        case WASM_TABLE_SIZE:
                return ":i";
        case WASM_DATA_DROP:
        case WASM_ELEM_DROP:
                return ":";
        default:
                return x->row->sig ? x->row->sig : "iii:";
        }
}

struct wasm_help wasm_help(const struct wasm_module *m, const struct wasm_insn *x)
{
        static const uint8_t numbers[WASM_OP__COUNT] = { OPCODES(INDEX) };
        bool in_memory = x->row->imm == WASM_IMM_MEM || x->row->imm == WASM_IMM_MEM_LANE;
        uint64_t lane = (uint64_t) x->lane << 8 | (x->op & 0xff);
        struct wasm_help h = { .sig = "" };
        char *to = h.sig;

        for (const char *p = signature_form(x); *p; p++)
                *to++ = *p == 'R' ? wasm_type_letter(m->tables[x->index].type) : *p;
        if (x->op == WASM_I8X16_SHUFFLE) {
                h.helper = HELPER_SHUFFLE;
                h.arg = (uint64_t) (x->p - m->bytes.p);
        } else if (x->op >= WASM_V128_LOAD) {
                h.helper = in_memory ? HELPER_VECTOR_MEMORY : HELPER_VECTOR;
                h.arg = in_memory ? x->value << 16 | lane : lane;
        } else {
                h.helper = numbers[x->op];
                h.arg = (uint64_t) x->index2 << 32 | x->index;
        }
        return h;
}
