/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_image.c - `cordon image`: the store of images that boxes have as their root. */
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
        { "all", 'a', NULL, "also images that a name or an unchanged file leads to",
          CLI_FLAG(struct image_verb, all), IMAGE_PRUNE },
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct image_verb, json),
          IMAGE_LS | IMAGE_ADD | IMAGE_PRUNE },
        { 0 },
};

static int image_ls(const struct image_verb *v, char **words)
{
        cordon_error e = { 0 };
        (void) words;
        return cli_give(cordon_image_list(cli_context(), v->json, &e), &e);
}

static int image_add(const struct image_verb *v, char **words)
{
        int status = 0;
        for (; *words; words++) {
                cordon_error e = { 0 };
                int r = cli_give(cordon_image_add(cli_context(), *words, v->json, &e), &e);
                status = r ? r : status;
        }

        return status;
}

static int image_rm(const struct image_verb *v, char **words)
{
        int status = 0;
        (void) v;
        for (; *words; words++) {
                cordon_error e = { 0 };
                if (cordon_image_remove(cli_context(), *words, &e) < 0)
                        status = cli_error(&e);
        }

        return status;
}

static int image_prune(const struct image_verb *v, char **words)
{
        cordon_error e = { 0 };
        uint64_t count = 0;
        (void) words;
        if (cordon_image_prune(cli_context(), v->all, &count, &e) < 0)
                return cli_error(&e);

        (void) printf(v->json ? "{\"removed\":%" PRIu64 "}\n" : "%" PRIu64 " removed\n", count);
        return 0;
}

int verb_image(int argc, char **argv)
{
        static const struct {
                unsigned part;
                int least, most;
                int (*run)(const struct image_verb *v, char **words);
        } rows[] = { { IMAGE_LS, 0, 0, image_ls },
                     { IMAGE_ADD, 1, CLI_ANY, image_add },
                     { IMAGE_RM, 1, CLI_ANY, image_rm },
                     { IMAGE_PRUNE, 0, 0, image_prune } };
        struct image_verb v = { 0 };
        size_t i = 0;
        while (rows[i].part != cli_verb_now()->part)
                i++;

        int at = cli_take(argc, argv, &v, rows[i].least, rows[i].most);
        return at < 0 ? EXIT_CORDON : rows[i].run(&v, argv + at);
}
