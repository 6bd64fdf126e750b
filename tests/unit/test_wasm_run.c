/* SPDX-License-Identifier: MIT */
/* test_wasm_run.c - the engine's promises beyond the specification: fuel, limits, host functions. */
#include "harness.h"
#include "wall/wasm/wasm.h"

/* The build makes this program twice, once for each engine. */
#ifndef WASM_ENGINE
#define WASM_ENGINE &wasm_interpreter
#endif

/*
 * (import "env" "add" (func (param i32 i32) (result i32)))
 * (memory 1 100)
 * fib: recursive; count: (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))) (local.get 0)
 * grow: memory.grow; down: calls itself for ever; sum: add(x, 5); peek: i32.load; fill: memory.fill of x
 * bytes at 0; tail: 7 if x is 0, else return_call tail(x - 1). All are (param i32) (result i32).
 */
static const uint8_t module[] = {
        0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x0c, 0x02, 0x60, 0x01, 0x7f, 0x01, 0x7f,
        0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f, 0x02, 0x0b, 0x01, 0x03, 0x65, 0x6e, 0x76, 0x03, 0x61, 0x64,
        0x64, 0x00, 0x01, 0x03, 0x09, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x04,
        0x01, 0x01, 0x01, 0x64, 0x07, 0x38, 0x08, 0x03, 0x66, 0x69, 0x62, 0x00, 0x01, 0x05, 0x63, 0x6f,
        0x75, 0x6e, 0x74, 0x00, 0x02, 0x04, 0x67, 0x72, 0x6f, 0x77, 0x00, 0x03, 0x04, 0x64, 0x6f, 0x77,
        0x6e, 0x00, 0x04, 0x03, 0x73, 0x75, 0x6d, 0x00, 0x05, 0x04, 0x70, 0x65, 0x65, 0x6b, 0x00, 0x06,
        0x04, 0x66, 0x69, 0x6c, 0x6c, 0x00, 0x07, 0x04, 0x74, 0x61, 0x69, 0x6c, 0x00, 0x08, 0x0a, 0x6f,
        0x08, 0x1c, 0x00, 0x20, 0x00, 0x41, 0x02, 0x48, 0x04, 0x7f, 0x20, 0x00, 0x05, 0x20, 0x00, 0x41,
        0x01, 0x6b, 0x10, 0x01, 0x20, 0x00, 0x41, 0x02, 0x6b, 0x10, 0x01, 0x6a, 0x0b, 0x0b, 0x10, 0x00,
        0x03, 0x40, 0x20, 0x00, 0x41, 0x01, 0x6b, 0x22, 0x00, 0x0d, 0x00, 0x0b, 0x20, 0x00, 0x0b, 0x06,
        0x00, 0x20, 0x00, 0x40, 0x00, 0x0b, 0x06, 0x00, 0x20, 0x00, 0x10, 0x04, 0x0b, 0x08, 0x00, 0x20,
        0x00, 0x41, 0x05, 0x10, 0x00, 0x0b, 0x07, 0x00, 0x20, 0x00, 0x28, 0x02, 0x00, 0x0b, 0x0d, 0x00,
        0x41, 0x00, 0x41, 0x01, 0x20, 0x00, 0xfc, 0x0b, 0x00, 0x41, 0x00, 0x0b, 0x12, 0x00, 0x20, 0x00,
        0x45, 0x04, 0x40, 0x41, 0x07, 0x0f, 0x0b, 0x20, 0x00, 0x41, 0x01, 0x6b, 0x12, 0x08, 0x0b
};

static enum wasm_trap host_add(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        (void) caller;
        ++*(int *) user;
        slots[0] = (slots[0] + slots[1]) | 0xffff0000ULL << 32; /* the engine clears the upper half */
        return WASM_OK;
}

/* A host function that calls back, or ends the program. */
static enum wasm_trap host_call_back(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        const char *name = user;
        uint64_t n = 10;
        enum wasm_trap t = wasm_call(caller, wasm_export_func(caller, span_str(name)), &n);

        slots[0] = n;
        return t;
}

static enum wasm_trap host_exit(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        (void) caller, (void) user, (void) slots;
        return WASM_TRAP_EXIT;
}

struct machine {
        struct wasm_module *m;
        struct wasm_store *s;
        struct wasm_instance *i;
        int calls;
};

static int start(struct machine *x, const struct wasm_limits *l, wasm_host_fn *fn, void *user)
{
        struct err e;
        enum wasm_trap trap;

        x->m = wasm_module_load(span_of(module, sizeof module), &e);
        x->s = wasm_store_new(WASM_ENGINE, l, &e);
        if (!x->m || !x->s)
                return -1;
        struct wasm_host add = { "env", "add", "ii:i", fn, user };
        if (fn && wasm_define(x->s, &add, &e) < 0)
                return -1;
        return wasm_instantiate(x->s, x->m, &x->i, &trap, &e);
}

static void stop(struct machine *x)
{
        wasm_store_free(x->s);
        wasm_module_free(x->m);
}

static enum wasm_trap call(struct machine *x, const char *name, uint32_t arg, uint32_t *ret)
{
        uint64_t slots[1] = { arg | 1ULL << 63 };
        enum wasm_trap t = wasm_call(x->i, wasm_export_func(x->i, span_str(name)), slots);

        if (t == WASM_OK)
                CHECK_INT(slots[0] >> 32, 0);
        *ret = (uint32_t) slots[0];
        return t;
}

static void test_run__results_and_host_functions(void)
{
        struct machine x = { 0 };
        uint32_t r;

        CHECK_INT(start(&x, &wasm_limits_default, host_add, &x.calls), 0);
        CHECK_INT(call(&x, "fib", 20, &r), WASM_OK);
        CHECK_INT(r, 6765);
        CHECK_INT(call(&x, "sum", 37, &r), WASM_OK);
        CHECK_INT(r, 42);
        CHECK_INT(x.calls, 1);
        CHECK_INT(call(&x, "tail", 1000000, &r), WASM_OK);
        CHECK_INT(r, 7);
        CHECK_STR(wasm_func_signature(wasm_export_func(x.i, span_str("fib"))), "i:i");
        CHECK(!wasm_export_func(x.i, span_str("add")));
        stop(&x);
}

static void test_run__an_import_that_is_not_defined_is_refused(void)
{
        struct machine x = { 0 };

        CHECK_INT(start(&x, &wasm_limits_default, NULL, NULL), -1);
        stop(&x);
}

static void test_run__an_import_of_another_type_is_refused(void)
{
        struct machine x = { 0 };
        struct err e = { 0 };
        enum wasm_trap trap;
        struct wasm_host add = { "env", "add", "il:i", host_add, NULL };

        (void) start(&x, &wasm_limits_default, NULL, NULL);
        CHECK_INT(wasm_define(x.s, &add, &e), 0);
        CHECK_INT(wasm_instantiate(x.s, x.m, &x.i, &trap, &e), -1);
        CHECK(strstr(e.what, "env.add"));
        stop(&x);
}

/* count(10): 1 + 3 for the call, 10 rounds of 1 + 6. */
static void test_run__fuel_is_exact(void)
{
        struct machine x = { 0 };
        uint32_t r;

        CHECK_INT(start(&x, &wasm_limits_default, host_add, &x.calls), 0);
        wasm_set_fuel(x.s, 1000);
        CHECK_INT(call(&x, "count", 10, &r), WASM_OK);
        CHECK_INT(wasm_fuel(x.s), 1000 - 74);
        wasm_set_fuel(x.s, 74);
        CHECK_INT(call(&x, "count", 10, &r), WASM_OK);
        CHECK_INT(wasm_fuel(x.s), 0);
        wasm_set_fuel(x.s, 73);
        CHECK_INT(call(&x, "count", 10, &r), WASM_TRAP_FUEL);
        CHECK_INT(wasm_fuel(x.s), 6);
        wasm_set_fuel(x.s, 100000);
        CHECK_INT(call(&x, "tail", UINT32_MAX, &r), WASM_TRAP_FUEL);
        stop(&x);
}

static void test_run__bulk_work_costs_fuel(void)
{
        struct machine x = { 0 };
        uint32_t r;

        CHECK_INT(start(&x, &wasm_limits_default, host_add, &x.calls), 0);
        wasm_set_fuel(x.s, 1000);
        CHECK_INT(call(&x, "fill", 6400, &r), WASM_OK);
        CHECK_INT(wasm_fuel(x.s), 1000 - 7 - 100);
        CHECK_INT(call(&x, "fill", 65536, &r), WASM_TRAP_FUEL);
        CHECK_INT(call(&x, "fill", 65537, &r), WASM_TRAP_MEMORY);
        stop(&x);
}

static void test_run__the_memory_limit_is_exact(void)
{
        struct machine x = { 0 };
        struct wasm_limits l = wasm_limits_default;
        uint32_t r;

        l.memory_pages = 3;
        CHECK_INT(start(&x, &l, host_add, &x.calls), 0);
        CHECK_INT(call(&x, "grow", 3, &r), WASM_OK);
        CHECK_INT(r, UINT32_MAX);
        CHECK_INT(call(&x, "grow", 2, &r), WASM_OK);
        CHECK_INT(r, 1);
        CHECK_INT(call(&x, "grow", 1, &r), WASM_OK);
        CHECK_INT(r, UINT32_MAX);
        CHECK_INT(call(&x, "peek", 3 * 65536 - 4, &r), WASM_OK);
        CHECK_INT(r, 0);
        CHECK_INT(call(&x, "peek", 3 * 65536 - 3, &r), WASM_TRAP_MEMORY);
        CHECK(wasm_memory_at(x.i, 0, 3 * 65536));
        CHECK(!wasm_memory_at(x.i, 1, 3 * 65536));
        CHECK(!wasm_memory_at(x.i, UINT64_MAX, 2));
        stop(&x);

        l.memory_pages = 0;
        CHECK_INT(start(&x, &l, host_add, &x.calls), -1);
        stop(&x);
}

static void test_run__recursion_ends_at_the_limit(void)
{
        struct machine x = { 0 };
        struct wasm_limits l = wasm_limits_default;
        uint32_t r;

        CHECK_INT(start(&x, &l, host_add, &x.calls), 0);
        CHECK_INT(call(&x, "down", 1, &r), WASM_TRAP_STACK);
        CHECK_INT(call(&x, "fib", 10, &r), WASM_OK); /* the store is usable after a trap */
        CHECK_INT(r, 55);
        stop(&x);

        l.call_depth = 10; /* fib(n) is n deep */
        CHECK_INT(start(&x, &l, host_add, &x.calls), 0);
        CHECK_INT(call(&x, "fib", 10, &r), WASM_OK);
        CHECK_INT(call(&x, "fib", 11, &r), WASM_TRAP_STACK);
        stop(&x);

        /* Every size of the stack, up to one that is enough. */
        enum wasm_trap t = WASM_TRAP_STACK;
        for (l.stack_slots = 1; l.stack_slots < 256 && t == WASM_TRAP_STACK; l.stack_slots++) {
                CHECK_INT(start(&x, &l, host_add, &x.calls), 0);
                t = call(&x, "fib", 10, &r);
                stop(&x);
        }
        CHECK_INT(t, WASM_OK);
        CHECK_INT(r, 55);
}

static void test_run__a_host_function_ends_the_call(void)
{
        struct machine x = { 0 };
        uint32_t r;

        CHECK_INT(start(&x, &wasm_limits_default, host_exit, &x.calls), 0);
        CHECK_INT(call(&x, "sum", 1, &r), WASM_TRAP_EXIT);
        stop(&x);
}

static void test_run__a_host_function_calls_back(void)
{
        struct machine x = { 0 };
        char fib[] = "fib", sum[] = "sum";
        uint32_t r;

        CHECK_INT(start(&x, &wasm_limits_default, host_call_back, fib), 0);
        CHECK_INT(call(&x, "sum", 3, &r), WASM_OK); /* the last result of the host: what is below stays */
        CHECK_INT(r, 55);
        CHECK_INT(call(&x, "fib", 10, &r), WASM_OK);
        CHECK_INT(r, 55);
        stop(&x);

        CHECK_INT(start(&x, &wasm_limits_default, host_call_back, sum), 0); /* without end */
        CHECK_INT(call(&x, "sum", 1, &r), WASM_TRAP_STACK);
        CHECK_INT(call(&x, "fib", 10, &r), WASM_OK);
        CHECK_INT(r, 55);
        stop(&x);
}

/* Bytes of a module with one function without parameters and results. */
struct builder {
        uint8_t *p;
        size_t n;
};

static void put(struct builder *b, const void *p, size_t n)
{
        memcpy(b->p + b->n, p, n);
        b->n += n;
}

static void put_times(struct builder *b, const char *bytes, size_t n, unsigned times)
{
        while (times--)
                put(b, bytes, n);
}

/* A number in five bytes, at a place that was kept for it. */
static void put_size(uint8_t *at, size_t n)
{
        for (int i = 0; i < 5; i++, n >>= 7)
                at[i] = (uint8_t) ((n & 0x7f) | (i < 4 ? 0x80 : 0));
}

/* Type 0 is () -> (), type 1 is () -> (1000 times i32). */
static struct builder begin(size_t room)
{
        struct builder b = { malloc(room + 2048), 0 };

        if (!b.p)
                abort();
        put(&b, "\0asm\1\0\0\0\1", 9);
        size_t types = b.n;
        b.n += 5;
        put(&b, "\2\x60\0\0\x60\0\xe8\7", 8);
        put_times(&b, "\x7f", 1, 1000);
        put_size(b.p + types, b.n - types - 5);
        put(&b, "\3\2\1\0\12", 5);
        b.n += 5;
        put(&b, "\1", 1);
        b.n += 5;
        return b;
}

static bool accepts(struct builder *b, size_t code)
{
        struct err e;

        put(b, "\x0b", 1);
        put_size(b->p + code - 11, b->n - code + 6);
        put_size(b->p + code - 5, b->n - code);
        struct wasm_module *m = wasm_module_load(span_of(b->p, b->n), &e);
        bool ok = m;
        wasm_module_free(m);
        free(b->p);
        return ok;
}

/* Each br_if is four bytes, and a thousand operands. */
static bool loads_branches(unsigned times)
{
        struct builder b = begin(8192 + 4 * (size_t) times);
        size_t code = b.n;

        put(&b, "\0\2\1", 3);
        put_times(&b, "\x41\0", 2, 1000);
        put_times(&b, "\x41\0\x0d\0", 4, times);
        put(&b, "\x0b", 1);
        put_times(&b, "\x1a", 1, 1000);
        return accepts(&b, code);
}

static bool loads_nesting(unsigned depth)
{
        struct builder b = begin(3 * (size_t) depth + 16);
        size_t code = b.n;

        put(&b, "\0", 1);
        put_times(&b, "\2\x40", 2, depth);
        put_times(&b, "\x0b", 1, depth);
        return accepts(&b, code);
}

static void test_load__work_and_nesting_have_caps(void)
{
        CHECK(loads_branches(100));
        CHECK(!loads_branches(100000));
        CHECK(loads_nesting(WASM_MAX_NESTING - 1));
        CHECK(!loads_nesting(WASM_MAX_NESTING));
}

static void put_const(struct builder *b, size_t value)
{
        put(b, "\x41", 1);
        put_size(b->p + b->n, value);
        b->n += 5;
}

/* Its start function counts to `times` and two in a loop that is a megabyte long, or traps. */
static struct builder long_jumps(size_t times)
{
        struct builder b = { malloc(8 * times + 256), 0 };

        if (!b.p)
                abort();
        put(&b, "\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\x8\1\0\12", 22);
        size_t section = b.n;
        b.n += 5;
        put(&b, "\1", 1);
        size_t body = b.n;
        b.n += 5;
        put(&b, "\1\1\x7f\3\x40\x20\0\x45\4\x40", 10);     /* (local i32) loop (if (i32.eqz (local.get 0)) */
        put_times(&b, "\x20\0\x41\1\x6a\x21\0", 7, times); /* (local.set 0 (i32.add (local.get 0) 1)) */
        put(&b, "\x0b\x20\0\x41\1\x6a\x22\0", 8);
        put_const(&b, times + 2);
        put(&b, "\x48\x0d\0\x0b\x20\0", 6); /* (br_if 0 (i32.lt_s ...)) end */
        put_const(&b, times + 2);
        put(&b, "\x47\4\x40\0\x0b\x0b", 6); /* (if (i32.ne ...) unreachable) */
        put_size(b.p + section, b.n - section - 5);
        put_size(b.p + body, b.n - body - 5);
        return b;
}

static void test_run__jumps_may_be_long(void)
{
        struct builder b = long_jumps(300000);
        struct err e = { 0 };
        enum wasm_trap t = WASM_OK;
        struct wasm_instance *i = NULL;
        struct wasm_module *m = wasm_module_load(span_of(b.p, b.n), &e);
        struct wasm_store *s = wasm_store_new(WASM_ENGINE, &wasm_limits_default, &e);

        CHECK(m && s);
        CHECK_INT(wasm_instantiate(s, m, &i, &t, &e), 0);
        CHECK_INT(t, WASM_OK);
        wasm_store_free(s);
        wasm_module_free(m);
        free(b.p);
}

static void test_run__no_memory_is_writable_and_executable(void)
{
        struct machine x = { 0 };
        char line[512];
        int lines = 0;

        CHECK_INT(start(&x, &wasm_limits_default, host_add, &x.calls), 0);
        FILE *f = fopen("/proc/self/maps", "re");
        for (; f && fgets(line, sizeof line, f); lines++)
                CHECK(!strstr(line, " rwx") && !strstr(line, " -wx"));
        if (f)
                (void) fclose(f);
        CHECK(lines > 3);
        stop(&x);
}

static const struct test_case cases[] = {
        CASE(test_load__work_and_nesting_have_caps),
        CASE(test_run__results_and_host_functions),
        CASE(test_run__an_import_that_is_not_defined_is_refused),
        CASE(test_run__an_import_of_another_type_is_refused),
        CASE(test_run__fuel_is_exact),
        CASE(test_run__bulk_work_costs_fuel),
        CASE(test_run__the_memory_limit_is_exact),
        CASE(test_run__recursion_ends_at_the_limit),
        CASE(test_run__jumps_may_be_long),
        CASE(test_run__no_memory_is_writable_and_executable),
        CASE(test_run__a_host_function_ends_the_call),
        CASE(test_run__a_host_function_calls_back),
};
TEST_MAIN(cases)
