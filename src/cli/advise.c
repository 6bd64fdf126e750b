/* SPDX-License-Identifier: MIT */
/* cli/advise.c - `cordon advise TASK`: the least doors for a stock task, as a policy that runs it. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

int verb_advise(int argc, char **argv)
{
        struct cli_json o = { 0 };
        char words[400] = "";
        cordon_error e = { 0 };
        cli_options_first(argc, argv, cli_verb_find("advise"));
        int at = cli_options(argc, argv, cli_verb_find("advise"), &o, NULL);
        const char *name;
        if (at < 0)
                return EXIT_CORDON;
        for (size_t i = 0; at == argc && (name = cordon_advise_name(i)); i++)
                (void) puts(name);
        if (at == argc)
                return 0;
        for (size_t n = 0; at < argc; at++) {
                int k = snprintf(words + n, sizeof words - n, "%s%s", n ? " " : "", argv[at]);
                if (k < 0 || n + (size_t) k >= sizeof words)
                        return cli_usage("a task in a few words");
                n += (size_t) k;
        }
        return cli_give(cordon_advise(words, o.json, &e), &e);
}
