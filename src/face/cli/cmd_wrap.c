/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_wrap.c - `cordon policy wrap`: writes a small script that replaces a program and runs it in a
 * box. The script is one `cordon run --arg-files`; every word of it is quoted. Never overwrites. */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* The first bytes of each wrapper: so that none is wrapped again, or found in PATH instead of the program. */
#define MARK "#!/bin/sh\n# Made by `cordon policy wrap`: "

struct wrap {
        struct cli_shared asked;
        cordon_policy *policy;
        const char *output;
        bool directories, has_file;
        char cwd[PATH_BYTES], program[PATH_BYTES];
        struct buf script;
};

const struct cli_option wrap_options[] = {
        { "script", 'o', "FILE", "write to this new file, executable (default: standard output)",
          CLI_TEXT(struct wrap, output) },
        { "dirs", 0, NULL, "also show directories that a call names, with all below them",
          CLI_FLAG(struct wrap, directories) },
        { 0 },
};

/* ---- the words of the script ---- */

static void put_quoted(struct buf *o, const char *word)
{
        buf_putc(o, ' ');
        buf_shell_quoted(o, word);
}

/* Does its value begin with a path? A name in `run`, or of a stock policy, is found without one. */
static bool is_path(const struct cli_door *d)
{
        static const char *const paths[] = { "--read", "--edit", "--write", "--sock" };
        if (d->file)
                return !cordon_stock_text(d->value);

        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                if (strcmp(d->option, paths[i]) == 0)
                        return true;

        return strcmp(d->option, "--run") == 0 && strchr(d->value, '/');
}

/* A relative door is relative to the current directory now, wherever the script is called. {work} is the
 * directory it is called in. */
static void put_value(const struct wrap *w, const struct cli_door *d, struct buf *o)
{
        char whole[PATH_BYTES];
        const char *value = d->value;
        size_t n = strlen(value);
        bool rooted = n == 0 || value[0] == '/' || (!d->file && (value[0] == '{' || value[0] == '~'));
        if (!is_path(d) || rooted || !path_join(w->cwd, value, whole, sizeof whole - 1)) {
                put_quoted(o, value);
                return;
        }

        size_t end = strlen(whole);
        if (value[n - 1] == '/' && end + 1 < sizeof whole) /* of `run`: every program below */
                (void) snprintf(whole + end, sizeof whole - end, "/");

        put_quoted(o, whole);
}

static void put_door(void *ctx, const struct cli_door *d)
{
        struct wrap *w = ctx;
        w->has_file |= d->file;
        put_quoted(&w->script, d->option);
        if (d->value)
                put_value(w, d, &w->script);
}

/* ---- the program ---- */

static bool is_wrapper(const char *path)
{
        char head[sizeof MARK] = "";
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof MARK - 1);
        return n == (ssize_t) sizeof MARK - 1 && memcmp(head, MARK, sizeof MARK - 1) == 0;
}

static bool is_program(const char *path)
{
        struct stat st;
        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_in_path(const char *name, char *ret)
{
        const char *at = getenv("PATH");
        for (at = at ? at : "/usr/bin:/bin"; *at; at += *at == ':') {
                size_t n = strcspn(at, ":");
                int k = snprintf(ret, PATH_BYTES, "%.*s/%s", (int) n, at, name);
                at += n;
                if (ret[0] == '/' && k > 0 && k < PATH_BYTES && is_program(ret) && !is_wrapper(ret))
                        return true;
        }

        return false;
}

static int find_program(struct wrap *w, const char *name)
{
        bool path = strchr(name, '/') != NULL;
        if (!(path ? path_join(w->cwd, name, w->program, PATH_BYTES) && is_program(w->program)
                   : find_in_path(name, w->program)))
                return cli_usage("program %s does not exist", name), -1;

        if (is_wrapper(w->program))
                return cli_usage("%s is already such a script; name the program behind it", w->program), -1;

        return 0;
}

static bool may_run(const struct wrap *w)
{
        AUTO_BUF(effect);
        cordon_error ignored;
        int allowed = 0;
        buf_puts(&effect, "run ");
        cli_put_quoted(&effect, w->program);
        cordon_free(cordon_policy_why(w->policy, buf_str(&effect), 0, &allowed, &ignored));
        return allowed;
}

/* Its own file, if no door lets it run yet: shown, for `run any` covers all that the box sees; else named. A
 * policy file already states what may run. */
static int open_program(struct wrap *w)
{
        static const char *const words[] = { NULL, "read", "run" };
        cordon_error e = { 0 };
        for (size_t i = 0; i < sizeof words / sizeof *words && !(i > 0 && w->has_file); i++) {
                if ((words[i] && cordon_policy_add(w->policy, words[i], w->program, &e) < 0) ||
                    cordon_policy_check(w->policy, &e) < 0)
                        return cli_error(&e), -1;

                if (!may_run(w))
                        continue;

                if (words[i]) {
                        buf_printf(&w->script, " --%s", words[i]);
                        put_quoted(&w->script, w->program);
                }
                return 0;
        }

        return cli_usage(w->has_file
                                 ? "the policy does not let %s run; add a line: run %s"
                                 : "these doors do not let %s run; `cordon why run %s` tells what it lacks",
                         w->program, w->program),
               -1;
}

/* ---- the script ---- */

static int put_script(struct wrap *w, char **argv, int end)
{
        struct buf *o = &w->script;
        char self[PATH_BYTES], shown[200];
        if (!host_self(self, sizeof self))
                return cli_usage("cordon cannot find its own program file: is /proc mounted?"), -1;

        buf_printf(o,
                   MARK "%s in a box.\n"
                        "# Files that a call names are shown to it, read-only and one by one; nothing else "
                        "of yours,\n"
                        "# and no network, but by the doors below. `cordon help policy wrap` tells more.\n"
                        "exec",
                   str_inert(span_str(w->program), shown, sizeof shown));
        put_quoted(o, self);
        put_quoted(o, "run");
        cli_doors_again(end, argv, cli_verb_now(), put_door, w);
        if (open_program(w) < 0)
                return -1;

        buf_printf(o, " --arg-files%s%s --", w->directories ? " --arg-dirs" : "",
                   w->asked.quiet ? " -q" : "");
        put_quoted(o, w->program);
        buf_puts(o, " \"$@\"\n");
        return 0;
}

static int wrap(struct wrap *w, int argc, char **argv)
{
        int at = cli_take_doors(argc, argv, w, w->policy);
        if (at < 0)
                return EXIT_CORDON;

        if (at + 1 < argc)
                return cli_usage("one program, without arguments: %s comes from each call", argv[at + 1]);

        if (!getcwd(w->cwd, sizeof w->cwd) || w->cwd[0] != '/')
                return cli_usage("the path of the working directory cannot be determined");

        if (find_program(w, argv[at]) < 0 || put_script(w, argv, at) < 0)
                return EXIT_CORDON;

        if (w->script.failed)
                return cli_usage("no memory");

        if (w->output && strcmp(w->output, "-") != 0)
                return cli_new_file(w->output, 0755, buf_span(&w->script),
                                    "nothing was written; take another name");

        (void) fwrite(w->script.p, 1, w->script.n, stdout);
        return 0;
}

int verb_wrap(int argc, char **argv)
{
        struct wrap w = { .policy = cli_policy_new() };
        int status = w.policy ? wrap(&w, argc, argv) : EXIT_CORDON;
        cordon_policy_free(w.policy);
        buf_done(&w.script);
        return status;
}
