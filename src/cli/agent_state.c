/* SPDX-License-Identifier: MIT */
/* cli/agent_state.c - an agent's own home: a directory that only boxes of this agent see. What it writes
 * there is obeyed by its later boxes, and by nothing outside. */
#include "base/fd.h"
#include "base/str.h"
#include "cli/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Every directory on the way; those that are missing are closed to others. Returns 1 if the last one is new,
 * 0 if it exists, -1 with errno. */
static int make_path(char *path)
{
        for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
                *at = '\0';
                int bad = mkdir(path, 0700) < 0 && errno != EEXIST;
                *at = '/';
                if (bad)
                        return -1;
        }

        int made = mkdir(path, 0700);
        return made == 0 ? 1 : errno == EEXIST ? 0 : -1;
}

/* Into a new home, which no box has seen yet. */
static int write_first(const struct cli_agent *a, const char *home)
{
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/%s", home, a->first_file);
        if (n < 0 || (size_t) n >= sizeof path)
                return cli_usage("the path of the agent's home is too long"), -1;

        char *slash = strrchr(path, '/');
        *slash = '\0';
        int made = make_path(path);
        *slash = '/';
        if (made < 0)
                return cli_problem("%s cannot be made: %s", path, strerror(errno)), -1;

        return cli_new_file(path, 0600, span_str(a->first_text), "remove it, then start again") == 0 ? 0 : -1;
}

int cli_agent_home(const char *name, const struct cli_agent *a, char ret[static 4096])
{
        const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
        struct stat st;
        int n = data && data[0] == '/'   ? snprintf(ret, 4096, "%s/cordon/agents/%s", data, name)
                : home && home[0] == '/' ? snprintf(ret, 4096, "%s/.local/share/cordon/agents/%s", home, name)
                                         : -1;
        if (n < 0 || n >= 4096)
                return cli_usage("no place for the agent's own home: set HOME or XDG_DATA_HOME"), -1;

        int made = make_path(ret);
        if (made < 0 || lstat(ret, &st) < 0)
                return cli_problem("the agent's home %s cannot be made: %s", ret, strerror(errno)), -1;

        if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
                return cli_problem("the agent's home %s is not a directory of yours", ret), -1;

        return made > 0 && a && a->first_file ? write_first(a, ret) : 0;
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

/* ctime, which no program can set back. */
void cli_agent_watch(const struct cli_agent *a, const char *home, struct cli_agent_watch *ret)
{
        *ret = (struct cli_agent_watch){ 0 };
        for (size_t i = 0; a && i < sizeof a->config / sizeof *a->config && a->config[i]; i++) {
                char path[PATH_MAX];
                struct stat st;
                if ((size_t) snprintf(path, sizeof path, "%s/%s", home, a->config[i]) >= sizeof path ||
                    lstat(path, &st) < 0)
                        continue;
                ret->was[i].seconds = st.st_ctim.tv_sec;
                ret->was[i].nanoseconds = st.st_ctim.tv_nsec;
                ret->was[i].inode = st.st_ino;
        }
}

void cli_agent_changed(const struct cli_agent *a, const char *home, const struct cli_agent_watch *before)
{
        struct cli_agent_watch now;
        AUTO_BUF(list);
        cli_agent_watch(a, home, &now);
        for (size_t i = 0; a && i < sizeof a->config / sizeof *a->config && a->config[i]; i++)
                if (memcmp(&now.was[i], &before->was[i], sizeof now.was[i]) != 0)
                        buf_printf(&list, "%s%s", list.n ? ", " : "", a->config[i]);

        if (list.n)
                cli_note("the agent changed its own configuration: %s in %s; only its later boxes obey it",
                         buf_str(&list), home);
}
