/* SPDX-License-Identifier: MIT */
/* tests/unit/wasm_dump.c - wasm_dump [--exact | --compiler] MODULE...: calls every exported function with
 * zeros, and prints what it returns and what it passes to its imports; tests/cli/helpers/wasm_dump.js does
 * the same in another engine.
 * --exact adds traps and fuel, --compiler is the same with that engine.
 * A call that exhausts the stack ends the list, because engines differ in how deep they go. */
#include "../wasm_host.h"

#include <inttypes.h>
#include <stdio.h>

static const struct wasm_engine *engine = &wasm_interpreter;
static bool is_exact;

/* NaN has no one form of its bits. */
static void print_value(char letter, const uint64_t *slot)
{
        float f;
        double d;

        memcpy(&f, slot, sizeof f);
        memcpy(&d, slot, sizeof d);
        if ((letter == 'f' && f != f) || (letter == 'd' && d != d))
                (void) printf(" nan");
        else if (letter == 'r' || letter == 'e')
                (void) printf(" %s", *slot ? "ref" : "null");
        else
                (void) printf(" %" PRIx64, *slot);
}

static void print_values(const uint8_t *types, uint32_t n, const uint64_t *slots)
{
        for (uint32_t i = 0; i < n; i++) {
                print_value(wasm_type_letter(types[i]), slots);
                slots += wasm_type_slots(types[i]);
        }
        (void) printf("\n");
}

static enum wasm_trap host(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        const struct host_import *i = user;
        (void) caller;

        /* JavaScript has no such values: the call throws. */
        if (memchr(i->type->params, WASM_V128, i->type->n_params))
                return WASM_TRAP_HOST;
        (void) printf("import %.*s", (int) i->import->name.n, (const char *) i->import->name.p);
        print_values(i->type->params, i->type->n_params, slots);
        memset(slots, 0, i->type->result_slots * sizeof *slots);
        return WASM_OK;
}

/* Returns false when the stack was exhausted. */
static bool dump_export(struct wasm_instance *inst, const struct wasm_export *x)
{
        struct wasm_func *f = wasm_export_func(inst, x->name);
        uint64_t slots[2 * WASM_MAX_PARAMS] = { 0 };

        if (!f || strchr(f->sig->text, 'v'))
                return true;
        (void) printf("call %.*s\n", (int) x->name.n, (const char *) x->name.p);
        enum wasm_trap t = wasm_call(inst, f, slots);
        if (is_exact && t != WASM_TRAP_STACK)
                (void) printf("%s, %" PRIu64 " left\n", wasm_trap_text(t),
                              wasm_fuel(f->inst ? f->inst->store : inst->store));
        if (t != WASM_OK)
                (void) printf("%s\n", t == WASM_TRAP_STACK || t == WASM_TRAP_FUEL ? "stack" : "trap");
        else
                print_values(wasm_type_of_func(inst->module, x->index)->results,
                             wasm_type_of_func(inst->module, x->index)->n_results, slots);
        return t != WASM_TRAP_STACK && t != WASM_TRAP_FUEL;
}

static void dump(const struct wasm_module *m)
{
        struct err e;
        enum wasm_trap trap;
        struct wasm_instance *inst;
        struct wasm_limits limits = wasm_limits_default;

        limits.fuel = 1ULL << 32;
        struct wasm_store *s = wasm_store_new(engine, &limits, &e);
        if (!s)
                exit(1);
        define_imports(s, m, host);
        if (wasm_instantiate(s, m, &inst, &trap, &e) < 0)
                (void) printf("no instance\n");
        else
                for (uint32_t i = 0; i < m->n_exports; i++)
                        if (!dump_export(inst, &m->exports[i]))
                                break;
        wasm_store_free(s);
}

int main(int argc, char **argv)
{
        static uint8_t bytes[1 << 22];
        struct err e;

        bool compiles = argc > 1 && strcmp(argv[1], "--compiler") == 0;
        is_exact = compiles || (argc > 1 && strcmp(argv[1], "--exact") == 0);
        if (compiles && !(engine = wasm_compiler())) {
                (void) printf("there is no compiler for this machine\n");
                return 77;
        }
        for (int i = 1 + is_exact; i < argc; i++) {
                FILE *f = fopen(argv[i], "rb");
                size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
                if (f)
                        (void) fclose(f);
                struct wasm_module *m = wasm_module_load(span_of(bytes, n), &e);
                if (m)
                        dump(m);
                else
                        (void) printf("invalid: %s\n", e.what);
                wasm_module_free(m);
        }
        return 0;
}
