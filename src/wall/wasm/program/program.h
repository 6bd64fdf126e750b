/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/program.h - the parts of cordon-wasm: its command line, the doors that it opens for the
 * module, and the filter that it closes around itself before the module's first instruction.
 *
 * cordon-wasm is the payload of a box: it trusts the command line, which the plan wrote, and nothing else. */
#pragma once
#include "wall/plan/plan.h"
#include "wall/wasm/wasi/wasi.h"

/* Where the plan shows the module, the engine and its other files. Not below any door. */
enum { ENGINE_DOORS = 1000, ENGINE_HANDLES = 32 };

struct engine_door {
        const char *path;
        bool writable;
};

struct engine_options {
        const char *module; /* the file to load */
        const char *name;   /* as the user typed it: the module's argv[0] */
        const char *script; /* of JavaScript, which the module runs; NULL: none */
        const char *const *argv;
        struct engine_door doors[ENGINE_DOORS];
        unsigned door_count, handle_count;
        bool interpret;        /* never compile */
        bool compile;          /* only compile, and print the code */
        const char *code;      /* a file with the module's code, if it fits; or NULL */
        uint64_t memory, fuel; /* 0: no limit of this program */
        struct host_function functions[HOST_FUNCTIONS];
        unsigned function_count;
        const char *entry; /* the function to call; NULL: _start */
        bool no_wasi;
        int line; /* where name and arguments come from, once the module is loaded; 0: the command line */
};

/* engine_options.c. Returns 0, or -1 with *e set. */
int engine_options_read(int argc, char **argv, struct engine_options *ret, struct err *e);

/* guest_doors.c: opens the doors for the module, then the handles, and rewrites the numbers of the latter in
 * `envp`. What the filter may leave out is in *ret. */
struct guest_needs {
        bool doors, writes, sockets;
};
int guest_doors_open(struct wasi *w, const struct engine_options *o, char **envp, struct guest_needs *ret,
                     struct err *e);

/* guest.c: from here on only the system calls that the doors need. */
int guest_filter_close(const struct guest_needs *n, struct err *e);

/* guest_order.c: tells the keeper that the module is loaded, waits for the arguments of its one run, which
 * replace those of `o`, and closes the line. If nobody wants it any more, it ends the process. */
int guest_order_await(struct engine_options *o, struct err *e);
/* Why there will be no run, instead. */
void guest_order_refuse(const struct engine_options *o, const struct err *e);

/* guest.c: makes the caller's functions importable, which are called over the descriptor behind the
 * handles. */
int guest_functions_define(const struct engine_options *o, struct wasm_store *s, struct err *e);

/* The same, for a script: calls the function at `index`. Returns -1 if it fails. */
int guest_function_call(const struct engine_options *o, unsigned index, uint64_t *slots);

/* guest.c: calls a function with numbers from the command line and prints its results, one for each
 * line. Returns -1 with *e set if the arguments do not fit. */
int guest_entry_call(struct wasm_instance *inst, const struct engine_options *o, enum wasm_trap *ret,
                     struct err *e);
