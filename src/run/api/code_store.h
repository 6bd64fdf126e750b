/* SPDX-License-Identifier: MIT */
/* run/api/code_store.h - compiled code of modules, kept in the state directory. */
#pragma once
#include "base/context/context.h"
#include "base/err.h"
#include "base/span.h"

#include <stdbool.h>

enum {
        CODE_NAME = 65,
        CODE_PATH = 4096,
        CODE_LEAST_MODULE = 64 << 10, /* a smaller one is compiled in the time that a file takes */
};

/* The name of the entry for an engine and a module. Returns -1 if the module is small, or not there. */
int code_name(const struct cordon_context *cx, const char *engine, const char *module, char ret[CODE_NAME]);
/* Whether there is an entry, and it is this user's alone. */
bool code_find(const struct cordon_context *cx, const char *name, char ret_path[CODE_PATH]);

struct code_entry {
        const char *name, *digest; /* digest: of the module, in hex */
        struct span code;          /* as a box printed it: not trusted */
};
/* Writes an entry, and removes the oldest of too many. */
int code_keep(const struct cordon_context *cx, const struct code_entry *x, struct err *e);
