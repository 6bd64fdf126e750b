/* SPDX-License-Identifier: MIT */
/* cli/cmd_renew.c - `cordon renew`: another lease of time for running boxes whose policy allows it. */
#include "base/json.h"
#include "cli/cli.h"

#include <stdio.h>

static long long number_of(const struct json *o, const char *key)
{
        const struct json *v = json_get(o, key);
        return v ? (long long) v->integer : 0;
}

static void say_renewed(const char *which, const char *state)
{
        struct err ignored;
        struct json_doc *d = json_parse("keeper", span_str(state), &ignored);
        const struct json *o = d ? json_root(d) : NULL;
        long long left = o ? number_of(o, "renewals") - number_of(o, "renewed") : 0;
        if (o)
                (void) printf("%s: %llds left, %lld renewal%s after this\n", which,
                              number_of(o, "left_ms") / 1000, left, left == 1 ? "" : "s");
        json_free(d);
}

int verb_renew(int argc, char **argv)
{
        struct cli_json asked = { 0 };
        int status = 0;
        cli_options_first(argc, argv, cli_verb_find("renew"));
        int at = cli_options(argc, argv, cli_verb_find("renew"), &asked, NULL);
        if (at < 0)
                return EXIT_CORDON;

        if (at == argc)
                return cli_usage("name a box; `cordon ps` lists them");

        for (; at < argc; at++) {
                cordon_error e = { 0 };
                char *state = cordon_renew(argv[at], &e);
                if (!state)
                        status = cli_error(&e);
                else if (asked.json)
                        (void) puts(state);
                else
                        say_renewed(argv[at], state);
                cordon_free(state);
        }

        return status;
}
