/* SPDX-License-Identifier: MIT */
/* wall/linux/payload_filter.c - the system-call filter of one box: made from its plan, and loaded by the
 * payload. */
#include "wall/hooks.h"
#include "wall/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_edited_directory(const struct plan *p)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_EDIT && p->steps[i].flags & STEP_IS_DIR)
                        return true;
        return false;
}

/* A door to write by, to files or through an overlay. */
static bool writes_outside(const struct plan *p)
{
        bool own = wall_has(p->wall, WALL_OWN_ROOT);
        for (size_t i = 0; own && i < p->step_count; i++)
                if (p->steps[i].kind == STEP_EDIT ||
                    (p->steps[i].kind == STEP_BIND && p->steps[i].flags & STEP_WRITE))
                        return true;

        for (size_t i = 0; !own && i < p->rule_count; i++)
                if (p->rules[i].rights & RIGHT_WRITE)
                        return true;

        return false;
}

static bool opens_nvidia(const struct plan *p)
{
        static const char nodes[] = "/dev/nvidia";
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_DEVICE &&
                    strncmp(p->steps[i].path, nodes, sizeof nodes - 1) == 0)
                        return true;
        return false;
}

static int compile_filter(struct wall_init *w, struct err *e)
{
        bool own = wall_has(w->plan->wall, WALL_OWN_ROOT);
        struct seccomp_ask ask = { .arch = seccomp_native(),
                                   .own = w->own,
                                   .net = w->plan->net || w->plan->local & LOCAL_LOOPBACK,
                                   .connects = w->plan->local & LOCAL_LOOPBACK,
                                   .moves = w->serves_moves,
                                   .trace = w->plan->local & LOCAL_TRACE,
                                   .unix_sockets = w->plan->sockets != PLAN_SOCKETS_NONE,
                                   .unix_served = w->plan->sockets == PLAN_SOCKETS_SERVED,
                                   .tell = w->s->tell,
                                   .watch = w->s->tell && w->s->watch,
                                   .touch = w->shut_count > 0 && !w->covers_ask,
                                   .touch_paths = w->shut_count > 0 && w->covers_ask,
                                   .watch_reads =
                                           w->s->watch_all || !own, /* it has no observer to report them */
                                   .watch_maps = own && !w->plan->run_any,
                                   .sampled = w->s->sampled,
                                   .memfd = w->plan->run_any,
                                   .signals = w->serves_signals,
                                   .nvidia = opens_nvidia(w->plan),
                                   .syncs = writes_outside(w->plan),
                                   .links = w->serves_links,
                                   .names = own ? w->names >= 0 : w->s->tell,
                                   .own_view = own,
                                   .own_ipc = own };
        w->filter_len = (unsigned short) seccomp_compile(&ask, w->filter, FILTER_MAX);
        if (w->filter_len > 0)
                return 0;

        errno = E2BIG;
        return wall_fail(e, STAGE_SECCOMP, "compiling the system-call filter");
}

int wall_filter_compile(struct wall_init *w, struct err *e)
{
        if (getrandom(&w->own, sizeof w->own, 0) != sizeof w->own)
                return wall_fail(e, STAGE_SECCOMP, "choosing a number for our own calls");
        w->own |= 1;
        w->serves_moves = wall_has(w->plan->wall, WALL_OWN_ROOT) && has_edited_directory(w->plan);
        w->serves_links = wall_has(w->plan->wall, WALL_OWN_ROOT) && !wall_left_out(LAYER_NET);
        w->serves_signals = !w->scoped && !wall_left_out(LAYER_LANDLOCK) && !wall_left_out(LAYER_PID);
        return compile_filter(w, e);
}

/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: a call that init has taken is not interrupted by a signal, or a
 * completed connection would be requested once more. */
#define WAIT_KILLABLE (1u << 5)

static long load_filter(struct wall_init *w, unsigned flags)
{
        struct sock_fprog prog = { .len = w->filter_len, .filter = w->filter };
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

/* The same filter, but no process serves what it can do without: none could, or a signal would interrupt it
 * halfway. Renames and signals go to the kernel, there are no sockets for NETLINK_ROUTE, and no thread names
 * another. */
static long load_without_services(struct wall_init *w, unsigned flags)
{
        struct err ignored;
        if (w->serves_signals && !wall_has(w->plan->wall, WALL_OWN_ROOT)) {
                errno = EBUSY; /* then nothing would keep its signals from other processes */
                return -1;
        }

        if (w->serves_moves || w->serves_links || w->serves_signals || w->names >= 0) {
                w->serves_moves = w->serves_links = w->serves_signals = false;
                fd_close(&w->names);
                (void) compile_filter(w, &ignored);
        }
        return load_filter(w, flags);
}

static long load_listening(struct wall_init *w)
{
        long r = load_filter(w, SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE);
        if (r < 0 && errno == EINVAL) /* before Linux 5.19 */
                r = load_without_services(w, SECCOMP_FILTER_FLAG_NEW_LISTENER);
        return r;
}

/* The listener appears in init's table too: the two share it until close_range() below. */
int wall_filter_load(struct wall_init *w, struct err *e)
{
        if (wall_left_out(LAYER_SECCOMP))
                return 0;

        bool listens = w->s->tell || w->serves_signals ||
                       wall_has(w->plan->wall, WALL_OWN_ROOT); /* which makes some calls for the box */
        long r = listens ? load_listening(w) : load_filter(w, 0);
        if (r < 0 && errno == EBUSY && !w->s->tell) { /* a filter around us has one: those calls then fail */
                listens = false;
                r = load_without_services(w, 0);
        }

        if (r < 0)
                return wall_fail(e, STAGE_SECCOMP, "loading the system-call filter");

        if (listens)
                w->listener = (int) r;

        return 0;
}
