/* SPDX-License-Identifier: MIT */
/* cli/cmd_plan.c - the verb plan: what would flow in a workflow of boxes, before it runs. */
#include "cli/cli.h"

enum { BOXES_MAX = 16 };

int verb_plan(int argc, char **argv)
{
        struct cli_json j = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p[BOXES_MAX];
        cli_options_first(argc, argv, cli_verb_find("plan"));
        int at = cli_options(argc, argv, cli_verb_find("plan"), &j, NULL), n = 0, bad = 0;
        if (at < 0)
                return EXIT_CORDON;

        if (argc - at < 1 || argc - at > BOXES_MAX)
                return cli_usage("`cordon plan` takes 1 to %d policies, in the order in which they run",
                                 BOXES_MAX);

        for (; at < argc && !bad; at++) {
                p[n] = cli_policy_new();
                bad = !p[n] || cli_policy_load(p[n], argv[at], &e) < 0;
                n += p[n] != NULL;
        }

        int status = bad ? cli_error(&e) : cli_give(cordon_plan(p, (size_t) n, j.json, &e), &e);
        while (n > 0)
                cordon_policy_free(p[--n]);
        return status;
}
