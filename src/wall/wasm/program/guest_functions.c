/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/guest_functions.c - functions of the program that started the box. A call is one message
 * to the keeper, and its answer is the result. */
#include "wall/wasm/program/program.h"

struct bound {
        int line;
        uint32_t index, params, results;
};

static int ask_host(const struct bound *b, uint64_t *slots)
{
        struct host_call c = { .index = b->index };
        struct host_result r;
        memcpy(c.slots, slots, b->params * sizeof *slots);
        if (wire_put(b->line, &host_call_form, &c, -1) < 0 ||
            wire_take(b->line, &host_result_form, &r, NULL) != 1 || r.failed)
                return -1;

        memcpy(slots, r.slots, b->results * sizeof *slots);
        return 0;
}

static enum wasm_trap call_host(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        (void) caller;
        return ask_host(user, slots) < 0 ? WASM_TRAP_HOST : WASM_OK;
}

static struct bound bind_function(const struct engine_options *o, unsigned i)
{
        const struct host_function *f = &o->functions[i];
        return (struct bound){ .line = 3 + (int) o->handle_count,
                               .index = i,
                               .params = (uint32_t) host_params(f->signature),
                               .results = (uint32_t) host_results(f->signature) };
}

int guest_function_call(const struct engine_options *o, unsigned index, uint64_t *slots)
{
        const struct bound b = bind_function(o, index);
        return ask_host(&b, slots);
}

int guest_functions_define(const struct engine_options *o, struct wasm_store *s, struct err *e)
{
        static struct bound bound[HOST_FUNCTIONS];
        for (unsigned i = 0; i < o->function_count; i++) {
                const struct host_function *f = &o->functions[i];
                bound[i] = bind_function(o, i);
                const struct wasm_host h = { .module = f->module,
                                             .name = f->name,
                                             .signature = f->signature,
                                             .fn = call_host,
                                             .user = &bound[i] };
                if (wasm_define(s, &h, e) < 0)
                        return -1;
        }

        return 0;
}
