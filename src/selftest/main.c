/* SPDX-License-Identifier: MIT */
/* selftest/main.c - cordon-selftest: `cordon selftest` attacks and measures this host's isolation. Started by
 * cordon, with the whole command line and cordon's own path as argv[0]. */
#include "selftest/bomb/bomb.h"
#include "selftest/probe/probe.h"
#include "selftest/selftest.h"

#include <string.h>

static const char *bomb_name(size_t i, const char **ret_help);

static const struct cli_verb verbs[] = {
        { "selftest", "breakout | bombs | walls | claims | audit",
          "attack boxes on this host and report what held", verb_group, no_options, false, GROUP_OPERATE },
        { "selftest breakout", "[DOORS] [OPTION...]", "attack a box from inside and report what held",
          verb_breakout, breakout_options, true, GROUP_OPERATE },
        { "selftest bombs", "[--wall WALL] [--json] [NAME...]",
          "exhaust each resource in a box and report which limit held", verb_bombs, bombs_options, false,
          GROUP_OPERATE, bomb_name },
        { "selftest walls", "[-n RUNS] [--json]", "test and time each wall, and list what it does not stop",
          verb_walls, walls_options, false, GROUP_OPERATE },
        { "selftest claims", "[DOORS] [--json] [--sign FILE] | --diff OLD NEW",
          "test what boxes promise on this host, and list what they do not cover", verb_claims,
          claims_options, true, GROUP_OPERATE },
        { "selftest audit", "[OPTION...] [POLICY...]",
          "audit this host and its policies, with a debt score and repairs", verb_audit, audit_options, false,
          GROUP_OPERATE },
        { "help", "[-v] [COMMAND...]", "describe a command", verb_help, no_options, false, GROUP_OPERATE,
          .most = CLI_ANY, .shared = OPT_VERBOSE },
        { "__complete", "[WORD...]", "complete a command line", verb_complete, no_options, false,
          GROUP__COUNT, .words = CLI_COMMAND, .most = CLI_ANY },
};

static const char *bomb_name(size_t i, const char **ret_help)
{
        size_t n;
        const struct bomb *all = bomb_table(&n);

        *ret_help = i < n ? all[i].what : "";
        return i < n ? all[i].name : NULL;
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
