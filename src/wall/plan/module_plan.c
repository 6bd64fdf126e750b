/* SPDX-License-Identifier: MIT */
/* wall/plan/module_plan.c - a box whose command is a module: cordon-wasm runs in it, and opens the doors for
 * the module by descriptor. Neither file is below a door, so the module sees neither. */
#include "base/limits.h"
#include "wall/plan/internal.h"

#include <string.h>

static void show_module(struct builder *b, const char *path, const struct plan_program *g, unsigned flags,
                        unsigned rights)
{
        struct plan_step *s = build_step(b, STEP_BIND, path, arena_str(b->a, g->real), flags);
        s->dev = g->dev;
        s->ino = g->ino;
        (void) build_rule(b, path, RIGHT_READ | rights, false);
}

int build_module(struct builder *b, struct err *e)
{
        const struct plan_program *module = &b->r->entry;
        if (b->r->no_command)
                return 0;

        if (!module->path) {
                (void) err_set(e, ERR_EXEC, 0, "there is no file %s here", b->r->argv[0]);
                return err_hint(
                        e,
                        "behind the %s wall the command is a file, x.wasm, x.js or x.mjs, and its arguments",
                        wall_name(b->p->wall));
        }

        bool script = b->r->script_engine.path;
        show_module(b, BOX_ENGINE, &b->r->engine, STEP_EXEC, RIGHT_EXEC);
        if (script)
                show_module(b, BOX_MODULE, &b->r->script_engine, 0, 0);
        if (b->r->code.path) /* mapped, never started */
                show_module(b, BOX_CODE, &b->r->code, STEP_EXEC | (b->r->as_root ? STEP_IDMAP : 0), 0);

        show_module(b, script ? BOX_SCRIPT : BOX_MODULE, module, b->r->as_root ? STEP_IDMAP : 0, 0);
        return 0;
}

static size_t add_doors(const struct builder *b, const char **v)
{
        size_t n = 0;
        for (size_t i = 0; i < b->door_count; i++) {
                const struct door *d = &b->doors[i];
                if (!door_is_of_files(d) || b->r->seen[i].kind == SEEN_NOTHING)
                        continue;
                v[n++] = d->kind == DOOR_READ ? "--read" : "--write";
                v[n++] = arena_str(b->a, d->path);
        }

        return n;
}

static size_t add_text(const char **v, const char *option, const char *value)
{
        if (!value)
                return 0;

        v[0] = option;
        v[1] = value;
        return 2;
}

static size_t add_number(struct builder *b, const char **v, const char *option, uint64_t value)
{
        return value ? add_text(v, option, arena_printf(b->a, "%llu", (unsigned long long) value)) : 0;
}

/* One more descriptor, behind the handles, over which the module calls the caller's functions. */
static size_t add_functions(struct builder *b, const char **v)
{
        struct plan *p = b->p;
        size_t n = 0;
        for (size_t i = 0; i < b->r->function_count; i++) {
                const struct host_function *f = &b->r->functions[i];
                n += add_text(v + n, "--function",
                              arena_printf(b->a, "%s %s %s", f->signature, f->module, f->name));
        }

        if (n > 0)
                p->handles[p->handle_count++] = (struct plan_handle){ .name = "", .calls = true };
        return n;
}

/* A parked box has the module loaded: what it was started with belongs to the box plan, and its arguments are
 * left for the order. NULL: it can be served so. */
static const char *cold_reason(const struct builder *b)
{
        if (b->o->tty)
                return "a warm module has no terminal";

        return b->p->handle_count || b->o->file_count ? "a warm module has no handles and files of its run"
                                                      : NULL;
}

/* `words` up to the name: the engine's own, and its module. */
static void add_warm(struct builder *b, const char **words, size_t n)
{
        enum { MORE = 4 };
        struct plan_order *w = arena_alloc(b->a, sizeof *w);
        const char **v = arena_alloc(b->a, (n + MORE) * sizeof *v);
        b->p->warm_why = cold_reason(b);
        if (!w || !v || b->p->warm_why)
                return;

        v[0] = words[0];
        size_t k = 1 + add_number(b, v + 1, "--line", 3);
        memcpy(v + k, words + 1, (n - 1) * sizeof *v);
        v[k + n - 1] = "module";
        *w = (struct plan_order){
                .argv = v, .launch = v, .envp = b->o->envp, .exec = b->o->exec, .cwd = b->o->cwd
        };
        w->limits.value[LIMIT_CPU] = b->o->limits.value[LIMIT_CPU];
        b->p->warm = w;
        b->p->warm_count = 1;
}

int build_launch(struct builder *b, struct err *e)
{
        enum { FIXED = 22 };
        size_t words = 0, handles = b->p->handle_count;
        while (b->o->argv[words])
                words++;

        if (b->r->function_count > 0 && handles == HANDLES_MAX)
                return err_set(e, ERR_POLICY, 0, "functions need a descriptor: %d handles are too many",
                               HANDLES_MAX);

        const char **v =
                arena_alloc(b->a, (FIXED + 2 * b->door_count + 2 * b->r->function_count + words) * sizeof *v);
        const char **exec = arena_alloc(b->a, 2 * sizeof *exec);
        if (!v || !exec || !b->p->handles)
                return 0; /* reported at the end */

        size_t n = 0;
        v[n++] = "cordon-wasm";
        n += add_doors(b, v + n);
        n += add_functions(b, v + n);
        n += add_number(b, v + n, "--handles", handles);
        n += add_number(b, v + n, "--memory", b->p->limits.value[LIMIT_MEMORY]);
        n += add_number(b, v + n, "--fuel", b->r->fuel);
        n += add_text(v + n, "--entry", b->r->module_entry ? arena_str(b->a, b->r->module_entry) : NULL);
        n += add_text(v + n, "--wasi", b->r->no_wasi ? "off" : NULL);
        n += add_text(v + n, "--script", b->r->script_engine.path ? BOX_SCRIPT : NULL);
        n += add_text(v + n, "--code", b->r->code.path ? BOX_CODE : NULL);
        n += add_text(v + n, "--engine", b->r->interpret ? "interpreter" : NULL);
        v[n++] = BOX_MODULE;
        memcpy(v + n, b->o->argv, words * sizeof *v);
        b->o->launch = v;
        exec[0] = BOX_ENGINE;
        b->o->exec = exec;
        add_warm(b, v, n);
        return 0;
}
