/* SPDX-License-Identifier: MIT */
/* selftest/main.c - cordon-selftest: `cordon selftest` attacks and measures this host's isolation. Started by
 * cordon, with the whole command line and cordon's own path as argv[0]. */
#include "selftest/bomb/bomb.h"
#include "selftest/probe/probe.h"
#include "selftest/selftest.h"

#include <string.h>

static int no_command(int argc, char **argv);
static const char *bomb_name(size_t i, const char **ret_help);

static const struct cli_verb verbs[] = {
        { "selftest", "COMMAND", "attack and measure this host's isolation", no_command, no_options, false,
          GROUP_SET_UP },
        { "selftest breakout", "[DOORS] [-p POLICY] [--root] [--parked] [--session] [--json] [--list]",
          "attack a box from inside and report what held", verb_breakout, breakout_options, true,
          GROUP_SET_UP },
        { "selftest bombs", "[--wall WALL] [--json] [NAME...]",
          "exhaust each resource in a box and report which limit stopped it", verb_bombs, bombs_options,
          false, GROUP_SET_UP, bomb_name },
        { "selftest claims", "[DOORS] [-p POLICY] [--json] [--sign FILE] | --diff OLD NEW [--key FILE]",
          "test this host's isolation and list what is not covered", verb_claims, claims_options, true,
          GROUP_SET_UP },
        { "selftest audit", "[--all] [--most DEBT] [--waivers FILE] [--json] [POLICY...]",
          "list what rots on this host and in its policies, with a debt and repairs", verb_audit,
          audit_options, false, GROUP_SET_UP },
        { "selftest walls", "[-n RUNS] [--json]",
          "test and measure each wall, and list what it does not stop", verb_walls, walls_options, false,
          GROUP_SET_UP },
        { "help", "[COMMAND]", "print this text, or a command's", verb_help, no_options, false,
          GROUP_SET_UP },
};

static const char *bomb_name(size_t i, const char **ret_help)
{
        size_t n;
        const struct bomb *all = bomb_table(&n);

        *ret_help = i < n ? all[i].what : "";
        return i < n ? all[i].name : NULL;
}

/* Without a command, or with an unknown one. */
static int no_command(int argc, char **argv)
{
        int at = cli_words_only(argc, argv, "selftest");
        if (at < 0)
                return EXIT_CORDON;

        if (at < argc)
                return cli_unknown_second("selftest", argv[at]);

        cli_help_verb(cli_verb_find("selftest"));
        return EXIT_CORDON;
}

int main(int argc, char **argv)
{
        if (argc > 0)
                selftest_started_by(argv[0]);

        if (argc > 1 && strcmp(argv[1], "__probe") == 0) /* started by `selftest breakout` in a box */
                return probe_main(argc - 2, argv + 2);

        if (argc > 1 && strcmp(argv[1], "__bomb") == 0) /* started by `selftest bombs` in a box */
                return bomb_main(argc - 2, argv + 2);

        return cli_main(argc, argv, verbs, sizeof verbs / sizeof *verbs);
}
