/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_new.c - `cordon policy new [TASK]`: a policy with the least doors for a stock task, or without
 * doors and with comments that explain how to open one. Never overwrites. */
#include "base/shell.h"
#include "face/cli/cli.h"

#include <stdio.h>
#include <string.h>

struct new_options {
        struct cli_shared asked;
        const char *output;
        bool list;
};

const struct cli_option new_options[] = {
        { "output", 'o', "FILE", "write a new file instead of standard output",
          CLI_TEXT(struct new_options, output) },
        { "list", 'l', NULL, "list the stock tasks", CLI_FLAG(struct new_options, list) },
        { 0 },
};

/* All of its doors are closed: a box with this policy has only the builtin files. */
static const char text[] =
        "# %s: what one box may touch. One line opens one door; what no line opens stays shut.\n"
        "#   cordon check %s.cordon              does it load, do its tests hold, what would a reviewer say\n"
        "#   cordon doors -p %s.cordon           every door in words, and the worst a guest could do\n"
        "#   cordon run -p %s.cordon -- COMMAND  run it; `cordon learn -- COMMAND` proposes the doors\n"
        "box    %s\n"
        "doc    \"Say in one sentence what this box is for.\"\n"
        "\n"
        "# Program files. `none`: not even the loader, so that only a static program starts. Usual instead:\n"
        "#   use base/system    all program files of this host, read-only\n"
        "#   use base/python3   or base/node, base/git, base/build: see `cordon policy stock`\n"
        "use    none\n"
        "\n"
        "# Files: {work} is the directory the caller is in, {home} the caller's home, {tmp} the box's own.\n"
        "#   read  {work}/input\n"
        "#   edit  {work}/build       changes wait in a private overlay until a person applies them\n"
        "#   write {work}/out         changes are real, at once\n"
        "# Programs, variables, the network:\n"
        "#   run   python3\n"
        "#   env   CI=1\n"
        "#   net   https://api.example.com/v1/**  GET\n"
        "\n"
        "# Every limit has a finite default; these are smaller.\n"
        "limit  time 1m  memory 512M  procs 32\n"
        "\n"
        "# The policy's own tests: it does not load when one does not hold.\n"
        "expect deny read {home}/.ssh/id_ed25519\n"
        "expect deny write {work}/anything\n"
        "expect deny net GET https://example.com/\n";

/* The box is named after the file: letters, digits, `_` and `-`, without directories and ending. */
static void name_after(const char *path, char ret[static 64])
{
        const char *slash = path ? strrchr(path, '/') : NULL;
        const char *name = slash ? slash + 1 : path ? path : "";
        size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
        bool usable = n > 0 && n < 61 && name[0] != '-' && (!name[n] || name[n] == '.');

        (void) snprintf(ret, 64, "%.*s", usable ? (int) n : 3, usable ? name : "box");
}

static int list_tasks(bool json)
{
        const char *name;

        for (size_t i = 0; (name = cordon_advise_name(i)); i++)
                if (json)
                        (void) printf("%s\"%s\"", i ? "," : "[", name);
                else
                        (void) puts(name);

        return json && puts("]") == EOF ? EXIT_CORDON : 0;
}

static int write_policy(const char *path, struct span policy)
{
        int status = cli_new_file(path, 0644, policy, "nothing was written; choose another name for -o");
        if (status != 0)
                return status;

        AUTO_BUF(word);
        buf_shell(&word, path);
        cli_note("wrote %s; next: cordon check %s", path, buf_str(&word));
        return 0;
}

static int give_task(const struct new_options *o, int argc, char **argv)
{
        cordon_error e = { 0 };
        AUTO_BUF(words);

        for (int i = 0; i < argc; i++)
                buf_printf(&words, "%s%s", i ? " " : "", argv[i]);

        if (words.n >= 400)
                return cli_usage("a task takes a few words; `cordon policy new --list` lists them");

        char *policy = cordon_advise(buf_str(&words), o->asked.json, &e);
        if (!policy || !o->output)
                return cli_give(policy, &e);

        int status = write_policy(o->output, span_str(policy));
        cordon_free(policy);
        return status;
}

int verb_new(int argc, char **argv)
{
        struct new_options o = { 0 };
        char name[64];
        AUTO_BUF(policy);

        int at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;

        if (o.list)
                return at < argc ? cli_usage("--list takes no arguments") : list_tasks(o.asked.json);

        if (o.output && strcmp(o.output, "-") == 0)
                o.output = NULL;

        if (at < argc)
                return give_task(&o, argc - at, argv + at);

        if (o.asked.json)
                return cli_usage("--json needs a task or --list; `cordon policy show --json FILE` prints a "
                                 "policy as JSON");

        name_after(o.output, name);
        buf_printf(&policy, text, name, name, name, name, name);
        return o.output ? write_policy(o.output, buf_span(&policy)) : cli_put(&policy);
}
