/* SPDX-License-Identifier: MIT */
/* face/cli/review/main.c - the program cordon-review: every verb; cordon becomes it for those that do not
 * start, hold or end a box of its caller, and to complete a command line. It gets the whole command line and
 * cordon's own path as argv[0]. */
#include "base/fd.h"
#include "face/cli/agents.h"
#include "face/cli/cli.h"

#define RUN(name, synopsis, help, verb, options, ...)    { name, synopsis, help, verb, options, __VA_ARGS__ },
#define REVIEW(name, synopsis, help, verb, options, ...) { name, synopsis, help, verb, options, __VA_ARGS__ },
#define GROUP(name, synopsis, help, group)               { name, synopsis, help, verb_group, no_options, false, group },
#define EACH(name, synopsis, help, verb, options, ...)   { name, synopsis, help, verb, options, __VA_ARGS__ },
#define SELFTEST(name, synopsis, help, verb, options, ...)                                                   \
        { name, synopsis, help, verb_elsewhere, no_options, __VA_ARGS__, .program = "cordon-selftest" },

static const struct cli_verb verbs[] = {
#include "face/cli/verb_rows.inc"
};

int main(int argc, char **argv)
{
        fd_use_limit();

        return cli_main(argc, argv, verbs, sizeof verbs / sizeof *verbs);
}
