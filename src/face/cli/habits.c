/* SPDX-License-Identifier: MIT */
/* face/cli/habits.c - options and verbs of docker, bwrap, firejail, git and others that users type from
 * habit, with their equivalent. Only ever a hint: an option of another tool is never accepted as one of ours.
 */
#include "base/str.h"
#include "face/cli/cli.h"

#include <string.h>

#define SHOWN      "use --read PATH, --edit PATH (overlay) or --write PATH (at once)"
#define NETWORK    "open hosts with --net HOST:PORT or --net 'https://HOST/**'"
#define NO_NETWORK "boxes have no network by default; remove this option"
#define VARIABLE   "`--env NAME=VALUE` sets a variable, `--env NAME` passes yours on"
#define OWN_USER   "inside a box you are uid 1000; --root makes it uid 0"
#define POWERS     "boxes have no capabilities, and no option adds them"
#define ALWAYS     "always on; remove this option"

static const struct {
        char typed[24]; /* with its dashes */
        char instead[136];
} habits[] = {
        { "--volume", SHOWN },
        { "--mount", SHOWN },
        { "--bind", SHOWN },
        { "--bind-try", SHOWN },
        { "--ro-bind", "`--read PATH`, at the same path inside" },
        { "--ro-bind-try", "`--read 'PATH?'`, at the same path inside" },
        { "--ro", "`--read PATH`, at the same path inside" },
        { "--rw", "`--edit PATH` lets it be changed in a private overlay, `--write PATH` for real" },
        { "-r", "`--read PATH` shows it" },
        { "--read-only", "all is read-only but what `--edit` and `--write` name; leave it out" },
        { "--tmpfs",
          "/tmp and the home are private and writable in every box; `--disk SIZE` gives them room" },
        { "--dev-bind", "use --dev PATH, for example --dev /dev/kvm" },
        { "--device", "`--dev /dev/kvm` opens one device of the host" },
        { "-c", "`-- sh -c 'COMMAND'`" },
        { "-e", VARIABLE },
        { "--setenv", VARIABLE },
        { "--env-file", VARIABLE },
        { "--clearenv", ALWAYS },
        { "--no-net", NO_NETWORK },
        { "--no-network", NO_NETWORK },
        { "--deny-net", NO_NETWORK },
        { "--offline", NO_NETWORK },
        { "--network", NETWORK },
        { "--share-net", NETWORK },
        { "--publish", "`--listen PORT` or `--listen PORT:PORT`: the host's loopback reaches that port" },
        { "--allow-read", "`--read PATH`" },
        { "--allow-write", "`--edit PATH`, or `--write PATH` for real" },
        { "--allow-net", NETWORK },
        { "--allow-env", VARIABLE },
        { "--allow-run", "`--run PROGRAM`" },
        { "-w", "`--cwd DIR` starts there" },
        { "--workdir", "`--cwd DIR` starts there" },
        { "--chdir", "`--cwd DIR` starts there" },
        { "-C", "`--cwd DIR` starts there" },
        { "--dry-run", "`--plan` prints what would be done, and does nothing" },
        { "--with", "a credential goes with a door: `--net 'https://HOST/** GET with NAME'`" },
        { "--port", "`--listen PORT`: the host's loopback reaches that port" },
        { "-u", OWN_USER },
        { "--user", OWN_USER },
        { "--uid", OWN_USER },
        { "--gid", OWN_USER },
        { "--privileged", POWERS },
        { "--cap-add", POWERS },
        { "--cap-drop", ALWAYS },
        { "--security-opt",
          "`--wall namespace` is the least that may be raised, `--wall auto` the strongest there is" },
        { "-m", "`--memory SIZE`" },
        { "--cpus", "`--cpu TIME` limits processor time" },
        { "--pids-limit", "`--procs N`" },
        { "--ulimit", "`--files N`, `--procs N`, `--memory SIZE`, `--cpu TIME`" },
        { "--timeout", "`--time 30s`" },
        { "--proc", ALWAYS },
        { "--unshare-all", ALWAYS },
        { "--unshare-net", ALWAYS },
        { "--unshare-pid", ALWAYS },
        { "--unshare-user", ALWAYS },
        { "--unshare-ipc", ALWAYS },
        { "--die-with-parent", ALWAYS },
        { "--new-session", ALWAYS },
        { "--as-pid-1", "a box has a pid 1 of its own, which reaps" },
        { "--private", ALWAYS },
        { "--noprofile", "there is no profile but what `-p FILE` names; leave it out" },
        { "--seccomp", "every box has a filter; `cordon selftest claims` lists what it lets through" },
};

#define OVER      "ended runs are in the ledger: cordon ledger"
#define NO_SECRET "no command prints a secret; `cordon vault ls` shows names and bindings"
#define ENTERED   "cannot enter a running box; use a session: cordon session run NAME -- COMMAND"

#define GIVEN "it finds the doors by itself; `cordon policy tighten -p POLICY` begins with those of a policy"

/* Options of verbs without doors. */
static const struct {
        const char *verb, *option, *instead;
} elsewhere[] = {
        { "learn", "--timeout", "`--time 30s` bounds each run" },
        { "learn", "--seconds", "`--time 30s` bounds each run" },
        { "learn", "--boxes", "`--max-runs N`" },
        { "learn", "--net-to", "`--net HOST`" },
        { "policy tighten", "--timeout", "`--time 30s` bounds each run" },
        { "policy tighten", "--seconds", "`--time 30s` bounds each run" },
        { "learn", "--edit", GIVEN },
        { "learn", "--write", GIVEN },
        { "learn", "-p", GIVEN },
        { "image rm", "--all", "`cordon image prune --all`" },
        { "doctor", "--fit", "`cordon policy fit --all`" },
        { "doctor", "--box", "`cordon policy fit --box NAME`" },
        { "doctor", "--layers", "`cordon ledger health`" },
        { "ps", "-a", OVER },
        { "ps", "--all", OVER },
        { "logs", "-n", "it prints all there is: `cordon logs BOX | tail -n N`" },
        { "logs", "--tail", "it prints all there is: `cordon logs BOX | tail -n N`" },
        { "ledger", "--tail", "`-n N` lists the newest N" },
        { "discard", "--all", "name them: `cordon diff --list` shows them" },
        { "stop", "-9", "`-k` ends it at once" },
        { "stop", "-s", "`-k` ends it at once; else it gets SIGTERM" },
        { "stop", "--signal", "`-k` ends it at once; else it gets SIGTERM" },
        { "stop", "-a", "name them: `cordon ps` lists those that run" },
        { "stop", "--all", "name them: `cordon ps` lists those that run" },
        { "diff", "--name-status", "`--name-only` lists names, `--json` what became of each" },
        { "diff", "--names", "`--name-only` lists names, `--json` what became of each" },
        { "diff", "-z", "`--json` has every name whole, and in hex what is no UTF-8" },
        { "diff", "--exit-code",
          "`cordon diff --json RUN | jq -e '.entries == []'` succeeds if nothing changed" },
        { "diff", "--quiet",
          "`cordon diff --json RUN | jq -e '.entries == []'` succeeds if nothing changed" },
        { "apply", "--dry-run",
          "`cordon diff RUN` shows what would be applied, what is held back and what conflicts" },
        { "apply", "-n",
          "`cordon diff RUN` shows what would be applied, what is held back and what conflicts" },
        { "apply", "--force",
          "`--include-flagged` takes what is flagged; where the host changed too, `--to DIR` writes "
          "elsewhere" },
        { "apply", "-f",
          "`--include-flagged` takes what is flagged; where the host changed too, `--to DIR` writes "
          "elsewhere" },
};

static const struct {
        const char *verb, *instead;
} verbs[] = {
        { "ledger field", "`cordon ledger target TARGET`" },
        { "ledger reached", "`cordon ledger reach`" },
        { "ledger rotate", "`cordon ledger rotate-key`" },
        { "ledger react", "`cordon ledger note ID TEXT`" },
        { "ledger night", "`cordon ledger --since 12h`" },
        { "out", "`cordon output quote --for CONTEXT`; `cordon output` lists the others" },
        { "output envelope", "`cordon output wrap`" },
        { "plan", "`cordon policy flow POLICY...`" },
        { "incident", "`cordon approve incident ID TEXT`" },
        { "label stamp", "`cordon label add PATH LABEL...`" },
        { "vault get", NO_SECRET },
        { "vault show", NO_SECRET },
        { "vault read", NO_SECRET },
        { "vault delete", "`cordon vault rm NAME`" },
        { "vault remove", "`cordon vault rm NAME`" },
        { "vault set", "`cordon vault add NAME`, or `cordon vault rotate NAME` for another secret" },
        { "vault update", "`cordon vault rotate NAME` gives it another secret" },
        { "image pull", "`cordon image add IMAGE`" },
        { "image load", "`cordon image add IMAGE`" },
        { "image import", "`cordon image add IMAGE`" },
        { "image remove", "`cordon image rm IMAGE`" },
        { "get", "`cordon ps BOX`" },
        { "describe", "`cordon ps BOX`" },
        { "port-forward", "`cordon run --listen PORT`: the host's loopback reaches that port" },
        { "cp", "`cordon run --handle NAME=FILE`" },
        { "ssh-add", "`cordon vault add NAME`" },
        { "fork", "`cordon run --on RUN --copy -- COMMAND`" },
        { "renew", "`cordon session renew BOX`" },
        { "pool", "`cordon serve pool`" },
        { "session start", "`cordon session new`" },
        { "session exec", "`cordon session run`" },
        { "policy json", "`cordon policy show --json FILE`" },
        { "policy from", "`cordon policy import FILE`" },
        { "policy ls", "`cordon policy stock` lists the policies that come with cordon" },
        { "policy list", "`cordon policy stock` lists the policies that come with cordon" },
        { "attach", ENTERED },
        { "enter", ENTERED },
        { "wait", "`cordon logs -f BOX` follows it until it ends, `cordon ledger --run RUN --kind end` shows "
                  "how it ended" },
        { "restart", "boxes cannot be restarted; use cordon run" },
        { "events", "`cordon ledger -f` goes on with what is written from now on" },
        { "history", "`cordon ledger` is the record of every run" },
        { "info", "`cordon doctor` shows what this host can enforce, `cordon ps BOX` what a box uses" },
        { "checkout", "`cordon discard RUN` drops what an edit door held back" },
        { "kill", "`cordon stop -k BOX` ends it at once" },
        { "rm", "boxes leave nothing behind; to delete an overlay: cordon discard RUN" },
        { "clean", "boxes leave nothing behind; to delete an overlay: cordon discard RUN" },
        { "ls", "running boxes: cordon ps; overlays: cordon diff --list" },
        { "list", "running boxes: cordon ps; overlays: cordon diff --list" },
        { "status", "running boxes: cordon ps; overlays: cordon diff --list" },
        { "start", "`cordon run -- COMMAND`, with `--detach` in the background" },
        { "pull", "`podman pull NAME`; then `cordon run --image NAME -- COMMAND`" },
        { "build", "`podman build`, or a directory; then `cordon run --image NAME-OR-DIRECTORY -- COMMAND`" },
        { "images", "`cordon image ls` lists those that `run --image` unpacked" },
        { "alias", "to write a wrapper script: cordon policy wrap PROGRAM" },
        { "shim", "to write a wrapper script: cordon policy wrap PROGRAM" },
        { "claims", "`cordon selftest claims` lists what a box promises, and what it does not stop" },
        { "audit", "host and policies: cordon selftest audit; credentials: cordon vault audit; ledger: "
                   "cordon ledger verify" },
        { "init", "`cordon policy new -o FILE` writes a policy without a door, `cordon policy new TASK` one "
                  "for a task" },
        { "create", "`cordon policy new -o FILE` writes a policy without a door, `cordon policy new TASK` "
                    "one for a task" },
        { "lint", "`cordon check POLICY`" },
        { "validate", "`cordon check POLICY`" },
        { "test", "`cordon check POLICY` holds a policy to its `expect` lines" },
        { "explain", "`cordon why EFFECT` explains a decision, `cordon doors` a whole policy" },
        { "allow", "a door is opened by a flag of `cordon run`, or a line of a policy: `cordon help run`" },
        { "show",
          "`cordon diff` shows what edit doors hold back, `cordon ledger show` a run, `cordon doors` a "
          "policy" },
        { "top", "`cordon ps` lists running boxes, `cordon ps BOX` shows what one uses" },
        { "stats", "`cordon ps` lists running boxes, `cordon ps BOX` shows what one uses" },
        { "man", "`cordon help VERB`" },
        { "reset", "revert an apply: cordon undo; delete changes: cordon discard" },
        { "restore", "revert an apply: cordon undo; delete changes: cordon discard" },
        { "rollback", "revert an apply: cordon undo; delete changes: cordon discard" },
        { "revert", "revert an apply: cordon undo; delete changes: cordon discard" },
        { "commit", "to apply changes: cordon apply" },
        { "merge", "to apply changes: cordon apply" },
        { "secret", "`cordon vault` keeps credentials" },
        { "login", "`cordon vault add NAME` keeps a credential that boxes use and never see" },
};

const char *cli_verb_habit(const char *typed)
{
        int i = str_row(verbs, sizeof verbs / sizeof *verbs, typed);
        return i < 0 ? NULL : verbs[i].instead;
}

const char *cli_habit(const char *verb, const char *typed)
{
        if (!verb && strcmp(typed, "--publish") == 0 && cordon_policy_is_word("listen"))
                return "`--listen PORT` lets programs of this host connect to a server in the box";

        for (size_t i = 0; verb && i < sizeof elsewhere / sizeof *elsewhere; i++)
                if (strcmp(elsewhere[i].verb, verb) == 0 && strcmp(elsewhere[i].option, typed) == 0)
                        return elsewhere[i].instead;

        for (size_t i = 0; !verb && i < sizeof habits / sizeof *habits; i++)
                if (strcmp(habits[i].typed, typed) == 0)
                        return habits[i].instead;

        return NULL;
}
