/* SPDX-License-Identifier: MIT */
/* face/cli/here.c - detects a run that was meant for the caller's directory, in a box that does not show it:
 * its own is empty, and many programs report success there. Uses the words of the command alone; blocks
 * nothing. */
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/run_end.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *last_of(const char *program)
{
        const char *slash = strrchr(program, '/');
        return slash ? slash + 1 : program;
}

static bool is_shell(const char *program)
{
        static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh" };
        return str_row(shells, sizeof shells / sizeof *shells, last_of(program)) >= 0;
}

/* Started without a path, these use their working directory, and accept an empty one. */
static bool lists(const char *program)
{
        static const char *const listers[] = { "ls", "dir", "vdir", "tree", "find", "du", "rg", "fd" };
        return str_row(listers, sizeof listers / sizeof *listers, last_of(program)) >= 0;
}

/* python3 -m unittest: it finds no test, and succeeds. */
static bool is_module(const char *word, const char *next)
{
        static const char *const modules[] = { "unittest", "pytest", "compileall", "doctest" };
        return strcmp(word, "-m") == 0 && next &&
               str_row(modules, sizeof modules / sizeof *modules, next) >= 0;
}

/* python3 -c, perl -we, node -p: the program is in the argument, not in the directory. A shell's mostly names
 * other programs. */
static bool has_own_code(const char *program, const char *word)
{
        static const char *const words[] = {
                "-c", "-Ic", "-e", "-E", "-ne", "-pe", "-we", "--eval", "--print"
        };
        return str_row(words, sizeof words / sizeof *words, word) >= 0 ||
               (strcmp(word, "-p") == 0 && strcmp(last_of(program), "node") == 0);
}

/* The wasm wall reports every file that its module looked for. */
static bool is_behind_wasm(const char *program)
{
        static const char *const ends[] = { ".wasm", ".js", ".mjs" };
        const char *dot = strrchr(last_of(program), '.');
        return dot && str_row(ends, sizeof ends / sizeof *ends, dot) >= 0;
}

/* By the words of the command: was it about the directory it was typed in? */
enum here { HERE_NOT = 0, HERE_PERHAPS, HERE_SURELY };

static enum here what_is_meant(const char *program, char *const *arguments)
{
        enum here meant = lists(program) ? HERE_SURELY : HERE_PERHAPS;
        if (is_behind_wasm(program))
                return HERE_NOT;

        for (char *const *w = arguments; *w; w++)
                if (w[0][0] == '/' || (has_own_code(program, *w) && !is_shell(program)))
                        return HERE_NOT;
                else if (strcmp(*w, ".") == 0 || strcmp(*w, "./") == 0 || is_module(w[0], w[1]))
                        meant = HERE_SURELY;

        return meant;
}

static bool is_home_or_root(void)
{
        char here[PATH_MAX];
        const char *home = getenv("HOME");
        return !getcwd(here, sizeof here) || strcmp(here, "/") == 0 || (home && strcmp(here, home) == 0);
}

static bool is_empty(void)
{
        DIR *d = opendir(".");
        unsigned n = 0;
        while (d && n < 3 && readdir(d))
                n++;

        if (d)
                (void) closedir(d);

        return n < 3; /* itself and the one above; or unknown */
}

void cli_here_hint(const char *door)
{
        if (is_home_or_root())
                (void) fprintf(stderr, "hint: start it in its own directory, with --%s .\n", door);
        else
                (void) fprintf(stderr, "hint: --%s .\n", door);
}

bool cli_here_say(const struct cli_end *o, const cordon_result *r)
{
        enum here least = r->code == 0 ? HERE_SURELY : HERE_PERHAPS;
        if (!r->away || o->doors || r->end != CORDON_EXITED ||
            what_is_meant(o->program, o->command) < least || is_empty())
                return false;

        cli_note("note: the current directory is not in the box");
        cli_here_hint("read");
        return true;
}

void cli_here_options(const struct cli_end *o)
{
        static const char *const doors[] = { "--read", "--edit", "--write", "--net", "--listen" };
        for (char *const *w = o->command; *w && !o->doors; w++)
                if (str_row(doors, sizeof doors / sizeof *doors, *w) >= 0) {
                        cli_note("note: %s was passed to the command; put cordon's options before it", *w);
                        return;
                }
}

void cli_here_script(const struct cli_end *o)
{
        AUTO_BUF(word);
        if (o->doors || !o->command[0] || o->command[0][0] == '-' || !is_shell(o->program) ||
            access(o->command[0], R_OK) != 0)
                return;

        buf_shell(&word, o->command[0]);
        if (!word.failed)
                (void) fprintf(stderr, "hint: cordon run --script %s\n", buf_str(&word));
}

const char *cli_here_fresh(const struct cli_door *d)
{
        bool changes = strcmp(d->option, "--write") == 0 || strcmp(d->option, "--edit") == 0;
        struct stat st;
        return changes && d->value && d->value[0] && !str_names_directory(d->value) &&
                               stat(d->value, &st) < 0 && errno == ENOENT
                       ? d->value
                       : NULL;
}

void cli_here_still_empty(const struct cli_end *o)
{
        struct stat st;
        AUTO_BUF(word);
        bool gone = o->fresh && stat(o->fresh, &st) < 0; /* removed again: the box left it as it was */
        if (!o->fresh || (!gone && (!S_ISREG(st.st_mode) || st.st_size > 0)))
                return;

        buf_shell(&word, o->fresh);
        if (word.failed)
                return;
        cli_note("note: %s did not exist, and was an empty file in the box", buf_str(&word));
        (void) fprintf(stderr,
                       "hint: a directory ends in a slash: %s/; to be replaced by a rename, a file needs a "
                       "door to its directory\n",
                       buf_str(&word));
}
