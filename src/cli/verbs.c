/* SPDX-License-Identifier: MIT */
/* cli/verbs.c - the verbs there are, for those who list or look them up: main.c has the table, and hands it
 * over before anything else. */
#include "cli/cli.h"

#include <string.h>

static const struct cli_verb *verbs;
static size_t verb_count;

void cli_verbs_are(const struct cli_verb *v, size_t count)
{
        verbs = v;
        verb_count = count;
}

const struct cli_verb *cli_verbs(size_t *ret_count)
{
        *ret_count = verb_count;
        return verbs;
}

const struct cli_verb *cli_verb_find(const char *name)
{
        for (size_t i = 0; i < verb_count; i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        return NULL;
}
