/* SPDX-License-Identifier: MIT */
/* wall/wasm/main.c - cordon-wasm: the payload of a box with the wasm wall. Loads and validates the module,
 * opens its doors, closes a filter around itself, and runs it. In a parked box it waits before the module's
 * first instruction, or a script's, for the arguments of its one run.
 *
 * It exits with the module's own status; 126 if the file is no module that can run, 134 after a trap, 124
 * when the fuel is used up. */
#include "base/fd.h"
#include "base/hash.h"
#include "wall/wasm/js/js.h"
#include "wall/wasm/program/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GREAT_FILE = 128 << 10 }; /* asking the processor takes as long as the digest of a smaller one */
enum { EXIT_FUEL = 124, EXIT_CORDON = 125, EXIT_NO_MODULE = 126, EXIT_TRAP = 134 };

struct running {
        struct engine_options o;
        struct wasi *wasi;
        struct wasm_module *module;
        struct wasm_store *store;
        struct guest_needs needs;
        struct js js;
        struct span bytes, script; /* bytes: of the module */
        int script_file;
        char **argv, **envp; /* of this process */
        const struct wasm_engine *engine;
        struct wasm_native *code; /* that was kept, or NULL */
        char digest[WASM_DIGEST];
};

static int report_end(const struct running *r, const char *what, const char *hint)
{
        (void) fprintf(stderr, "cordon-wasm: %s%s%s\n", r->o.name ? r->o.name : "", r->o.name ? ": " : "",
                       what);
        if (hint[0])
                (void) fprintf(stderr, "hint: %s\n", hint);
        return -1;
}

/* Read, not mapped: the file must not change while it runs. */
static int read_open(int fd, struct span *ret, struct err *e)
{
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_set(e, ERR_IO, errno, "cannot be read: %s", strerror(errno));

        if (!S_ISREG(st.st_mode) || st.st_size > WASM_MAX_BYTES)
                return err_set(e, ERR_EXEC, 0, "is no file of at most %d MB", WASM_MAX_BYTES >> 20);

        uint8_t *bytes = malloc((size_t) st.st_size + 1);
        ssize_t n = bytes ? fd_read_all(fd, bytes, (size_t) st.st_size) : -1;
        if (n < 0) {
                free(bytes);
                return err_set(e, ERR_IO, errno, "cannot be read: %s", strerror(errno));
        }

        *ret = span_of(bytes, (size_t) n); /* as long as the process */
        return 0;
}

static int read_file(const char *path, struct span *ret, struct err *e)
{
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        if (read_open(fd, ret, e) < 0)
                return -1;

        if (ret->n > GREAT_FILE)
                (void) hash_use_hardware();
        return 0;
}

static struct wasm_limits limits_of(const struct engine_options *o)
{
        struct wasm_limits l = wasm_limits_default;
        if (o->memory && o->memory / WASM_PAGE < l.memory_pages)
                l.memory_pages = (uint32_t) (o->memory / WASM_PAGE);
        l.fuel = o->fuel ? o->fuel : UINT64_MAX;
        return l;
}

/* Compiled where that works. */
static const struct wasm_engine *engine_of(const struct engine_options *o)
{
        const struct wasm_engine *compiler = o->interpret ? NULL : wasm_compiler();
        return compiler ? compiler : &wasm_interpreter;
}

/* The run's command, for a process that begins anew: without `--line N`, and without the last word. */
static void start_anew(struct running *r)
{
        size_t own = 0, given = 0, n = 0;
        while (r->argv[own])
                own++;
        while (r->o.argv[given])
                given++;

        char **v = calloc(own + given, sizeof *v);
        if (!v)
                return;

        v[n++] = r->argv[0];
        for (size_t i = 3; i + 1 < own; i++)
                v[n++] = r->argv[i];
        memcpy(v + n, r->o.argv, given * sizeof *v);
        (void) execve(BOX_ENGINE, v, r->envp);
        free(v);
}

/* A module that was written to since it was loaded is loaded again, by a new process. */
static int await_order(struct running *r, struct err *e)
{
        struct span now;
        if (guest_order_await(&r->o, e) < 0)
                return -1;

        wasi_set_args(r->wasi, r->o.argv);
        r->js.name = r->o.name;
        if (r->o.script)
                return 0;

        if (read_file(r->o.module, &now, e) < 0)
                return -1;

        bool same = now.n == r->bytes.n && memcmp(now.p, r->bytes.p, now.n) == 0;
        free((void *) (uintptr_t) now.p);
        if (!same) {
                start_anew(r);
                return err_set(e, ERR_EXEC, errno, "cannot be started anew: %s", strerror(errno));
        }

        return 0;
}

/* The code is made; the module has not run. */
static int close_filter(void *user, struct err *e)
{
        struct running *r = user;
        if (r->o.line && !r->o.script && await_order(r, e) < 0)
                return -1;

        return guest_filter_close(&r->needs, e);
}

static int call_host(void *ctx, unsigned index, uint64_t *slots)
{
        const struct running *r = ctx;
        return guest_function_call(&r->o, index, slots);
}

/* The module is the engine, and no other than the one that js.h names. */
static int prepare_script(struct running *r, struct span engine, struct err *e)
{
        if (!r->o.script)
                return 0;

        sha256_hex(engine, r->digest);
        if (strcmp(r->digest, JS_DIGEST) != 0) {
                (void) err_set(e, ERR_EXEC, 0, "quickjs.wasm is not the file that cordon knows");
                return err_hint(e,
                                "`sh tools/deps quickjs` in cordon's source directory fetches the right one");
        }

        r->js = (struct js){ .name = r->o.name,
                             .entry = r->o.entry,
                             .no_wasi = r->o.no_wasi,
                             .functions = r->o.functions,
                             .function_count = r->o.function_count,
                             .call_host = call_host,
                             .call_ctx = r };
        r->script_file = open(r->o.script, O_RDONLY | O_CLOEXEC);
        return r->script_file < 0 ? err_set(e, ERR_IO, errno, "cannot be read: %s", strerror(errno)) : 0;
}

/* With the code that was kept for it, if there is any; else as anything that came from outside. */
static struct wasm_module *load_module(struct running *r, struct span bytes, struct err *e)
{
        AUTO_FD(fd, r->o.code && r->engine != &wasm_interpreter ? open(r->o.code, O_RDONLY | O_CLOEXEC) : -1);
        if (fd >= 0 && !r->o.script)
                sha256_hex(bytes, r->digest);

        struct err ignored = { 0 };
        bool is_known = fd >= 0 && wasm_code_is_of(fd, r->digest);
        struct wasm_module *m = is_known ? wasm_module_load_known(bytes, &ignored) : NULL;
        if (m && (r->code = wasm_code_map(m, r->digest, fd)))
                return m;

        wasm_module_free(m);
        return wasm_module_load(bytes, e);
}

/* All that can fail before the module is linked and compiled. */
static int prepare_run(struct running *r, char **envp, struct err *e)
{
        r->engine = engine_of(&r->o);
        if (read_file(r->o.module, &r->bytes, e) < 0 || prepare_script(r, r->bytes, e) < 0 ||
            !(r->module = load_module(r, r->bytes, e)))
                return -1;

        const struct wasi_config c = { r->o.argv, (const char *const *) envp };
        const struct wasm_limits l = limits_of(&r->o);
        if (!(r->wasi = wasi_new(&c, e)) || guest_doors_open(r->wasi, &r->o, envp, &r->needs, e) < 0 ||
            !(r->store = wasm_store_new(r->engine, &l, e)) ||
            ((r->o.script || !r->o.no_wasi) && wasi_define(r->wasi, r->store, e) < 0) ||
            (r->o.script ? js_define(&r->js, r->store, e) : guest_functions_define(&r->o, r->store, e)) < 0)
                return -1;

        if (r->code)
                wasm_store_use_code(r->store, r->code);
        r->js.wasi = r->wasi;
        r->needs.sockets |= r->o.function_count > 0;
        wasm_on_ready(r->store, close_filter, r);
        return 0;
}

/* Before it has its run, a parked process tells the keeper. */
static int cannot_run(const struct running *r, const struct err *e)
{
        if (r->o.line)
                guest_order_refuse(&r->o, e);
        else
                (void) report_end(r, e->what, e->hint);
        return EXIT_NO_MODULE;
}

static int exit_status(const struct running *r)
{
        uint32_t code = wasi_exit_code(r->wasi);
        return code > 255 ? 255 : (int) code;
}

static int report_trap(const struct running *r, enum wasm_trap t)
{
        char what[128];
        if (t == WASM_TRAP_EXIT)
                return exit_status(r);

        (void) snprintf(what, sizeof what, "trap: %s", wasm_trap_text(t));
        if (r->o.line) {
                struct err e = { 0 };
                (void) err_set(&e, ERR_EXEC, 0, "%s", what);
                return cannot_run(r, &e);
        }

        (void) report_end(r, what, "");
        return t == WASM_TRAP_FUEL ? EXIT_FUEL : EXIT_TRAP;
}

static int call_entry(const struct running *r, struct wasm_instance *inst)
{
        struct err e = { 0 };
        enum wasm_trap t = WASM_OK;
        if (guest_entry_call(inst, &r->o, &t, &e) < 0)
                return cannot_run(r, &e);

        return t == WASM_OK ? 0 : report_trap(r, t);
}

static int run_script(struct running *r, struct wasm_instance *inst)
{
        struct err e = { 0 };
        if (js_bind(&r->js, inst, &e) < 0)
                return cannot_run(r, &e);

        if (!js_start(&r->js))
                return report_trap(r, r->js.trap);

        if ((r->o.line && await_order(r, &e) < 0) || read_open(r->script_file, &r->script, &e) < 0)
                return cannot_run(r, &e);

        fd_close(&r->script_file);
        int status = js_run(&r->js, r->script);
        return r->js.trap == WASM_OK ? status : report_trap(r, r->js.trap);
}

static int run_module(struct running *r)
{
        struct err e = { 0 };
        enum wasm_trap t = WASM_OK;
        struct wasm_instance *inst = NULL;
        if (wasm_instantiate(r->store, r->module, &inst, &t, &e) < 0)
                return t != WASM_OK ? report_trap(r, t) : cannot_run(r, &e);

        if (r->o.script)
                return run_script(r, inst);

        if (r->o.entry)
                return call_entry(r, inst);

        struct wasm_func *f = wasm_export_func(inst, span_str("_start"));
        if (!f || strcmp(wasm_func_signature(f), ":") != 0) {
                (void) report_end(r, "exports no function `_start` without parameters",
                                  "it is a library: a program is linked without -nostartfiles and "
                                  "-mexec-model=reactor");
                return EXIT_NO_MODULE;
        }

        uint64_t slots[1] = { 0 };
        t = wasm_call(inst, f, slots);
        return t == WASM_OK ? 0 : report_trap(r, t);
}

/* Nothing of the module runs: its code goes to stdout, for cordon to keep. */
static int compile_only(struct running *r, char **envp, struct err *e)
{
        const struct guest_needs none = { 0 };
        if (prepare_run(r, envp, e) < 0 || wasm_imports_fit(r->store, r->module, e) < 0 ||
            guest_filter_close(&none, e) < 0)
                return -1;

        sha256_hex(r->bytes, r->digest);
        return wasm_code_write(r->module, r->digest, STDOUT_FILENO, e);
}

int main(int argc, char **argv, char **envp)
{
        struct running r = { .argv = argv, .envp = envp };
        struct err e = { 0 };
        (void) signal(SIGPIPE, SIG_IGN); /* a write fails with EPIPE, as WASI has it */
        if (engine_options_read(argc, argv, &r.o, &e) < 0) {
                (void) report_end(&r, e.what, e.hint);
                return EXIT_CORDON;
        }

        if ((r.o.compile ? compile_only(&r, envp, &e) : prepare_run(&r, envp, &e)) < 0)
                return cannot_run(&r, &e);

        return r.o.compile ? 0 : run_module(&r);
}
