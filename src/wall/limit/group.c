/* SPDX-License-Identifier: MIT */
/* wall/limit/group.c - opens a group over all hierarchies, moves processes in, reads their usage. Never:
 * decides a limit, leaves a directory behind when it fails. */
#include "base/fd.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <string.h>

void limit_group_init(struct limit_group *g)
{
        *g = (struct limit_group){ .v2 = -1, .v2_parent = -1, .v2_procs = -1, .oom_event = -1 };
        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                g->v1[c] = g->v1_parent[c] = g->v1_tasks[c] = -1;
}

int limit_name_check(const char *name, struct err *e)
{
        if (strncmp(name, "cordon-", 7) == 0 && name[7] != '\0' && memchr(name, '\0', 48) &&
            !strpbrk(name, "/\n"))
                return 0;
        return err_set(e, ERR_INTERNAL, 0, "the name of a control group must be cordon-RUN");
}

int limit_group_open(struct limit_group *g, const struct host_cgroups *h, const struct limit_ask *ask,
                     struct err *e)
{
        limit_group_init(g);
        g->ask = *ask;
        if (limit_name_check(ask->name, e) < 0)
                return -1;

        if (limit_v2_open(g, h, false, e) < 0 || limit_v1_open(g, h, false, e) < 0) {
                limit_group_end(g);
                return -1;
        }

        if (g->holds_memory || g->holds_procs || (ask->memory == 0 && ask->procs == 0))
                return 0;

        limit_group_end(g);
        (void) err_set(e, ERR_LIMIT, ENOENT, "no control group here can hold memory or processes");
        return err_hint(e, "mount -t cgroup2 none /sys/fs/cgroup (as root), or leave --require-limit out");
}

int limit_group_attach(struct limit_group *g, pid_t pid, bool born_in_v2, struct err *e)
{
        /* Without a pause in between: only the first write waits for the kernel's grace period. */
        if (g->v2 >= 0 && !born_in_v2 && limit_put(g->v2, "cgroup.procs", (uint64_t) pid) < 0)
                return limit_denied(e, errno, true, "cannot move a process into its v2 control group");

        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                if (g->v1_parent[c] >= 0 && limit_put(g->v1[c], "cgroup.procs", (uint64_t) pid) < 0)
                        return limit_denied(e, errno, false,
                                            "cannot move a process into its v1 control group");

        return 0;
}

/* "0" in a v1 `tasks` file moves only the writing thread: the kernel then needs no lock against forks, which
 * is what an attach waits for. v2 has no such file for whole processes, so it uses cgroup.procs. */
int limit_group_enter(const struct limit_group *g, bool born_in_v2)
{
        if (g->v2 >= 0 && !born_in_v2 && fd_put(g->v2, "cgroup.procs", "0") < 0)
                return -errno;
        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                if (g->v1_tasks[c] >= 0 && write(g->v1_tasks[c], "0", 1) != 1)
                        return -errno;
        return 0;
}

static void usage_memory(const struct limit_group *g, struct limit_usage *u)
{
        int v1 = g->v1[CONTROLLER_MEMORY];
        if (v1 >= 0) {
                uint64_t sockets = 0; /* counted apart */
                u->has_memory = fd_get_u64(v1, "memory.max_usage_in_bytes", &u->memory_peak) == 0;
                if (g->holds_sockets)
                        (void) fd_get_u64(v1, "memory.kmem.tcp.max_usage_in_bytes", &sockets);
                u->memory_peak += sockets;
                (void) limit_key(v1, "memory.oom_control", "oom_kill", &u->oom_kills);
        } else if (g->v2 >= 0) {
                u->has_memory = fd_get_u64(g->v2, "memory.peak", &u->memory_peak) == 0;
                if (!u->has_memory)
                        u->has_memory = u->memory_sampled =
                                fd_get_u64(g->v2, "memory.current", &u->memory_peak) == 0;
                (void) limit_key(g->v2, "memory.events", "oom_kill", &u->oom_kills);
        }
}

static void usage_cpu(const struct limit_group *g, struct limit_usage *u)
{
        uint64_t usec;
        if (g->v2 >= 0 && limit_key(g->v2, "cpu.stat", "usage_usec", &usec) == 0) {
                u->cpu_ns = usec * 1000;
                u->has_cpu = true;
        } else if (g->v1[CONTROLLER_CPUACCT] >= 0) {
                u->has_cpu = fd_get_u64(g->v1[CONTROLLER_CPUACCT], "cpuacct.usage", &u->cpu_ns) == 0;
        }
}

int limit_group_usage(const struct limit_group *g, struct limit_usage *ret)
{
        struct limit_usage u = { 0 };
        int pids = g->v1[CONTROLLER_PIDS] >= 0 ? g->v1[CONTROLLER_PIDS] : g->v2;
        usage_memory(g, &u);
        usage_cpu(g, &u);
        u.has_procs = pids >= 0 && limit_key(pids, "pids.events", "max", &u.procs_denied) == 0;
        if (!u.has_memory && !u.has_cpu && !u.has_procs)
                return -1;

        *ret = u;
        return 0;
}
