/* SPDX-License-Identifier: MIT */
/* cli/wrap.c - `cordon wrap`: a small script that stands in front of a program and runs it in a box. It only
 * writes the script, which is one `cordon run --arg-files`; every word of it is quoted, and none is trusted
 * to need no quotes. Never overwrites. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/str.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* The first bytes of each: so that nobody wraps one, or finds one in PATH instead of the program. */
#define MARK "#!/bin/sh\n# Made by `cordon wrap`: "

struct wrap {
        cordon_policy *policy;
        const char *output;
        bool directories, quiet, has_file;
        char cwd[PATH_BYTES], program[PATH_BYTES];
};

static int take_output(void *ctx, const char *value)
{
        ((struct wrap *) ctx)->output = value;
        return 0;
}

static int take_directories(void *ctx, const char *value)
{
        (void) value;
        ((struct wrap *) ctx)->directories = true;
        return 0;
}

static int take_quiet(void *ctx, const char *value)
{
        (void) value;
        ((struct wrap *) ctx)->quiet = true;
        return 0;
}

const struct cli_option wrap_options[] = {
        { "script", 'o', "FILE", "write it there, executable (default: standard output)", take_output },
        { "dirs", 0, NULL, "also show directories that a call names, with all below them", take_directories },
        { "quiet", 'q', NULL, "the script says nothing at the end of a run", take_quiet },
        { 0 },
};

/* ---- the words of the script ---- */

/* Between single quotes a shell reads nothing but the closing one. */
static void put_quoted(struct buf *o, const char *word)
{
        buf_puts(o, " '");
        for (; *word; word++)
                if (*word == '\'')
                        buf_puts(o, "'\\''");
                else
                        buf_putc(o, *word);
        buf_putc(o, '\'');
}

/* A door that is named here is meant here, wherever the script is called. {work} is where it is called. */
static void put_value(struct wrap *w, const char *option, const char *value, struct buf *o)
{
        static const char *const paths[] = { "--read", "--edit",   "--write", "--sock",
                                             "--run",  "--policy", "-p" };
        char whole[PATH_BYTES];
        size_t n = strlen(value);
        bool path = false, file = strcmp(option, "-p") == 0 || strcmp(option, "--policy") == 0;
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
                path |= strcmp(option, paths[i]) == 0;
        bool name =
                (strcmp(option, "--run") == 0 && !strchr(value, '/')) || (file && cordon_stock_text(value));
        bool rooted = n == 0 || value[0] == '/' || (!file && (value[0] == '{' || value[0] == '~'));
        w->has_file |= file;
        if (!path || name || rooted || !path_join(w->cwd, value, whole, sizeof whole - 1)) {
                put_quoted(o, value);
                return;
        }
        size_t end = strlen(whole);
        if (value[n - 1] == '/' && end + 1 < sizeof whole) /* of `run`: every program below */
                (void) snprintf(whole + end, sizeof whole - end, "/");
        put_quoted(o, whole);
}

/* One option of those that cli_options() has taken: its name, and its value, which may be glued to it. */
struct given {
        char option[64];
        const char *value; /* NULL: the next word */
        bool own;          /* not for the script */
        bool alone;        /* takes none */
};

static struct given read_option(const char *word)
{
        struct given g = { .own = true, .alone = true };
        const char *eq = strchr(word, '=');
        if (word[1] != '-') { /* -q, -qo FILE, -pFILE */
                word += 1 + strspn(word + 1, "q");
                g.own = *word != 'p';
                g.alone = *word == '\0';
                g.value = *word && word[1] ? word + 1 : NULL;
                (void) snprintf(g.option, sizeof g.option, "-%c", *word ? *word : 'q');
                return g;
        }
        g.value = eq ? eq + 1 : NULL;
        (void) snprintf(g.option, sizeof g.option, "%.*s", (int) (eq ? eq - word : 63), word);
        if (strcmp(g.option, "--") == 0 || strcmp(g.option, "--dirs") == 0 ||
            strcmp(g.option, "--quiet") == 0)
                return g;
        g.alone = false;
        g.own = strcmp(g.option, "--script") == 0;
        return g;
}

/* As they were given. */
static void put_doors(struct wrap *w, char **argv, int end, struct buf *o)
{
        for (int i = 1; i < end; i++) {
                struct given g = read_option(argv[i]);
                if (!g.alone && !g.value && i + 1 < end)
                        g.value = argv[++i];
                if (g.own || !g.value)
                        continue;
                put_quoted(o, g.option);
                put_value(w, g.option, g.value, o);
        }
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
                return cli_usage("there is no program %s", name), -1;
        if (is_wrapper(w->program))
                return cli_usage("%s is such a script already; name the program behind it", w->program), -1;
        return 0;
}

static bool may_run(const struct wrap *w)
{
        AUTO_BUF(effect);
        cordon_error ignored;
        int allowed = 0;
        buf_puts(&effect, "run \"");
        for (const char *c = w->program; *c; c++) {
                if (*c == '"' || *c == '\\')
                        buf_putc(&effect, '\\');
                buf_putc(&effect, *c);
        }
        buf_putc(&effect, '"');
        cordon_free(cordon_policy_why(w->policy, buf_str(&effect), 0, &allowed, &ignored));
        return allowed;
}

/* Its own file, where no door lets it run yet. A policy file has said what may run. */
static int open_program(struct wrap *w, struct buf *o)
{
        cordon_error e = { 0 };
        if (cordon_policy_check(w->policy, &e) < 0)
                return cli_error(&e), -1;
        if (may_run(w))
                return 0;
        if (w->has_file)
                return cli_usage("the policy does not let %s run; add a line: run %s", w->program,
                                 w->program),
                       -1;
        if (cordon_policy_add(w->policy, "run", w->program, &e) < 0 || cordon_policy_check(w->policy, &e) < 0)
                return cli_error(&e), -1;
        put_quoted(o, "--run");
        put_quoted(o, w->program);
        return 0;
}

/* ---- the script ---- */

static int put_script(struct wrap *w, char **argv, int end, struct buf *o)
{
        char self[PATH_BYTES], shown[200];
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        if (n <= 0 || self[0] != '/')
                return cli_usage("cordon cannot tell where it is: is /proc there?"), -1;
        self[n] = '\0';
        buf_printf(o,
                   MARK "%s in a box.\n"
                        "# Files that a call names are shown to it, read-only and one by one; nothing else "
                        "of yours,\n"
                        "# and no network, but by the doors below. `cordon help wrap` tells more.\n"
                        "exec",
                   str_inert(span_str(w->program), shown, sizeof shown));
        put_quoted(o, self);
        put_quoted(o, "run");
        put_doors(w, argv, end, o);
        if (open_program(w, o) < 0)
                return -1;
        buf_printf(o, " --arg-files%s%s --", w->directories ? " --arg-dirs" : "", w->quiet ? " -q" : "");
        put_quoted(o, w->program);
        buf_puts(o, " \"$@\"\n");
        return 0;
}

static int save(const char *path, const struct buf *text)
{
        cordon_error e = { 0 };
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0755);
        if (fd < 0) {
                (void) snprintf(e.what, sizeof e.what, "%.300s%s%s", path,
                                errno == EEXIST ? " is there already" : ": ",
                                errno == EEXIST ? "" : strerror(errno));
                (void) snprintf(e.hint, sizeof e.hint, "nothing was written; take another name");
                return cli_error(&e);
        }
        int bad = fd_write_all(fd, text->p, text->n) < 0;
        bad |= close(fd) < 0;
        if (bad)
                (void) unlink(path);
        return bad ? cli_usage("%s could not be written", path) : 0;
}

static int wrap(struct wrap *w, int argc, char **argv)
{
        AUTO_BUF(script);
        int at = cli_options(argc, argv, cli_verb_find("wrap"), w, w->policy);
        if (at < 0)
                return EXIT_CORDON;
        if (at == argc)
                return cli_usage("which program? For example: cordon wrap -o ~/bin/pdftotext pdftotext");
        if (at + 1 < argc)
                return cli_usage("one program, without arguments: %s comes from each call", argv[at + 1]);
        if (!getcwd(w->cwd, sizeof w->cwd) || w->cwd[0] != '/')
                return cli_usage("the working directory cannot be named");
        if (find_program(w, argv[at]) < 0 || put_script(w, argv, at, &script) < 0)
                return EXIT_CORDON;
        if (script.failed)
                return cli_usage("no memory");
        if (w->output)
                return save(w->output, &script);
        (void) fwrite(script.p, 1, script.n, stdout);
        return 0;
}

int verb_wrap(int argc, char **argv)
{
        struct wrap w = { .policy = cli_policy_new() };
        int status = w.policy ? wrap(&w, argc, argv) : EXIT_CORDON;
        cordon_policy_free(w.policy);
        return status;
}
