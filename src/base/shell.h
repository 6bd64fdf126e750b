/* SPDX-License-Identifier: MIT */
/* base/shell.h - one word of a command as a shell takes it: for commands that a person types again, in which
 * a name may stand that a hostile box has chosen, and for scripts. */
#pragma once
#include "base/buf.h"

void buf_shell(struct buf *o, const char *word);        /* in quotes where it must be */
void buf_shell_quoted(struct buf *o, const char *word); /* in quotes */
