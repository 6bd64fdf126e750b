/* SPDX-License-Identifier: MIT */
/* wall/limit/v1.c - the v1 hierarchies: one directory in each that is needed. Root only; called by
 * limit_group_open(). Makes no freezer group: others freeze v1 groups, and limit_thaw() finds them. */
#include "base/fd.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* v1 accounts socket buffers of the internet families apart from all other memory, and without a limit: a
 * box could fill it for the whole host. Allows an eighth on top; when that is full, packets are dropped and
 * senders wait. */
static int write_socket_memory(struct limit_group *g, int dir)
{
        g->holds_sockets = limit_put(dir, "memory.kmem.tcp.limit_in_bytes", g->ask.memory / 8) == 0;
        return g->holds_sockets || errno == ENOENT || errno == EOPNOTSUPP ? 0 : -1;
}

/* Order matters: memsw may not be below the plain limit, and both start at "unlimited". */
static int write_memory(struct limit_group *g, int dir, struct err *e)
{
        if (g->ask.memory == 0)
                return 0;

        if (limit_put(dir, "memory.limit_in_bytes", g->ask.memory) < 0)
                return limit_denied(e, errno, false, "cannot limit memory");

        /* Absent without swap accounting: then swappiness at least discourages swap. */
        if (limit_put(dir, "memory.memsw.limit_in_bytes", g->ask.memory) < 0 && errno != ENOENT &&
            errno != EOPNOTSUPP)
                return limit_denied(e, errno, false, "cannot limit memory and swap");

        (void) fd_put(dir, "memory.swappiness", "0");
        if (write_socket_memory(g, dir) < 0)
                return limit_denied(e, errno, false, "cannot limit the memory of sockets");

        g->holds_memory = true;
        return 0;
}

static int write_procs(struct limit_group *g, int dir, struct err *e)
{
        if (g->ask.procs == 0)
                return 0;

        if (limit_put(dir, "pids.max", g->ask.procs) < 0)
                return limit_denied(e, errno, false, "cannot limit the number of processes");

        g->holds_procs = true;
        return 0;
}

/* An eventfd that counts out-of-memory conditions. Kills are counted without it: its failure is not an
 * error. */
static int oom_event(int dir)
{
        char text[24];
        AUTO_FD(event, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        AUTO_FD(control, openat(dir, "memory.oom_control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        if (event < 0 || control < 0)
                return -1;

        (void) snprintf(text, sizeof text, "%d %d", event, control);
        return fd_put(dir, "cgroup.event_control", text) < 0 ? -1 : TAKE_FD(event);
}

/* Another controller of the same hierarchy that has its directory already, or CONTROLLER__COUNT. */
static unsigned twin_group(const struct limit_group *g, const struct host_cgroups *h, unsigned c)
{
        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                if (i != c && g->v1_parent[i] >= 0 && strcmp(h->v1[i].mount, h->v1[c].mount) == 0)
                        return i;
        return CONTROLLER__COUNT;
}

static int make_group(struct limit_group *g, const struct host_cgroups *h, unsigned c, bool any_fs)
{
        unsigned other = twin_group(g, h, c);
        if (other < CONTROLLER__COUNT) {
                g->v1[c] = fcntl(g->v1[other], F_DUPFD_CLOEXEC, 3);
                return g->v1[c] < 0 ? -1 : 0;
        }

        AUTO_FD(parent, host_cgroup_top(&h->v1[c], any_fs ? HOST_CGROUP_ANY : HOST_CGROUP_V1));
        if (parent < 0)
                return -1;

        g->v1[c] = limit_make_dir(parent, g->ask.name);
        if (g->v1[c] < 0)
                return -1;

        g->v1_parent[c] = TAKE_FD(parent);
        g->v1_tasks[c] = openat(g->v1[c], "tasks", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        return g->v1_tasks[c] < 0 ? -1 : 0;
}

static const struct {
        unsigned c;
        const char *failed;
        int (*write)(struct limit_group *, int, struct err *);
} parts[] = {
        { CONTROLLER_MEMORY, "cannot make a v1 memory control group", write_memory },
        { CONTROLLER_PIDS, "cannot make a v1 pids control group", write_procs },
};

int limit_group_may(const struct host_cgroups *h, struct err *e)
{
        for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
                AUTO_FD(top, host_cgroup_top(&h->v1[parts[i].c], HOST_CGROUP_V1));
                if (top >= 0 && faccessat(top, ".", W_OK, AT_EACCESS) < 0)
                        return limit_denied(e, errno, false, parts[i].failed);
        }
        return 0;
}

int limit_v1_open(struct limit_group *g, const struct host_cgroups *h, bool any_fs, struct err *e)
{
        for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
                unsigned c = parts[i].c;
                if (!h->v1[c].present)
                        continue;
                if (make_group(g, h, c, any_fs) < 0)
                        return limit_denied(e, errno, false, parts[i].failed);
                if (parts[i].write(g, g->v1[c], e) < 0)
                        return -1;
        }

        if (g->v1[CONTROLLER_MEMORY] >= 0)
                g->oom_event = oom_event(g->v1[CONTROLLER_MEMORY]);

        /* v2 counts CPU time in every group, so with v2 this directory is not needed. For statistics only:
         * not an error. */
        if (g->v2 < 0 && h->v1[CONTROLLER_CPUACCT].present)
                g->counts_cpu = make_group(g, h, CONTROLLER_CPUACCT, any_fs) == 0;

        return 0;
}
