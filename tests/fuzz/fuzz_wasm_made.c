/* SPDX-License-Identifier: MIT */
/* fuzz_wasm_made.c - a valid module made of the input, which chooses types, instructions and constants: the
 * validator must accept it, and both engines must do the same with it. fuzz_wasm.c changes bytes of modules,
 * and most of those are not valid.
 *
 * An instruction takes the operands that are on the stack if their types fit; the others are made for it. */
#include "../wasm_pair.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
        TYPES = 6,
        IMPORTS = 1,
        FUNCS = 4,
        LOCALS = 8,
        GLOBALS = 7,
        TABLES = 2,
        SEGMENTS = 2,
        MOST_LABELS = 12,
        MOST_STACK = 64
};
static const char letters[] = "ilfdvre";

struct bytes {
        uint8_t p[1 << 15];
        size_t n;
};

struct types {
        char params[4], results[4];
};

struct open_label {
        uint16_t op;
        size_t height;
        char params[4], results[4];
};

static struct {
        const uint8_t *p, *end;
} in;
static struct types types[TYPES], func_types[IMPORTS + FUNCS];
static uint8_t type_of[IMPORTS + FUNCS];
static struct bytes module, section, body;
static struct {
        char locals[LOCALS + 4], stack[2 * MOST_STACK];
        size_t n_locals, n;
        struct open_label labels[MOST_LABELS + 1];
        size_t n_labels;
        const struct types *type;
} fn;

static void make_value(char letter);

/* ---- input ---- */

static bool has_more(void) { return in.p < in.end; }
static uint8_t byte(void) { return has_more() ? *in.p++ : 0; }
static uint32_t pick(uint32_t n) { return byte() % n; }
static uint64_t word(unsigned n)
{
        uint64_t v = 0;

        while (n-- > 0)
                v = v << 8 | byte();
        return v;
}

/* ---- output ---- */

static void put(struct bytes *b, uint8_t v)
{
        pair_must(b->n < sizeof b->p);
        b->p[b->n++] = v;
}

static void put_u32(struct bytes *b, uint32_t v)
{
        for (; v >= 0x80; v >>= 7)
                put(b, (uint8_t) (v | 0x80));
        put(b, (uint8_t) v);
}

static void put_signed(struct bytes *b, int64_t v)
{
        for (; v < -64 || v > 63; v >>= 7)
                put(b, (uint8_t) ((v & 0x7f) | 0x80));
        put(b, (uint8_t) (v & 0x7f));
}

static void put_op(struct bytes *b, uint16_t op)
{
        if (op < 0x100) {
                put(b, (uint8_t) op);
                return;
        }
        put(b, op < 0x200 ? 0xfc : 0xfd);
        put_u32(b, op & 0xff);
}

static void put_types(struct bytes *b, const char *t)
{
        put_u32(b, (uint32_t) strlen(t));
        for (; *t; t++)
                put(b, (uint8_t) wasm_letter_type(*t));
}

static void put_section(uint8_t id)
{
        put(&module, id);
        put_u32(&module, (uint32_t) section.n);
        for (size_t i = 0; i < section.n; i++)
                put(&module, section.p[i]);
        section.n = 0;
}

/* ---- the stack of types ---- */

static void push(char letter)
{
        pair_must(fn.n < sizeof fn.stack);
        fn.stack[fn.n++] = letter;
}

static size_t floor_of(void) { return fn.labels[fn.n_labels - 1].height; }

/* Makes the operands be on top of the stack: takes as many of them from it as fit. */
static void want(const char *operands)
{
        size_t n = strlen(operands), have = fn.n - floor_of(), fit = n < have ? n : have;

        while (fit > 0 && memcmp(fn.stack + fn.n - fit, operands, fit) != 0)
                fit--;
        for (; fit < n; fit++)
                make_value(operands[fit]);
}

static void apply(const char *operands, const char *results)
{
        fn.n -= strlen(operands);
        for (; *results; results++)
                push(*results);
}

/* Leaves exactly these on the stack of the block. */
static void settle(const char *results)
{
        size_t have = fn.n - floor_of();

        if (have > strlen(results) || memcmp(fn.stack + floor_of(), results, have) != 0)
                for (; fn.n > floor_of(); fn.n--)
                        put_op(&body, WASM_DROP);
        want(results);
}

/* ---- values ---- */

/* Numbers near the edges of something: of zero, of a type, of a memory. */
static int64_t edge(void)
{
        static const int64_t edges[] = { 0,         1,         -1,        65536,        65535, 65528,
                                         31,        32,        63,        64,           127,   INT32_MIN,
                                         INT32_MAX, INT64_MIN, INT64_MAX, 4 * 65536 - 8 };
        uint8_t b = byte();

        if (b >= 200)
                return (int64_t) word(b & 7);
        return b < 64 ? b : (int64_t) ((uint64_t) edges[b % 16] + (b >> 4 & 3) - 1);
}

static uint64_t float_bits(bool wide)
{
        static const double values[] = {
                0.0, -0.0, 1.0, -1.5, 2147483648.0, 4294967296.0, 9223372036854775808.0, 1e300, 1e-310, -0.5
        };
        uint8_t b = byte();
        double d = values[b % 10];
        float f = (float) d;
        uint64_t bits = 0;

        if (b > 150) /* infinities and NaNs, often */
                return b < 180 ? (wide ? 0x7ff0000000000000 : 0x7f800000) | (uint64_t) (b & 1)
                                                                                    << (wide ? 63 : 31)
                               : word(wide ? 8 : 4);
        memcpy(&bits, wide ? (void *) &d : (void *) &f, wide ? 8 : 4);
        return bits;
}

static void put_bits(struct bytes *b, uint64_t bits, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                put(b, (uint8_t) (bits >> 8 * i));
}

static void put_const(struct bytes *b, char letter)
{
        switch (letter) {
        case 'i':
                put_op(b, WASM_I32_CONST);
                put_signed(b, (int32_t) edge());
                return;
        case 'l':
                put_op(b, WASM_I64_CONST);
                put_signed(b, edge());
                return;
        case 'f':
        case 'd':
                put_op(b, letter == 'f' ? WASM_F32_CONST : WASM_F64_CONST);
                put_bits(b, float_bits(letter == 'd'), letter == 'f' ? 4 : 8);
                return;
        case 'v':
                put_op(b, WASM_V128_CONST);
                put_bits(b, (uint64_t) edge(), 8);
                put_bits(b, float_bits(true), 8);
                return;
        case 'r':
                if (pick(3)) {
                        put_op(b, WASM_REF_FUNC);
                        put_u32(b, pick(IMPORTS + FUNCS));
                        return;
                }
        }
        put_op(b, WASM_REF_NULL);
        put(b, (uint8_t) wasm_letter_type(letter));
}

/* A local, a global or a constant of this type. */
static void make_value(char letter)
{
        uint32_t how = pick(4), at = pick(LOCALS);

        push(letter);
        for (uint32_t i = 0; how < 2 && i < fn.n_locals; i++) {
                uint32_t k = (at + i) % (uint32_t) fn.n_locals;
                if (fn.locals[k] == letter) {
                        put_op(&body, WASM_LOCAL_GET);
                        put_u32(&body, k);
                        return;
                }
        }
        if (how == 2) {
                put_op(&body, WASM_GLOBAL_GET);
                put_u32(&body, (uint32_t) (strchr(letters, letter) - letters));
                return;
        }
        put_const(&body, letter);
}

/* ---- instructions ---- */

/* At most three types, and one more. */
static void join(char ret[8], const char *a, const char *b)
{
        size_t n = strnlen(a, 4);

        memcpy(ret, a, n);
        ret[n] = b[0];
        ret[n + 1] = '\0';
}

static void put_local(void)
{
        static const uint16_t ops[] = { WASM_LOCAL_GET, WASM_LOCAL_SET, WASM_LOCAL_TEE };
        uint16_t op = ops[pick(3)];
        uint32_t at = pick((uint32_t) fn.n_locals);
        char type[2] = { fn.locals[at] };

        if (op != WASM_LOCAL_GET)
                want(type);
        put_op(&body, op);
        put_u32(&body, at);
        apply(op == WASM_LOCAL_GET ? "" : type, op == WASM_LOCAL_SET ? "" : type);
}

static void put_global(void)
{
        uint32_t at = pick(GLOBALS);
        char type[2] = { letters[at] };

        want(type);
        put_op(&body, WASM_GLOBAL_SET);
        put_u32(&body, at);
        apply(type, "");
}

static void put_select(void)
{
        char letter = letters[pick(7)], operands[4] = { letter, letter, 'i' }, result[2] = { letter };

        want(operands);
        if (letter == 'r' || letter == 'e' || pick(2)) {
                put_op(&body, WASM_SELECT_T);
                put_types(&body, result);
        } else {
                put_op(&body, WASM_SELECT);
        }
        apply(operands, result);
}

static void put_call(void)
{
        bool is_indirect = pick(2), is_tail = pick(8) == 0;
        uint32_t at = is_indirect ? pick(TYPES) : pick(IMPORTS + FUNCS);
        const struct types *t = is_indirect ? &types[at] : &func_types[at];
        char operands[8];

        is_tail = is_tail && strcmp(t->results, fn.type->results) == 0;
        join(operands, t->params, is_indirect ? "i" : "");
        want(operands);
        put_op(&body, is_indirect ? (is_tail ? WASM_RETURN_CALL_INDIRECT : WASM_CALL_INDIRECT)
                                  : (is_tail ? WASM_RETURN_CALL : WASM_CALL));
        put_u32(&body, at);
        if (is_indirect)
                put(&body, 0);
        apply(operands, t->results);
        if (is_tail)
                fn.n = floor_of();
}

static void open_block(uint16_t op)
{
        const struct types *t = &types[pick(TYPES)];
        uint32_t form = pick(3);
        struct open_label l = { .op = op };
        char operands[8];

        if (fn.n_labels == MOST_LABELS)
                return;
        if (form == 2) {
                memcpy(l.params, t->params, sizeof l.params);
                memcpy(l.results, t->results, sizeof l.results);
        } else if (form == 1) {
                l.results[0] = letters[pick(7)];
        }
        join(operands, l.params, op == WASM_IF ? "i" : "");
        want(operands);
        put_op(&body, op);
        if (form == 2)
                put_signed(&body, t - types);
        else
                put(&body, form == 1 ? (uint8_t) wasm_letter_type(l.results[0]) : 0x40);
        fn.n -= strlen(operands);
        l.height = fn.n;
        fn.labels[fn.n_labels++] = l;
        apply("", l.params);
}

/* An `if` becomes its `else`, which ends later. */
static void close_block(void)
{
        struct open_label *l = &fn.labels[fn.n_labels - 1];

        settle(l->results);
        fn.n = l->height;
        if (l->op == WASM_IF) {
                put_op(&body, WASM_ELSE);
                l->op = WASM_BLOCK;
                apply("", l->params);
                return;
        }
        put_op(&body, WASM_END);
        fn.n_labels--;
        apply("", l->results);
}

static const char *label_types(uint32_t depth)
{
        const struct open_label *l = &fn.labels[fn.n_labels - 1 - depth];

        return l->op == WASM_LOOP ? l->params : l->results;
}

static void put_table(const char *with)
{
        uint32_t n = pick(4);

        put_op(&body, WASM_BR_TABLE);
        put_u32(&body, n);
        for (uint32_t i = 0; i <= n; i++) {
                uint32_t depth = pick((uint32_t) fn.n_labels), tries = 0;
                while (strcmp(label_types(depth), with) != 0 && tries++ < MOST_LABELS)
                        depth = (depth + 1) % (uint32_t) fn.n_labels;
                put_u32(&body, depth);
        }
}

static void put_branch(void)
{
        static const uint16_t ops[] = { WASM_BR,       WASM_BR_IF,  WASM_BR_IF,
                                        WASM_BR_TABLE, WASM_RETURN, WASM_UNREACHABLE };
        uint16_t op = ops[pick(6)];
        uint32_t depth = pick((uint32_t) fn.n_labels);
        bool has_condition = op == WASM_BR_IF || op == WASM_BR_TABLE;
        char operands[8] = "";

        if (op == WASM_RETURN)
                depth = (uint32_t) fn.n_labels - 1;
        if (op != WASM_UNREACHABLE)
                join(operands, label_types(depth), has_condition ? "i" : "");
        want(operands);
        if (op == WASM_BR_TABLE)
                put_table(label_types(depth));
        else
                put_op(&body, op);
        if (op == WASM_BR || op == WASM_BR_IF)
                put_u32(&body, depth);
        if (op == WASM_BR_IF)
                fn.n--;
        else
                fn.n = floor_of();
}

/* Tables, segments and references: operands, results, and the space of each index. */
static void put_reference_op(void)
{
        static const struct {
                uint16_t op;
                const char *operands, *results;
                uint8_t space, space2;
        } rows[] = {
                { WASM_TABLE_GET, "i", "r", TABLES, 0 },
                { WASM_TABLE_SET, "ir", "", TABLES, 0 },
                { WASM_TABLE_SIZE, "", "i", TABLES, 0 },
                { WASM_TABLE_GROW, "ri", "i", TABLES, 0 },
                { WASM_TABLE_FILL, "iri", "", TABLES, 0 },
                { WASM_TABLE_COPY, "iii", "", TABLES, TABLES },
                { WASM_TABLE_INIT, "iii", "", SEGMENTS, TABLES },
                { WASM_ELEM_DROP, "", "", SEGMENTS, 0 },
                { WASM_MEMORY_INIT, "iii", "", SEGMENTS, 1 },
                { WASM_DATA_DROP, "", "", SEGMENTS, 0 },
                { WASM_MEMORY_COPY, "iii", "", 1, 1 },
                { WASM_MEMORY_FILL, "iii", "", 1, 0 },
                { WASM_MEMORY_GROW, "i", "i", 1, 0 },
                { WASM_MEMORY_SIZE, "", "i", 1, 0 },
                { WASM_REF_IS_NULL, "r", "i", 0, 0 },
                { WASM_REF_IS_NULL, "e", "i", 0, 0 },
        };
        uint32_t at = pick(sizeof rows / sizeof *rows);

        want(rows[at].operands);
        put_op(&body, rows[at].op);
        if (rows[at].space)
                put_u32(&body, pick(rows[at].space));
        if (rows[at].space2)
                put_u32(&body, pick(rows[at].space2));
        apply(rows[at].operands, rows[at].results);
}

/* The immediates of an instruction with a signature; false if it is made elsewhere. */
static bool put_immediates(uint8_t imm, uint8_t arg)
{
        switch ((enum wasm_imm) imm) {
        case WASM_IMM_NONE:
                return true;
        case WASM_IMM_MEM:
        case WASM_IMM_MEM_LANE:
                put_u32(&body, pick(arg + 1u));
                put_u32(&body, pick(4) ? pick(16) : (uint32_t) edge());
                if (imm == WASM_IMM_MEM_LANE)
                        put(&body, (uint8_t) pick(16u >> arg));
                return true;
        case WASM_IMM_LANE:
                put(&body, (uint8_t) pick(arg));
                return true;
        case WASM_IMM_SHUFFLE:
                for (unsigned i = 0; i < 16; i++)
                        put(&body, (uint8_t) pick(32));
                return true;
        case WASM_IMM_BLOCK:
        case WASM_IMM_INDEX:
        case WASM_IMM_INDEX2:
        case WASM_IMM_INDEX_ZERO:
        case WASM_IMM_ZERO:
        case WASM_IMM_ZERO2:
        case WASM_IMM_TABLE:
        case WASM_IMM_TYPES:
        case WASM_IMM_REFTYPE:
        case WASM_IMM_I32:
        case WASM_IMM_I64:
        case WASM_IMM_F32:
        case WASM_IMM_F64:
        case WASM_IMM_V128:
        case WASM_IMM__COUNT:
                break;
        }
        return false;
}

static const struct row {
        uint16_t op;
        uint8_t imm, arg;
        const char *sig;
} all[] = {
#define OP(code, name, imm, sig, arg) { code, WASM_IMM_##imm, arg, sig },
#include "wall/wasm/opcodes.inc"
#undef OP
};

static void put_plain(void)
{
        const struct row *r = &all[word(2) % (sizeof all / sizeof *all)];
        char operands[8] = "";

        if (!r->sig || (r->imm != WASM_IMM_NONE && (r->imm < WASM_IMM_MEM || r->imm > WASM_IMM_SHUFFLE)))
                return;
        memcpy(operands, r->sig, wasm_sig_operands(r->sig));
        want(operands);
        put_op(&body, r->op);
        pair_must(put_immediates(r->imm, r->arg));
        apply(operands, r->sig + strlen(operands) + 1);
}

static void put_insn(void)
{
        static void (*const makers[])(void) = { put_local, put_global, put_select,
                                                put_call,  put_branch, put_reference_op };
        uint8_t what = byte();

        if (fn.n > MOST_STACK)
                settle("");
        if (what < 24)
                open_block((uint16_t) (WASM_BLOCK + what % 3));
        else if (what < 56 && fn.n_labels > 1)
                close_block();
        else if (what < 128)
                makers[what % 6]();
        else
                put_plain();
}

/* ---- the module ---- */

static void choose_types(char *t, uint32_t most)
{
        for (uint32_t i = 0, n = pick(most + 1); i < n; i++)
                t[i] = letters[pick(7)];
}

static void put_type_section(void)
{
        memset(types, 0, sizeof types);
        put_u32(&section, TYPES);
        for (uint32_t i = 0; i < TYPES; i++) {
                choose_types(types[i].params, 3);
                choose_types(types[i].results, i & 1 ? 1 : 3);
                put(&section, 0x60);
                put_types(&section, types[i].params);
                put_types(&section, types[i].results);
        }
        put_section(1);
        for (uint32_t i = 0; i < IMPORTS + FUNCS; i++) {
                type_of[i] = (uint8_t) pick(TYPES);
                func_types[i] = types[type_of[i]];
        }
}

static void put_spaces(void)
{
        const uint8_t import[] = { 1, 1, 'h', 1, 'f', WASM_FUNC, type_of[0] };
        const uint8_t memory[] = { 1, 1, 1, 3 }; /* one page, at most three */

        for (size_t i = 0; i < sizeof import; i++)
                put(&section, import[i]);
        put_section(2);
        put(&section, FUNCS);
        for (uint32_t i = 0; i < FUNCS; i++)
                put(&section, type_of[IMPORTS + i]);
        put_section(3);
        put(&section, TABLES);
        for (uint32_t i = 0; i < TABLES; i++) {
                put(&section, WASM_FUNCREF);
                put(&section, 0);
                put(&section, 8);
        }
        put_section(4);
        for (size_t i = 0; i < sizeof memory; i++)
                put(&section, memory[i]);
        put_section(5);
        put(&section, GLOBALS);
        for (uint32_t i = 0; i < GLOBALS; i++) {
                put(&section, (uint8_t) wasm_letter_type(letters[i]));
                put(&section, 1);
                put_const(&section, letters[i]);
                put_op(&section, WASM_END);
        }
        put_section(6);
}

static void put_exports_and_elements(void)
{
        put(&section, FUNCS);
        for (uint32_t i = 0; i < FUNCS; i++) {
                put(&section, 1);
                put(&section, (uint8_t) ('a' + i));
                put(&section, WASM_FUNC);
                put(&section, (uint8_t) (IMPORTS + i));
        }
        put_section(7);
        put(&section, SEGMENTS);
        for (uint32_t i = 0; i < SEGMENTS; i++) { /* the first is active, in the first table */
                put(&section, i ? 1 : 0);
                if (i == 0) {
                        put_op(&section, WASM_I32_CONST);
                        put_signed(&section, 1);
                        put_op(&section, WASM_END);
                } else {
                        put(&section, 0);
                }
                put(&section, IMPORTS + FUNCS);
                for (uint32_t k = 0; k < IMPORTS + FUNCS; k++)
                        put(&section, (uint8_t) k);
        }
        put_section(9);
        put(&section, SEGMENTS);
        put_section(12);
}

static void put_body(uint32_t func, size_t end)
{
        const struct types *t = &func_types[func];

        memset(&fn, 0, sizeof fn);
        fn.type = t;
        memcpy(fn.locals, t->params, sizeof t->params);
        fn.n_locals = strlen(fn.locals);
        body.n = 0;
        put(&body, LOCALS);
        for (uint32_t i = 0; i < LOCALS; i++) {
                char letter = letters[pick(7)];
                put(&body, 1);
                put(&body, (uint8_t) wasm_letter_type(letter));
                fn.locals[fn.n_locals++] = letter;
        }
        fn.labels[0] = (struct open_label){ .op = WASM_BLOCK };
        memcpy(fn.labels[0].results, t->results, sizeof t->results);
        fn.n_labels = 1;
        while ((size_t) (in.end - in.p) > end && body.n < 4000)
                put_insn();
        while (fn.n_labels > 0)
                close_block();
        put_u32(&section, (uint32_t) body.n);
        for (size_t i = 0; i < body.n; i++)
                put(&section, body.p[i]);
}

static void put_code_and_data(void)
{
        size_t left = (size_t) (in.end - in.p);

        put(&section, FUNCS);
        for (uint32_t i = 0; i < FUNCS; i++)
                put_body(IMPORTS + i, left / FUNCS * (FUNCS - 1 - i));
        put_section(10);
        put(&section, SEGMENTS);
        for (uint32_t i = 0; i < SEGMENTS; i++) {
                put(&section, 1); /* passive */
                put(&section, 32);
                for (uint8_t k = 0; k < 32; k++)
                        put(&section, (uint8_t) (k * 37 + i));
        }
        put_section(11);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const uint8_t magic[] = { 0, 'a', 's', 'm', 1, 0, 0, 0 };
        struct err e;

        in.p = data;
        in.end = data + (size < 2000 ? size : 2000);
        module.n = section.n = 0;
        for (size_t i = 0; i < sizeof magic; i++)
                put(&module, magic[i]);
        put_type_section();
        put_spaces();
        put_exports_and_elements();
        put_code_and_data();

        struct wasm_module *m = wasm_module_load(span_of(module.p, module.n), &e);
        if (getenv("MADE_MODULE")) { /* to look at it */
                FILE *f = fopen(getenv("MADE_MODULE"), "wb");
                pair_must(f && fwrite(module.p, module.n, 1, f) == 1 && fclose(f) == 0);
        }
        if (!m)
                (void) fprintf(stderr, "not valid: %s\n", e.what);
        pair_must(m != NULL);
        pair_run(m);
        wasm_module_free(m);
        return 0;
}
