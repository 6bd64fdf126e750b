/* SPDX-License-Identifier: MIT */
/* wall/linux/wall_end.c - the keeper's side of an end: kills init and reaps it. Never waits. */
#include "base/child.h"
#include "base/fd.h"
#include "wall/internal.h"

void wall_end(struct wall_child *c, bool force)
{
        fd_close(&c->control);
        if (c->own_pids || force)
                child_kill(&(struct child){ c->pid, c->pidfd });
}

bool wall_reap(struct wall_child *c)
{
        struct child init = { c->pid, c->pidfd };
        struct rusage used = { 0 };
        if (c->pid <= 0)
                return true;

        if (!child_reap(&init, &used))
                return false;

        c->pid = init.pid;
        c->pidfd = init.pidfd;
        c->cpu_ns = wall_cpu_ns(&used);
        c->max_rss = (uint64_t) used.ru_maxrss * 1024;
        return true;
}
