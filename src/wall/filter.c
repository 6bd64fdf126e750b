/* SPDX-License-Identifier: MIT */
/* wall/filter.c - the system-call filter of one box: made from its plan, and loaded by the payload. */
#include "wall/hooks.h"
#include "wall/internal.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

int wall_filter_compile(struct wall_init *w, struct err *e)
{
        bool own = w->plan->wall == WALL_NAMESPACE;
        if (getrandom(&w->own, sizeof w->own, 0) != sizeof w->own)
                return wall_fail(e, STAGE_SECCOMP, "choosing a number for our own calls");
        w->own |= 1;
        struct seccomp_ask ask = { .arch = seccomp_native(),
                                   .own = w->own,
                                   .net = w->plan->net || w->plan->local & LOCAL_LOOPBACK,
                                   .connects = !w->plan->net && w->plan->local & LOCAL_LOOPBACK,
                                   .trace = w->plan->local & LOCAL_TRACE,
                                   .unix_sockets = w->plan->sockets != PLAN_SOCKETS_NONE,
                                   .unix_served = w->plan->sockets == PLAN_SOCKETS_SERVED,
                                   .tell = w->s->tell,
                                   .watch = w->s->tell && w->s->watch,
                                   .watch_reads =
                                           w->s->watch_all || !own, /* it has no front to tell of them */
                                   .sampled = w->s->sampled,
                                   .memfd_any = w->memfd_sealed,
                                   .memfd_exec = w->plan->run_any,
                                   .own_view = own,
                                   .own_ipc = own };
        w->filter_len = (unsigned short) seccomp_compile(&ask, w->filter, FILTER_MAX);
        if (w->filter_len > 0)
                return 0;
        errno = E2BIG;
        return wall_fail(e, STAGE_SECCOMP, "compiling the system-call filter");
}

/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: a call that init has taken is not taken back by a signal, or a
 * connection that was made would be asked for once more. */
#define WAIT_KILLABLE (1u << 5)

static long load_listening(const struct sock_fprog *prog, bool listens)
{
        unsigned flags = listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE : 0;
        long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, prog);
        if (r < 0 && errno == EINVAL && listens) /* before Linux 5.19 */
                r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, prog);
        return r;
}

/* The listener appears in init's table too: the two share it until close_range() below. */
int wall_filter_load(struct wall_init *w, struct err *e)
{
        if (wall_left_out(LAYER_SECCOMP))
                return 0;
        struct sock_fprog prog = { .len = w->filter_len, .filter = w->filter };
        bool listens = w->s->tell || w->plan->wall == WALL_NAMESPACE; /* which makes some calls for the box */
        long r = load_listening(&prog, listens);
        if (r < 0 && errno == EBUSY && !w->s->tell) { /* a filter around us has one: those calls then fail */
                listens = false;
                r = load_listening(&prog, false);
        }
        if (r < 0)
                return wall_fail(e, STAGE_SECCOMP, "loading the system-call filter");
        if (listens)
                w->listener = (int) r;
        return 0;
}
