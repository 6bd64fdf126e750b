/* SPDX-License-Identifier: MIT */
/* tests/hooked_main.c - every verb in one program, with hooks: faults are made in any of them. */
#include "base/fd.h"
#include "face/cli/agents.h"
#include "face/cli/cli.h"

#define RUN(name, synopsis, help, verb, options, ...) { name, synopsis, help, verb, options, __VA_ARGS__ },
#define REVIEW                                        RUN
#define GROUP(name, synopsis, help, group)            { name, synopsis, help, verb_group, no_options, false, group },
#define EACH                                          RUN
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
