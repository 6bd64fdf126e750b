/* SPDX-License-Identifier: MIT */
/* face/cli/dispatch.c - the common code around the verbs of every program with a table of verbs. */
#include "face/cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* The caller may have closed these: a descriptor opened next must not become our standard output. */
static void hold_standard_descriptors(void)
{
        int fd;
        do
                fd = open("/dev/null", O_RDWR);
        while (fd >= 0 && fd < 3);
        if (fd >= 3)
                (void) close(fd);
}

/* Output that could not be written was not printed: a full disk must not look like success. */
static int all_said(int status)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return status;
        (void) cli_problem("the output could not be written");
        return status ? status : EXIT_CORDON;
}

/* A program that asked for JSON reads standard output, and a failure needs a reason there. `run` writes
 * its own. */
static int all_told(int status, bool json)
{
        const cordon_error *e = json && status == EXIT_CORDON ? cli_failure_untold() : NULL;
        if (e)
                cli_failure_put(e, cli_policy_failed() && !cli_failure_file()[0] ? "policy"
                                                                                 : cli_failure_file());
        return all_said(status);
}

/* Setuid, setgid or file capabilities: any user who may start it would open doors as another user. No
 * supported mode needs that. */
static int refuse_borrowed_powers(void)
{
        (void) cli_problem("cordon's program file is setuid or setgid or has capabilities");
        return cli_hint("cordon needs none of them: chmod 755 and setcap -r its file");
}

int cli_main(int argc, char **argv, const struct cli_verb *verbs, size_t count)
{
        hold_standard_descriptors();
        cli_verbs_are(verbs, count);
        if (getauxval(AT_SECURE))
                return refuse_borrowed_powers();

        if (!cli_context()) /* no verb may take a missing environment for an empty one */
                return cli_problem("no memory");

        if (argc < 2)
                return verb_help(0, NULL), EXIT_CORDON;

        cli_become(argc, argv);

        /* After `umask 177` the ledger's directory, and with it every later run, would be closed to its
         * owner. */
        (void) umask(umask(077) & 077);
        (void) signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error, not the end of the run */

        int words = 0;
        const struct cli_verb *v = cli_verb_named(argc - 1, argv + 1, &words);
        if (!v)
                return cli_unknown_verb(argv + 1);

        argc -= words;
        argv += words;
        if (v->name[0] != '_' && cli_help_asked(argc, argv, v)) /* not for words that are completed */
                return cli_help_verb(v, false), all_said(0);

        cli_verb_is(v);
        bool json = cli_asked(argc, argv, v, "json"); /* before the verb orders its words */
        /* The caller may ignore SIGCHLD, and then the exit of a child is not reported. `run` handles it
         * itself. */
        if (strcmp(v->name, "run") != 0)
                (void) signal(SIGCHLD, SIG_DFL);

        return all_told(v->run(argc, argv), json);
}
