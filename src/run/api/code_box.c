/* SPDX-License-Identifier: MIT */
/* run/api/code_box.c - cordon_box_prepare(): compiles the module of a box once, in a box of its own.
 *
 * Nothing of the module runs there, but its bytes may have taken over the compiler: what comes out is used
 * for the same module only, and does what that module could do anyway, in its box. The name of the entry and
 * the digest are made here. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/sanitized.h"
#include "base/str.h"
#include "run/api/code_store.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char rules[] = "box cordon-wasm\n"
#if SANITIZED
                            "use base/loader\n"
#else
                            "use none\n"
#endif
                            "limit procs 4 files 64 output 64M";

/* It takes no more than the run may, whose time has begun. */
static int write_rules(const struct cordon_box *b, struct buf *ret, struct err *e)
{
        static const struct {
                enum limit_key key;
                uint64_t most;
                const char *unit;
        } rows[] = { { LIMIT_TIME, 60000, "ms" },
                     { LIMIT_CPU, 60000, "ms" },
                     { LIMIT_MEMORY, UINT64_C(2) << 30, "" } };

        if (cordon_policy_check(b->policy, (cordon_error *) (void *) e) < 0)
                return -1;

        buf_puts(ret, rules);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                uint64_t own = policy_limits(b->policy->checked)->value[rows[i].key];
                buf_printf(ret, " %s %llu%s", policy_limit_name(rows[i].key),
                           (unsigned long long) (own < rows[i].most ? own : rows[i].most), rows[i].unit);
        }

        buf_putc(ret, '\n');
        return 0;
}

static void hear_output(void *ctx, int stream, const void *data, size_t len)
{
        if (stream == 1)
                buf_add(ctx, data, len);
}

static int digest_of(const char *path, char ret[65])
{
        char block[65536];
        struct sha256 h;
        ssize_t n;
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        (void) hash_use_hardware();
        sha256_init(&h);
        while (fd >= 0 && (n = read(fd, block, sizeof block)) > 0)
                sha256_add(&h, block, (size_t) n);

        if (fd < 0 || n < 0)
                return -1;
        sha256_end_hex(&h, ret);
        return 0;
}

static int run_compiler(struct cordon_box *of, cordon_policy *p, const char *const *argv, struct buf *out,
                        struct err *e)
{
        cordon_box *b = cordon_box_new(p);
        if (!b || cordon_box_command(b, argv) < 0 || cordon_box_set(b, CORDON_LEDGER, "off") < 0 ||
            cordon_box_set(b, CORDON_OBSERVE, "off") < 0) {
                cordon_box_free(b);
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the compiler");
        }

        cordon_box_on_output(b, hear_output, out);
        int r = cordon_box_start(b, (cordon_error *) (void *) e);
        while (r == 0 && cordon_box_wait(b, -1) == 0)
                ;

        const cordon_result *end = cordon_box_result(b);
        of->prepared_ms = end->wall_ns / 1000000u;
        of->prepared_cpu_ms = end->cpu_ns / 1000000u;
        if (r == 0 && (end->end != CORDON_EXITED || end->code != 0))
                r = err_set(e, ERR_EXEC, 0, "the module was not compiled");
        if (r == 0 && out->failed)
                r = err_set(e, ERR_MEMORY, ENOMEM, "no memory for the code");
        cordon_box_free(b);
        return r;
}

/* The command of the compiler: with what the run lets the module import, which is checked first. */
struct command {
        char functions[HOST_FUNCTIONS][sizeof(struct host_function)];
        const char *argv[2 * HOST_FUNCTIONS + 10];
};

static void make_command(const struct cordon_box *b, const struct api_engine *x, const char *module,
                         struct command *ret)
{
        size_t n = 0;
        const char **v = ret->argv;
        v[n++] = x->program;
        v[n++] = "--compile";
        v[n++] = "on";
        if (x->script[0]) {
                v[n++] = "--script";
                v[n++] = module;
        }
        if (b->no_wasi) {
                v[n++] = "--wasi";
                v[n++] = "off";
        }
        for (unsigned i = 0; b->functions && i < b->functions->count; i++) {
                const struct host_function *f = &b->functions->v[i];
                (void) snprintf(ret->functions[i], sizeof ret->functions[i], "%s %s %s", f->signature,
                                f->module, f->name);
                v[n++] = "--function";
                v[n++] = ret->functions[i];
        }

        v[n++] = module;
        v[n++] = "module";
        v[n] = NULL;
}

static int compile_module(struct cordon_box *b, const struct api_engine *engine, const char *module,
                          struct buf *out, struct err *e)
{
        cordon_error *pe = (cordon_error *) (void *) e;
        struct command c;
        const char *const shown[] = { module, NULL };
        AUTO_BUF(text);
        if (write_rules(b, &text, e) < 0)
                return -1;

        cordon_policy *p = cordon_policy_new(b->policy->cx);
        if (!p)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the compiler");

        make_command(b, engine, module, &c);
        int r = cordon_policy_add_text(p, "cordon-wasm", buf_str(&text), text.n, pe) == 0 &&
                                cordon_policy_show(p, shown, pe) == 0
                        ? run_compiler(b, p, c.argv, out, e)
                        : -1;
        cordon_policy_free(p);
        return r;
}

/* The engine and the module of the command: a script's is the one that runs it. */
static bool files_of(const struct cordon_box *b, struct api_engine *ret, char module[PATH_MAX])
{
        struct err ignored;
        enum wall_kind wall;
        char here[PATH_MAX];
        bool is_module =
                b->policy && policy_states_wall(b->policy->lines, &wall) && !wall_has(wall, WALL_PROGRAMS);
        if (!is_module || api_interprets(b) || !b->argv || !b->argv[0] || !getcwd(here, sizeof here) ||
            api_engine_find(b->policy->cx, b->argv[0], ret, &ignored) < 0)
                return false;

        return path_join(here, ret->script[0] ? ret->script : b->argv[0], module, PATH_MAX);
}

int cordon_box_prepare(cordon_box *b, cordon_error *pe)
{
        struct err *e = to_err(pe);
        struct api_engine engine;
        char module[PATH_MAX], name[CODE_NAME], path[CODE_PATH], digest[65];
        if (!files_of(b, &engine, module) || code_name(b->policy->cx, engine.program, module, name) < 0 ||
            code_find(b->policy->cx, name, path))
                return 0;

        if (digest_of(module, digest) < 0)
                return err_set(e, ERR_IO, errno, "%s cannot be read: %s", module, strerror(errno));

        AUTO_BUF(code);
        if (compile_module(b, &engine, module, &code, e) < 0)
                return -1;

        const struct code_entry x = { name, digest, span_of(buf_str(&code), code.n) };
        return code_keep(b->policy->cx, &x, e);
}
