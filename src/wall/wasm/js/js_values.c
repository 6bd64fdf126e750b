/* SPDX-License-Identifier: MIT */
/* wall/wasm/js/js_values.c - calls of the module's functions, and values in its memory. What it returns is
 * hostile: memory is reached by wasm_memory_at() only. */
#include "wall/wasm/js/js.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *name, *signature;
} wanted[JS_FN__COUNT] = {
        [JS_INITIALIZE] = { "_initialize", ":" },
        [JS_INIT] = { "qjs_init", ":i" },
        [JS_MALLOC] = { "wasm_malloc", "i:i" },
        [JS_FREE] = { "wasm_free", "i:" },
        [JS_EVAL] = { "qjs_eval", "iiii:i" },
        [JS_CALL] = { "qjs_call", "iiii:i" },
        [JS_NEW_FUNCTION] = { "qjs_new_host_function", "iii:i" },
        [JS_NEW_STRING] = { "qjs_new_string", "ii:i" },
        [JS_NEW_NUMBER] = { "qjs_new_number", "d:i" },
        [JS_UNDEFINED] = { "qjs_get_undefined", ":i" },
        [JS_IS_STRING] = { "qjs_is_string", "i:i" },
        [JS_IS_NUMBER] = { "qjs_is_number", "i:i" },
        [JS_IS_EXCEPTION] = { "qjs_is_exception", "i:i" },
        [JS_STRING] = { "qjs_get_string_len", "ii:i" },
        [JS_FREE_STRING] = { "qjs_free_cstring", "i:" },
        [JS_NUMBER] = { "qjs_get_float64", "i:d" },
        [JS_BUFFER] = { "qjs_get_array_buffer", "ii:i" },
        [JS_PROPERTY] = { "qjs_get_prop_string", "ii:i" },
        [JS_EXCEPTION] = { "qjs_get_exception", ":i" },
        [JS_THROW] = { "qjs_throw", "i:i" },
        [JS_FREE_VALUE] = { "qjs_free_value", "i:" },
        [JS_RUN_JOB] = { "qjs_execute_pending_job", ":i" },
        [JS_ON_REJECTION] = { "qjs_set_promise_rejection_handler", "i:" },
        [JS_ON_MODULE] = { "qjs_set_module_loader", "i:" },
        [JS_STACK_SIZE] = { "qjs_set_max_stack_size", "i:" },
};

int js_bind(struct js *j, struct wasm_instance *inst, struct err *e)
{
        j->inst = inst;
        for (unsigned i = 0; i < JS_FN__COUNT; i++) {
                j->fn[i] = wasm_export_func(inst, span_str(wanted[i].name));
                if (!j->fn[i] || strcmp(wasm_func_signature(j->fn[i]), wanted[i].signature) != 0)
                        return err_set(e, ERR_EXEC, 0, "the JavaScript engine has no function %s",
                                       wanted[i].name);
        }

        return 0;
}

static uint64_t call_js(struct js *j, enum js_fn f, uint64_t *slots)
{
        if (j->trap == WASM_OK)
                j->trap = wasm_call(j->inst, j->fn[f], slots);
        return j->trap == WASM_OK ? slots[0] : 0;
}

uint32_t js_call(struct js *j, enum js_fn f, const uint32_t *args, unsigned n)
{
        uint64_t slots[4] = { 0 };
        for (unsigned i = 0; i < n; i++)
                slots[i] = args[i];
        return (uint32_t) call_js(j, f, slots);
}

double js_number(struct js *j, js_value v)
{
        uint64_t slots[1] = { v };
        uint64_t bits = call_js(j, JS_NUMBER, slots);
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
}

js_value js_new_number(struct js *j, double d)
{
        uint64_t slots[1];
        memcpy(slots, &d, sizeof d);
        return (js_value) call_js(j, JS_NEW_NUMBER, slots);
}

uint32_t js_copy(struct js *j, struct span bytes)
{
        const uint32_t size = (uint32_t) bytes.n + 1;
        char *own = calloc(1, size); /* the memory may move */
        if (own)
                memcpy(own, bytes.p, bytes.n);

        uint32_t at = own ? js_call(j, JS_MALLOC, &size, 1) : 0;
        char *to = at ? wasm_memory_at(j->inst, at, size) : NULL;
        if (to)
                memcpy(to, own, size);

        free(own);
        return to ? at : 0;
}

js_value js_new_string(struct js *j, struct span text)
{
        const uint32_t a[] = { js_copy(j, text), (uint32_t) text.n };
        js_value v = js_call(j, JS_NEW_STRING, a, 2);
        (void) js_call(j, JS_FREE, a, 1);
        return v;
}

struct span js_text(struct js *j, js_value v, uint32_t *ret_at)
{
        const uint32_t a[] = { v, js_copy(j, span_str("len")) };
        uint32_t at = a[1] ? js_call(j, JS_STRING, a, 2) : 0, n = 0;
        const void *length = wasm_memory_at(j->inst, a[1], sizeof n);
        if (length)
                memcpy(&n, length, sizeof n);

        (void) js_call(j, JS_FREE, a + 1, 1);
        const void *p = at ? wasm_memory_at(j->inst, at, n) : NULL;
        *ret_at = at;
        return p ? span_of(p, n) : span_str("");
}

static void free_values(struct js *j, const js_value *v, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                if (v[i])
                        (void) js_call(j, JS_FREE_VALUE, v + i, 1);
}

js_value js_apply(struct js *j, js_value f, const js_value *args, unsigned n)
{
        const js_value undefined = js_call(j, JS_UNDEFINED, NULL, 0);
        uint32_t list = js_copy(j, span_of(args, n * sizeof *args));
        const uint32_t a[] = { f, undefined, n, list };
        js_value r = list ? js_call(j, JS_CALL, a, 4) : 0;
        (void) js_call(j, JS_FREE, &list, 1);
        free_values(j, args, n);
        free_values(j, &undefined, 1);
        return r;
}

js_value js_property(struct js *j, js_value object, const char *name)
{
        const uint32_t a[] = { object, js_copy(j, span_str(name)) };
        js_value v = a[1] ? js_call(j, JS_PROPERTY, a, 2) : 0;
        (void) js_call(j, JS_FREE, a + 1, 1);
        return v;
}
