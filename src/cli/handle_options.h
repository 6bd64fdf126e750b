/* SPDX-License-Identifier: MIT */
/* cli/handle_options.h - the files behind --handle NAME=FILE. */
#pragma once
#include "cordon.h"

#include <stdbool.h>

enum { CLI_HANDLES_MAX = 32 };

struct cli_handles {
        struct {
                char name[64];
                const char *path;
                int fd, dir; /* dir: of an `out` file, from before the start; -1: none */
                int unnamed; /* an `out` file that has no name yet: it gets it when the run went well */
        } at[CLI_HANDLES_MAX];
        unsigned count;
        bool quiet; /* where a path leads is not told */
};

/* NAME=FILE; 0, or -1 after it said why. */
int cli_handles_add(struct cli_handles *h, const char *value);
/* Opens each the way the policy says and gives it to the box. Nothing is made or changed yet. */
int cli_handles_open(struct cli_handles *h, cordon_policy *p, cordon_box *b, cordon_error *e);
/* The run went well: `out` files take their names, each at once and whole. */
int cli_handles_publish(struct cli_handles *h, cordon_error *e);
/* Writes a text there as the result of an `out` handle is: a file gets its name when it is whole, and a link
 * is replaced, not followed. 0, or -1 after it said why. */
int cli_out_file(const char *path, const char *text, size_t len);
