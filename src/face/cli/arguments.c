/* SPDX-License-Identifier: MIT */
/* face/cli/arguments.c - `cordon run --arg-files`: shows each file that an argument names to the box,
 * literally and one by one. An argument that begins with a dash is an option of the command, never a file. */
#include "face/cli/arguments.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

/* ---- `cordon run --script FILE`: the doors and the command of an untrusted script ---- */

/* The interpreter of a file without an execute bit and without a `#!` line, by its suffix. */
static const struct {
        const char *suffix, *program;
} interpreters[] = { { ".py", "python3" }, { ".js", "node" }, { ".mjs", "node" },
                     { ".sh", "sh" },      { ".pl", "perl" }, { ".rb", "ruby" } };

static const char *interpreter_of(const char *path)
{
        const char *dot = strrchr(path, '.');
        for (size_t i = 0; dot && i < sizeof interpreters / sizeof *interpreters; i++)
                if (strcmp(dot, interpreters[i].suffix) == 0)
                        return interpreters[i].program;
        return "sh";
}

/* The program in a script's `#!` line: one of the standard directories, by its name alone, and the rest of
 * the line as one argument, as the kernel does. Any other path is ignored: the script is untrusted, and a
 * command with a slash in it is shown to the box. */
struct first_line {
        char text[256];
        const char *program, *argument; /* NULL: none */
};

static bool is_of_the_system(const char *path)
{
        static const char *const places[] = { "/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/",
                                              "/usr/bin/",        "/sbin/",          "/bin/" };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
                if (strncmp(path, places[i], strlen(places[i])) == 0)
                        return !strchr(path + strlen(places[i]), '/') && access(path, X_OK) == 0;
        return false;
}

static void read_first_line(const char *path, struct first_line *ret)
{
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
        ssize_t n = fd < 0 ? -1 : read(fd, ret->text, sizeof ret->text - 1);
        char *end = n > 0 ? memchr(ret->text, '\n', (size_t) n) : NULL;
        if (!end || strncmp(ret->text, "#!", 2) != 0)
                return;

        while (end[-1] == ' ' || end[-1] == '\t')
                end--;

        *end = '\0';
        char *program = ret->text + 2 + strspn(ret->text + 2, " \t");
        char *rest = strpbrk(program, " \t");
        if (rest)
                *rest++ = '\0';

        if (!is_of_the_system(program))
                return;

        ret->program = strrchr(program, '/') + 1;
        ret->argument = rest ? rest + strspn(rest, " \t") : NULL;
}

/* The script does not exist: suggests what the user may have meant. */
static void hint_of_script(const char *name, cordon_error *e)
{
        static const char *const hints[] = {
                "for one on standard input: `cordon run --time 60s -- sh`",
                "fetch it first and look at it: a box has no network but by a `net` door",
                "`cordon run -- COMMAND` runs a program",
                "it takes a file of this host",
        };

        size_t which = strcmp(name, "-") == 0 ? 0 : strstr(name, "://") ? 1 : !strchr(name, '/') ? 2 : 3;
        (void) snprintf(e->hint, sizeof e->hint, "%s", hints[which]);
}

/* One door, the file itself, and a minute. A script needs no execute bit: its first line, or its name,
 * determines the interpreter. */
int cli_script(cordon_policy *policy, char **argv, char ***ret_command, cordon_error *e)
{
        static char path[4096];
        static struct first_line line;
        size_t given = 0, n = 0;

        while (argv[given])
                given++;

        if (!realpath(argv[0], path)) {
                (void) cli_fail(e, ERR_DOOR, errno, "script %.300s does not exist", argv[0]);
                hint_of_script(argv[0], e);
                return -1;
        }

        /* As lines of a file, so that a flag such as --time overrides them. */
        static const char defaults[] = "use base/strict\nlimit time 60s\n";
        if (cordon_policy_add_text(policy, "--script", defaults, sizeof defaults - 1, e) < 0 ||
            cordon_policy_add(policy, "read", path, e) < 0)
                return -1;

        char **command = calloc(given + 3, sizeof *command); /* plus the interpreter, its argument and NULL */
        if (!command)
                return cli_fail(e, ERR_MEMORY, ENOMEM, "out of memory");

        if (access(path, X_OK) != 0) {
                read_first_line(path, &line);
                command[n++] = (char *) (uintptr_t) (line.program ? line.program : interpreter_of(path));
                if (line.argument)
                        command[n++] = (char *) (uintptr_t) line.argument;
        }

        command[n++] = path;
        for (argv++; *argv; argv++)
                command[n++] = *argv;

        *ret_command = command;
        return 0;
}
