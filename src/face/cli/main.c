/* SPDX-License-Identifier: MIT */
/* face/cli/main.c - the program cordon: what starts, holds and ends boxes. Every other verb is one of
 * cordon-review, which it becomes. */
#include "base/fd.h"
#include "face/cli/agents.h"
#include "face/cli/cli.h"

#include <sys/resource.h>
#include <unistd.h>

#define RUN(name, synopsis, help, verb, options, ...) { name, synopsis, help, verb, options, __VA_ARGS__ },
#define REVIEW(name, synopsis, help, verb, options, ...)                                                     \
        { name, synopsis, help, verb_elsewhere, no_options, __VA_ARGS__, .program = "cordon-review" },
#define GROUP(name, synopsis, help, group)             { name, synopsis, help, verb_group, no_options, false, group },
#define EACH(name, synopsis, help, verb, options, ...) { name, synopsis, help, verb, options, __VA_ARGS__ },
#define SELFTEST(name, synopsis, help, verb, options, ...)                                                   \
        { name, synopsis, help, verb_elsewhere, no_options, __VA_ARGS__, .program = "cordon-selftest" },

static const struct cli_verb verbs[] = {
#include "face/cli/verb_rows.inc"
};

/* Before anything that needs it. A soft limit is raised, as a program may; programs of the box get the same.
 */
static int take_stack(void)
{
        const rlim_t enough = 1 << 20, least = 256 << 10;
        struct rlimit r;
        if (getrlimit(RLIMIT_STACK, &r) < 0 || r.rlim_cur >= enough)
                return 0;

        r.rlim_cur = r.rlim_max < enough ? r.rlim_max : enough;
        if (r.rlim_cur >= least && setrlimit(RLIMIT_STACK, &r) == 0)
                return 0;

        static const char why[] = "cordon: error: the limit of the stack is below 256 KiB\n"
                                  "cordon: hint: raise it: ulimit -s 8192\n";
        (void) !write(STDERR_FILENO, why, sizeof why - 1);
        return -1;
}

int main(int argc, char **argv)
{
        if (take_stack() < 0)
                return EXIT_CORDON;

        fd_use_limit();

        return cli_main(argc, argv, verbs, sizeof verbs / sizeof *verbs);
}
