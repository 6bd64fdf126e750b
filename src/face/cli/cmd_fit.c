/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_fit.c - `cordon policy fit`: whether the doors of a policy or box fit its past runs, from the
 * ledger. */
#include "face/cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { DOES_NOT_FIT = 1, NOT_KNOWN = 2 };

static int print_fit(const cordon_diagnosis *d, bool json)
{
        cordon_error e = { 0 };
        int fit = -1;
        int status = cli_give(cordon_diagnose(cli_context(), d, json, &fit, &e), &e);
        return status ? status : fit > 0 ? 0 : fit == 0 ? DOES_NOT_FIT : NOT_KNOWN;
}

int verb_fit(int argc, char **argv)
{
        struct cli_shared o = { 0 };
        int at = cli_take(argc, argv, &o);
        if (at < 0)
                return EXIT_CORDON;

        cordon_diagnosis d = { .name = at < argc ? argv[at] : NULL,
                               .box = o.box,
                               .since_us = o.since_us,
                               .last = o.last,
                               .status = (int) o.status };
        if (!d.name && !o.box && !o.all)
                return cli_usage("which runs? A POLICY, --box NAME or --all");

        char *text = d.name ? cli_policy_text(d.name, &d.policy_len) : NULL;
        if (d.name && !text)
                return EXIT_CORDON;

        d.policy = text;
        int status = print_fit(&d, o.json);
        free(text);
        return status;
}
