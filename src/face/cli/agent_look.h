/* SPDX-License-Identifier: MIT */
/* face/cli/agent_look.h - the parts of an agent's state on disk. */
#pragma once
#include "face/cli/agent_parts.h"

/* What the directories `roots` below `home` have of the parts. Removes those that are made anew. Sets
 * ret->failed if there is more than can be compared, or what cannot be looked at. */
void cli_look(const struct cli_part *parts, const char *const *roots, int home, struct cli_items *ret);
/* Makes an entry have this value; NULL: it does not exist. Returns 0, or -1 with errno. */
int cli_put_back(int home, const char *path, const char *value);
/* The same for members of a JSON file. */
int cli_put_members(int home, const char *path, const struct cli_items *is, const struct cli_items *want);
