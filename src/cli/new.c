/* SPDX-License-Identifier: MIT */
/* cli/new.c - `cordon new NAME`: a policy with no door at all, and comments that tell how to open one. Never
 * overwrites. */
#include "base/shell.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

struct new_options {
        const char *output;
};

const struct cli_option new_options[] = {
        { "output", 'o', "FILE", "write there (default: NAME.cordon); - is standard output",
          CLI_TEXT(struct new_options, output) },
        { 0 },
};

/* One name, twice. Every door of it is closed: what a box with this policy sees is what every box has. */
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
        "#   edit  {work}/build       changes wait in a private layer until a person applies them\n"
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

static bool is_name(const char *s)
{
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
        return n > 0 && n <= 60 && !s[n] && s[0] != '-';
}

static int write_policy(const char *path, const char *name)
{
        AUTO_BUF(policy);
        buf_printf(&policy, text, name, name, name, name, name);
        int status = cli_new_file(path, 0644, buf_span(&policy),
                                  "nothing was written; take another name, or -o FILE");
        if (status != 0)
                return status;
        AUTO_BUF(word);
        buf_shell(&word, path);
        cli_note("%s: a policy without a door; next: cordon check %s", path, buf_str(&word));
        return 0;
}

int verb_new(int argc, char **argv)
{
        struct new_options o = { 0 };
        char path[80];
        cli_options_first(argc, argv, cli_verb_find("new"));
        int at = cli_options(argc, argv, cli_verb_find("new"), &o, NULL);
        if (at < 0)
                return EXIT_CORDON;
        if (at + 1 != argc)
                return cli_usage("one name; for example: cordon new build-docs");
        if (!is_name(argv[at]))
                return cli_usage(
                        "a name has letters, digits, `_` and `-`, at most 60, and does not begin with `-`");
        if (o.output && strcmp(o.output, "-") == 0)
                return printf(text, argv[at], argv[at], argv[at], argv[at], argv[at]) < 0 ? EXIT_CORDON : 0;
        (void) snprintf(path, sizeof path, "%s.cordon", argv[at]);
        return write_policy(o.output ? o.output : path, argv[at]);
}
