/* SPDX-License-Identifier: MIT */
/* face/cli/selftest.c - `cordon selftest` is cordon-selftest, a program of its own: no attack code is part of
 * this one. */
#include "base/host/host.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_selftest(char **argv)
{
        extern char **environ;
        char path[PATH_MAX], self[PATH_MAX];
        struct err ignored;
        if (!cli_self(self, sizeof self) ||
            host_program(cli_context(), "cordon-selftest", path, sizeof path, &ignored) < 0)
                return;

        /* Its boxes need the other programs, which lie beside it. */
        char *slash = strrchr(path, '/');
        *slash = '\0';
        if (setenv("CORDON_LIBEXEC", path, 0) < 0)
                return;

        *slash = '/';
        argv[0] = self;
        (void) execve(path, argv, environ);
}

int verb_selftest(int argc, char **argv)
{
        char path[PATH_MAX];
        struct err e;
        (void) argc;
        (void) argv;
        if (host_program(cli_context(), "cordon-selftest", path, sizeof path, &e) == 0)
                return cli_problem("%s cannot be started: %s", path, strerror(errno));

        (void) cli_problem("%s; every other command works without it", e.what);
        return cli_hint("%s", e.hint);
}
