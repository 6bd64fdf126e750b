/* SPDX-License-Identifier: MIT */
/* cli/main.c - the table of verbs. --help, completions and the manual's synopses come from it. */
#include "bomb/bomb.h"
#include "cli/cli.h"
#include "probe/probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct cli_verb verbs[] = {
        { "run", "[DOORS] [-p POLICY] [--] COMMAND [ARGUMENT...]", "run a command in a box", verb_run,
          run_options, true, GROUP_RUN },
        { "ps", "[--json] [BOX]", "list running boxes, or describe one", verb_ps, json_options, false,
          GROUP_RUN },
        { "stop", "[-k] [-t SECONDS] BOX...", "stop boxes (SIGTERM, then SIGKILL)", verb_stop, stop_options,
          false, GROUP_RUN },
        { "logs", "[-f] BOX", "print the output of a detached box, running or ended", verb_logs, logs_options,
          false, GROUP_RUN },

        { "diff", "[--stat | --name-only | --json | --theirs PATH] [-v] [RUN] [PATH...]",
          "show what a box changed behind its edit doors, and what is flagged", verb_diff, diff_options,
          false, GROUP_REVIEW },
        { "apply", "[--include-flagged | --flagged KIND] [--all-but PATH] [--to DIR] [RUN] [PATH...]",
          "apply the changes of a box to the host, all of them or none", verb_apply, apply_options, false,
          GROUP_REVIEW },
        { "undo", "[--json] [RUN]", "undo the newest apply", verb_undo, json_options, false, GROUP_REVIEW },
        { "discard", "[--json] [--yes] [RUN...]", "delete the changes of a box", verb_discard,
          discard_options, false, GROUP_REVIEW },
        { "fork", "RUN", "copy the changes of a box, to try two continuations", verb_fork, no_options, false,
          GROUP_REVIEW },

        { "doors", "[DOORS] [-p POLICY] [--work DIR] [-v] [--json] [POLICY...]",
          "list what a policy allows, and the worst case", verb_doors, doors_options, true,
          GROUP_UNDERSTAND },
        { "why", "[DOORS] [-p POLICY] [--work DIR] [--json] EFFECT...",
          "explain a decision and how to change it", verb_why, view_options, true, GROUP_UNDERSTAND },
        { "learn", "[-n RUNS] [-o FILE] [--json] -- COMMAND [ARGUMENT...]",
          "run a command and propose the least doors it needs", verb_learn, learn_options, false,
          GROUP_UNDERSTAND },
        { "log",
          "[OPTIONS] [show RUN | field TARGET | reached | proof ID | export | prune | checkpoint | keys | "
          "tiles DIR | rotate | restart]",
          "list what crossed the boundary: every effect of every run", verb_log, log_options, false,
          GROUP_UNDERSTAND },
        { "log trace", "[--back] [--forward] [--json] [--ledger DIR]... ID",
          "follow an effect to its causes and consequences", verb_trace, trace_options, false,
          GROUP_UNDERSTAND },
        { "log verify", "[--json] [--checkpoint FILE] | --proof FILE [--key FILE]",
          "verify the ledger, or a proof of one record", verb_verify, verify_options, false,
          GROUP_UNDERSTAND },
        { "log react", "[--from WHO] ID TEXT", "attach a later event to the effect that caused it",
          verb_react, react_options, false, GROUP_UNDERSTAND },
        { "log report", "--html FILE | --postmortem FILE [--ledger DIR]... RUN",
          "write a run as one page, or the start of a postmortem", verb_report, report_options, false,
          GROUP_UNDERSTAND },

        { "check", "[DOORS] [-p POLICY] [--work DIR] [--json] [--against RUN] [POLICY...]",
          "load policies, run their expect lines, print lints", verb_check, check_options, true,
          GROUP_SET_UP },
        { "policy", "diff [--json] A B | json FILE | show FILE | digest FILE | stock [NAME]",
          "create, compare, convert and print policies", verb_policy, json_options, false, GROUP_SET_UP },
        { "policy new", "[-o FILE] [--list] [--json] [TASK...]",
          "write a policy for a stock task, or one without any door", verb_new, new_options, false,
          GROUP_SET_UP },
        { "policy tighten", "-p POLICY [-n RUNS] [-o FILE] [--json] -- COMMAND [ARGUMENT...]",
          "close the doors of a policy that a command does not need", verb_tighten, tighten_options, false,
          GROUP_SET_UP },
        { "policy wrap", "[DOORS] [-p POLICY] [-o FILE] PROGRAM",
          "write a script that runs a program in a box, with the files that each call names", verb_wrap,
          wrap_options, true, GROUP_SET_UP },
        { "vault", "add NAME | list | rm NAME... | rotate NAME | audit",
          "manage credentials that boxes can use but never see", verb_vault, vault_options, false,
          GROUP_SET_UP },
        { "doctor", "[--json] [POLICY | --box NAME | --fit]",
          "check this host; with a policy, whether its doors fit its runs", verb_doctor, doctor_options,
          false, GROUP_SET_UP },
        { "selftest breakout", "[DOORS] [-p POLICY] [--root] [--json] [--list]",
          "attack a box from inside and report what held", verb_breakout, breakout_options, true,
          GROUP_SET_UP },
        { "selftest bombs", "[--wall WALL] [--json] [NAME...]",
          "exhaust each resource in a box and report which limit stopped it", verb_bombs, bombs_options,
          false, GROUP_SET_UP },
        { "selftest claims", "[DOORS] [-p POLICY] [--json]",
          "test this host's isolation and list what is not covered", verb_claims, claims_options, true,
          GROUP_SET_UP },
        { "selftest cost", "[DOORS] [-p POLICY] [-n ROUNDS] [--probes] [--json]",
          "measure what each layer costs, beside the attacks that only it stops", verb_cost, cost_options,
          true, GROUP_SET_UP },
        { "selftest walls", "[-n RUNS] [--json]",
          "test and measure each wall, and list what it does not stop", verb_walls, walls_options, false,
          GROUP_SET_UP },
        { "selftest bench", "[-n RUNS] [--json]", "measure what starting a box costs", verb_bench,
          bench_options, false, GROUP_SET_UP },
        { "help", "[COMMAND]", "print this text, or a command's", verb_help, no_options, false,
          GROUP_SET_UP },
        { "version", "", "print the version", verb_version, no_options, false, GROUP_SET_UP },
};

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
        (void) cli_problem("this program file has a setuid bit, a setgid bit or capabilities");
        return cli_hint("cordon needs none of them: chmod 755 and setcap -r its file");
}

int main(int argc, char **argv)
{
        hold_standard_descriptors();
        cli_verbs_are(verbs, sizeof verbs / sizeof *verbs);
        if (getauxval(AT_SECURE))
                return refuse_borrowed_powers();

        if (argc < 2)
                return verb_help(0, NULL), EXIT_CORDON;

        if (strcmp(argv[1], "__probe") == 0) /* started by `selftest breakout` in a box; not for users */
                return probe_main(argc - 2, argv + 2);

        if (strcmp(argv[1], "__bomb") == 0) /* started by `selftest bombs` in a box */
                return bomb_main(argc - 2, argv + 2);

        /* After `umask 177` the ledger's directory, and with it every later run, would be closed to its
         * owner. */
        (void) umask(umask(077) & 077);
        (void) signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error, not the end of the run */

        if (strcmp(argv[1], "__complete") == 0) /* started by the completions of shells */
                return cli_complete(argc - 2, argv + 2);

        int words = 0;
        const struct cli_verb *v = cli_verb_named(argc - 1, argv + 1, &words);
        if (!v)
                return cli_unknown_verb(argc - 1, argv + 1);

        argc -= words;
        argv += words;
        if (cli_help_asked(argc, argv, v))
                return cli_help_verb(v), all_said(0);

        cli_verb_is(v);
        bool json = cli_asked(argc, argv, v, "json"); /* before the verb orders its words */
        if (v->run != verb_run) /* whoever started us may have ignored it, and then no child tells its end */
                (void) signal(SIGCHLD, SIG_DFL);

        return all_told(v->run(argc, argv), json);
}
