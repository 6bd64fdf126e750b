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

static int take_read(struct engine_options *o, const char *value) { return add_door(o, value, false); }
static int take_write(struct engine_options *o, const char *value) { return add_door(o, value, true); }

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

static int take_memory(struct engine_options *o, const char *value)
{
        return take_number(value, UINT64_MAX, &o->memory);
}

static int take_fuel(struct engine_options *o, const char *value)
{
        return take_number(value, UINT64_MAX, &o->fuel);
}

static int take_engine(struct engine_options *o, const char *value)
{
        o->interpret = strcmp(value, "interpreter") == 0;
        return o->interpret || strcmp(value, "compiler") == 0 ? 0 : -1;
}

static int take_handles(struct engine_options *o, const char *value)
{
        uint64_t n;
        if (take_number(value, ENGINE_HANDLES, &n) < 0)
                return -1;

        o->handle_count = (unsigned) n;
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

static int take_line(struct engine_options *o, const char *value)
{
        uint64_t n;
        if (take_number(value, INT32_MAX, &n) < 0 || n < 3)
                return -1;

        o->line = (int) n;
        return 0;
}

static int take_entry(struct engine_options *o, const char *value)
{
        o->entry = value;
        return 0;
}

static int take_script(struct engine_options *o, const char *value)
{
        o->script = value;
        return 0;
}

static int take_code(struct engine_options *o, const char *value)
{
        o->code = value;
        return 0;
}

static int take_compile(struct engine_options *o, const char *value)
{
        o->compile = strcmp(value, "on") == 0;
        return o->compile ? 0 : -1;
}

static int take_wasi(struct engine_options *o, const char *value)
{
        o->no_wasi = strcmp(value, "off") == 0;
        return o->no_wasi ? 0 : -1;
}

static const struct {
        const char *name;
        int (*take)(struct engine_options *o, const char *value);
} options[] = {
        { "--read", take_read },         { "--write", take_write }, { "--handles", take_handles },
        { "--memory", take_memory },     { "--fuel", take_fuel },   { "--engine", take_engine },
        { "--function", take_function }, { "--entry", take_entry }, { "--wasi", take_wasi },
        { "--script", take_script },     { "--code", take_code },   { "--compile", take_compile },
        { "--line", take_line },
};

static int take_option(struct engine_options *o, const char *name, const char *value)
{
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
                if (strcmp(options[i].name, name) == 0)
                        return options[i].take(o, value);
        return -1;
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
