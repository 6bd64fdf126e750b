/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/engine_options.c - the command line of cordon-wasm, which the plan wrote:
 *
 *   cordon-wasm [--read PATH | --write PATH | --handles N | --memory BYTES | --fuel N |
 *     --engine interpreter|compiler | --script FILE | --code FILE]... FILE NAME [ARGUMENT]...
 *   cordon-wasm --line DESCRIPTOR [the same]... FILE NAME
 *   cordon-wasm --compile on FILE NAME
 */
#include "wall/wasm/program/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int add_door(struct engine_options *o, const char *path, bool writable)
{
        if (o->door_count == ENGINE_DOORS)
                return -1;

        o->doors[o->door_count++] = (struct engine_door){ path, writable };
        return 0;
}

static int take_number(const char *value, uint64_t most, uint64_t *ret)
{
        char *end;
        errno = 0;
        unsigned long long n = strtoull(value, &end, 10);
        if (errno || *end || end == value || value[0] == '-' || n > most)
                return -1;

        *ret = n;
        return 0;
}

/* "ii:i env add" */
static int take_function(struct engine_options *o, const char *value)
{
        struct host_function *f = &o->functions[o->function_count];
        if (o->function_count == HOST_FUNCTIONS ||
            sscanf(value, "%33s %63s %63s", f->signature, f->module, f->name) != 3 || !host_function_holds(f))
                return -1;

        o->function_count++;
        return 0;
}

static int take_flag(const char *value, const char *on, bool *ret)
{
        *ret = strcmp(value, on) == 0;
        return *ret ? 0 : -1;
}

enum option {
        READ,
        WRITE,
        HANDLES,
        MEMORY,
        FUEL,
        ENGINE,
        FUNCTION,
        ENTRY,
        WASI,
        SCRIPT,
        CODE,
        COMPILE,
        LINE,
        OPTIONS
};
static const char *const options[OPTIONS] = {
        [READ] = "--read", [WRITE] = "--write",   [HANDLES] = "--handles",   [MEMORY] = "--memory",
        [FUEL] = "--fuel", [ENGINE] = "--engine", [FUNCTION] = "--function", [ENTRY] = "--entry",
        [WASI] = "--wasi", [SCRIPT] = "--script", [CODE] = "--code",         [COMPILE] = "--compile",
        [LINE] = "--line",
};

static int take_value(struct engine_options *o, enum option option, const char *value)
{
        uint64_t n = 0;
        int r = 0;
        switch (option) {
        case READ:
        case WRITE:
                return add_door(o, value, option == WRITE);
        case MEMORY:
                return take_number(value, UINT64_MAX, &o->memory);
        case FUEL:
                return take_number(value, UINT64_MAX, &o->fuel);
        case HANDLES:
                r = take_number(value, ENGINE_HANDLES, &n);
                o->handle_count = (unsigned) n;
                return r;
        case LINE:
                r = take_number(value, INT32_MAX, &n);
                o->line = (int) n;
                return n < 3 ? -1 : r;
        case ENGINE:
                o->interpret = strcmp(value, "interpreter") == 0;
                return o->interpret || strcmp(value, "compiler") == 0 ? 0 : -1;
        case FUNCTION:
                return take_function(o, value);
        case WASI:
                return take_flag(value, "off", &o->no_wasi);
        case COMPILE:
                return take_flag(value, "on", &o->compile);
        case ENTRY:
                o->entry = value;
                return 0;
        case SCRIPT:
                o->script = value;
                return 0;
        case CODE:
                o->code = value;
                return 0;
        case OPTIONS:
                break;
        }
        return -1;
}

static int take_option(struct engine_options *o, const char *name, const char *value)
{
        unsigned i = 0;
        while (i < OPTIONS && strcmp(options[i], name) != 0)
                i++;
        return take_value(o, (enum option) i, value);
}

int engine_options_read(int argc, char **argv, struct engine_options *ret, struct err *e)
{
        int i = 1;
        for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
                if (take_option(ret, argv[i], argv[i + 1]) < 0)
                        return err_set(e, ERR_USAGE, 0, "cordon-wasm: %s %s", argv[i], argv[i + 1]);

        if (argc - i < 2) {
                (void) err_set(e, ERR_USAGE, 0,
                               "cordon-wasm is started by cordon, with a module and its name");
                return err_hint(e, "cordon run --wall wasm -- module.wasm");
        }

        ret->module = argv[i];
        ret->name = argv[i + 1];
        ret->argv = (const char *const *) argv + i + 1;
        return 0;
}
