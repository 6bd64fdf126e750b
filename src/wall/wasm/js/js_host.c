/* SPDX-License-Identifier: MIT */
/* wall/wasm/js/js_host.c - what QuickJS imports: functions that scripts call, and the loader of modules.
 *
 * Only the prelude holds the functions: wasi(name, number...), put(text, address, room), get(address,
 * length), at(buffer), call(index, number...) and web(), the text of web.js. None reaches more than the
 * module's own memory and the calls of WASI do. */
#include "wall/wasm/js/js.h"

#include <string.h>

enum { ARGS = 16 };

struct asked {
        uint32_t args[ARGS];
        unsigned n;
};

static bool read_numbers(struct js *j, const struct asked *q, unsigned from, double *ret)
{
        for (unsigned i = from; i < q->n; i++) {
                if (!js_call(j, JS_IS_NUMBER, &q->args[i], 1))
                        return false;
                ret[i - from] = js_number(j, q->args[i]);
        }

        return true;
}

/* An address, a length, a descriptor: whole and not negative, or 0. */
static uint64_t whole(double d) { return d >= 0 && d <= 9007199254740991.0 ? (uint64_t) d : 0; }

static double ask_wasi(struct js *j, const struct asked *q)
{
        double number[ARGS] = { 0 };
        uint64_t slots[ARGS];
        uint32_t at;
        if (q->n == 0 || !js_call(j, JS_IS_STRING, q->args, 1) || !read_numbers(j, q, 1, number))
                return -1;

        for (unsigned i = 0; i < ARGS; i++)
                slots[i] = whole(number[i]);

        struct span name = js_text(j, q->args[0], &at);
        int r = -1;
        bool args = name.n > 5 && memcmp(name.p, "args_", 5) == 0;
        enum wasm_trap t = j->no_wasi && !args ? WASM_OK : wasi_ask(j->wasi, j->inst, name, slots, &r);
        (void) js_call(j, JS_FREE_STRING, &at, 1);
        if (t != WASM_OK && j->trap == WASM_OK)
                j->trap = t;
        return r;
}

/* The bytes of a text to an address, if there is room for them. Returns how many they are. */
static double put_bytes(struct js *j, const struct asked *q)
{
        double number[ARGS] = { 0 };
        uint32_t at;
        if (q->n != 3 || !js_call(j, JS_IS_STRING, q->args, 1) || !read_numbers(j, q, 1, number))
                return -1;

        struct span text = js_text(j, q->args[0], &at);
        void *to = text.n <= whole(number[1]) ? wasm_memory_at(j->inst, whole(number[0]), text.n) : NULL;
        if (to)
                memmove(to, text.p, text.n);

        (void) js_call(j, JS_FREE_STRING, &at, 1);
        return (double) text.n;
}

static double byte_at(struct js *j, const struct asked *q)
{
        const uint32_t a[] = { q->args[0], js_copy(j, span_str("len")) };
        uint32_t address = q->n == 1 && a[1] ? js_call(j, JS_BUFFER, a, 2) : 0;
        (void) js_call(j, JS_FREE, a + 1, 1);
        return address;
}

static js_value get_bytes(struct js *j, const struct asked *q)
{
        double number[ARGS] = { 0 };
        if (q->n != 2 || !read_numbers(j, q, 0, number))
                return 0;

        const uint32_t a[] = { (uint32_t) whole(number[0]), (uint32_t) whole(number[1]) };
        return wasm_memory_at(j->inst, a[0], a[1]) ? js_call(j, JS_NEW_STRING, a, 2) : 0;
}

static js_value load_web(struct js *j, const struct asked *q)
{
        static const uint8_t text[] = {
#include "wall/wasm/js_web.inc" /* web.js, by tools/embed */
        };
        (void) q;
        return js_new_string(j, span_of(text, sizeof text));
}

static uint64_t to_slot(char letter, double d)
{
        uint64_t slot = 0;
        float f = (float) d;
        if (letter == 'f')
                memcpy(&slot, &f, sizeof f);
        else if (letter == 'd')
                memcpy(&slot, &d, sizeof d);
        else if (d >= -9007199254740991.0 && d <= 9007199254740991.0)
                slot = letter == 'i' ? (uint32_t) (int64_t) d : (uint64_t) (int64_t) d;
        return slot;
}

static double of_slot(char letter, uint64_t slot)
{
        double d;
        float f;
        memcpy(&d, &slot, sizeof d);
        memcpy(&f, &slot, sizeof f);
        return letter == 'f'   ? (double) f
               : letter == 'd' ? d
               : letter == 'i' ? (double) (int32_t) (uint32_t) slot
                               : (double) (int64_t) slot;
}

/* A function of the program that started the box. */
static double call_asked(struct js *j, const struct asked *q)
{
        double number[ARGS + 1] = { 0 };
        uint64_t slots[HOST_SLOTS] = { 0 };
        uint64_t index = q->n > 0 && read_numbers(j, q, 0, number) ? whole(number[0]) : UINT64_MAX;
        if (index >= j->function_count)
                return 0;

        const char *signature = j->functions[index].signature;
        size_t params = host_params(signature);
        for (size_t i = 0; i < params && i + 1 < ARGS && i < HOST_SLOTS; i++)
                slots[i] = to_slot(signature[i], number[i + 1]);

        if (j->call_host(j->call_ctx, (unsigned) index, slots) < 0) {
                j->trap = WASM_TRAP_HOST;
                return 0;
        }

        return host_results(signature) ? of_slot(signature[params + 1], slots[0]) : 0;
}

static const struct {
        const char *name;
        double (*number)(struct js *j, const struct asked *q);
        js_value (*value)(struct js *j, const struct asked *q);
} functions[] = { { "wasi", ask_wasi, NULL }, { "put", put_bytes, NULL },   { "get", NULL, get_bytes },
                  { "at", byte_at, NULL },    { "call", call_asked, NULL }, { "web", NULL, load_web } };

/* (name, length, this, count, values) -> value */
static enum wasm_trap host_call(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        struct js *j = user;
        struct asked q = { .n = slots[3] < ARGS ? (unsigned) slots[3] : ARGS };
        const char *name = wasm_memory_at(caller, slots[0], slots[1]);
        const void *values = wasm_memory_at(caller, slots[4], q.n * sizeof *q.args);
        js_value r = 0;
        if (!name || (!values && q.n))
                return WASM_TRAP_HOST;

        if (q.n)
                memcpy(q.args, values, q.n * sizeof *q.args);

        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
                if (span_eq(span_of(name, slots[1]), span_str(functions[i].name))) {
                        r = functions[i].value ? functions[i].value(j, &q)
                                               : js_new_number(j, functions[i].number(j, &q));
                        break;
                }

        slots[0] = r;
        return j->trap;
}

static struct span text_at(struct wasm_instance *inst, uint64_t at)
{
        size_t n = 0;
        const char *p;
        while (n < 65536 && (p = wasm_memory_at(inst, at + n, 1)) && *p)
                n++;

        p = wasm_memory_at(inst, at, n);
        return p ? span_of(p, n) : span_str("");
}

/* Asks a function of the prelude for a text. Returns its address, which the module frees; 0: an exception. */
static uint32_t ask_text(struct js *j, js_value f, const js_value *args, unsigned n, uint32_t *ret_length)
{
        js_value v = js_apply(j, f, args, n);
        uint32_t at = 0, copy = 0;
        if (v && js_call(j, JS_IS_STRING, &v, 1)) {
                struct span text = js_text(j, v, &at);
                *ret_length = (uint32_t) text.n;
                copy = js_copy(j, text);
                (void) js_call(j, JS_FREE_STRING, &at, 1);
        }

        if (v && !copy) { /* thrown on */
                js_value thrown = js_call(j, JS_EXCEPTION, NULL, 0);
                (void) js_call(j, JS_THROW, &thrown, 1);
                (void) js_call(j, JS_FREE_VALUE, &thrown, 1);
        }

        (void) js_call(j, JS_FREE_VALUE, &v, 1);
        return copy;
}

static enum wasm_trap module_normalize(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        struct js *j = user;
        uint32_t length;
        js_value base = js_new_string(j, text_at(caller, slots[0]));
        const js_value args[] = { base, js_new_string(j, text_at(caller, slots[1])) };
        slots[0] = ask_text(j, j->normalize, args, 2, &length);
        return j->trap;
}

static enum wasm_trap module_load(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        struct js *j = user;
        uint32_t length = 0, to = (uint32_t) slots[1];
        const js_value name = js_new_string(j, text_at(caller, slots[0]));
        slots[0] = ask_text(j, j->load, &name, 1, &length);
        void *p = wasm_memory_at(caller, to, sizeof length);
        if (!p)
                return WASM_TRAP_HOST;

        memcpy(p, &length, sizeof length);
        return j->trap;
}

/* (promise, reason, is handled): ours to free. */
static enum wasm_trap promise_rejected(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        struct js *j = user;
        (void) caller;
        const js_value args[] = { (js_value) slots[0], (js_value) slots[1],
                                  js_new_number(j, slots[2] ? 1 : 0) };
        js_value r = j->rejected ? js_apply(j, j->rejected, args, 3) : 0;
        if (r)
                (void) js_call(j, JS_FREE_VALUE, &r, 1);
        return j->trap;
}

/* UTC, as in every box. */
static enum wasm_trap do_nothing(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        (void) caller, (void) user;
        slots[0] = 0;
        return WASM_OK;
}

int js_define(struct js *j, struct wasm_store *s, struct err *e)
{
        static const struct {
                const char *name, *signature;
                wasm_host_fn *fn;
        } imports[] = { { "host_call", "iiiii:i", host_call },
                        { "host_interrupt", ":i", do_nothing },
                        { "host_promise_rejection", "iii:", promise_rejected },
                        { "host_module_normalize", "ii:i", module_normalize },
                        { "host_module_load", "ii:i", module_load },
                        { "host_get_timezone_offset", "ii:i", do_nothing } };
        for (size_t i = 0; i < sizeof imports / sizeof *imports; i++) {
                const struct wasm_host h = { .module = "env",
                                             .name = imports[i].name,
                                             .signature = imports[i].signature,
                                             .fn = imports[i].fn,
                                             .user = j };
                if (wasm_define(s, &h, e) < 0)
                        return -1;
        }

        return 0;
}
