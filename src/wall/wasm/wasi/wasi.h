/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi.h - WASI preview 1 over doors: a module reaches the directories, descriptors, arguments
 * and variables that it was given, and nothing else. */
#pragma once
#include "wall/wasm/wasm.h"

enum { WASI_FILES = 1024, WASI_IOVS = 1024, WASI_POLLS = 1024 };

struct wasi;

/* The surroundings of a program. All pointers must outlive it. */
struct wasi_config {
        const char *const *argv; /* NULL-terminated */
        const char *const *envp; /* NULL-terminated */
};

/* A directory to preopen. */
struct wasi_door {
        const char *name; /* as the module sees it */
        int fd;           /* taken over */
        bool writable;
        const char *const *only; /* names of the files in it that exist for the module; NULL: all.
                                  * NULL-terminated */
};

/* Returns NULL with *e set if there is no memory. Descriptors 0 to 2 are the module's 0 to 2. */
struct wasi *wasi_new(const struct wasi_config *c, struct err *e);
void wasi_free(struct wasi *w);

/* Other arguments, before the program has begun. */
void wasi_set_args(struct wasi *w, const char *const *argv);

/* Each gives the next free descriptor, from 3: directories first, since C libraries stop looking for them at
 * the first descriptor that is none. Return it, or -1 with *e set. */
int wasi_open_door(struct wasi *w, const struct wasi_door *d, struct err *e);
int wasi_open_handle(struct wasi *w, int fd, struct err *e);

/* Makes all calls importable. */
int wasi_define(struct wasi *w, struct wasm_store *s, struct err *e);

/* One call by its name, as if `inst` had made it: its errno in *ret, or -1 if there is no such call. */
enum wasm_trap wasi_ask(struct wasi *w, struct wasm_instance *inst, struct span name, const uint64_t *slots,
                        int *ret);

/* After WASM_TRAP_EXIT: what the program passed to proc_exit(). */
uint32_t wasi_exit_code(const struct wasi *w);
