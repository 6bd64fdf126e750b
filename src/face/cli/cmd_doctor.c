/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_doctor.c - `cordon doctor`: the features that this host can enforce; with a policy or a box,
 * whether its doors fit its past runs, from the ledger. */
#include "face/cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { LAST_MAX = 1000000, DOES_NOT_FIT = 1, NOT_KNOWN = 2 };

struct diagnose {
        cordon_diagnosis o;
        const char *policy;
        bool json, fit;
};

static int set_policy(void *ctx, const char *value)
{
        struct diagnose *d = ctx;
        if (d->policy)
                return cli_usage("only one policy can be given (got %s and %s)", d->policy, value), -1;
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

const struct cli_option doctor_options[] = {
        { "fit", 0, NULL, "whether the doors of every box fit its runs", CLI_FLAG(struct diagnose, fit) },
        { "policy", 'p', "POLICY", "the policy, as a word of its own does", set_policy },
        { "box", 0, "NAME", "of boxes with this name", CLI_TEXT(struct diagnose, o.box) },
        { "last", 'n', "N", "the newest N runs of each box (default: 100)", set_last },
        { "since", 0, "TIME", "not older: 90s, 2h, 7d, or a date", set_since },
        { "status", 0, "N", "the exit status that counts as passed (default: 0)", set_status },
        { "json", 0, NULL, "for programs", CLI_FLAG(struct diagnose, json) },
        { 0 },
};

static int print_fit(struct diagnose *d)
{
        cordon_error e = { 0 };
        int fit = -1;
        int status = cli_give(cordon_diagnose(cli_context(), &d->o, d->json, &fit, &e), &e);
        return status ? status : fit > 0 ? 0 : fit == 0 ? DOES_NOT_FIT : NOT_KNOWN;
}

static int check_host(bool json)
{
        int ok = 0;
        cordon_error e = { 0 };
        unsigned swept = cordon_sweep();

        if (swept > 0)
                cli_note("note: removed %u control groups whose keeper had been killed", swept);

        int status = cli_give(cordon_doctor(cli_context(), json, &ok), &e);
        return status ? status : ok ? 0 : 1;
}

int verb_doctor(int argc, char **argv)
{
        struct diagnose d = { 0 };
        const struct cli_verb *verb = cli_verb_find("doctor");

        cli_options_first(argc, argv, verb);
        int at = cli_options(argc, argv, verb, &d, NULL);
        for (; at >= 0 && at < argc; at++)
                if (set_policy(&d, argv[at]) < 0)
                        return EXIT_CORDON;

        if (at < 0)
                return EXIT_CORDON;

        bool of_boxes = d.fit || d.policy || d.o.box;
        if (!of_boxes && (d.o.last || d.o.since_us || d.o.status))
                return cli_usage("--last, --since and --status go with a policy, --box or --fit");

        if (!of_boxes)
                return check_host(d.json);

        char *text = d.policy ? cli_policy_text(d.policy, &d.o.policy_len) : NULL;
        if (d.policy && !text)
                return EXIT_CORDON;

        d.o.policy = text;
        d.o.name = d.policy;
        int status = print_fit(&d);
        free(text);
        return status;
}
