/* SPDX-License-Identifier: MIT */
/* wall/net.c - an empty network namespace, made by a helper task on another core while init mounts: it is the
 * slowest single thing to make (a third of a millisecond). */
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

/* Shares memory and descriptors with init; init waits for its end before it uses the result. */
static int helper_main(void *arg)
{
        struct wall_init *w = arg;
        if (unshare(CLONE_NEWNET) < 0 ||
            (w->net_ns = openat(w->host_proc, "self/ns/net", O_RDONLY | O_CLOEXEC)) < 0)
                w->net_error = errno;
        return 0;
}

/* The kernel likes to leave a new task on its maker's core until that one sleeps, which would make it wait
 * for all our mounts. Where there is another core, it belongs there. Only a hint: what fails here costs time,
 * nothing else. */
static void send_to_another_core(pid_t helper)
{
        cpu_set_t others;
        int here = sched_getcpu();
        if (here < 0 || sched_getaffinity(0, sizeof others, &others) < 0)
                return;
        CPU_CLR((unsigned) here, &others);
        if (CPU_COUNT(&others) > 0)
                (void) sched_setaffinity(helper, sizeof others, &others);
}

int wall_net_begin(struct wall_init *w, struct err *e)
{
        w->net_ns = -1;
        w->net_helper = clone(helper_main, w->stack + sizeof w->stack, CLONE_VM | CLONE_FILES | SIGCHLD, w);
        if (w->net_helper < 0)
                return wall_fail(e, STAGE_NET, "making the network namespace");
        send_to_another_core(w->net_helper);
        return 0;
}

int wall_net_join(struct wall_init *w, struct err *e)
{
        int status;
        while (waitpid(w->net_helper, &status, __WALL) < 0)
                if (errno != EINTR)
                        return wall_fail(e, STAGE_NET, "waiting for the network namespace");
        errno = w->net_error;
        if (w->net_ns < 0 || setns(w->net_ns, CLONE_NEWNET) < 0)
                return wall_fail(e, STAGE_NET, "entering an empty network namespace");
        fd_close(&w->net_ns);
        w->layers |= 1u << LAYER_NET;
        return 0;
}
