/* SPDX-License-Identifier: MIT */
/* face/cli/handle_options.h - the files behind --handle NAME=FILE. */
#pragma once
#include "cordon.h"

#include <stdbool.h>

enum { CLI_HANDLES_MAX = 32 };

struct cli_handles {
        struct {
                char name[64];
                const char *path;
                int fd, dir; /* dir: of an `out` file, from before the start; -1: none */
                int unnamed; /* an `out` file without a name yet: it is linked when the run succeeds */
        } at[CLI_HANDLES_MAX];
        unsigned count;
        bool quiet; /* targets of paths are not reported */
};

/* NAME=FILE. Returns 0, or -1 after reporting an error. */
int cli_handles_add(struct cli_handles *h, const char *value);
/* Opens each as the policy states and passes it to the box. Nothing is created or changed yet. */
int cli_handles_open(struct cli_handles *h, cordon_policy *p, cordon_box *b, cordon_error *e);
/* After success: `out` files get their names, each atomically and complete. */
int cli_handles_publish(struct cli_handles *h, cordon_error *e);
/* Writes a text as the result of an `out` handle is written: a file gets its name when it is complete, and
 * a symlink is replaced, not followed. Returns 0, or -1 after reporting an error. */
int cli_out_file(const char *path, const char *text, size_t len);
