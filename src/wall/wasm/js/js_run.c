/* SPDX-License-Identifier: MIT */
/* wall/wasm/js/js_run.c - one script: the engine and its prelude are started, the script is evaluated, and
 * its jobs and timers run until none is left. */
#include "base/buf.h"
#include "base/fd.h"
#include "wall/wasm/js/js.h"

#include <unistd.h>

static const char prelude[] = {
#include "wall/wasm/js_prelude.inc" /* prelude.js, by tools/embed */
};

enum { STACK_BYTES = 512 << 10, EVAL_MODULE = 1, EVAL_COMPILE = 32 };

static js_value evaluate_text(struct js *j, struct span text, const char *name, uint32_t flags)
{
        const uint32_t a[] = { js_copy(j, text), (uint32_t) text.n, js_copy(j, span_str(name)), flags };
        js_value v = a[0] && a[2] ? js_call(j, JS_EVAL, a, 4) : 0;
        (void) js_call(j, JS_FREE, a, 1);
        (void) js_call(j, JS_FREE, a + 2, 1);
        return v;
}

static js_value function_of_ours(struct js *j, const char *name)
{
        const uint32_t a[] = { js_copy(j, span_str(name)), (uint32_t) strlen(name), 0 };
        js_value v = js_call(j, JS_NEW_FUNCTION, a, 3);
        (void) js_call(j, JS_FREE, a, 1);
        return v;
}

/* "add mul": by their place. */
static js_value names_of_functions(struct js *j)
{
        AUTO_BUF(b);
        for (unsigned i = 0; i < j->function_count; i++)
                buf_printf(&b, "%s%s", i ? " " : "", j->functions[i].name);
        return js_new_string(j, span_str(buf_str(&b)));
}

/* The prelude is a function that makes the functions of scripts out of ours, and returns those that we call.
 */
static void start_prelude(struct js *j)
{
        static const uint32_t on[] = { 1 }, stack[] = { STACK_BYTES };
        (void) js_call(j, JS_STACK_SIZE, stack, 1);
        js_value f = evaluate_text(j, span_of(prelude, sizeof prelude), "cordon", 0);
        const js_value args[] = { function_of_ours(j, "wasi"), function_of_ours(j, "put"),
                                  function_of_ours(j, "get"),  function_of_ours(j, "at"),
                                  function_of_ours(j, "call"), function_of_ours(j, "web"),
                                  names_of_functions(j) };
        j->prelude = js_apply(j, f, args, sizeof args / sizeof *args);
        j->normalize = js_property(j, j->prelude, "normalize");
        j->load = js_property(j, j->prelude, "load");
        j->rejected = js_property(j, j->prelude, "rejected");
        (void) js_call(j, JS_ON_REJECTION, on, 1);
        (void) js_call(j, JS_ON_MODULE, on, 1);
}

bool js_start(struct js *j)
{
        (void) js_call(j, JS_INITIALIZE, NULL, 0);
        if (js_call(j, JS_INIT, NULL, 0) == 0)
                start_prelude(j);

        if (j->trap == WASM_OK && j->prelude && !js_call(j, JS_IS_EXCEPTION, &j->prelude, 1))
                return true;

        if (j->trap == WASM_OK)
                j->trap = WASM_TRAP_NO_MEMORY;
        return false;
}

/* Calls a function of the prelude. The argument is freed. */
static js_value ask_function(struct js *j, const char *name, js_value arg)
{
        js_value f = js_property(j, j->prelude, name), v = js_apply(j, f, &arg, arg ? 1 : 0);
        (void) js_call(j, JS_FREE_VALUE, &f, 1);
        return v;
}

static int ask_number(struct js *j, const char *name)
{
        js_value v = ask_function(j, name, 0);
        int r = v && js_call(j, JS_IS_NUMBER, &v, 1) ? (int) js_number(j, v) : 0;
        (void) js_call(j, JS_FREE_VALUE, &v, 1);
        return r;
}

/* Frees the text. Returns whether there was any. */
static bool print_text(struct js *j, js_value text, int fd)
{
        uint32_t at = 0;
        struct span s = span_str("");
        if (text && js_call(j, JS_IS_STRING, &text, 1))
                s = js_text(j, text, &at);

        bool any = s.n > 0;
        (void) fd_write_all(fd, s.p, s.n);
        (void) js_call(j, JS_FREE_STRING, &at, 1);
        (void) js_call(j, JS_FREE_VALUE, &text, 1);
        return any;
}

/* Prints what was thrown, if something was. */
static bool report_thrown(struct js *j, js_value v)
{
        if (j->trap != WASM_OK || (v && !js_call(j, JS_IS_EXCEPTION, &v, 1)))
                return false;

        (void) print_text(j, ask_function(j, "report", js_call(j, JS_EXCEPTION, NULL, 0)), STDERR_FILENO);
        return true;
}

static void run_jobs(struct js *j)
{
        int r;
        while (j->trap == WASM_OK && (r = (int) js_call(j, JS_RUN_JOB, NULL, 0)) != 0)
                if (r < 0)
                        (void) report_thrown(j, 0);
}

/* Its name tells; else it is a module if it is not of the older kind: with `import`, `export` or an outer
 * `await`. */
static bool is_module(struct js *j, struct span script)
{
        size_t n = strlen(j->name);
        if (n > 4 && strcmp(j->name + n - 4, ".mjs") == 0)
                return true;

        js_value v = evaluate_text(j, script, j->name, EVAL_COMPILE);
        bool r = v && js_call(j, JS_IS_EXCEPTION, &v, 1);
        if (r) {
                const js_value why = js_call(j, JS_EXCEPTION, NULL, 0);
                (void) js_call(j, JS_FREE_VALUE, &why, 1);
        }

        (void) js_call(j, JS_FREE_VALUE, &v, 1);
        return r;
}

/* Returns whether something was thrown. */
static bool call_entry(struct js *j)
{
        js_value v = ask_function(j, "entry", js_new_string(j, span_str(j->entry)));
        if (report_thrown(j, v))
                return true;

        (void) print_text(j, v, STDOUT_FILENO);
        return false;
}

static bool is_identifier(const char *name)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$0123456789";
        return name[0] && !(name[0] >= '0' && name[0] <= '9') && name[strspn(name, letters)] == '\0';
}

/* A module's names are seen by its own code only: a line at its end hands out the one that is to be called.
 */
static js_value evaluate_module(struct js *j, struct span script)
{
        if (!j->entry || !is_identifier(j->entry))
                return evaluate_text(j, script, j->name, EVAL_MODULE);

        AUTO_BUF(text);
        buf_add(&text, script.p, script.n);
        buf_printf(&text, "\n;if (typeof %s === 'function') globalThis.module.exports.%s = %s;", j->entry,
                   j->entry, j->entry);
        js_value v =
                text.failed ? 0 : evaluate_text(j, span_of(buf_str(&text), text.n), j->name, EVAL_MODULE);
        run_jobs(j); /* an outer `await` may stand before it */
        return v;
}

int js_run(struct js *j, struct span script)
{
        (void) ask_function(j, "begin", js_new_string(j, span_str(j->name)));
        bool failed = report_thrown(j, is_module(j, script) ? evaluate_module(j, script)
                                                            : evaluate_text(j, script, j->name, 0)) ||
                      (j->entry && call_entry(j));
        do
                run_jobs(j);
        while (j->trap == WASM_OK && !failed && ask_number(j, "tick"));

        failed |= print_text(j, ask_function(j, "last", 0), STDERR_FILENO);
        return failed ? 1 : ask_number(j, "status");
}
