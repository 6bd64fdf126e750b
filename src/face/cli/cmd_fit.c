/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_fit.c - `cordon policy fit`: whether the doors of a policy or box fit its past runs, from the
 * ledger. */
#include "face/cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { LAST_MAX = 1000000, DOES_NOT_FIT = 1, NOT_KNOWN = 2 };

struct fit {
        cordon_diagnosis o;
        bool json, all;
};

static int set_last(void *ctx, const char *value)
{
        return cli_count("--last", value, 1, LAST_MAX, &((struct fit *) ctx)->o.last);
}

static int set_status(void *ctx, const char *value)
{
        long n = 0;
        int r = cli_number("--status", value, 0, 255, &n);
        ((struct fit *) ctx)->o.status = (int) n;
        return r;
}

static int set_since(void *ctx, const char *value)
{
        return cli_time(value, &((struct fit *) ctx)->o.since_us);
}

const struct cli_option fit_options[] = {
        { "all", 'a', NULL, "all of them", CLI_FLAG(struct fit, all) },
        { "box", 0, "NAME", "only boxes with this name", CLI_TEXT(struct fit, o.box) },
        { "since", 0, "TIME", "only records since this time: 90s, 2h, 7d or a date", set_since },
        { "last", 'n', "N", "only the newest N runs of each box (default: 100)", set_last },
        { "status", 0, "N", "exit status that counts as success (default: 0)", set_status },
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct fit, json) },
        { 0 },
};

static int print_fit(struct fit *d)
{
        cordon_error e = { 0 };
        int fit = -1;
        int status = cli_give(cordon_diagnose(cli_context(), &d->o, d->json, &fit, &e), &e);
        return status ? status : fit > 0 ? 0 : fit == 0 ? DOES_NOT_FIT : NOT_KNOWN;
}

int verb_fit(int argc, char **argv)
{
        struct fit f = { 0 };
        int at = cli_take(argc, argv, &f, 0, 1);
        if (at < 0)
                return EXIT_CORDON;

        f.o.name = at < argc ? argv[at] : NULL;
        if (!f.o.name && !f.o.box && !f.all)
                return cli_usage("which runs? A POLICY, --box NAME or --all");

        char *text = f.o.name ? cli_policy_text(f.o.name, &f.o.policy_len) : NULL;
        if (f.o.name && !text)
                return EXIT_CORDON;

        f.o.policy = text;
        int status = print_fit(&f);
        free(text);
        return status;
}
