/* SPDX-License-Identifier: MIT */
/* cli/arguments.h - files that the arguments of a command name, as doors. */
#pragma once
#include "cli/cli.h"

/* Read doors for those of `arguments` (NULL-terminated) that name a file, or with `directories` also a
 * directory. -1 and why: one of them must not be shown, or cannot be; then none is. */
int cli_show_arguments(cordon_policy *p, char **arguments, bool directories, cordon_error *e);

/* For `run --script`: opens the script itself and a minute to `policy`; *ret_command, the caller's to free,
 * is the interpreter, the script and its arguments. Its texts are valid until the next call. */
int cli_script(cordon_policy *policy, char **argv, char ***ret_command, cordon_error *e);
