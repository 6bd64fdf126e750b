/* SPDX-License-Identifier: MIT */
/* base/shell.h - quotes one word of a command for a shell: for scripts, and for commands that a user types
 * again, which may contain a name chosen by a hostile box. */
#pragma once
#include "base/buf.h"

void buf_shell(struct buf *o, const char *word);        /* quoted if necessary */
void buf_shell_quoted(struct buf *o, const char *word); /* always quoted */
