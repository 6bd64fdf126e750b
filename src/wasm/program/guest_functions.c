/* SPDX-License-Identifier: MIT */
/* wasm/program/guest_functions.c - functions of the program that started the box. A call is one message to
 * the keeper, and its answer is the result. */
#include "wasm/program/program.h"

struct bound {
        int line;
        uint32_t index, params, results;
};

static enum wasm_trap call(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        const struct bound *b = user;
        struct host_call c = { .index = b->index };
        struct host_result r;
        (void) caller;
        memcpy(c.slots, slots, b->params * sizeof *slots);
        if (wire_put(b->line, &host_call_form, &c, -1) < 0 ||
            wire_take(b->line, &host_result_form, &r, NULL) != 1 || r.failed)
                return WASM_TRAP_HOST;

        memcpy(slots, r.slots, b->results * sizeof *slots);
        return WASM_OK;
}

int guest_functions_define(const struct engine_options *o, struct wasm_store *s, struct err *e)
{
        static struct bound bound[HOST_FUNCTIONS];
        for (unsigned i = 0; i < o->function_count; i++) {
                const struct host_function *f = &o->functions[i];
                bound[i] = (struct bound){ .line = 3 + (int) o->handle_count,
                                           .index = i,
                                           .params = (uint32_t) host_params(f->signature),
                                           .results = (uint32_t) host_results(f->signature) };
                const struct wasm_host h = { .module = f->module,
                                             .name = f->name,
                                             .signature = f->signature,
                                             .fn = call,
                                             .user = &bound[i] };
                if (wasm_define(s, &h, e) < 0)
                        return -1;
        }

        return 0;
}
