/* SPDX-License-Identifier: MIT */
/* wall/wasm/js/js.h - JavaScript behind the wasm wall: QuickJS as a module, and what a script needs from its
 * host.
 *
 * The module is QuickJS-NG (npm: quickjs-wasi), which is not part of this project: tools/deps fetches it. Its
 * functions read and make the values of JavaScript; a script reaches files, clocks and streams by the calls
 * of WASI alone, from the functions of prelude.js. */
#pragma once
#include "wall/plan/plan.h"
#include "wall/wasm/wasi/wasi.h"

/* The one file that this code was written for. */
#define JS_DIGEST "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9"

/* The functions of the module that we call. */
enum js_fn {
        JS_INITIALIZE,
        JS_INIT,
        JS_MALLOC,
        JS_FREE,
        JS_EVAL,
        JS_CALL,
        JS_NEW_FUNCTION,
        JS_NEW_STRING,
        JS_NEW_NUMBER,
        JS_UNDEFINED,
        JS_IS_STRING,
        JS_IS_NUMBER,
        JS_IS_EXCEPTION,
        JS_STRING,
        JS_FREE_STRING,
        JS_NUMBER,
        JS_BUFFER,
        JS_PROPERTY,
        JS_EXCEPTION,
        JS_THROW,
        JS_FREE_VALUE,
        JS_RUN_JOB,
        JS_ON_REJECTION,
        JS_ON_MODULE,
        JS_STACK_SIZE,
        JS_FN__COUNT
};

/* A value of JavaScript: the address of its box in the module's memory. 0: none, an exception is pending. */
typedef uint32_t js_value;

struct js {
        struct wasm_instance *inst;
        struct wasi *wasi;
        struct wasm_func *fn[JS_FN__COUNT];
        enum wasm_trap trap; /* the first; nothing is called after it */
        js_value prelude, normalize, load, rejected;
        const char *name;  /* of the script */
        const char *entry; /* the function to call; NULL: none */
        bool no_wasi;      /* the script gets the caller's functions alone */
        struct host_function *functions;
        unsigned function_count;
        int (*call_host)(void *ctx, unsigned index, uint64_t *slots);
        void *call_ctx;
};

/* js_values.c. All return 0 if the module has trapped. */
int js_bind(struct js *j, struct wasm_instance *inst, struct err *e);
uint32_t js_call(struct js *j, enum js_fn f, const uint32_t *args, unsigned n);
double js_number(struct js *j, js_value v);
js_value js_new_number(struct js *j, double d);
js_value js_new_string(struct js *j, struct span text);
/* A copy in the module's memory, with a NUL behind it, for JS_FREE. `bytes` may be in that memory too. */
uint32_t js_copy(struct js *j, struct span bytes);
/* The bytes of a string: valid until the next call. `*ret_at` goes to JS_FREE_STRING. */
struct span js_text(struct js *j, js_value v, uint32_t *ret_at);
/* f(args...), and the values are freed. */
js_value js_apply(struct js *j, js_value f, const js_value *args, unsigned n);
js_value js_property(struct js *j, js_value object, const char *name);

/* js_host.c: what the module imports. */
int js_define(struct js *j, struct wasm_store *s, struct err *e);

/* js_run.c: starts the engine and its prelude; false: it cannot, or has trapped. Then runs a script to its
 * end. Returns its exit status; after a trap j->trap is set. */
bool js_start(struct js *j);
int js_run(struct js *j, struct span script);
