/* SPDX-License-Identifier: MIT */
/* wall/wasm/compile/compile.c - all functions of an instance, one after the other. */
#include "wall/wasm/compile/compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LEAST_WEIGHT = 3, LOOP_SHIFT = 3, LOOP_LEVELS = 4 };

static void add_local(struct compiler *c, uint8_t type, uint32_t *slot)
{
        c->locals[c->n_locals++] = (struct local){ .slot = *slot, .type = type, .reg = NO_REG };
        *slot += wasm_type_slots(type);
}

static uint32_t set_locals(struct compiler *c)
{
        uint32_t slot = 0;

        c->n_locals = 0;
        for (uint32_t i = 0; i < c->type.n_params; i++)
                add_local(c, c->type.params[i], &slot);
        for (uint32_t i = 0; i < c->body->n_groups; i++)
                for (uint32_t k = 0; k < c->body->locals[i].count; k++)
                        add_local(c, c->body->locals[i].type, &slot);
        return slot;
}

/* How often each local is used, more in loops; and whether there is a memory to reach. */
static void weigh_locals(struct compiler *c)
{
        struct wasm_reader r = c->r;
        struct wasm_insn x;
        uint32_t depth = 0, loops = 0;

        c->has_memory = false;
        while (r.p < r.end) {
                if (*r.p >= WASM_I32_EQZ && *r.p <= WASM_I64_EXTEND32_S) { /* most often: no immediate */
                        r.p++;
                        continue;
                }
                if (!wasm_insn_read(&r, &x))
                        return;
                if (x.op == WASM_BLOCK || x.op == WASM_LOOP || x.op == WASM_IF) {
                        c->labels[depth++].op = x.op;
                        loops += x.op == WASM_LOOP;
                } else if (x.op == WASM_END && depth) {
                        loops -= c->labels[--depth].op == WASM_LOOP;
                } else if (x.op >= WASM_LOCAL_GET && x.op <= WASM_LOCAL_TEE) {
                        uint32_t add = 1u << LOOP_SHIFT * (loops < LOOP_LEVELS ? loops : LOOP_LEVELS);
                        uint32_t *w = &c->locals[x.index].weight;
                        *w = *w > UINT32_MAX - add ? UINT32_MAX : *w + add;
                }
                c->has_memory |= x.row->imm == WASM_IMM_MEM;
        }
}

/* The locals of one class with the greatest weights get its registers. */
static void pin_locals(struct compiler *c, bool floats)
{
        const uint8_t *regs = mc_registers.locals[floats];

        for (size_t k = 0; k < mc_registers.n_locals[floats]; k++) {
                struct local *best = NULL;
                for (uint32_t i = 0; i < c->n_locals; i++) {
                        struct local *l = &c->locals[i];
                        if (l->reg == NO_REG && l->type != WASM_V128 && is_float(l->type) == floats &&
                            l->weight >= LEAST_WEIGHT && (!best || l->weight > best->weight))
                                best = l;
                }
                if (!best)
                        return;
                best->reg = regs[k];
                c->saves[c->n_saves++] = regs[k];
        }
}

/* Unreachable code is skipped up to the `else` or `end` of its block. */
static void skip_dead(struct compiler *c, const struct wasm_insn *x)
{
        if (x->op == WASM_LOOP)
                c->loop++;
        if (x->op == WASM_BLOCK || x->op == WASM_LOOP || x->op == WASM_IF)
                c->dead++;
        else if (x->op == WASM_END && c->dead > 1)
                c->dead--;
        else if (c->dead == 1 && (x->op == WASM_END || x->op == WASM_ELSE))
                cc_insn(c, x);
}

static void write_function(struct compiler *c)
{
        struct wasm_insn x;

        c->r = (struct wasm_reader){
                c->body->code.p, c->body->code.p, c->body->code.p + c->body->code.n, NULL, 0, NULL
        };
        c->n_operands = c->n_patches = c->n_exits = c->loop = c->dead = c->n_saves = 0;
        rg_reset(c);
        c->first_save = set_locals(c);
        weigh_locals(c);
        pin_locals(c, false);
        pin_locals(c, true);
        c->first_home = c->first_save + c->n_saves;
        c->labels[0] = (struct label){ WASM_BLOCK, 0, 0, NOWHERE, NOWHERE, c->type };
        c->n_labels = 1;

        cc_begin(c);
        while (c->n_labels > 0 && !c->failed && !c->k.full && wasm_insn_read(&c->r, &x)) {
                if (c->dead)
                        skip_dead(c, &x);
                else
                        cc_insn(c, &x);
        }
}

/* Jumps are short, until one is not. */
static void compile_function(struct compiler *c, uint32_t index)
{
        uint32_t start = c->k.at, sites = c->n_sites;

        c->body = &c->m->bodies[index];
        c->type = *wasm_type_of_func(c->m, c->m->n_imported_funcs + index);
        c->k.restart = start;
        c->k.is_far = c->k.too_short = false;
        write_function(c);
        if (!c->k.too_short)
                return;

        c->k.at = start;
        c->n_sites = sites;
        c->k.is_far = true;
        write_function(c);
}

static bool allocate_code(struct compiler *c)
{
        uint32_t operands = 0, nesting = 0, locals = 0;

        for (uint32_t i = 0; i < c->m->n_bodies; i++) {
                const struct wasm_body *b = &c->m->bodies[i];
                uint32_t n = b->n_locals + wasm_type_of_func(c->m, c->m->n_imported_funcs + i)->n_params;
                operands = b->operands > operands ? b->operands : operands;
                nesting = b->nesting > nesting ? b->nesting : nesting;
                locals = n > locals ? n : locals;
        }
        c->operands = reallocarray(NULL, operands + 2, sizeof *c->operands);
        c->labels = reallocarray(NULL, nesting + 2, sizeof *c->labels);
        c->locals = reallocarray(NULL, locals + 1, sizeof *c->locals);
        return c->operands && c->labels && c->locals;
}

static void link_calls(struct compiler *c, const uint32_t *entries)
{
        for (uint32_t i = 0; i < c->n_sites; i++) {
                const struct call_site *s = &c->sites[i];
                mc_patch(&c->k, s->at, entries[s->func - c->m->n_imported_funcs]);
        }
}

static int compile_all(struct compiler *c, struct stubs *stubs, uint32_t *entries, struct err *e)
{
        c->failed = !allocate_code(c);
        mc_stubs(&c->k, stubs);
        cc_trap_stubs(c, stubs);
        for (uint32_t i = 0; i < c->m->n_bodies && !c->failed && !c->k.full; i++) {
                entries[i] = c->k.at;
                compile_function(c, i);
        }
        if (!c->failed && !c->k.full)
                link_calls(c, entries);
        free(c->operands);
        free(c->labels);
        free(c->locals);
        free(c->patches);
        free(c->exits);
        free(c->sites);
        if (c->failed)
                return err_set(e, ERR_MEMORY, 0, "no memory to compile the module");
        if (c->k.full)
                return err_set(e, ERR_LIMIT, 0, "the module's code is over the limit of the compiler");
        return 0;
}

size_t compile_whole_pages(size_t n) { return (n + COMPILE_PAGE - 1) & ~(size_t) (COMPILE_PAGE - 1); }

void compile_free(struct wasm_native *c)
{
        if (c && c->base)
                (void) munmap(c->base, c->bytes);
        if (c)
                free(c->entries);
        free(c);
}

int compile_module(const struct wasm_module *m, struct wasm_native *ret, struct err *e)
{
        size_t bytes = m->bytes.n * (size_t) COMPILE_GROWTH + COMPILE_MIN_CODE;
        struct compiler c = { .m = m, .stubs = &ret->stubs };

        c.data = data_layout(m);
        size_t data = compile_whole_pages(c.data.count * sizeof(uint64_t));
        if (bytes > MC_MAX_CODE)
                bytes = MC_MAX_CODE;
        ret->entries = reallocarray(NULL, m->n_bodies + 1, sizeof *ret->entries);
        void *p = mmap(NULL, data + bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ret->base = p == MAP_FAILED ? NULL : p;
        ret->bytes = data + bytes;
        if (!ret->base || !ret->entries)
                return err_set(e, ERR_MEMORY, errno, "no memory for the module's code");

        ret->code = ret->base + data;
        c.k = (struct code){ .base = ret->code,
                             .room = (uint32_t) bytes - COMPILE_SLACK,
                             .data_bytes = (uint32_t) data };
        if (compile_all(&c, &ret->stubs, ret->entries, e) < 0)
                return -1;

        ret->used = compile_whole_pages(c.k.at);
        if (ret->used < bytes)
                (void) munmap(ret->code + ret->used, bytes - ret->used);
        ret->bytes = data + ret->used;
        return 0;
}
