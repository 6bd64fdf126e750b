/* SPDX-License-Identifier: MIT */
/* face/cli/arguments.h - files that the arguments of a command name, as doors. */
#pragma once
#include "face/cli/cli.h"

/* Adds read doors for those of `arguments` (NULL-terminated) that name a file, or with `directories` also
 * a directory. Returns -1 with the reason if one of them must not or cannot be shown; then none is. */
int cli_show_arguments(cordon_policy *p, char **arguments, bool directories, cordon_error *e);

/* For `run --script`: adds the script itself and a limit of one minute to `policy`. *ret_command, which
 * the caller frees, is the interpreter, the script and its arguments. Its strings are valid until the next
 * call. */
int cli_script(cordon_policy *policy, char **argv, char ***ret_command, cordon_error *e);
