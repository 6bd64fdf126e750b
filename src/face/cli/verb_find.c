/* SPDX-License-Identifier: MIT */
/* face/cli/verb_find.c - finds verbs in the table that main.c registers. Some have two words, as `log trace`.
 */
#include "face/cli/cli.h"

#include <stdio.h>
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

bool cli_is_list(const char *word) { return strcmp(word, "ls") == 0 || strcmp(word, "list") == 0; }

const struct cli_verb *cli_verb_named(int argc, char **argv, int *ret_words)
{
        char two[64];
        const struct cli_verb *v = NULL;

        *ret_words = 2;
        if (argc > 1 && snprintf(two, sizeof two, "%s %s", argv[0], argv[1]) < (int) sizeof two)
                v = cli_verb_find(two);

        if (!v && argc > 1 && cli_is_list(argv[1]) &&
            snprintf(two, sizeof two, "%s ls", argv[0]) < (int) sizeof two)
                v = cli_verb_find(two);

        if (v)
                return v;

        *ret_words = 1;
        if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
                return cli_verb_find("help");

        if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0)
                return cli_verb_find("version");

        return cli_verb_find(argv[0]);
}

const char *cli_verb_rest(const struct cli_verb *v, const char *group)
{
        size_t n = strlen(group);
        return strncmp(v->name, group, n) == 0 && v->name[n] == ' ' ? v->name + n + 1 : NULL;
}
