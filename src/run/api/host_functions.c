/* SPDX-License-Identifier: MIT */
/* run/api/host_functions.c - cordon_wasm_export(): functions of the caller that a module in a box may call.
 */
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool copy_text(char *to, size_t cap, const char *from)
{
        size_t n = strlen(from);
        if (n >= cap)
                return false;

        memcpy(to, from, n + 1);
        return true;
}

/* Slots as the engine has them: narrow values in the low half. */
static cordon_value value_of(char letter, uint64_t slot)
{
        cordon_value v = { .i64 = 0 };
        uint32_t low = (uint32_t) slot;
        if (letter == 'i' || letter == 'f')
                memcpy(&v, &low, sizeof low);
        else
                memcpy(&v, &slot, sizeof slot);
        return v;
}

static uint64_t slot_of(char letter, const cordon_value *v)
{
        uint64_t slot = 0;
        uint32_t low;
        memcpy(&low, v, sizeof low);
        memcpy(&slot, v, sizeof slot);
        return letter == 'i' || letter == 'f' ? low : slot;
}

/* As struct box_calls wants it. */
static int call_function(void *ctx, uint32_t index, uint64_t *slots)
{
        const struct api_functions *all = ctx;
        cordon_value args[HOST_SLOTS] = { { 0 } }, results[HOST_SLOTS] = { { 0 } };
        if (index >= all->count)
                return -1;

        const char *signature = all->v[index].signature;
        size_t n = host_params(signature);
        for (size_t i = 0; i < n; i++)
                args[i] = value_of(signature[i], slots[i]);

        const cordon_wasm_function *f = &all->calls[index];
        if (f->fn(f->ctx, args, results) < 0)
                return -1;

        memset(slots, 0, HOST_SLOTS * sizeof *slots);
        for (size_t i = 0; i < host_results(signature); i++)
                slots[i] = slot_of(signature[n + 1 + i], &results[i]);
        return 0;
}

int cordon_wasm_export(cordon_box *b, const cordon_wasm_function *f, cordon_error *e)
{
        struct err *own = (struct err *) (void *) e;
        struct host_function h;
        if (!copy_text(h.module, sizeof h.module, f->module) || !copy_text(h.name, sizeof h.name, f->name) ||
            !copy_text(h.signature, sizeof h.signature, f->signature) || !host_function_holds(&h) || !f->fn)
                return err_set(own, ERR_USAGE, 0,
                               "a function needs names of up to %d characters and a signature like ii:i",
                               HOST_NAME - 1);

        if (!b->functions)
                b->functions = calloc(1, sizeof *b->functions);

        if (!b->functions)
                return err_set(own, ERR_MEMORY, ENOMEM, "no memory for the function");

        struct api_functions *all = b->functions;
        b->c.calls = (struct box_calls){ call_function, all };
        if (all->count == HOST_FUNCTIONS)
                return err_set(own, ERR_USAGE, 0, "more than %d functions", HOST_FUNCTIONS);

        all->v[all->count] = h;
        all->calls[all->count++] = *f;
        return 0;
}
