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
          run_options, true },
        { "run-script", "[DOORS] FILE [ARGUMENT...]",
          "run one script: its own process, 60 s, no network, no files but itself", verb_run_script,
          run_options, true },
        { "wrap", "[DOORS] [-p POLICY] [-o FILE] PROGRAM",
          "write a script that runs a program in a box, with the files that each call names", verb_wrap,
          wrap_options, true },
        { "doors", "[DOORS] [-p POLICY] [--work DIR] [-v] [--json] [POLICY...]",
          "every door of a policy in words, and the worst a guest could do", verb_doors, doors_options,
          true },
        { "check", "[DOORS] [-p POLICY] [--work DIR] [--json] [--against RUN] [POLICY...]",
          "load policies, run their expect lines, show lints", verb_check, check_options, true },
        { "why", "[DOORS] [-p POLICY] [--work DIR] [--json] EFFECT...",
          "is this effect allowed, by which door, what would permit it", verb_why, view_options, true },
        { "learn", "[-n RUNS] [-o FILE] [--json] -- COMMAND [ARGUMENT...]",
          "run a command in boxes and propose the least doors it needs", verb_learn, learn_options, false },
        { "tighten", "-p POLICY [-n RUNS] [-o FILE] [--json] -- COMMAND [ARGUMENT...]",
          "close the doors of a policy that a command does not need", verb_tighten, tighten_options, false },
        { "diagnose", "[POLICY | --box NAME] [--last N] [--since TIME] [--json]",
          "does a box fit: doors that nobody uses, refusals that recur, from the ledger", verb_diagnose,
          diagnose_options, false },
        { "advise", "[--json] [TASK...]", "the least doors for a stock task, as a policy that runs it",
          verb_advise, json_options, false },
        { "new", "[-o FILE] NAME", "write a policy without a door, with comments", verb_new, new_options,
          false },
        { "policy", "diff [--json] A B | json FILE | show FILE | digest FILE | stock [NAME]",
          "compare, convert and print policies", verb_policy, json_options, false },
        { "vault", "add NAME | list | rm NAME... | rotate NAME | audit",
          "credentials that boxes use and never see", verb_vault, vault_options, false },
        { "ps", "[--json]", "your boxes that are running", verb_ps, json_options, false },
        { "stop", "[-k] [-t SECONDS] BOX...", "end boxes: politely, then not", verb_stop, stop_options,
          false },
        { "inspect", "[--json] BOX", "one running box as JSON", verb_inspect, inspect_options, false },
        { "logs", "[-f] BOX", "the newest output of a detached box, also when it is over", verb_logs,
          logs_options, false },
        { "diff", "[--stat | --name-only | --json | --theirs PATH] [-v] [RUN] [PATH...]",
          "what a box changed behind its edit doors, and what of it is flagged", verb_diff, diff_options,
          false },
        { "apply", "[--include-flagged | --flagged KIND] [--all-but PATH] [--to DIR] [RUN] [PATH...]",
          "let the changes of a box land: all of them or none", verb_apply, apply_options, false },
        { "undo", "[--json] [RUN]", "take the newest apply of a layer back", verb_undo, json_options, false },
        { "discard", "[--json] [--yes] [RUN...]", "throw the changes of a box away", verb_discard,
          discard_options, false },
        { "fork", "RUN", "a second layer that begins with what the first one holds", verb_fork, no_options,
          false },
        { "doctor", "[--json]", "what this host can enforce, tried now, and the command that mends the rest",
          verb_doctor, json_options, false },
        { "bench", "[-n RUNS] [--json]", "what starting a box costs on this host", verb_bench, bench_options,
          false },
        { "breakout", "[DOORS] [-p POLICY] [--root] [--json] [--list]",
          "attack a box of yours from inside, and tell what held", verb_breakout, breakout_options, true },
        { "bombs", "[--wall WALL] [--json] [NAME...]",
          "use up each thing in a box of its own, and tell which limit stopped it", verb_bombs, bombs_options,
          false },
        { "claims", "[DOORS] [-p POLICY] [--json]",
          "what a box here is hardened against, tried now, what it tells of, and what is left", verb_claims,
          claims_options, true },
        { "cost", "[DOORS] [-p POLICY] [-n ROUNDS] [--probes] [--json]",
          "what each layer costs here, measured now, against the attempts that only it stops", verb_cost,
          cost_options, true },
        { "walls", "[-n RUNS] [--json]",
          "each wall: can it be had here, what it takes, measured now, and what it does not stop", verb_walls,
          walls_options, false },
        { "log",
          "[OPTIONS] [show RUN | field TARGET | reached | proof ID | export | prune | checkpoint | keys | "
          "tiles DIR | "
          "rotate | restart]",
          "what crossed: every run's effects, permitted and denied", verb_log, log_options, false },
        { "trace", "[--back] [--forward] [--json] [--ledger DIR]... ID",
          "from an effect to its causes and onward", verb_trace, trace_options, false },
        { "verify", "[--json] [--checkpoint FILE] | --proof FILE [--key FILE]",
          "is the ledger what was written, and is a record in it", verb_verify, verify_options, false },
        { "react", "[--from WHO] ID TEXT", "attach what came later to its cause", verb_react, react_options,
          false },
        { "report", "--html FILE | --postmortem FILE [--ledger DIR]... RUN",
          "a run as one page, or as the beginning of a postmortem", verb_report, report_options, false },
        { "help", "[VERB]", "this text, or a verb's", verb_help, no_options, false },
        { "version", "", "print the version", verb_version, no_options, false },
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
        const char *name = argv[1];
        if (strcmp(name, "__probe") == 0) /* what `breakout` starts in a box: no verb of a user */
                return probe_main(argc - 2, argv + 2);
        if (strcmp(name, "__bomb") == 0) /* what `bombs` starts in a box */
                return bomb_main(argc - 2, argv + 2);
        /* What is made must be usable by whom it belongs to: after `umask 177` the ledger's directory, and
         * with it every later run, would be closed to its owner. */
        (void) umask(umask(077) & 077);
        (void) signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is told, and ends no run */
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
                name = "help";
        if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
                name = "version";
        const struct cli_verb *v = cli_verb_find(name);
        if (!v)
                return cli_unknown_verb(name);
        if (cli_help_asked(argc - 1, argv + 1, v))
                return cli_help_verb(v), all_said(0);
        cli_verb_is(v);
        bool json = cli_asked(argc - 1, argv + 1, v, "json"); /* before the verb orders its words */
        if (v->run != verb_run) /* whoever started us may have ignored it, and then no child tells its end */
                (void) signal(SIGCHLD, SIG_DFL);
        return all_told(v->run(argc - 1, argv + 1), json);
}
