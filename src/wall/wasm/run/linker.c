/* SPDX-License-Identifier: MIT */
/* wall/wasm/run/linker.c - signatures, definitions, and the imports of an instance. Nothing is importable but
 * what the host defined by name. */
#include "wall/wasm/opcode.h"
#include "wall/wasm/run/runtime.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/* The seed of this process: a module cannot have sixty thousand types in one bucket. */
static uint32_t hash_seed(void)
{
        uint32_t seed = 2166136261u;
        union {
                unsigned long number;
                const void *at;
        } random = { getauxval(AT_RANDOM) };

        if (random.at)
                memcpy(&seed, random.at, sizeof seed);
        return seed;
}

static const struct wasm_sig *sig_of(struct wasm_store *s, const char *text)
{
        uint32_t hash = hash_seed(), slots[2] = { 0, 0 };
        unsigned side = 0;

        for (const char *p = text; *p; p++) {
                hash = (hash ^ (uint8_t) *p) * 16777619u;
                if (*p == ':')
                        side = 1;
                else
                        slots[side] += wasm_type_slots((uint8_t) wasm_letter_type(*p));
        }

        struct wasm_sig **bucket = &s->sigs[(hash ^ hash >> 16) % WASM_SIG_BUCKETS];
        for (struct wasm_sig *x = *bucket; x; x = x->next)
                if (x->hash == hash && strcmp(x->text, text) == 0)
                        return x;

        struct wasm_sig *x = arena_alloc(&s->arena, sizeof *x + strlen(text) + 1);
        if (!x)
                return NULL;
        *x = (struct wasm_sig){ *bucket, hash, (uint16_t) slots[0], (uint16_t) slots[1] };
        memcpy(x->text, text, strlen(text) + 1);
        return *bucket = x;
}

const struct wasm_sig *wasm_sig_of_type(struct wasm_store *s, const struct wasm_functype *t)
{
        char text[2 * WASM_MAX_PARAMS + 2];
        size_t n = 0;

        for (uint32_t i = 0; i < t->n_params; i++)
                text[n++] = wasm_type_letter(t->params[i]);
        text[n++] = ':';
        for (uint32_t i = 0; i < t->n_results; i++)
                text[n++] = wasm_type_letter(t->results[i]);
        text[n] = '\0';

        return sig_of(s, text);
}

static struct wasm_definition *define_name(struct wasm_store *s, struct span module, struct span name,
                                           struct err *e)
{
        struct wasm_definition *d = arena_alloc(&s->arena, sizeof *d);

        if (!d) {
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
                return NULL;
        }
        *d = (struct wasm_definition){ .module = module, .name = name, .next = s->definitions };
        s->definitions = d;
        return d;
}

static bool is_signature(const char *text)
{
        const char *colon = strchr(text, ':');

        if (!colon || strlen(text) > WASM_MAX_PARAMS)
                return false;
        for (const char *p = text; *p; p++)
                if (p != colon && wasm_letter_type(*p) == WASM_NO_TYPE)
                        return false;

        return true;
}

int wasm_define(struct wasm_store *s, const struct wasm_host *h, struct err *e)
{
        if (!is_signature(h->signature))
                return err_set(e, ERR_INTERNAL, 0, "\"%s\" is not a signature", h->signature);

        struct wasm_func *f = arena_alloc(&s->arena, sizeof *f);
        const struct wasm_sig *sig = sig_of(s, h->signature);
        struct wasm_definition *d = define_name(s, span_str(h->module), span_str(h->name), e);
        if (!d || !f || !sig)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        *f = (struct wasm_func){ .sig = sig, .host = h->fn, .user = h->user };
        d->func = f;
        return 0;
}

int wasm_define_instance(struct wasm_store *s, struct span module, struct wasm_instance *inst, struct err *e)
{
        struct wasm_definition *d = define_name(s, module, span_of("", 0), e);

        if (!d)
                return -1;
        d->inst = inst;
        return 0;
}

const struct wasm_export *wasm_find_export(const struct wasm_instance *inst, struct span name)
{
        for (uint32_t i = 0; i < inst->module->n_exports; i++)
                if (span_eq(inst->module->exports[i].name, name))
                        return &inst->module->exports[i];

        return NULL;
}

/* The sizes of an import: at least what it asks for, and never more than it permits. */
static bool size_fits(struct wasm_size want, uint32_t now, struct wasm_size is)
{
        return now >= want.min && (!want.has_max || (is.has_max && is.max <= want.max));
}

static bool take_func(struct wasm_instance *to, const struct wasm_import *i, struct wasm_func *f)
{
        to->funcs[i->index] = f;
        return f->sig == to->sigs[to->module->funcs[i->index]];
}

static bool take_table(struct wasm_instance *to, const struct wasm_import *i, struct wasm_table *t)
{
        const struct wasm_tabletype *want = &to->module->tables[i->index];

        to->tables[i->index] = t;
        return t->type.type == want->type && size_fits(want->size, t->size, t->type.size);
}

static bool take_memory(struct wasm_instance *to, struct wasm_memory *m)
{
        to->memory = m;
        return size_fits(to->module->memory, m->pages, m->type);
}

static bool take_global(struct wasm_instance *to, const struct wasm_import *i, struct wasm_global *g)
{
        const struct wasm_globaltype *want = &to->module->globals[i->index];

        to->globals[i->index] = g;
        return g->type.type == want->type && g->type.is_mutable == want->is_mutable;
}

static bool take_export(struct wasm_instance *to, const struct wasm_import *i, struct wasm_instance *from,
                        const struct wasm_export *x)
{
        if (x->kind != i->kind)
                return false;

        switch (x->kind) {
        case WASM_FUNC:
                return take_func(to, i, from->funcs[x->index]);
        case WASM_TABLE:
                return take_table(to, i, from->tables[x->index]);
        case WASM_MEMORY:
                return take_memory(to, from->memory);
        case WASM_GLOBAL:
                return take_global(to, i, from->globals[x->index]);
        case WASM_KIND__COUNT:
                break;
        }
        return false;
}

/* Returns 1 if it was taken, 0 if it has another type, -1 if nothing has this name. */
static int find_import(struct wasm_instance *to, const struct wasm_import *i)
{
        for (const struct wasm_definition *d = to->store->definitions; d; d = d->next) {
                if (!span_eq(d->module, i->module))
                        continue;
                if (d->func && span_eq(d->name, i->name))
                        return i->kind == WASM_FUNC && take_func(to, i, d->func);
                const struct wasm_export *x = d->inst ? wasm_find_export(d->inst, i->name) : NULL;
                if (x)
                        return take_export(to, i, d->inst, x);
        }

        return -1;
}

/* Names come from the module: printable ASCII only reaches a message. */
static void show_name(struct span s, char ret[static 64])
{
        size_t n = s.n < 63 ? s.n : 63;

        for (size_t i = 0; i < n; i++)
                ret[i] = s.p[i] > ' ' && s.p[i] < 0x7f ? (char) s.p[i] : '?';
        ret[n] = '\0';
}

/* The tools that build modules for another host, by what those import; a star at the end stands for any
 * letters. */
static const struct {
        const char *module, *name, *is, *hint;
} foreign[] = {
#define BINDGEN                                                                                              \
        "it was built by wasm-bindgen for JavaScript",                                                       \
                "cargo build --target wasm32-wasip1 builds one for WASI"
        { "wbg", "*", BINDGEN },
        { "__wbindgen*", "*", BINDGEN },
        { "./*", "__wb*", BINDGEN },
#define COMPONENT                                                                                            \
        "it is part of a component (WASI preview 2)", "built for wasm32-wasip1 it needs WASI preview 1"
        { "wasi:*", "*", COMPONENT },
        { "wasi_unstable", "*", "it was built for the WASI before preview 1",
          "a newer compiler builds it for preview 1" },
        { "wasi", "thread-spawn", "it needs threads, which cordon's engine does not have",
          "it is built without them as wasm32-wasip1, without -pthread" },
#define GO "it was built by Go for JavaScript", "GOOS=wasip1 GOARCH=wasm go build makes one for WASI"
        { "gojs", "*", GO },
        { "go", "*", GO },
#define EMSCRIPTEN                                                                                           \
        "it was built by Emscripten for JavaScript",                                                         \
                "emcc -sSTANDALONE_WASM -o x.wasm makes one for WASI, or wasi-sdk"
        { "env", "emscripten_*", EMSCRIPTEN },
        { "env", "_emscripten_*", EMSCRIPTEN },
        { "env", "_embind_*", EMSCRIPTEN },
        { "env", "_abort_js", EMSCRIPTEN },
        { "env", "__syscall_*", EMSCRIPTEN },
        { "env", "__cxa_*", EMSCRIPTEN },
        { "env", "invoke_*", EMSCRIPTEN },
        { "a", "*", EMSCRIPTEN },
        { "env", "seed", "it was built by AssemblyScript for JavaScript",
          "its package @assemblyscript/wasi-shim builds for WASI" },
        { "env", "abort", "it was built by AssemblyScript or Emscripten for JavaScript",
          "built with @assemblyscript/wasi-shim, or emcc -sSTANDALONE_WASM, it needs WASI alone" },
};

static bool pattern_fits(const char *pattern, struct span s)
{
        size_t n = strlen(pattern);

        if (n == 0 || pattern[n - 1] != '*')
                return span_is(s, pattern);
        return s.n >= n - 1 && memcmp(s.p, pattern, n - 1) == 0;
}

static int not_found(const struct wasm_module *m, const char *which, struct err *e)
{
        for (size_t row = 0; row < sizeof foreign / sizeof *foreign; row++)
                for (uint32_t k = 0; k < m->n_imports; k++)
                        if (pattern_fits(foreign[row].module, m->imports[k].module) &&
                            pattern_fits(foreign[row].name, m->imports[k].name)) {
                                (void) err_set(e, ERR_EXEC, 0,
                                               "the module imports %s, which does not exist: %s", which,
                                               foreign[row].is);
                                return err_hint(e, "%s", foreign[row].hint);
                        }

        (void) err_set(e, ERR_EXEC, 0, "the module imports %s, which does not exist", which);
        return err_hint(e, "behind the wasm wall there are the functions of WASI preview 1 "
                           "(wasi_snapshot_preview1) alone");
}

int wasm_link(struct wasm_instance *inst, struct err *e)
{
        char module[64], name[64], which[130];

        for (uint32_t k = 0; k < inst->module->n_imports; k++) {
                const struct wasm_import *i = &inst->module->imports[k];
                int found = find_import(inst, i);
                if (found == 1)
                        continue;
                show_name(i->module, module);
                show_name(i->name, name);
                (void) snprintf(which, sizeof which, "%s.%s", module, name);
                if (found < 0)
                        return not_found(inst->module, which, e);
                return err_set(e, ERR_EXEC, 0, "the module imports %s, which has another type", which);
        }

        return 0;
}
