/* SPDX-License-Identifier: MIT */
/* cli/diagnose.c - `cordon diagnose`: does a box fit what runs in it? From the ledger; nothing is run. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { LAST_MAX = 1000000, DOES_NOT_FIT = 1, NOT_KNOWN = 2 };

struct diagnose {
        cordon_diagnosis o;
        const char *policy;
        bool json;
};

static int set_policy(void *ctx, const char *value)
{
        struct diagnose *d = ctx;
        if (d->policy)
                return cli_usage("one policy at a time; %s was named before %s", d->policy, value), -1;
        d->policy = value;
        return 0;
}

static int set_last(void *ctx, const char *value)
{
        long n = 0;
        int r = cli_number("--last", value, 1, LAST_MAX, &n);
        ((struct diagnose *) ctx)->o.last = (unsigned) n;
        return r;
}

static int set_status(void *ctx, const char *value)
{
        long n = 0;
        int r = cli_number("--status", value, 0, 255, &n);
        ((struct diagnose *) ctx)->o.status = (int) n;
        return r;
}

static int set_since(void *ctx, const char *value)
{
        return cli_time(value, &((struct diagnose *) ctx)->o.since_us);
}

const struct cli_option diagnose_options[] = {
        { "policy", 'p', "POLICY", "the policy, as a word of its own does", set_policy },
        { "box", 0, "NAME", "of boxes with this name", CLI_TEXT(struct diagnose, o.box) },
        { "last", 'n', "N", "the newest N runs of each box (default: 100)", set_last },
        { "since", 0, "TIME", "not older: 90s, 2h, 7d, or a date", set_since },
        { "status", 0, "N", "the exit status that counts as passed (default: 0)", set_status },
        { "json", 0, NULL, "for programs", CLI_FLAG(struct diagnose, json) },
        { 0 },
};

static int tell(struct diagnose *d)
{
        cordon_error e = { 0 };
        int fit = -1;
        int status = cli_give(cordon_diagnose(&d->o, d->json, &fit, &e), &e);
        return status ? status : fit > 0 ? 0 : fit == 0 ? DOES_NOT_FIT : NOT_KNOWN;
}

int verb_diagnose(int argc, char **argv)
{
        struct diagnose d = { 0 };
        const struct cli_verb *verb = cli_verb_find("diagnose");
        cli_options_first(argc, argv, verb);
        int at = cli_options(argc, argv, verb, &d, NULL);
        for (; at >= 0 && at < argc; at++)
                if (set_policy(&d, argv[at]) < 0)
                        return EXIT_CORDON;
        if (at < 0)
                return EXIT_CORDON;
        char *text = d.policy ? cli_policy_text(d.policy, &d.o.policy_len) : NULL;
        if (d.policy && !text)
                return EXIT_CORDON;
        d.o.policy = text;
        d.o.name = d.policy;
        int status = tell(&d);
        free(text);
        return status;
}
