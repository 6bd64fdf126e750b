/* SPDX-License-Identifier: MIT */
/* cli/arguments.h - files that the arguments of a command name, as doors. */
#pragma once
#include "cli/cli.h"

/* Read doors for those of `arguments` (NULL-terminated) that name a file, or with `directories` also a
 * directory. -1 and why: one of them must not be shown, or cannot be; then none is. */
int cli_show_arguments(cordon_policy *p, char **arguments, bool directories, cordon_error *e);
