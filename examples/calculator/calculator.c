/* SPDX-License-Identifier: MIT */
/* calculator.c - a program that accepts plugins. Each is a WebAssembly module with a function `calculate` of
 * two numbers; it gets `add` and `mul` of this program and nothing else: no file, no clock, no output of its
 * own. Its fuel and memory are capped, and a crash or an endless loop is a result like any other.
 *
 * A plugin may also be a script (PLUGIN.js).
 *
 *     calculator A B PLUGIN... */
#include <cordon.h>

#include <stdio.h>
#include <string.h>

extern char **environ;

static const char policy_text[] = "box   calculator\n"
                                  "wall  wasm\n"
                                  "limit time 10s memory 16M output 4K\n";
static const char fuel[] = "400000000"; /* an engine of JavaScript needs half of it to start */

/* Plugins choose the numbers: unsigned, so that every sum is defined. */
static int add(void *ctx, const cordon_value *args, cordon_value *ret)
{
        ++*(unsigned *) ctx;
        ret->i64 = (int64_t) ((uint64_t) args[0].i64 + (uint64_t) args[1].i64);
        return 0;
}

static int mul(void *ctx, const cordon_value *args, cordon_value *ret)
{
        ++*(unsigned *) ctx;
        ret->i64 = (int64_t) ((uint64_t) args[0].i64 * (uint64_t) args[1].i64);
        return 0;
}

struct said {
        char text[256];
        size_t n;
};

static void on_output(void *ctx, int stream, const void *data, size_t len)
{
        struct said *s = ctx;
        size_t room = sizeof s->text - 1 - s->n, n = len < room ? len : room;
        (void) stream;
        memcpy(s->text + s->n, data, n);
        s->n += n;
}

static int start(cordon_box *box, const char *const *argv, unsigned *calls, cordon_error *e)
{
        const cordon_wasm_function functions[] = { { "env", "add", "ll:l", add, calls },
                                                   { "env", "mul", "ll:l", mul, calls } };
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
                if (cordon_wasm_export(box, &functions[i], e) < 0)
                        return -1;

        if (cordon_box_command(box, argv) < 0 || cordon_box_set(box, CORDON_ENTRY, "calculate") < 0 ||
            cordon_box_set(box, CORDON_FUEL, fuel) < 0 || cordon_box_set(box, CORDON_WASI, "0") < 0)
                return -1;

        return cordon_box_start(box, e);
}

static void run_plugin(cordon_policy *policy, const char *const *argv)
{
        struct said said = { "", 0 };
        unsigned calls = 0;
        cordon_error e = { 0 };
        cordon_box *box = cordon_box_new(policy);
        if (!box)
                return;

        cordon_box_on_output(box, on_output, &said);
        if (start(box, argv, &calls, &e) < 0) {
                (void) printf("%s: not started: %s\n", argv[0], e.what);
                cordon_box_free(box);
                return;
        }

        while (cordon_box_wait(box, -1) == 0)
                ;

        int status = cordon_result_status(cordon_box_result(box));
        said.text[strcspn(said.text, "\n")] = '\0';
        (void) printf("%s: status %d, %u calls: %s\n", argv[0], status, calls, said.text);
        cordon_box_free(box);
}

int main(int argc, char **argv)
{
        cordon_error e = { 0 };
        cordon_context *caller = cordon_context_new(environ);
        cordon_policy *policy = caller ? cordon_policy_new(caller) : NULL;
        if (argc < 4 || !policy ||
            cordon_policy_add_text(policy, "calculator", policy_text, sizeof policy_text - 1, &e) < 0) {
                (void) fprintf(stderr, "calculator: %s\n", e.what[0] ? e.what : "A B PLUGIN...");
                return 2;
        }

        for (int i = 3; i < argc; i++) {
                const char *const plugin[] = { argv[i], argv[1], argv[2], NULL };
                run_plugin(policy, plugin);
        }

        cordon_policy_free(policy);
        cordon_context_free(caller);
        return 0;
}
