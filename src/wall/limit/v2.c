/* SPDX-License-Identifier: MIT */
/* wall/limit/v2.c - the v2 hierarchy. On a hybrid host it has neither memory nor pids; a group is still made
 * there, because a process can start in it, can be killed with it in one write, and has its CPU time
 * counted. */
#include "base/fd.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <string.h>

int limit_v2_parent(const struct host_cgroups *h, bool root, bool any_fs)
{
        enum host_cgroup_fs fs = any_fs ? HOST_CGROUP_ANY : HOST_CGROUP_V2;
        return root ? host_cgroup_top(&h->v2, fs) : host_cgroup_seat(&h->v2, fs);
}

/* Enables a controller for the children of `parent`. Never disables it again: enabled is the intended state
 * of a host, and disabling it could affect others. Writes only if it is missing. */
int limit_v2_hand_down(int parent, const char *controller, struct err *e)
{
        char text[512], word[32];
        if (fd_get(parent, "cgroup.subtree_control", text, sizeof text) < 0)
                return limit_denied(e, errno, true, "cannot read cgroup.subtree_control");

        if (host_lists(text, controller))
                return 0;

        (void) stpncpy(stpcpy(word, "+"), controller, sizeof word - 2);
        word[sizeof word - 1] = '\0';
        if (fd_put(parent, "cgroup.subtree_control", word) < 0)
                return limit_denied(e, errno, true, "cannot hand a controller down to control groups");

        return 0;
}

/* Missing files mean older kernels, or kernels without swap. */
static int put_if_there(int dir, const char *name, const char *text)
{
        return fd_put(dir, name, text) < 0 && errno != ENOENT ? -1 : 0;
}

static int write_memory(struct limit_group *g, struct err *e)
{
        if (limit_put(g->v2, "memory.max", g->ask.memory) < 0 ||
            put_if_there(g->v2, "memory.swap.max", "0") < 0 ||
            put_if_there(g->v2, "memory.oom.group", "1") < 0)
                return limit_denied(e, errno, true, "cannot limit memory");

        g->holds_memory = true;
        return 0;
}

static int write_procs(struct limit_group *g, struct err *e)
{
        if (limit_put(g->v2, "pids.max", g->ask.procs) < 0)
                return limit_denied(e, errno, true, "cannot limit the number of processes");
        g->holds_procs = true;
        return 0;
}

int limit_v2_write(struct limit_group *g, bool memory, bool procs, struct err *e)
{
        if (memory && g->ask.memory > 0 && write_memory(g, e) < 0)
                return -1;

        if (procs && g->ask.procs > 0 && write_procs(g, e) < 0)
                return -1;

        if (memory)
                g->oom_event = openat(g->v2, "memory.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

        g->counts_cpu = true;
        return 0;
}

int limit_group_door(struct limit_group *g, struct err *e)
{
        g->v2_procs = openat(g->v2, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        return g->v2_procs < 0 ? limit_denied(e, errno, true, "cannot open a v2 control group") : 0;
}

int limit_v2_open(struct limit_group *g, const struct host_cgroups *h, bool any_fs, struct err *e)
{
        bool memory = h->v2_has[CONTROLLER_MEMORY], procs = h->v2_has[CONTROLLER_PIDS];
        bool root = geteuid() == 0, needed = memory || procs;
        if (!h->v2.present || (!needed && !g->ask.runs && (!root || g->ask.late)))
                return 0;

        AUTO_FD(parent, limit_v2_parent(h, root, any_fs));
        if (parent < 0)
                return needed ? limit_denied(e, errno, true, "this account may make no control group") : 0;

        if (memory && limit_v2_hand_down(parent, "memory", e) < 0)
                return -1;

        if (procs && limit_v2_hand_down(parent, "pids", e) < 0)
                return -1;

        g->v2 = limit_make_dir(parent, g->ask.name);
        if (g->v2 < 0)
                return needed ? limit_denied(e, errno, true, "cannot make a v2 control group") : 0;

        g->v2_parent = TAKE_FD(parent);
        if (g->ask.late && limit_group_door(g, e) < 0)
                return -1;

        return limit_v2_write(g, memory, procs, e);
}
