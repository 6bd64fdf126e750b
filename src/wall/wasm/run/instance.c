/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/instance.c - stores and instances: allocation, segments, start, exports. */
#include "wall/wasm/opcode.h"
#include "wall/wasm/run/runtime.h"

#include <stdlib.h>
#include <sys/mman.h>

const struct wasm_limits wasm_limits_default = {
        .memory_pages = WASM_MAX_PAGES,
        .table_items = WASM_MAX_ITEMS,
        .stack_slots = 1 << 20,
        .call_depth = 1 << 16,
        .fuel = UINT64_MAX,
};

const char *wasm_trap_text(enum wasm_trap t)
{
        static const char *const texts[] = {
                [WASM_OK] = "no trap",
                [WASM_TRAP_UNREACHABLE] = "unreachable",
                [WASM_TRAP_MEMORY] = "out of bounds memory access",
                [WASM_TRAP_TABLE] = "out of bounds table access",
                [WASM_TRAP_ELEMENT] = "undefined element",
                [WASM_TRAP_NULL] = "uninitialized element",
                [WASM_TRAP_TYPE] = "indirect call type mismatch",
                [WASM_TRAP_DIVIDE] = "integer divide by zero",
                [WASM_TRAP_OVERFLOW] = "integer overflow",
                [WASM_TRAP_CONVERT] = "invalid conversion to integer",
                [WASM_TRAP_STACK] = "call stack exhausted",
                [WASM_TRAP_FUEL] = "out of fuel",
                [WASM_TRAP_HOST] = "a host function failed",
                [WASM_TRAP_EXIT] = "the program exited",
                [WASM_TRAP_NO_MEMORY] = "the engine is out of memory",
        };
        _Static_assert(sizeof texts / sizeof *texts == WASM_TRAP__COUNT, "a text for each trap");

        return texts[t];
}

struct wasm_store *wasm_store_new(const struct wasm_engine *engine, const struct wasm_limits *l,
                                  struct err *e)
{
        struct wasm_store *s = calloc(1, sizeof *s);
        size_t bytes = (size_t) l->stack_slots * sizeof *s->stack;
        void *stack =
                mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (!s || stack == MAP_FAILED) {
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
                free(s);
                return NULL;
        }
        s->engine = engine;
        s->limits = *l;
        s->fuel = l->fuel;
        s->stack = stack;
        s->stack_end = s->stack + l->stack_slots;
        return s;
}

void wasm_store_free(struct wasm_store *s)
{
        if (!s)
                return;

        for (struct wasm_instance *i = s->instances; i; i = i->next)
                s->engine->release(i);
        if (s->engine->done)
                s->engine->done(s);
        for (struct wasm_memory *m = s->memories; m; m = m->next)
                wasm_memory_free(m);
        for (struct wasm_table *t = s->tables; t; t = t->next)
                free(t->items);
        (void) munmap(s->stack, (size_t) s->limits.stack_slots * sizeof *s->stack);
        arena_done(&s->arena);
        free(s);
}

uint64_t wasm_fuel(const struct wasm_store *s) { return s->fuel; }
void wasm_set_fuel(struct wasm_store *s, uint64_t fuel) { s->fuel = fuel; }

static struct wasm_instance *allocate_instance(struct wasm_store *s, const struct wasm_module *m)
{
        struct arena *a = &s->arena;
        struct wasm_instance *i = arena_alloc(a, sizeof *i);

        if (!i)
                return NULL;
        i->store = s;
        i->module = m;
        i->memory = &s->no_memory;
        i->funcs = arena_alloc(a, (m->n_funcs + 1) * sizeof(struct wasm_func *));
        i->own_funcs = arena_alloc(a, (m->n_bodies + 1) * sizeof *i->own_funcs);
        i->tables = arena_alloc(a, (m->n_tables + 1) * sizeof(struct wasm_table *));
        i->globals = arena_alloc(a, (m->n_globals + 1) * sizeof(struct wasm_global *));
        i->sigs = arena_alloc(a, (m->n_types + 1) * sizeof(struct wasm_sig *));
        i->dropped_elems = arena_alloc(a, m->n_elems + 1);
        i->dropped_datas = arena_alloc(a, m->n_datas + 1);
        if (!i->sigs)
                return NULL;
        for (uint32_t k = 0; k < m->n_types; k++)
                if (!(i->sigs[k] = wasm_sig_of_type(s, &m->types[k])))
                        return NULL;

        return a->failed ? NULL : i;
}

static void create_funcs(struct wasm_instance *i)
{
        const struct wasm_module *m = i->module;

        for (uint32_t k = 0; k < m->n_bodies; k++) {
                uint32_t index = m->n_imported_funcs + k;
                i->own_funcs[k] =
                        (struct wasm_func){ .sig = i->sigs[m->funcs[index]], .inst = i, .index = index };
                i->funcs[index] = &i->own_funcs[k];
        }
}

/* The tables, the memory and the globals that are the module's own. */
static int create_parts(struct wasm_instance *i, struct err *e)
{
        const struct wasm_module *m = i->module;

        for (uint32_t k = m->n_imported_tables; k < m->n_tables; k++)
                if (!(i->tables[k] = wasm_table_new(i->store, m->tables[k], e)))
                        return -1;
        if (m->n_memories > m->n_imported_memories && !(i->memory = wasm_memory_new(i->store, m->memory, e)))
                return -1;
        for (uint32_t k = m->n_imported_globals; k < m->n_globals; k++) {
                struct wasm_global *g = arena_alloc(&i->store->arena, sizeof *g);
                if (!g)
                        return err_set(e, ERR_MEMORY, 0, "out of memory");
                g->type = m->globals[k];
                wasm_const_value(i, m->global_inits[k], g->v);
                i->globals[k] = g;
        }

        return 0;
}

static enum wasm_trap run_segments(struct wasm_instance *i)
{
        const struct wasm_module *m = i->module;
        enum wasm_trap t = WASM_OK;
        uint64_t at[2];

        for (uint32_t k = 0; k < m->n_elems && t == WASM_OK; k++) {
                const struct wasm_elem *x = &m->elems[k];
                if (x->mode == WASM_ACTIVE) {
                        wasm_const_value(i, x->offset, at);
                        t = wasm_table_init(i, k, x->table,
                                            (struct wasm_span3){ (uint32_t) at[0], 0, x->count });
                }
                if (x->mode != WASM_PASSIVE && t == WASM_OK)
                        wasm_elem_drop(i, k);
        }
        for (uint32_t k = 0; k < m->n_datas && t == WASM_OK; k++) {
                const struct wasm_data *x = &m->datas[k];
                if (x->mode != WASM_ACTIVE)
                        continue;
                wasm_const_value(i, x->offset, at);
                t = wasm_memory_init(i, k, (uint32_t) at[0], 0, (uint32_t) x->bytes.n);
                if (t == WASM_OK)
                        wasm_data_drop(i, k);
        }

        return t;
}

static int run_start(struct wasm_instance *i, enum wasm_trap *ret_trap, struct err *e)
{
        uint64_t none[1] = { 0 };

        *ret_trap = run_segments(i);
        if (*ret_trap == WASM_OK && i->module->has_start)
                *ret_trap = wasm_call(i, i->funcs[i->module->start], none);

        return *ret_trap == WASM_OK
                       ? 0
                       : err_set(e, ERR_EXEC, 0, "the start of the module: %s", wasm_trap_text(*ret_trap));
}

int wasm_imports_fit(struct wasm_store *s, const struct wasm_module *m, struct err *e)
{
        struct wasm_instance *i = allocate_instance(s, m);

        return i ? wasm_link(i, e) : err_set(e, ERR_MEMORY, 0, "out of memory");
}

int wasm_instantiate(struct wasm_store *s, const struct wasm_module *m, struct wasm_instance **ret,
                     enum wasm_trap *ret_trap, struct err *e)
{
        struct wasm_instance *i = allocate_instance(s, m);

        *ret_trap = WASM_OK;
        if (!i)
                return err_set(e, ERR_MEMORY, 0, "out of memory");
        if (wasm_link(i, e) < 0)
                return -1;

        create_funcs(i);
        if (create_parts(i, e) < 0 || s->engine->prepare(i, e) < 0)
                return -1;
        i->next = s->instances;
        s->instances = i;
        *ret = i;
        if (s->ready && s->ready(s->ready_user, e) < 0)
                return -1;
        return run_start(i, ret_trap, e);
}

void wasm_store_use_code(struct wasm_store *s, struct wasm_native *c) { s->code = c; }

void wasm_on_ready(struct wasm_store *s, int (*fn)(void *user, struct err *e), void *user)
{
        s->ready = fn;
        s->ready_user = user;
}

struct wasm_func *wasm_export_func(struct wasm_instance *inst, struct span name)
{
        const struct wasm_export *x = wasm_find_export(inst, name);

        return x && x->kind == WASM_FUNC ? inst->funcs[x->index] : NULL;
}

struct wasm_global *wasm_export_global(struct wasm_instance *inst, struct span name)
{
        const struct wasm_export *x = wasm_find_export(inst, name);

        return x && x->kind == WASM_GLOBAL ? inst->globals[x->index] : NULL;
}

const char *wasm_func_signature(const struct wasm_func *f) { return f->sig->text; }

/* Clears the upper half of the slots of i32 and f32. */
static void normalise_slots(const char *letters, uint64_t *slots)
{
        for (; *letters && *letters != ':'; letters++) {
                if (*letters == 'i' || *letters == 'f')
                        *slots = (uint32_t) *slots;
                slots += wasm_type_slots((uint8_t) wasm_letter_type(*letters));
        }
}

static enum wasm_trap call_host(struct wasm_instance *caller, const struct wasm_func *f, uint64_t *slots)
{
        enum wasm_trap t = f->host(caller, f->user, slots);

        normalise_slots(f->sig->text + wasm_sig_operands(f->sig->text) + 1, slots);
        return t;
}

/* Functions that the host function calls in turn have their frames behind these slots. */
enum wasm_trap wasm_call_host(struct wasm_instance *caller, const struct wasm_func *f, uint64_t *slots)
{
        struct wasm_store *s = caller->store;
        uint64_t *stack = s->stack;
        uint32_t params = f->sig->param_slots, results = f->sig->result_slots;

        s->stack = slots + (params > results ? params : results);
        enum wasm_trap t = call_host(caller, f, slots);
        s->stack = stack;
        return t;
}

enum wasm_trap wasm_call(struct wasm_instance *inst, struct wasm_func *f, uint64_t *slots)
{
        struct wasm_store *s = inst->store;

        if (s->running == WASM_MAX_NESTED || s->stack > s->stack_end)
                return WASM_TRAP_STACK;
        normalise_slots(f->sig->text, slots);
        if (f->host)
                return call_host(inst, f, slots);

        s->running++;
        enum wasm_trap t = s->engine->call(f, slots);
        s->running--;
        return t;
}
