/* SPDX-License-Identifier: MIT */
/* face/cli/main.c - the table of verbs. --help, completions and the manual's synopses come from it. */
#include "base/fd.h"
#include "face/cli/agents.h"
#include "face/cli/cli.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct cli_verb verbs[] = {
        { "run", "[DOORS] [-p POLICY] [--] COMMAND [ARGUMENT...]", "run a command in a box", verb_run,
          run_options, true, GROUP_RUN },
        { "ps", "[--json] [BOX]", "list running boxes, or describe one", verb_ps, json_options, false,
          GROUP_RUN },
        { "stop", "[-k] [-t SECONDS] BOX...", "stop boxes (SIGTERM, then SIGKILL)", verb_stop, stop_options,
          false, GROUP_RUN },
        { "renew", "[--json] BOX...", "give boxes more time, as often as their policy allows", verb_renew,
          json_options, false, GROUP_RUN },
        { "logs", "[-f] BOX", "print the output of a detached box, running or ended", verb_logs, logs_options,
          false, GROUP_RUN },

        { "session", "new | run | ls | end | fork", "keep a box and run several commands in it", verb_session,
          no_options, false, GROUP_RUN },
        { "session new", "[DOORS] [-p POLICY] [NAME]", "start a session in the background; prints its id",
          verb_session_new, session_new_options, true, GROUP_RUN },
        { "session run", "[-t] [--time TIME] SESSION [--] COMMAND [ARGUMENT...]",
          "run a command in a session; its files and processes stay", verb_session_run, session_run_options,
          false, GROUP_RUN },
        { "session ls", "[--json]", "list sessions", verb_session_ls, json_options, false, GROUP_RUN },
        { "session end", "[--json] [--all | SESSION...]", "end sessions, with all that runs in them",
          verb_session_end, session_end_options, false, GROUP_RUN },
        { "session fork", "[--name NAME] SESSION [NAME]",
          "start a second session with the changes of the first", verb_session_fork, session_fork_options,
          false, GROUP_RUN },
        { "shell", "[DOORS] [-p POLICY] [--] [COMMAND]", "open a shell in a box; it ends with the shell",
          verb_shell, shell_options, true, GROUP_RUN },

        { "agent", "[DOORS] [-p POLICY] NAME | -- COMMAND [ARGUMENT...]",
          "run a coding agent in a box, credentials outside", verb_agent, agent_options, true, GROUP_RUN,
          cli_agent_name_at },
        { "agent accept", "[--show] [--json] [--discard] NAME",
          "accept what runs of an agent changed of its own configuration", verb_agent_accept,
          agent_accept_options, false, GROUP_RUN, cli_agent_name_at },
        { "agent hook", "[DOORS] [--work DIR] [--remove] NAME",
          "run the shell commands of an agent outside in one session's box", verb_agent_hook,
          agent_hook_options, true, GROUP_RUN, cli_agent_name_at },
        { "agent ls", "[--json]", "list the known agents, their keys and programs", verb_agent_ls,
          json_options, false, GROUP_RUN },
        { "agent setup", "NAME [PROVIDER]", "put an agent's key into the vault", verb_agent_setup, no_options,
          false, GROUP_RUN, cli_agent_name_at },

        { "approve", "[--uses N] [--for TIME] [--reason TEXT] [--deny] [--always] [--json] [list | ID...]",
          "answer what boxes ask: effects that wait for a person", verb_approve, approve_options, false,
          GROUP_REVIEW },
        { "approve revoke", "", "take back approvals for like effects, in every running box",
          verb_approve_revoke, no_options, false, GROUP_REVIEW },
        { "approve stats", "[--json]", "print how carefully approvals are given", verb_approve_stats,
          json_options, false, GROUP_REVIEW },
        { "approve decoys", "on | off", "show effects now and then that must be denied", verb_approve_decoys,
          no_options, false, GROUP_REVIEW },
        { "incident", "ID TEXT", "record that an effect did harm", verb_incident, no_options, false,
          GROUP_REVIEW },
        { "label", "[--json] show [PATH...] | stamp PATH LABEL... | drop --reason TEXT PATH LABEL...",
          "print and change the labels of files", verb_label, label_options, false, GROUP_REVIEW },
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
        { "plan", "[-p POLICY] [--json] [POLICY...]",
          "print what would flow in boxes that run one after the other", verb_plan, plan_options, false,
          GROUP_UNDERSTAND },
        { "why", "[DOORS] [-p POLICY] [--work DIR] [--json] EFFECT...",
          "explain a decision and how to change it", verb_why, view_options, true, GROUP_UNDERSTAND },
        { "learn", "[-n RUNS] [-o FILE] [--json] -- COMMAND [ARGUMENT...]",
          "run a command and propose the least doors it needs", verb_learn, learn_options, false,
          GROUP_UNDERSTAND },
        { "log",
          "[OPTIONS] [show RUN | field TARGET | reached | night | tools | proof ID | export | prune | "
          "checkpoint | "
          "keys | "
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
        { "log merge", "[--temporary DIR] DIR...", "merge the ledgers of many hosts into one list",
          verb_merge, merge_options, false, GROUP_UNDERSTAND },
        { "log collect", "[--json] --kept DIR DIR...",
          "keep checkpoints of many hosts, and find those that were rolled back", verb_collect,
          collect_options, false, GROUP_UNDERSTAND },
        { "log report", "--html FILE | --postmortem FILE [--ledger DIR]... RUN",
          "write a run as one page, or the start of a postmortem", verb_report, report_options, false,
          GROUP_UNDERSTAND },

        { "out", "--for CONTEXT [FILE]", "write text as an inert word of a shell, of SQL, HTML ...", verb_out,
          out_options, false, GROUP_UNDERSTAND },
        { "out check", "[--as TYPE] [--schema FILE] [--json] [FILE]",
          "check a file as the output of a box is checked", verb_out_check, out_check_options, false,
          GROUP_UNDERSTAND },
        { "out envelope", "[--run RUN] [--mark MARK] [FILE]", "wrap the output of a run with its origin",
          verb_out_envelope, out_envelope_options, false, GROUP_UNDERSTAND },
        { "out verify", "[ENVELOPE]", "compare an envelope with the ledger", verb_out_verify, no_options,
          false, GROUP_UNDERSTAND },

        { "check", "[DOORS] [-p POLICY] [--work DIR] [--json] [--against RUN] [POLICY...]",
          "load policies, run their expect lines, print lints", verb_check, check_options, true,
          GROUP_SET_UP },
        { "policy", "diff [--json] A B | from FILE | json FILE | show FILE | digest FILE | stock [NAME]",
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
        { "vault", "add NAME | list | rm NAME... | rotate NAME | audit | canary [FILE...]",
          "manage credentials that boxes can use but never see", verb_vault, vault_options, false,
          GROUP_SET_UP },
        { "image", "[--json] ls | add IMAGE... | rm IMAGE... | [--all] prune",
          "manage the images that `run --image` unpacked", verb_image, image_options, false, GROUP_SET_UP },
        { "doctor", "[--json] [POLICY | --box NAME | --fit | --layers]",
          "check this host; with a policy, whether its doors fit its runs", verb_doctor, doctor_options,
          false, GROUP_SET_UP },
        { "serve", "[--auto] [--boxes N] [--memory SIZE] [--idle TIME] [--http ADDRESS] [--config DIR]",
          "keep boxes parked, so that runs start in no time; serve runs over HTTP", verb_serve, serve_options,
          false, GROUP_SET_UP },
        { "serve token", "new --tenant NAME [--scopes LIST] [--expires TIME] | ls | rm ID...",
          "manage the bearer tokens of the HTTP side", verb_serve_token, serve_token_options, false,
          GROUP_SET_UP },
        { "serve tenant", "new NAME | ls | forget NAME", "manage the tenants of the HTTP side",
          verb_serve_tenant, serve_tenant_options, false, GROUP_SET_UP },
        { "mcp",
          "[DOORS] [-p POLICY] [--work DIR] [--socket PATH | --http ADDRESS [--token-file FILE]] [--approve "
          "client|outside] [--sessions N]",
          "give boxes to a model, as a server of the Model Context Protocol", verb_mcp, mcp_options, true,
          GROUP_SET_UP },
        { "mcp wrap",
          "[DOORS] [-p POLICY] [--name NAME] [--max SIZE] [--seconds N] [--calls N] [--http ADDRESS] -- "
          "SERVER [ARGUMENT...] | --url URL",
          "run an MCP server of others in a box, and check its messages", verb_mcp_wrap, mcp_wrap_options,
          true, GROUP_SET_UP },
        { "mcp learn", "[-n RUNS] [-o FILE] [--input FILE] [--json] -- SERVER [ARGUMENT...]",
          "start an MCP server, list its tools, and propose the doors it needs", verb_mcp_learn,
          learn_options, false, GROUP_SET_UP },
        { "mcp accept", "[--show] NAME", "accept the changed tools of a wrapped server", verb_mcp_accept,
          mcp_accept_options, false, GROUP_SET_UP },
        { "pool", "add [--size N] [DOORS] [-p POLICY] [COMMAND] | ls | rm KEY | stats",
          "park boxes for runs of a policy, list and end them", verb_pool, pool_options, true, GROUP_SET_UP },
        { "selftest", "COMMAND", "attack and measure this host's isolation", verb_selftest, no_options, false,
          GROUP_SET_UP },
        { "help", "[COMMAND]", "print this text, or a command's", verb_help, no_options, false,
          GROUP_SET_UP },
        { "version", "[--json]", "print the version", verb_version, json_options, false, GROUP_SET_UP },
};

/* Its help and its completions belong to that program as well. */
static bool is_selftest(int argc, char **argv)
{
        int at = 1;

        if (at < argc && strcmp(argv[at], "__complete") == 0)
                at++;

        if (at < argc && strcmp(argv[at], "help") == 0)
                at++;

        return at < argc && strcmp(argv[at], "selftest") == 0;
}

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

        if (is_selftest(argc, argv) && !getauxval(AT_SECURE))
                cli_selftest(argv);

        fd_use_limit();

        return cli_main(argc, argv, verbs, sizeof verbs / sizeof *verbs);
}
