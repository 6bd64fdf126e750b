/* SPDX-License-Identifier: MIT */
/* base/host/confinement.c - reads how a process is confined from /proc, and compares two. What cannot be read
 * is taken for a difference. */
#include "base/fd.h"
#include "base/host/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- reading ---- */

static const struct {
        const char *file, *word;
        enum host_confinement_scope scope; /* the least in which it counts */
} namespaces[] = {
        { "ns/user", "user namespace", HOST_CONFINED_PROVEN },
        { "ns/mnt", "mount namespace", HOST_CONFINED_ACCESS },
        { "ns/net", "network namespace", HOST_CONFINED_PROVEN },
        { "ns/pid", "pid namespace", HOST_CONFINED_PROVEN },
        { "ns/ipc", "IPC namespace", HOST_CONFINED_PROVEN },
        { "ns/uts", "UTS namespace", HOST_CONFINED_PROVEN },
        { "ns/cgroup", "cgroup namespace", HOST_CONFINED_PROVEN },
        { "ns/time", "time namespace", HOST_CONFINED_PROVEN },
        { "ns/pid_for_children", "pid namespace", HOST_CONFINED_PROVEN },
        { "ns/time_for_children", "time namespace", HOST_CONFINED_PROVEN },
};
_Static_assert(sizeof namespaces / sizeof *namespaces == HOST_NAMESPACES, "one row each");

/* All numbers of a namespace that this kernel does not have stay 0. */
static int read_namespaces(int dir, struct host_confinement *ret)
{
        struct stat st;
        for (unsigned i = 0; i < HOST_NAMESPACES; i++) {
                if (fstatat(dir, namespaces[i].file, &st, 0) == 0) {
                        ret->namespaces[i].dev = st.st_dev;
                        ret->namespaces[i].ino = st.st_ino;
                } else if (errno != ENOENT) {
                        return -1;
                }
        }

        if (ret->namespaces[0].ino == 0 || fstatat(dir, "root", &st, 0) < 0)
                return -1;

        ret->root.dev = st.st_dev;
        ret->root.ino = st.st_ino;
        return 0;
}

/* True if all of the file is in `text`. */
static bool read_whole(int dir, const char *file, char *text, size_t cap)
{
        ssize_t n = fd_get(dir, file, text, cap);
        return n >= 0 && (size_t) n + 2 < cap;
}

int host_confinement_read(pid_t pid, struct host_confinement *ret)
{
        char path[32] = "/proc/self";
        memset(ret, 0, sizeof *ret);
        if (pid)
                (void) snprintf(path, sizeof path, "/proc/%d", pid);

        AUTO_FD(dir, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (dir < 0 || read_namespaces(dir, ret) < 0 ||
            !read_whole(dir, "status", ret->status, sizeof ret->status))
                return -1;

        if (!read_whole(dir, "cgroup", ret->groups, sizeof ret->groups) && errno != ENOENT)
                return -1;

        if (!read_whole(dir, "attr/current", ret->label, sizeof ret->label))
                ret->label[0] = '\0';
        if (!read_whole(dir, "oom_score_adj", ret->first_killed, sizeof ret->first_killed))
                return -1;

        for (int i = 0; i < HOST_RLIMITS; i++)
                if (syscall(SYS_prlimit64, pid, i, NULL, ret->rlimits[i]) < 0)
                        return -1;

        /* Not sched_getscheduler(): that of musl always fails. */
        ret->nice = getpriority(PRIO_PROCESS, (id_t) pid);
        ret->policy = syscall(SYS_sched_getscheduler, pid);
        ret->io = syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, pid);
        ret->rlimits[RLIMIT_NOFILE][0] = 0; /* which programs raise for themselves */
        memset(ret->rlimits[RLIMIT_CORE], 0, sizeof ret->rlimits[RLIMIT_CORE]); /* each box has its own */
        return 0;
}

/* ---- lines of status ---- */

/* The value of a line, up to its end; *ret_n is its length. "" if there is no such line. */
static const char *value_of(const char *status, const char *name, size_t *ret_n)
{
        size_t n = strlen(name);
        for (const char *line = status; line; line = strchr(line, '\n'), line += line != NULL)
                if (strncmp(line, name, n) == 0 && line[n] == ':') {
                        line += n + 1;
                        *ret_n = strcspn(line, "\n");
                        return line;
                }

        *ret_n = 0;
        return "";
}

static uint64_t number_of(const struct host_confinement *c, const char *name, int base)
{
        size_t n;
        return strtoull(value_of(c->status, name, &n), NULL, base);
}

static bool is_other(const struct host_confinement *a, const struct host_confinement *b, const char *name)
{
        size_t n, m;
        const char *x = value_of(a->status, name, &n), *y = value_of(b->status, name, &m);
        return n != m || memcmp(x, y, n) != 0;
}

static bool has_less(const struct host_confinement *a, const struct host_confinement *b, const char *name)
{
        return number_of(b, name, 16) & ~number_of(a, name, 16);
}

static bool is_set_only_here(const struct host_confinement *a, const struct host_confinement *b,
                             const char *name)
{
        return number_of(a, name, 10) > number_of(b, name, 10);
}

/* Two filters cannot be compared. If there are no more of them than pid 1 has, they are those of the
 * container, from which every process in it descends. */
static bool is_filtered(const struct host_confinement *a, const struct host_confinement *b, const char *name)
{
        char first[sizeof a->status];
        size_t n;
        uint64_t filters = number_of(a, "Seccomp_filters", 10), mode = number_of(a, name, 10);
        if (mode == 0)
                return false;

        return is_other(a, b, "Seccomp_filters") || is_other(a, b, name) || filters == 0 ||
               !read_whole(AT_FDCWD, "/proc/1/status", first, sizeof first) ||
               strtoull(value_of(first, "Seccomp_filters", &n), NULL, 10) != filters;
}

static const struct {
        const char *name, *word;
        bool (*more)(const struct host_confinement *a, const struct host_confinement *b, const char *name);
        enum host_confinement_scope scope; /* the least in which it counts */
} lines[] = {
        { "Uid", "user", is_other, HOST_CONFINED_PROVEN },
        { "Gid", "group", is_other, HOST_CONFINED_PROVEN },
        { "Groups", "supplementary groups", is_other, HOST_CONFINED_PROVEN },
        { "CapPrm", "capabilities", has_less, HOST_CONFINED_PROVEN },
        { "CapBnd", "capability bounding set", has_less, HOST_CONFINED_PROVEN },
        { "NoNewPrivs", "no_new_privs", is_set_only_here, HOST_CONFINED_PROVEN },
        { "Seccomp", "system call filter", is_filtered, HOST_CONFINED_PROVEN },
        { "Cpus_allowed", "processors", is_other, HOST_CONFINED_ALL },
        { "Mems_allowed", "memory nodes", is_other, HOST_CONFINED_ALL },
};

/* ---- comparing ---- */

static const char *namespace_differs(const struct host_confinement *a, const struct host_confinement *b,
                                     enum host_confinement_scope scope)
{
        for (unsigned i = 0; i < HOST_NAMESPACES; i++)
                if (namespaces[i].scope <= scope &&
                    memcmp(&a->namespaces[i], &b->namespaces[i], sizeof a->namespaces[i]) != 0)
                        return namespaces[i].word;

        bool other_root = scope >= HOST_CONFINED_ACCESS && memcmp(&a->root, &b->root, sizeof a->root) != 0;
        return other_root ? "root directory" : NULL;
}

/* A profile that confines nothing may have a name: "code (unconfined)". */
static bool is_labelled_otherwise(const char *a, const char *b)
{
        static const char free_end[] = "unconfined)";
        size_t n = strlen(a), m = sizeof free_end - 1;
        bool is_free = n == 0 || strcmp(a, "unconfined") == 0 || (n > m && strcmp(a + n - m, free_end) == 0);
        return !is_free && strcmp(a, b) != 0;
}

static const char *use_differs(const struct host_confinement *a, const struct host_confinement *b)
{
        if (memcmp(a->rlimits, b->rlimits, sizeof a->rlimits) != 0)
                return "resource limits";
        if (a->nice != b->nice || a->policy != b->policy || a->io != b->io)
                return "priority";
        if (strtol(a->first_killed, NULL, 10) > strtol(b->first_killed, NULL, 10))
                return "place before the OOM killer";
        return host_groups_limit_more(a->groups, b->groups) ? "control group" : NULL;
}

const char *host_confined_more(const struct host_confinement *a, const struct host_confinement *b,
                               enum host_confinement_scope scope)
{
        const char *differs = namespace_differs(a, b, scope);
        if (differs)
                return differs;

        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
                if (lines[i].scope <= scope && lines[i].more(a, b, lines[i].name))
                        return lines[i].word;

        if (is_labelled_otherwise(a->label, b->label))
                return "security label";

        return scope == HOST_CONFINED_ALL ? use_differs(a, b) : NULL;
}
