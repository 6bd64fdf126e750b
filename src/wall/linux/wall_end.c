/* SPDX-License-Identifier: MIT */
/* wall/linux/wall_end.c - the keeper's side of an end: kills init and reaps it. Never waits. */
#include "base/child.h"
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/linux/init_launch.h"

#include <sys/ioctl.h>

/* A launcher that is still there may have started init: its pid is in the socket then. */
static void end_launch(struct wall_child *c)
{
        struct wall_birth b;
        if (c->launcher > 0) {
                wall_end_launcher(c);
                if (wire_take(c->birth, &wall_birth_form, &b, &c->pidfd) == 1)
                        c->pid = b.pid;
        }

        fd_close(&c->birth);
        fd_close(&c->host_proc);
}

void wall_end(struct wall_child *c, bool force)
{
        bool launched = c->launcher > 0;
        fd_close(&c->control);
        fd_close(&c->spare);
        end_launch(c);
        force |= launched;
        if (c->own_pids || force)
                child_kill(&(struct child){ .pid = c->pid, .pidfd = c->pidfd });
}

#ifndef PIDFD_GET_MNT_NAMESPACE
#define PIDFD_GET_MNT_NAMESPACE _IO(0xff, 3)
#endif

int wall_mounts(const struct wall_child *c)
{
        return c->own_pids && c->pidfd >= 0 ? ioctl(c->pidfd, PIDFD_GET_MNT_NAMESPACE, 0) : -1;
}

void wall_leave(struct wall_child *c)
{
        fd_close(&c->pidfd);
        c->pid = -1;
}

bool wall_reap(struct wall_child *c)
{
        struct child init = { c->pid, c->pidfd, c->theirs };
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
