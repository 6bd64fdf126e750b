/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_agent.c - `cordon agent`: a coding agent in a box, with its stock policy, the project behind
 * an edit door, a home of its own, and its key in the vault. The run itself is that of `cordon run`. */
#include "base/buf.h"
#include "base/fd.h"
#include "base/shell.h"
#include "base/str.h"
#include "face/cli/agents.h"
#include "face/cli/run_job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct agent {
        struct run run;
        const struct cli_agent *row; /* NULL: a command of the caller's that has no name */
        struct cli_own own;          /* of a command of the caller's */
        char name[64];
        char home[4096];
        bool files;      /* the caller named doors to files that the box may change */
        char *argv[512]; /* sh -c PRELUDE NAME COMMAND... */
};

/* ---- keys ---- */

static int no_key(const struct cli_agent *a, const struct cli_api *apis, size_t count)
{
        (void) cli_problem("no API key for %s in the vault, the environment or its configuration", a->name);
        return cli_hint("cordon agent setup %s%s%s; or: printf %%s \"$KEY\" | cordon agent setup %s%s%s",
                        a->name, count > 1 ? " " : "", count > 1 ? apis[0].provider : "", a->name,
                        count > 1 ? " " : "", count > 1 ? apis[0].provider : "");
}

static bool overlap(const struct cli_api *a, const struct cli_api *b)
{
        size_t n = strlen(a->base), k = strlen(b->base), least = n < k ? n : k;
        char next = n > k ? a->base[k] : b->base[n];
        return strncmp(a->base, b->base, least) == 0 && (n == k || next == '/');
}

/* One request cannot carry two keys: of several APIs at one address the first stays. */
static bool is_taken(const struct cli_api *apis, size_t kept, const struct cli_api *next)
{
        for (size_t i = 0; i < kept; i++)
                if (overlap(&apis[i], next))
                        return true;
        return false;
}

/* A gateway is one address for several providers: a door whose key does not fit there, or is the second one,
 * would stop the box. If none fits, the start of the first says why. Returns the number of the others, moved
 * to the front. */
static size_t leave_out(struct cli_api *apis, size_t n)
{
        bool fits[CLI_APIS_MAX];
        size_t fitting = 0, kept = 0;
        for (size_t i = 0; i < n; i++)
                fitting += fits[i] = apis[i].login || cli_key_fits(&apis[i]);

        for (size_t i = 0; i < n && fitting > 0; i++) {
                const struct cli_api *a = &apis[i];
                if (!fits[i])
                        cli_note("note: no door to %s with the key `%s`: it is for another address; `cordon "
                                 "vault rotate "
                                 "%s --for '%s/**'` changes that",
                                 a->base, a->provider, a->provider, a->base);
                else if (is_taken(apis, kept, a))
                        cli_note("note: no door to %s with the key `%s`: `%s` goes there", a->base,
                                 a->provider, apis[0].provider);
                else
                        apis[kept++] = *a;
        }

        return fitting > 0 ? kept : n > 0;
}

/* The APIs whose keys are in the vault, moved to the front; those that are found elsewhere are sealed first.
 * Returns their number, or -1 after reporting an error. */
static int open_apis(const struct agent *g, struct cli_api *apis, size_t count)
{
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
                int sealed = cli_key_sealed(apis[i].provider);
                const struct cli_key_source *s =
                        sealed == 0 && !g->run.plan ? cli_key_find(apis[i].provider) : NULL;
                if (sealed < 0 || (s && cli_key_seal(g->row, &apis[i], s) != 0))
                        return -1;
                apis[i].login = s && s->expires;
                if (sealed || s)
                        apis[n++] = apis[i];
        }

        n = leave_out(apis, n);

        for (size_t i = 0; n == 0 && !g->run.plan && i < count; i++)
                if (cli_key_login_unused(apis[i].provider))
                        return -1;

        if (n == 0 && count == 1 && !g->run.plan && isatty(0) && isatty(2))
                n = cli_key_seal(g->row, &apis[0], NULL) == 0;
        if (n == 0 && count > 0 && !g->run.plan)
                return no_key(g->row, apis, count), -1;

        return (int) (g->run.plan && n == 0 ? count : n);
}

/* ---- the policy ---- */

/* `edit .` in a home would show all that it holds. */
static int check_directory(void)
{
        char here[PATH_MAX], home[PATH_MAX];
        const char *of = getenv("HOME");
        if (!getcwd(here, sizeof here))
                return cli_problem("the current directory is gone");

        if (strcmp(here, "/") != 0 && (!of || !realpath(of, home) || !path_under(home, here)))
                return 0;

        (void) cli_problem("%s is not a project directory; the agent would see all of it", here);
        return cli_hint("cd PROJECT, or: cordon agent --edit DIR NAME");
}

static int add(struct agent *g, const char *word, const char *text)
{
        cordon_error e = { 0 };
        return cordon_policy_add(g->run.policy, word, text, &e) < 0 ? cli_run_failed(&g->run, &e) : 0;
}

static void put_door(struct buf *out, const char *word, const char *path)
{
        buf_printf(out, "%s ", word);
        cli_put_quoted(out, path);
        buf_putc(out, '\n');
}

struct links {
        struct buf *doors;
        const char *state;
};

/* A file or directory of dotfiles, say: for reading, by the name that the link has. */
static void add_link(void *ctx, const char *target)
{
        const struct links *l = ctx;
        const char *home = getenv("HOME");
        bool strange = false;
        for (const char *c = target; *c; c++)
                strange |= strchr("*?[]{}", *c) || (unsigned char) *c < ' ';

        if (!strange && !path_under(target, l->state) && access(target, R_OK) == 0 &&
            (!home || !path_under(home, target)))
                put_door(l->doors, "read", target);
}

/* What stays of its home, and where the box finds it: the home itself is the box's, new for each run. */
static int add_state(struct agent *g)
{
        AUTO_BUF(keeps);
        AUTO_BUF(doors);
        cordon_error e = { 0 };
        int status = 0;
        buf_puts(&keeps, "CORDON_AGENT_KEEPS=");
        for (size_t i = 0; g->row && i < sizeof g->row->state / sizeof *g->row->state && g->row->state[i];
             i++) {
                char path[2 * PATH_MAX];
                (void) snprintf(path, sizeof path, "%s/%s", g->home, g->row->state[i]);
                put_door(&doors, "write", path);
                buf_printf(&keeps, "%s%s", i ? " " : "", g->row->state[i]);
        }

        struct links links = { &doors, g->home };
        if (g->row && cli_agent_links(g->row, g->home, add_link, &links) < 0)
                return EXIT_CORDON;

        if (doors.n &&
            cordon_policy_add_text(g->run.policy, "the agent's state", buf_str(&doors), doors.n, &e) < 0)
                return cli_run_failed(&g->run, &e);

        AUTO_BUF(state);
        buf_printf(&state, "CORDON_AGENT_STATE=%s", g->home);
        if (status == 0 && g->row)
                status = add(g, "env", buf_str(&state));
        return status == 0 && g->row ? add(g, "env", buf_str(&keeps)) : status;
}

/* The lines beside the stock policy. */
static int add_doors(struct agent *g)
{
        int status = g->files ? 0 : check_directory();
        if (status == 0 && !g->files)
                status = add(g, "edit", "{work}");
        if (status == 0)
                status = add_state(g);
        if (status == 0) /* which names the caller and nothing else of theirs */
                status = add(g, "env", "GIT_CONFIG_GLOBAL=/home/box/.gitconfig");

        return status;
}

static int make_policy(struct agent *g)
{
        struct cli_api apis[CLI_APIS_MAX];
        const char *stock, *name = g->row && g->row != &g->own.row ? g->row->name : "other";
        cordon_error e = { 0 };
        AUTO_BUF(text);
        int used = open_apis(g, apis, cli_key_apis(name, &stock, apis));
        if (used < 0)
                return EXIT_CORDON;

        cli_agent_policy(stock, apis, (size_t) used, &text);
        if (cordon_policy_add_text(g->run.policy, name, buf_str(&text), text.n, &e) < 0)
                return cli_run_failed(&g->run, &e);

        return g->row && cli_agent_home(g->row, g->home) < 0 ? EXIT_CORDON : add_doors(g);
}

/* ---- the run ---- */

static int not_installed(const struct cli_agent *a)
{
        (void) cli_problem("%s is not installed (`%s` not found in PATH)", a->product, a->name);
        return cli_hint("%s", a->install);
}

/* The command as the box starts it: a shell with the prelude, which becomes the agent. */
static int make_command(struct agent *g, char **command)
{
        static char sh[] = "/bin/sh", flag[] = "-c";
        enum { BEFORE = 4, MOST = sizeof g->argv / sizeof *g->argv - 1 };
        size_t n = 0;
        while (command[n])
                n++;
        if (n + BEFORE > MOST)
                return cli_usage("too many arguments: %zu", n);

        g->argv[0] = sh;
        g->argv[1] = flag;
        g->argv[2] = (char *) (uintptr_t) (g->row ? g->row->prelude : cli_agent_plain);
        g->argv[3] = g->name;
        (void) memcpy(g->argv + BEFORE, command, (n + 1) * sizeof *command);
        if (g->run.found)
                g->argv[BEFORE] = g->run.found;
        return 0;
}

/* Before the stock policy, which counts as a file of doors: with one, a command opens nothing by itself. */
static int find_command(struct agent *g, char **command)
{
        cordon_error e = { 0 };
        char *shown = NULL;
        int found =
                cordon_policy_find(g->run.policy, (const char *const *) command, &g->run.found, &shown, &e);
        cordon_free(shown); /* what belongs to the agent is no news */
        return found < 0 ? cli_run_failed(&g->run, &e) : 0;
}

static int run_agent(struct agent *g, char **command)
{
        cordon_error e = { 0 };
        cli_run_terminal(&g->run);
        int status = find_command(g, command);
        if (status == 0)
                status = make_policy(g);
        if (status == 0)
                status = make_command(g, command);
        if (status != 0)
                return status;

        if (cli_run_configure(&g->run, g->argv) < 0)
                return EXIT_CORDON;

        g->run.end.program = g->name;
        if (g->run.plan)
                return cli_give(cordon_box_plan(g->run.box, &e), &e);

        bool quiet = g->run.end.asked.quiet || g->run.end.asked.json;
        if (g->row && cli_agent_settle(g->row, g->home, quiet) < 0)
                return EXIT_CORDON;

        status = cli_run_here(&g->run);
        if (g->row) /* what stays in spite of an error is held before the next run */
                (void) cli_agent_settle(g->row, g->home, quiet);

        return status;
}

static int choose(struct agent *g, char **words, bool command)
{
        if (command) {
                const char *slash = strrchr(words[0], '/');
                g->row = cli_agent_own(slash ? slash + 1 : words[0], &g->own);
                (void) snprintf(g->name, sizeof g->name, "%s", g->row ? g->row->name : "command");
                return 0;
        }

        g->row = cli_agent_find(words[0]);
        if (!g->row) {
                (void) cli_problem("unknown agent `%.60s`", words[0]);
                return cli_hint("`cordon agent ls` lists them; any other program: cordon agent -- %.60s",
                                words[0]);
        }

        char path[PATH_MAX];
        if (!cli_agent_installed(g->row->name, path))
                return not_installed(g->row);

        (void) snprintf(g->name, sizeof g->name, "%s", g->row->name);
        return 0;
}

static void note_door(void *ctx, const struct cli_door *d)
{
        struct agent *g = ctx;
        g->files |= strcmp(d->option, "--edit") == 0 || strcmp(d->option, "--write") == 0;
}

int verb_agent(int argc, char **argv)
{
        struct agent g = { .run = { .end = { .status_fd = -1, .doors = true } } };
        int at = cli_run_begin(&g.run, argc, argv), status = EXIT_CORDON;
        cli_doors_again(argc, argv, cli_verb_now(), note_door, &g);
        if (at == argc)
                status = cli_usage("name an agent: cordon agent claude; `cordon agent ls` lists them");
        else if (at >= 0 && choose(&g, argv + at, strcmp(argv[at - 1], "--") == 0) == 0)
                status = run_agent(&g, argv + at);

        return cli_run_done(&g.run, status);
}
