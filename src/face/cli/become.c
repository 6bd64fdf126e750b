/* SPDX-License-Identifier: MIT */
/* face/cli/become.c - verbs of other programs: `cordon` becomes cordon-review or cordon-selftest, so that
 * what starts boxes is small and no attack code is part of it. */
#include "base/host/host.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its help and its completions belong to the program of the verb as well. */
static const char *program_of(int argc, char **argv)
{
        int at = 1, words;
        const struct cli_verb *first = cli_verb_named(argc - 1, argv + 1, &words);
        if (at < argc && strcmp(argv[at], "__complete") == 0)
                at++;

        if (at < argc && strcmp(argv[at], "help") == 0)
                for (at++; at < argc && argv[at][0] == '-';)
                        at++;

        const struct cli_verb *v = at < argc ? cli_verb_named(argc - at, argv + at, &words) : NULL;
        return v && v->program ? v->program : first ? first->program : NULL;
}

/* Its boxes need the other programs, which lie beside it. argv[0] tells it where cordon is. */
static int become(const char *path, char **argv)
{
        extern char **environ;
        char self[PATH_MAX], dir[PATH_MAX];
        (void) snprintf(dir, sizeof dir, "%s", path);
        *strrchr(dir, '/') = '\0';
        if (!cli_self(self, sizeof self) || setenv("CORDON_LIBEXEC", dir, 0) < 0)
                return -1;

        argv[0] = self;
        return execve(path, argv, environ);
}

static const char *missing; /* the program of the verb that could not be started */

void cli_become(int argc, char **argv)
{
        char path[PATH_MAX];
        struct err ignored;
        missing = program_of(argc, argv);
        if (missing && host_program(cli_context(), missing, path, sizeof path, &ignored) == 0)
                (void) become(path, argv);
}

int verb_elsewhere(int argc, char **argv)
{
        char path[PATH_MAX];
        struct err e;
        (void) argc;
        (void) argv;
        if (host_program(cli_context(), missing, path, sizeof path, &e) == 0)
                return cli_problem("%s cannot be started: %s", path, strerror(errno));

        (void) cli_problem("%s; what starts, holds and ends boxes works without it", e.what);
        return cli_hint("%s", e.hint);
}
