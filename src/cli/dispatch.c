/* SPDX-License-Identifier: MIT */
/* cli/dispatch.c - what every program with a table of verbs does around the verb that it is asked for. */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* A caller may have closed these: what is opened next must not become our standard output. */
static void hold_standard_descriptors(void)
{
        int fd;
        do
                fd = open("/dev/null", O_RDWR);
        while (fd >= 0 && fd < 3);
        if (fd >= 3)
                (void) close(fd);
}

/* What a verb printed and nobody could take was not said: a full disk must not look like success. */
static int all_said(int status)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return status;
        (void) cli_problem("the output could not be written");
        return status ? status : EXIT_CORDON;
}

/* A program that asked for JSON reads standard output, and there must be a reason for a failure. What `run`
 * has for programs it told them itself. */
static int all_told(int status, bool json)
{
        const cordon_error *e = json && status == EXIT_CORDON ? cli_failure_untold() : NULL;
        if (e)
                cli_failure_put(e, cli_policy_failed() && !cli_failure_file()[0] ? "policy"
                                                                                 : cli_failure_file());
        return all_said(status);
}

/* Whoever may start it would then open doors as somebody else: there is no mode in which that is meant. */
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

        /* After `umask 177` the ledger's directory, and with it every later run, would be closed to its
         * owner. */
        (void) umask(umask(077) & 077);
        (void) signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error, not the end of the run */

        if (strcmp(argv[1], "__complete") == 0) /* started by the completions of shells */
                return cli_complete(argc - 2, argv + 2);

        int words = 0;
        const struct cli_verb *v = cli_verb_named(argc - 1, argv + 1, &words);
        if (!v)
                return cli_unknown_verb(argv + 1);

        argc -= words;
        argv += words;
        if (cli_help_asked(argc, argv, v))
                return cli_help_verb(v), all_said(0);

        cli_verb_is(v);
        bool json = cli_asked(argc, argv, v, "json"); /* before the verb orders its words */
        /* The caller may ignore it, and then the end of a child is not reported. `run` sees to it itself. */
        if (strcmp(v->name, "run") != 0)
                (void) signal(SIGCHLD, SIG_DFL);

        return all_told(v->run(argc, argv), json);
}
