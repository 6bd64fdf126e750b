/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_image.c - `cordon image`: the store of images that boxes have as their root. */
#include "base/str.h"
#include "face/cli/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_image_prepare(cordon_policy *p, bool *ret_image, cordon_error *e)
{
        *ret_image = cordon_policy_root(p, e) != NULL;
        return *ret_image ? cordon_image_prepare(p, e) : 0;
}

char **cli_image_command(cordon_box *b, cordon_error *e)
{
        const char *const *from = cordon_box_image_command(b, e);
        size_t n = 0;
        while (from && from[n])
                n++;

        char **command = from ? calloc(n + 1, sizeof *command) : NULL;
        if (!command)
                return NULL;

        for (size_t i = 0; i < n; i++)
                command[i] = (char *) (uintptr_t) from[i];

        return command;
}

struct image_verb {
        bool json, all;
};

const struct cli_option image_options[] = {
        { "json", 0, NULL, "as JSON", CLI_FLAG(struct image_verb, json) },
        { "all", 'a', NULL, "prune: also images that a name or an unchanged file leads to",
          CLI_FLAG(struct image_verb, all) },
        { 0 },
};

static int image_ls(const struct image_verb *v, int argc, char **argv)
{
        cordon_error e = { 0 };
        (void) argv;
        if (argc != 0)
                return cli_usage("cordon image ls [--json]");
        return cli_give(cordon_image_list(cli_context(), v->json, &e), &e);
}

static int image_add(const struct image_verb *v, int argc, char **argv)
{
        int status = 0;
        for (int i = 0; i < argc; i++) {
                cordon_error e = { 0 };
                int r = cli_give(cordon_image_add(cli_context(), argv[i], v->json, &e), &e);
                status = r ? r : status;
        }

        return argc > 0 ? status : cli_usage("which image? cordon image add FILE|DIR|NAME");
}

static int image_rm(const struct image_verb *v, int argc, char **argv)
{
        int status = 0;
        if (v->all && argc == 0)
                return cli_problem("image rm takes images, not --all"), cli_hint("cordon image prune --all");

        for (int i = 0; i < argc; i++) {
                cordon_error e = { 0 };
                if (cordon_image_remove(cli_context(), argv[i], &e) < 0)
                        status = cli_error(&e);
        }

        return argc > 0 ? status : cli_usage("which image? cordon image rm ID");
}

static int image_prune(const struct image_verb *v, int argc, char **argv)
{
        cordon_error e = { 0 };
        uint64_t count = 0;
        (void) argv;
        if (argc != 0)
                return cli_usage("cordon image prune [--all] [--json]");

        if (cordon_image_prune(cli_context(), v->all, &count, &e) < 0)
                return cli_error(&e);

        (void) printf(v->json ? "{\"removed\":%" PRIu64 "}\n" : "%" PRIu64 " removed\n", count);
        return 0;
}

static const struct {
        const char *name;
        int (*run)(const struct image_verb *v, int argc, char **argv);
} subs[] = { { "ls", image_ls }, { "add", image_add }, { "rm", image_rm }, { "prune", image_prune } };

static int unknown(const char *given)
{
        static const struct {
                const char *typed, *instead;
        } habits[] = { { "pull", "add" }, { "load", "add" }, { "remove", "rm" }, { "import", "add" } };
        const char *best = subs[0].name;
        for (size_t i = 1; i < sizeof subs / sizeof *subs; i++)
                if (str_distance(given, subs[i].name) < str_distance(given, best))
                        best = subs[i].name;

        for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
                if (strcmp(given, habits[i].typed) == 0)
                        best = habits[i].instead;

        return cli_problem("`cordon image` has no `%.60s`", given), cli_hint("did you mean `%s`?", best);
}

int verb_image(int argc, char **argv)
{
        struct image_verb v = { 0 };
        cli_options_first(argc, argv, cli_verb_find("image"));
        int at = cli_options(argc, argv, cli_verb_find("image"), &v, NULL);
        if (at < 0)
                return EXIT_CORDON;

        if (at >= argc)
                return cli_usage("cordon image ls | add IMAGE... | rm IMAGE... | prune");

        for (size_t i = 0; i < sizeof subs / sizeof *subs; i++)
                if (strcmp(cli_is_list(argv[at]) ? "ls" : argv[at], subs[i].name) == 0)
                        return subs[i].run(&v, argc - at - 1, argv + at + 1);

        return unknown(argv[at]);
}
