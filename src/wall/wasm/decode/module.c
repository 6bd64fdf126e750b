/* SPDX-License-Identifier: MIT */
/* wall/wasm/decode/module.c - the sections of a module, in their order, by table. */
#include "wall/wasm/decode/sections.h"

enum { SECTION_CUSTOM = 0 };

/* By section id; `order` is the place where it may stand. */
static const struct {
        uint8_t order;
        void (*read)(struct wasm_module *, struct wasm_reader *);
} sections[] = {
        [1] = { 1, wasm_section_types },    [2] = { 2, wasm_section_imports },
        [3] = { 3, wasm_section_funcs },    [4] = { 4, wasm_section_tables },
        [5] = { 5, wasm_section_memories }, [6] = { 6, wasm_section_globals },
        [7] = { 7, wasm_section_exports },  [8] = { 8, wasm_section_start },
        [9] = { 9, wasm_section_elems },    [12] = { 10, wasm_section_data_count },
        [10] = { 11, wasm_section_code },   [11] = { 12, wasm_section_datas },
};
enum { SECTION_IDS = sizeof sections / sizeof *sections };

static void read_header(struct wasm_reader *r)
{
        static const uint8_t magic[] = { 0, 'a', 's', 'm' };

        if (!span_eq(wasm_get_bytes(r, 4), span_of(magic, 4)))
                (void) wasm_reader_fail(r, "magic header not detected");

        struct span v = wasm_get_bytes(r, 4);
        uint32_t version =
                v.n < 4 ? 0
                        : v.p[0] | (uint32_t) v.p[1] << 8 | (uint32_t) v.p[2] << 16 | (uint32_t) v.p[3] << 24;
        if (version != 1)
                (void) wasm_reader_unknown(r, WASM_IN_VERSION, version, "unknown binary version");
}

/* Reads one section; *order is that of the last one. */
static void read_section(struct wasm_module *m, struct wasm_reader *r, uint8_t *order)
{
        uint8_t id = wasm_get_byte(r);
        struct span body = wasm_get_bytes(r, wasm_get_u32(r));
        struct wasm_reader in = *r;
        in.p = body.p;
        in.end = body.p + body.n;

        if (id == SECTION_CUSTOM) {
                (void) wasm_get_name(&in);
        } else if (id >= SECTION_IDS) {
                (void) wasm_reader_unknown(&in, WASM_IN_SECTION, id, "malformed section id");
        } else if (sections[id].order <= *order) {
                (void) wasm_reader_fail(&in, "unexpected content after last section");
        } else {
                *order = sections[id].order;
                sections[id].read(m, &in);
                if (!wasm_reader_done(&in))
                        (void) wasm_reader_fail(&in, "section size mismatch");
        }

        if (in.bad)
                *r = in;
}

static void check_counts(const struct wasm_module *m, struct wasm_reader *r)
{
        if (m->n_funcs - m->n_imported_funcs != m->n_bodies)
                (void) wasm_reader_fail(r, "function and code section have inconsistent lengths");
        if (m->has_data_count && m->data_count != m->n_datas)
                (void) wasm_reader_fail(r, "data count and data section have inconsistent lengths");
}

int wasm_decode(struct wasm_module *m, struct span bytes, struct err *e)
{
        uint8_t order = 0;

        if (bytes.n == 0)
                return err_set(e, ERR_EXEC, 0, "the module is empty");
        if (bytes.n >= 4 && memcmp(bytes.p, "\0asm", 4) != 0) {
                (void) err_set(e, ERR_EXEC, 0,
                               "this is no WebAssembly module: it does not begin with \\0asm");
                return err_hint(
                        e, "behind the wasm wall the command is x.wasm, x.js or x.mjs; TypeScript is made "
                           "JavaScript first (tsc, esbuild)");
        }
        if (bytes.n > WASM_MAX_BYTES)
                return err_set(e, ERR_EXEC, 0, "the module is larger than %d bytes", WASM_MAX_BYTES);

        struct wasm_reader r = { bytes.p, bytes.p, bytes.p + bytes.n, NULL, 0, NULL };
        m->bytes = bytes;
        read_header(&r);
        while (!r.bad && !wasm_reader_done(&r))
                read_section(m, &r, &order);
        if (!r.bad)
                check_counts(m, &r);

        return r.bad ? wasm_reader_err(&r, e) : 0;
}
