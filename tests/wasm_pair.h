/* SPDX-License-Identifier: MIT */
/* tests/wasm_pair.h - one module in both engines, step by step: whatever differs aborts. With little fuel,
 * memory and stack; all function imports exist and return zero. */
#pragma once
#include "wasm_host.h"

#include <signal.h>

enum { PAIR_EXPORTS = 32, PAIR_SLOTS = 2 * WASM_MAX_PARAMS };

static const struct wasm_limits pair_limits = {
        .memory_pages = 4, .table_items = 1000, .stack_slots = 4096, .call_depth = 64, .fuel = 2000
};

struct pair_side {
        struct wasm_store *s;
        struct wasm_instance *inst;
        enum wasm_trap trap;
        uint64_t slots[PAIR_SLOTS];
};

static void pair_must(bool ok)
{
        if (!ok)
                abort();
}

static enum wasm_trap pair_host(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        const struct host_import *i = user;

        (void) wasm_memory_at(caller, slots[0], 8);
        memset(slots, 0, i->type->result_slots * sizeof *slots);
        return WASM_OK;
}

/* An instance that failed to start has a trap; one that could not be made has none and no instance. */
static void pair_start(struct pair_side *p, const struct wasm_module *m, const struct wasm_engine *engine)
{
        struct err e;
        struct wasm_instance *inst = NULL;

        p->s = wasm_store_new(engine, &pair_limits, &e);
        pair_must(p->s != NULL);
        define_imports(p->s, m, pair_host);
        if (wasm_instantiate(p->s, m, &inst, &p->trap, &e) == 0 || p->trap != WASM_OK)
                p->inst = inst;
}

static bool pair_is_nan(char letter, uint64_t bits)
{
        return letter == 'f' ? (bits & 0x7fffffff) > 0x7f800000
                             : letter == 'd' && (bits & (UINT64_MAX >> 1)) > 0x7ff0000000000000;
}

/* A NaN may have any of its bits, a reference is a pointer; the upper half of 32 bits is zero. */
static void pair_compare_value(char letter, const uint64_t *a, const uint64_t *b)
{
        if (letter == 'i' || letter == 'f')
                pair_must(*a >> 32 == 0 && *b >> 32 == 0);
        if (letter == 'r' || letter == 'e')
                pair_must(!*a == !*b);
        else if (!(pair_is_nan(letter, *a) && pair_is_nan(letter, *b)))
                pair_must(*a == *b);
        if (letter == 'v')
                pair_must(a[1] == b[1]);
}

static void pair_compare_results(const struct pair_side *a, const struct pair_side *b, const char *letters)
{
        uint32_t at = 0;

        for (; *letters; letters++) {
                pair_compare_value(*letters, a->slots + at, b->slots + at);
                at += *letters == 'v' ? 2 : 1;
        }
}

/* Tables, globals and memory after a step. */
static void pair_compare_state(const struct wasm_instance *a, const struct wasm_instance *b)
{
        const struct wasm_module *m = a->module;

        for (uint32_t i = 0; i < m->n_tables; i++) {
                pair_must(a->tables[i]->size == b->tables[i]->size);
                for (uint32_t k = 0; k < a->tables[i]->size; k++)
                        pair_must(!a->tables[i]->items[k] == !b->tables[i]->items[k]);
        }
        for (uint32_t i = 0; i < m->n_globals; i++)
                pair_compare_value(wasm_type_letter(m->globals[i].type), a->globals[i]->v, b->globals[i]->v);
        pair_must(a->memory->bytes == b->memory->bytes);
        if (a->memory->bytes)
                pair_must(memcmp(a->memory->base, b->memory->base, a->memory->bytes) == 0);
}

/* Returns false when there is nothing more to compare: engines differ in the slots of a frame. */
static bool pair_compare(const struct pair_side *a, const struct pair_side *b)
{
        if (a->trap == WASM_TRAP_STACK || b->trap == WASM_TRAP_STACK)
                return false;

        pair_must(a->trap == b->trap && a->s->fuel == b->s->fuel);
        pair_compare_state(a->inst, b->inst);
        return true;
}

static bool pair_call(struct pair_side *p, uint32_t export)
{
        struct wasm_func *f = wasm_export_func(p->inst, p->inst->module->exports[export].name);

        memset(p->slots, 0, sizeof p->slots);
        wasm_set_fuel(p->s, pair_limits.fuel);
        if (f)
                p->trap = wasm_call(p->inst, f, p->slots);
        return f;
}

/* Compiled code has room for return addresses on its stack, and for nothing else: the fuzzer's alarm goes to
 * the other stack, as faults do. */
static const struct wasm_engine *pair_compiler(void)
{
        const struct wasm_engine *compiler = wasm_compiler();
        struct sigaction alarm;

        if (!compiler)
                return &wasm_interpreter;

        pair_must(sigaction(SIGALRM, NULL, &alarm) == 0);
        alarm.sa_flags |= SA_ONSTACK;
        pair_must(sigaction(SIGALRM, &alarm, NULL) == 0);
        return compiler;
}

static void pair_run(const struct wasm_module *m)
{
        static struct pair_side a, b;
        static const struct wasm_engine *second;

        if (!second)
                second = pair_compiler();
        a.inst = b.inst = NULL;
        pair_start(&a, m, &wasm_interpreter);
        pair_start(&b, m, second);
        bool more = a.inst && b.inst && pair_compare(&a, &b) && a.trap == WASM_OK;
        for (uint32_t i = 0; i < m->n_exports && i < PAIR_EXPORTS && more; i++) {
                if (!pair_call(&a, i) || !pair_call(&b, i))
                        continue;
                more = pair_compare(&a, &b);
                if (more && a.trap == WASM_OK)
                        pair_compare_results(
                                &a, &b,
                                strchr(wasm_export_func(a.inst, m->exports[i].name)->sig->text, ':') + 1);
        }
        wasm_store_free(a.s);
        wasm_store_free(b.s);
}
