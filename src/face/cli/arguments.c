/* SPDX-License-Identifier: MIT */
/* face/cli/arguments.c - `cordon run --arg-files`: shows each file that an argument names to the box,
 * literally and one by one. An argument that begins with a dash is an option of the command, never a file. */
#include "face/cli/arguments.h"
#include "base/err.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* With "..", the path as text may differ from the one that the kernel resolves: a door would lead
 * elsewhere. */
static int locate(const char *name, const struct stat *st, char ret[PATH_BYTES], cordon_error *e)
{
        char here[PATH_BYTES], shown[200];
        struct stat again;
        const char *cwd = name[0] == '/' ? "/" : getcwd(here, sizeof here);
        if (cwd && cwd[0] == '/' && path_join(cwd, name, ret, PATH_BYTES) && stat(ret, &again) == 0 &&
            again.st_dev == st->st_dev && again.st_ino == st->st_ino)
                return 0;

        (void) cli_fail(e, ERR_DOOR, 0, "%.200s cannot be shown under this name",
                        str_inert(span_str(name), shown, sizeof shown));
        (void) snprintf(e->hint, sizeof e->hint, "give its path without .. behind a link");
        return -1;
}

static bool is_asked_for(const char *name, bool directories, struct stat *ret)
{
        return name[0] != '-' && name[0] != '\0' && stat(name, ret) == 0 &&
               (S_ISREG(ret->st_mode) || (directories && S_ISDIR(ret->st_mode)));
}

static void free_all(char **v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(v[i]);
        free(v);
}

int cli_show_arguments(cordon_policy *p, char **arguments, bool directories, cordon_error *e)
{
        size_t count = 0, n = 0;
        while (arguments[count])
                count++;

        char **paths = calloc(count + 1, sizeof *paths), path[PATH_BYTES];
        int r = paths ? 0 : -1;
        for (size_t i = 0; r == 0 && i < count; i++) {
                struct stat st;
                if (!is_asked_for(arguments[i], directories, &st))
                        continue;
                r = locate(arguments[i], &st, path, e);
                if (r == 0 && !(paths[n] = strdup(path)))
                        r = -1;
                n += r == 0;
        }

        if (r == 0)
                r = cordon_policy_show(p, (const char *const *) paths, e);

        free_all(paths, n);
        return r;
}
