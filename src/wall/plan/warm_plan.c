/* SPDX-License-Identifier: MIT */
/* wall/plan/warm_plan.c - the interpreter that a parked box holds started, as the policy's `warm` says, and
 * which commands it can serve. Pure.
 *
 * The driver, a file in the box, is started with everything that the run's interpreter would be started with:
 * the same path, variables, directory and cpu limit. So these belong to the box plan, and a run gets a warm
 * box only if all of them are its own. What is left for the order is the arguments. */
#include "base/str.h"
#include "wall/plan/internal.h"

#include <string.h>

static const char python3_driver[] = {
#include "wall/plan/driver_python3.inc"
        '\0'
};
static const char node_driver[] = {
#include "wall/plan/driver_node.inc"
        '\0'
};

/* ---- which commands ---- */

/* Variables by which an interpreter does more than run its program. */
static const char *const python3_variables[] = { "PYTHONINSPECT",
                                                 "PYTHONVERBOSE",
                                                 "PYTHONPROFILEIMPORTTIME",
                                                 "PYTHONDUMPREFS",
                                                 "PYTHONMALLOCSTATS",
                                                 "PYTHONDEBUG",
                                                 "PYTHON_GIL",
                                                 NULL };
static const char *const node_variables[] = { "NODE_OPTIONS", "NODE_CHANNEL_FD",   "NODE_V8_COVERAGE",
                                              "NODE_DEBUG",   "NODE_TEST_CONTEXT", NULL };

static bool is_one_of(const char *s, const char *const *names)
{
        for (; *names; names++)
                if (strcmp(s, *names) == 0)
                        return true;
        return false;
}

/* The forms that the driver knows; `-` is standard input. */
static bool python3_serves(const char *const *argv)
{
        static const char *const with_value[] = { "-c", "-m", NULL };
        if (!argv[1] || argv[1][0] != '-' || argv[1][1] == '\0')
                return !argv[1] || argv[1][0] != '\0';

        return is_one_of(argv[1], with_value) && argv[2];
}

static bool node_serves(const char *const *argv)
{
        static const char *const with_value[] = { "-e", "--eval", "-p", "--print", "-pe", NULL };
        if (!argv[1] || argv[1][0] == '\0')
                return false;

        if (argv[1][0] != '-')
                return strcmp(argv[1], "inspect") != 0 && strcmp(argv[1], "debug") != 0;

        /* The rest is the program's, unless it looks like one more option of node. */
        return is_one_of(argv[1], with_value) && argv[2] && argv[2][0] != '-' &&
               (!argv[3] || argv[3][0] != '-');
}

static const struct interpreter {
        const char *const *variables;
        bool (*serves)(const char *const *argv);
        const char *path, *text;
        const char *options[4];
} interpreters[] = {
        [WARM_PYTHON3] = { python3_variables, python3_serves, "/.warm/python3.py", python3_driver, { NULL } },
        [WARM_NODE] = { node_variables,
                        node_serves,
                        "/.warm/node.cjs",
                        node_driver,
                        { "--expose-internals", "-r", NULL } },
};
_Static_assert(sizeof interpreters / sizeof *interpreters == WARM__COUNT, "each has its driver");

/* python3, python3.11, /usr/bin/node ...; -1: another program. */
static int find_kind(const char *program)
{
        const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
        size_t n = strlen("python3");
        if (strncmp(name, "python3", n) == 0 && name[n + strspn(name + n, ".0123456789")] == '\0')
                return WARM_PYTHON3;

        return strcmp(name, "node") == 0 ? WARM_NODE : -1;
}

static const char *forbidding_variable(const struct interpreter *i, const char *const *envp)
{
        for (const char *const *name = i->variables; *name; name++)
                for (const char *const *v = envp; *v; v++) {
                        size_t n = strlen(*name);
                        if (strncmp(*v, *name, n) == 0 && (*v)[n] == '=')
                                return *name;
                }

        return NULL;
}

/* NULL: it can be served. */
static const char *refusal_line(struct builder *b, int kind, const char *line)
{
        const char *const *argv = (const char *const *) b->o->argv;
        const char *name = kind < 0 ? NULL : policy_warm_row((enum policy_warm) kind)->name;
        if (!line)
                return arena_printf(b->a, "the policy's `warm` is of another program");

        if (!wall_has(b->p->wall, WALL_OWN_ROOT))
                return "a warm interpreter needs the namespace wall";

        if (b->o->tty)
                return "a warm interpreter has no terminal";

        if (b->o->exec_denied || b->o->file_count > 0)
                return "a warm interpreter is started before the files of the run exist";

        if (!b->r->any_command && !interpreters[kind].serves(argv))
                return arena_printf(b->a, "the warm %s does not serve these options", name);

        const char *variable = forbidding_variable(&interpreters[kind], (const char *const *) b->o->envp);
        return variable ? arena_printf(b->a, "the warm %s does not serve %s", name, variable) : NULL;
}

/* ---- the order of the driver ---- */

enum { WORDS_MAX = 80 };

/* argv[0] OPTION... DRIVER [MAIN] DESCRIPTOR MODULE... */
static const char **driver_words(struct builder *b, int kind, const char *line, const char **exec)
{
        const struct interpreter *i = &interpreters[kind];
        const char **v = arena_alloc(b->a, WORDS_MAX * sizeof *v);
        size_t n = 0;
        if (!v)
                return NULL;

        v[n++] = exec ? exec[0] : b->o->argv[0];
        for (const char *const *o = i->options; *o; o++)
                v[n++] = *o;

        v[n++] = i->path;
        if (i->options[0])
                v[n++] = "/.warm/main";

        v[n++] = arena_printf(b->a, "%zu", 3 + b->p->handle_count);
        const char *loads = policy_warm_row((enum policy_warm) kind)->loads;
        const char *at = line ? strstr(line, loads) : NULL;
        for (at = at ? at + strlen(loads) : ""; *at && n < WORDS_MAX - 1;) {
                at += strspn(at, " ");
                size_t k = strcspn(at, " ");
                v[n++] = arena_printf(b->a, "%.*s", (int) k, at);
                at += k;
        }

        v[n] = NULL;
        return v;
}

/* Its name and its path are one program, which python3 tells apart by nothing but sys.orig_argv: that
 * is the driver's to set. Node has process.argv0, which cannot be changed. NULL: not known. */
static const char **found_path(struct builder *b, int kind)
{
        const char **v = kind == WARM_PYTHON3 && b->r->entry.path ? arena_alloc(b->a, 2 * sizeof *v) : NULL;
        if (v)
                v[0] = arena_str(b->a, b->r->entry.path);
        return v;
}

static void add_order(struct builder *b, int kind, const char *line)
{
        struct plan_order *w = arena_alloc(b->a, sizeof *w);
        const char **exec = found_path(b, kind);
        const char **words = driver_words(b, kind, line, exec);
        if (!w || !words)
                return; /* reported at the end */

        *w = (struct plan_order){ .argv = words,
                                  .launch = words,
                                  .envp = b->o->envp,
                                  .exec = exec ? exec : b->o->exec,
                                  .cwd = b->o->cwd };
        w->limits.value[LIMIT_CPU] = b->o->limits.value[LIMIT_CPU];
        b->p->warm = w;
        b->p->warm_count = 1;
        (void) build_step(b, STEP_FILE, interpreters[kind].path, interpreters[kind].text, 0);
        (void) build_rule(b, interpreters[kind].path, RIGHT_READ, false);
}

void build_warm(struct builder *b)
{
        bool any = policy_warm(b->c, WARM_PYTHON3) || policy_warm(b->c, WARM_NODE);
        if (!any || b->a->failed || !wall_has(b->p->wall, WALL_PROGRAMS))
                return;

        int kind = find_kind(b->o->argv[0]);
        const char *line = kind < 0 ? NULL : policy_warm(b->c, (enum policy_warm) kind);
        b->p->warm_why = refusal_line(b, kind, line);
        if (!b->p->warm_why)
                add_order(b, kind, line);
}
