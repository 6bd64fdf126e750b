/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/guest_entry.c - calls one exported function with numbers from the command line. */
#include "base/fd.h"
#include "wall/wasm/program/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_integer(const char *text, char letter, uint64_t *ret)
{
        char *end;
        errno = 0;
        long long n = strtoll(text, &end, 0);
        *ret = letter == 'i' ? (uint32_t) n : (uint64_t) n;
        bool fits = letter == 'l' || (n >= INT32_MIN && n <= UINT32_MAX);
        return fits && !errno && end != text && !*end;
}

static bool read_float(const char *text, char letter, uint64_t *ret)
{
        char *end;
        double d = strtod(text, &end);
        float f = (float) d;
        *ret = 0;
        if (letter == 'f')
                memcpy(ret, &f, sizeof f);
        else
                memcpy(ret, &d, sizeof d);
        return end != text && !*end;
}

/* Below the filter: stdio may ask what standard output is, by a call that only a door opens. */
static int print_slot(char letter, uint64_t slot)
{
        char line[64];
        double d;
        float f;
        memcpy(&d, &slot, sizeof d);
        memcpy(&f, &slot, sizeof f);
        int n = letter == 'i'   ? snprintf(line, sizeof line, "%" PRId32 "\n", (int32_t) (uint32_t) slot)
                : letter == 'l' ? snprintf(line, sizeof line, "%" PRId64 "\n", (int64_t) slot)
                                : snprintf(line, sizeof line, "%.17g\n", letter == 'f' ? (double) f : d);
        return fd_write_all(STDOUT_FILENO, line, (size_t) n);
}

static bool is_numeric(const char *signature)
{
        size_t n = host_params(signature), k = host_results(signature);
        return signature[n] == ':' && !signature[n + 1 + k] && n <= HOST_SLOTS && k <= HOST_SLOTS;
}

int guest_entry_call(struct wasm_instance *inst, const struct engine_options *o, enum wasm_trap *ret,
                     struct err *e)
{
        uint64_t slots[HOST_SLOTS] = { 0 };
        struct wasm_func *f = wasm_export_func(inst, span_str(o->entry));
        const char *signature = f ? wasm_func_signature(f) : "";
        size_t n = host_params(signature), given = 0;
        while (o->argv[1 + given])
                given++;

        if (!f || !is_numeric(signature))
                return err_set(e, ERR_EXEC, 0, "exports no function of this name with numbers alone");

        if (given != n)
                return err_set(e, ERR_EXEC, 0, "the function takes %zu numbers, and %zu are given", n, given);

        for (size_t i = 0; i < n; i++) {
                bool integer = signature[i] == 'i' || signature[i] == 'l';
                if (!(integer ? read_integer : read_float)(o->argv[1 + i], signature[i], &slots[i]))
                        return err_set(e, ERR_EXEC, 0, "argument %zu is no number of the function's type",
                                       i + 1);
        }

        *ret = wasm_call(inst, f, slots);
        for (size_t i = 0; *ret == WASM_OK && signature[n + 1 + i]; i++)
                if (print_slot(signature[n + 1 + i], slots[i]) < 0)
                        return err_set(e, ERR_IO, errno, "standard output: %s", strerror(errno));

        return 0;
}
