/* SPDX-License-Identifier: MIT */
/* tests/wasm_host.h - gives a module every function that it imports, whatever their names are. */
#pragma once
#include "wall/wasm/opcode.h"
#include "wall/wasm/run/runtime.h"

#include <stdlib.h>

struct host_import {
        const struct wasm_functype *type;
        const struct wasm_import *import;
};

/* Defines all function imports of `m` as `fn`; its `user` is a struct host_import. */
static void define_imports(struct wasm_store *s, const struct wasm_module *m, wasm_host_fn *fn)
{
        struct err e;

        for (uint32_t i = 0; i < m->n_imports; i++) {
                if (m->imports[i].kind != WASM_FUNC)
                        continue;
                const struct wasm_functype *t = wasm_type_of_func(m, m->imports[i].index);
                struct host_import *user = arena_alloc(&s->arena, sizeof *user);
                char *sig = arena_alloc(&s->arena, (size_t) t->n_params + t->n_results + 2), *at = sig;
                if (!sig || !user)
                        abort();
                *user = (struct host_import){ t, &m->imports[i] };
                for (uint32_t k = 0; k < t->n_params; k++)
                        *at++ = wasm_type_letter(t->params[k]);
                *at++ = ':';
                for (uint32_t k = 0; k < t->n_results; k++)
                        *at++ = wasm_type_letter(t->results[k]);
                struct wasm_host h = { arena_copy(&s->arena, m->imports[i].module),
                                       arena_copy(&s->arena, m->imports[i].name), sig, fn, user };
                if (wasm_define(s, &h, &e) < 0)
                        abort();
        }
}
