/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_agent_accept.c - `cordon agent accept`: what runs of an agent changed of its own
 * configuration, shown to a person and taken over. */
#include "face/cli/agents.h"

#include <stdio.h>
#include <string.h>

struct accepting {
        bool show, json, discard;
};

const struct cli_option agent_accept_options[] = {
        { "show", 0, NULL, "print what is held back, and accept nothing", CLI_FLAG(struct accepting, show) },
        { "json", 0, NULL, "the same as JSON", CLI_FLAG(struct accepting, json) },
        { "discard", 0, NULL, "delete what is held back", CLI_FLAG(struct accepting, discard) },
        { 0 },
};

static int accept_held(const struct cli_agent *a, const char *home, const struct accepting *asked)
{
        AUTO_BUF(out);
        cordon_error e = { 0 };
        int count = asked->discard ? 0 : cli_agent_held(a, home, asked->json, &out);
        if (count < 0)
                return EXIT_CORDON;
        if (asked->discard)
                return cli_agent_take(a, home, NULL) < 0 ? EXIT_CORDON : 0;
        if (count == 0 && !asked->json)
                return cli_problem("nothing of %s is held back", a->name);
        if (asked->show || asked->json)
                return cli_put(&out);

        if (cli_ask_person(buf_str(&out), &e) < 0)
                return cli_error(&e);
        if (cli_agent_take(a, home, buf_str(&out)) < 0)
                return EXIT_CORDON;

        (void) printf("accepted; later runs of %s obey it\n", a->name);
        return 0;
}

int verb_agent_accept(int argc, char **argv)
{
        struct accepting asked = { 0 };
        struct cli_own own;
        char home[4096];
        cli_options_first(argc, argv, cli_verb_find("agent accept"));
        int at = cli_options(argc, argv, cli_verb_find("agent accept"), &asked, NULL);
        if (at < 0)
                return EXIT_CORDON;

        const struct cli_agent *a = argc - at == 1 ? cli_agent_find(argv[at]) : NULL;
        if (!a && argc - at == 1 && strncmp(argv[at], CLI_OWN, sizeof CLI_OWN - 1) == 0)
                a = cli_agent_own(argv[at] + sizeof CLI_OWN - 1, &own);
        if (!a)
                return cli_usage("name an agent: cordon agent accept claude");

        return cli_agent_home(a, home) < 0 ? EXIT_CORDON : accept_held(a, home, &asked);
}
