/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_plan.c - the verb plan: what would flow in a workflow of boxes, before it runs. */
#include "face/cli/cli.h"

enum { BOXES_MAX = 16 };

struct plan {
        const char *policies[CLI_LIST_MAX + 1];
        bool json;
};

static int take_policy(void *ctx, const char *value)
{
        return cli_list_add(((struct plan *) ctx)->policies, "--policy", value);
}

const struct cli_option plan_options[] = {
        { "policy", 'p', "POLICY", "the same as POLICY alone; these come first", take_policy, 0 },
        { "json", 0, NULL, "for programs", CLI_FLAG(struct plan, json) },
        { 0 },
};

int verb_plan(int argc, char **argv)
{
        struct plan o = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p[BOXES_MAX];
        cli_options_first(argc, argv, cli_verb_find("plan"));
        int at = cli_options(argc, argv, cli_verb_find("plan"), &o, NULL), n = 0, bad = 0;
        if (at < 0)
                return EXIT_CORDON;

        for (; at < argc; at++)
                if (take_policy(&o, argv[at]) < 0)
                        return EXIT_CORDON;

        size_t count = 0;
        while (o.policies[count])
                count++;
        if (count < 1 || count > BOXES_MAX)
                return cli_usage("`cordon plan` takes 1 to %d policies, in the order in which they run",
                                 BOXES_MAX);

        for (size_t i = 0; i < count && !bad; i++) {
                p[n] = cli_policy_new();
                bad = !p[n] || cli_policy_load(p[n], o.policies[i], &e) < 0;
                n += p[n] != NULL;
        }

        int status = bad ? cli_error(&e) : cli_give(cordon_plan(p, (size_t) n, o.json, &e), &e);
        while (n > 0)
                cordon_policy_free(p[--n]);
        return status;
}
