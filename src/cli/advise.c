/* SPDX-License-Identifier: MIT */
/* cli/advise.c - `cordon advise TASK`: the least doors for a stock task, as a policy that runs it. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

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

int verb_advise(int argc, char **argv)
{
        struct cli_json o = { 0 };
        char words[400] = "";
        cordon_error e = { 0 };
        cli_options_first(argc, argv, cli_verb_find("advise"));
        int at = cli_options(argc, argv, cli_verb_find("advise"), &o, NULL);
        if (at < 0)
                return EXIT_CORDON;
        if (at == argc)
                return list_tasks(o.json);
        for (size_t n = 0; at < argc; at++) {
                int k = snprintf(words + n, sizeof words - n, "%s%s", n ? " " : "", argv[at]);
                if (k < 0 || n + (size_t) k >= sizeof words)
                        return cli_usage("a task in a few words");
                n += (size_t) k;
        }
        return cli_give(cordon_advise(words, o.json, &e), &e);
}
