/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_flow.c - `cordon policy flow`: what would flow in a workflow of boxes, before it runs. */
#include "face/cli/cli.h"

enum { BOXES_MAX = 16 };

struct flow {
        const char *policies[CLI_LIST_MAX + 1];
        bool json;
};

static int take_policy(void *ctx, const char *value)
{
        return cli_list_add(((struct flow *) ctx)->policies, "--policy", value);
}

const struct cli_option flow_options[] = {
        { "policy", 'p', "FILE", "add the doors of a policy file, or of a stock policy", take_policy, 0 },
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct flow, json) },
        { 0 },
};

int verb_flow(int argc, char **argv)
{
        struct flow o = { 0 };
        cordon_error e = { 0 };
        cordon_policy *p[BOXES_MAX];
        int at = cli_take(argc, argv, &o, 0, CLI_ANY), n = 0, bad = 0;
        if (at < 0)
                return EXIT_CORDON;

        for (; at < argc; at++)
                if (take_policy(&o, argv[at]) < 0)
                        return EXIT_CORDON;

        size_t count = 0;
        while (o.policies[count])
                count++;
        if (count < 1 || count > BOXES_MAX)
                return cli_usage(
                        "`cordon policy flow` takes 1 to %d policies, in the order in which they run",
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
