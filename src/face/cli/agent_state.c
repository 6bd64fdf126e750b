/* SPDX-License-Identifier: MIT */
/* face/cli/agent_state.c - what stays of an agent's home: directories that only boxes of this agent see. What
 * it writes there is seen by its later boxes, and by nothing outside (agent_held.c: what of it they obey);
 * all else of its home ends with the run. */
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every directory on the way; those that are missing are closed to others. Returns 0, or -1 with errno. */
static int make_path(char *path)
{
        for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
                *at = '\0';
                int bad = mkdir(path, 0700) < 0 && errno != EEXIST;
                *at = '/';
                if (bad)
                        return -1;
        }

        return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

/* In a directory that no box could replace. */
static int write_first(const struct cli_agent *a, const char *home)
{
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/%s", home, a->first_file);
        if (n < 0 || (size_t) n >= sizeof path)
                return cli_usage("the path of the agent's home is too long"), -1;

        return cli_new_file(path, 0600, span_str(a->first_text), "remove it, then start again") == 0 ? 0 : -1;
}

int cli_agent_state(const struct cli_agent *a, const char *home)
{
        struct stat st;
        char path[PATH_MAX];
        for (size_t i = 0; i < sizeof a->state / sizeof *a->state && a->state[i]; i++) {
                int n = snprintf(path, sizeof path, "%s/%s", home, a->state[i]);
                bool made = n > 0 && (size_t) n < sizeof path && make_path(path) == 0;
                if (!made || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
                        return cli_problem("%s is not a directory, and none can be made", path), -1;
        }

        int n = a->first_file ? snprintf(path, sizeof path, "%s/%s", home, a->first_file) : 0;
        bool missing = n > 0 && (size_t) n < sizeof path && lstat(path, &st) < 0;
        return missing ? write_first(a, home) : 0;
}

int cli_agent_home(const struct cli_agent *a, char ret[static 4096])
{
        const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
        struct stat st;
        int n = data && data[0] == '/' ? snprintf(ret, 4096, "%s/cordon/agents/%s", data, a->name)
                : home && home[0] == '/'
                        ? snprintf(ret, 4096, "%s/.local/share/cordon/agents/%s", home, a->name)
                        : -1;
        if (n < 0 || n >= 4096)
                return cli_usage("no place for the agent's own home: set HOME or XDG_DATA_HOME"), -1;

        if (make_path(ret) < 0 || lstat(ret, &st) < 0)
                return cli_problem("the agent's home %s cannot be made: %s", ret, strerror(errno)), -1;

        if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
                return cli_problem("the agent's home %s is not a directory of yours", ret), -1;

        return cli_agent_state(a, ret);
}

bool cli_agent_installed(const char *name, char ret[static 4096])
{
        const char *at = getenv("PATH");
        for (size_t n; at && *at; at += n + (at[n] == ':')) {
                struct stat st;
                n = strcspn(at, ":");
                int k = at[0] == '/' ? snprintf(ret, 4096, "%.*s/%s", (int) n, at, name) : -1;
                if (k > 0 && k < 4096 && access(ret, X_OK) == 0 && stat(ret, &st) == 0 && S_ISREG(st.st_mode))
                        return true;
        }

        return false;
}
