/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_image.c - `cordon image`: the store of images that boxes have as their root. */
#include "face/cli/cli.h"

#include <inttypes.h>
#include <stdio.h>

int verb_image_ls(int argc, char **argv) { return cli_view(argc, argv, cordon_image_list); }

int verb_image_add(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        int at = cli_take(argc, argv, &o), status = at < 0 ? EXIT_CORDON : 0;
        for (; at >= 0 && at < argc; at++) {
                cordon_error e = { 0 };
                int r = cli_give(cordon_image_add(cli_context(), argv[at], o.json, &e), &e);
                status = r ? r : status;
        }

        return status;
}

int verb_image_rm(int argc, char **argv)
{
        int at = cli_take(argc, argv, NULL);
        return at < 0 ? EXIT_CORDON : cli_each(argv + at, cordon_image_remove);
}

int verb_image_prune(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        cordon_error e = { 0 };
        uint64_t count = 0;
        if (cli_take(argc, argv, &o) < 0)
                return EXIT_CORDON;

        if (cordon_image_prune(cli_context(), o.all, &count, &e) < 0)
                return cli_error(&e);

        (void) printf(o.json ? "{\"removed\":%" PRIu64 "}\n" : "%" PRIu64 " removed\n", count);
        return 0;
}
