/* SPDX-License-Identifier: MIT */
/* cli/habits.c - options of docker, bwrap, firejail and others that fingers type here: what to say instead.
 * Only ever a hint: an option of another tool is never taken for one of ours. */
#include "cli/cli.h"

#include <string.h>

#define SHOWN                                                                                                \
        "`--read PATH` shows it, `--edit PATH` lets it be changed in a private layer, `--write PATH` for "   \
        "real"
#define NETWORK  "there is no network but what `--net HOST:PORT` or `--net https://HOST/**` opens"
#define VARIABLE "`--env NAME=VALUE` sets a variable, `--env NAME` passes yours on"
#define OWN_USER "a box has a user of its own, nobody outside; `--root` makes it uid 0 inside"
#define POWERS   "a box has no capability, and no option gives it one"
#define ALWAYS   "every box has that; leave it out"

static const struct {
        const char *typed; /* with its dashes */
        const char *instead;
} habits[] = {
        { "-v", SHOWN },
        { "--volume", SHOWN },
        { "--mount", SHOWN },
        { "--bind", SHOWN },
        { "--bind-try", SHOWN },
        { "--ro-bind", "`--read PATH`, at the same path inside" },
        { "--ro-bind-try", "`--read 'PATH?'`, at the same path inside" },
        { "--read-only", "all is read-only but what `--edit` and `--write` name; leave it out" },
        { "--tmpfs",
          "/tmp and the home are private and writable in every box; `--disk SIZE` gives them room" },
        { "--dev-bind", "a box has a /dev of its own; no device of the host enters it" },
        { "--device", "a box has a /dev of its own; no device of the host enters it" },
        { "-e", VARIABLE },
        { "--setenv", VARIABLE },
        { "--clearenv", ALWAYS },
        { "--network", NETWORK },
        { "--share-net", NETWORK },
        { "--publish", "nothing outside can connect into a box" },
        { "--allow-read", "`--read PATH`" },
        { "--allow-write", "`--edit PATH`, or `--write PATH` for real" },
        { "--allow-net", NETWORK },
        { "--allow-env", VARIABLE },
        { "--allow-run", "`--run PROGRAM`" },
        { "-w", "`--cwd DIR` starts there" },
        { "--workdir", "`--cwd DIR` starts there" },
        { "--chdir", "`--cwd DIR` starts there" },
        { "-i", "input is passed on by itself; `-t` gives the box a terminal" },
        { "--interactive", "input is passed on by itself; `-t` gives the box a terminal" },
        { "--rm", "nothing is left of a box: there is nothing to remove" },
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
        { "--dev", ALWAYS },
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
        { "--seccomp", "every box has a filter; `cordon claims` lists what it lets through" },
};

const char *cli_habit(const char *typed)
{
        for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
                if (strcmp(habits[i].typed, typed) == 0)
                        return habits[i].instead;
        return NULL;
}
