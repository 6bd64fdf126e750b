/* SPDX-License-Identifier: MIT */
/* wall/linux/net/net_namespace.c - the box's network namespace, created by another task on another core while
 * init mounts: it takes the longest of all single steps (a third of a millisecond). That task is the
 * payload's own if it may be created so early, else a helper.
 *
 * A box without `net` doors gets an empty namespace: with `local loopback` its own loopback is up, else no
 * interface. A box with `net` doors gets its loopback and one link to a gateway (gateway.c). */
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* The result of the helper of a box with `net` doors; on a page that both processes share. */
struct wall_net {
        int box_ns;
        bool failed;
        struct err error;
};

/* Shares memory and descriptors with init; init waits for its end before it uses the result. */
static int empty_main(void *arg)
{
        struct wall_init *w = arg;
        if (unshare(CLONE_NEWNET) < 0 ||
            (w->net_ns = openat(w->host_proc, "self/ns/net", O_RDONLY | O_CLOEXEC)) < 0)
                w->net_error = errno;
        return 0;
}

/* Shares descriptors only: it makes calls that may fail, and init must not see its errno. */
static int linked_main(void *arg)
{
        struct wall_init *w = arg;
        w->net->failed = wall_gateway_raise(w, &w->net->box_ns, &w->net->error) < 0;
        _exit(0);
}

static int begin_linked(struct wall_init *w, struct err *e)
{
        w->net = mmap(NULL, sizeof *w->net, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (w->net == MAP_FAILED)
                return wall_fail(e, STAGE_NET, "no memory for the network helper");

        *w->net = (struct wall_net){ .box_ns = -1, .failed = true };
        (void) err_set(&w->net->error, ERR_WALL, 0, "the network helper ended early");
        w->net_helper = clone(linked_main, w->stack + sizeof w->stack, CLONE_FILES | SIGCHLD, w);
        return 0;
}

int wall_net_begin(struct wall_init *w, struct err *e)
{
        if (w->early)
                return 0; /* it is at that */

        wall_core_note(&w->core);
        if (w->plan->net) {
                if (begin_linked(w, e) < 0)
                        return -1;
        } else {
                w->net_helper =
                        clone(empty_main, w->stack + sizeof w->stack, CLONE_VM | CLONE_FILES | SIGCHLD, w);
        }

        if (w->net_helper < 0)
                return wall_fail(e, STAGE_NET, "making the network namespace");

        wall_core_leave_to_us(&w->core, w->net_helper);
        return 0;
}

static int take_linked(struct wall_init *w, struct err *e)
{
        bool failed = w->net->failed;
        w->net_ns = w->net->box_ns;
        if (failed)
                *e = w->net->error;
        (void) munmap(w->net, sizeof *w->net);
        return failed ? -1 : 0;
}

static int await_helper(struct wall_init *w, struct err *e)
{
        int status;
        if (w->early)
                return wall_payload_namespaces(w, e);

        while (waitpid(w->net_helper, &status, __WALL) < 0)
                if (errno != EINTR)
                        return wall_fail(e, STAGE_NET, "waiting for the network namespace");

        return w->plan->net ? take_linked(w, e) : 0;
}

int wall_net_join(struct wall_init *w, struct err *e)
{
        if (await_helper(w, e) < 0)
                return -1;

        errno = w->net_error;
        if (w->net_ns < 0 || setns(w->net_ns, CLONE_NEWNET) < 0)
                return wall_fail_namespace(e, STAGE_NET, "entering the network namespace");

        fd_close(&w->net_ns);
        if (!w->early && !w->plan->net && wall_net_loopback(w, e) < 0)
                return -1;

        w->layers |= 1u << LAYER_NET;
        return 0;
}
