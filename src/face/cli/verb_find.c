/* SPDX-License-Identifier: MIT */
/* face/cli/verb_find.c - finds verbs in the table that main.c registers. Some have several words, as
 * `ledger trace`. */
#include "base/str.h"
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

/* The permanent ones, and the options that stand for a verb. Every other old name is an error with a hint
 * (habits.c). */
static const struct {
        const char *typed, *name;
} synonyms[] = {
        { "exec", "session run" }, { "log", "ledger" },        { "check", "policy check" },
        { "page", "serve page" },  { "version", "--version" }, { "-V", "--version" },
        { "-h", "help" },          { "--help", "help" },
};

const char *cli_synonym(size_t i, const struct cli_verb **ret_verb)
{
        size_t n = sizeof synonyms / sizeof *synonyms;
        *ret_verb = i < n ? cli_verb_find(synonyms[i].name) : NULL;
        return i < n ? synonyms[i].typed : NULL;
}

static const char *name_of(const char *typed)
{
        int i = str_row(synonyms, sizeof synonyms / sizeof *synonyms, typed);
        return i < 0 ? typed : synonyms[i].name;
}

/* The verb whose name is this many words. */
static const struct cli_verb *find_words(int words, char **argv)
{
        char name[64];
        int n = snprintf(name, sizeof name, "%s", name_of(argv[0]));
        for (int i = 1; i < words && n < (int) sizeof name; i++)
                n += snprintf(name + n, sizeof name - (size_t) n, " %s",
                              i == words - 1 && cli_is_list(argv[i]) ? "ls" : argv[i]);
        return n < (int) sizeof name ? cli_verb_find(name) : NULL;
}

const struct cli_verb *cli_verb_named(int argc, char **argv, int *ret_words)
{
        const struct cli_verb *v = NULL;
        for (*ret_words = argc < 3 ? argc : 3; *ret_words > 0 && !v; *ret_words -= !v)
                v = find_words(*ret_words, argv);

        return v;
}

const char *cli_verb_rest(const struct cli_verb *v, const char *group)
{
        size_t n = strlen(group);
        bool below = strncmp(v->name, group, n) == 0 && v->name[n] == ' ' && !strchr(v->name + n + 1, ' ');
        return below ? v->name + n + 1 : NULL;
}

bool cli_is_group(const char *name)
{
        for (size_t i = 0; i < verb_count; i++)
                if (cli_verb_rest(&verbs[i], name))
                        return true;
        return false;
}
