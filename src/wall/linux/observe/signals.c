/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/signals.c - sends the signals of a payload where Landlock does not keep them in: before
 * ABI 6, or without it. The filter shows each call that sends one; init looks at the target, and sends it.
 *
 * A process of the payload has one filter more than init; behind the process wall it is also a descendant of
 * init. SAFETY: what is looked at is held by a descriptor, so that its number cannot become another's. A call
 * goes on in the kernel only if it names the process that made it, which is there as long as it waits. */
#include "base/fd.h"
#include "wall/internal.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIELD_PARENT = 4, FIELD_GROUP = 5, DEPTH_MAX = 4096 };

static pid_t field_of(const struct wall_init *w, pid_t pid, unsigned field)
{
        char name[32], text[1024];
        (void) snprintf(name, sizeof name, "%d/stat", pid);
        return fd_get(w->tasks, name, text, sizeof text) > 0 ? (pid_t) wall_stat_field(text, field) : 0;
}

/* The parent of a process is that only as long as the process has it: each is read again after the one above
 * it. Orphans are init's. */
static bool descends_from(const struct wall_init *w, pid_t pid)
{
        pid_t at = pid, parent = field_of(w, at, FIELD_PARENT);
        for (unsigned i = 0; i < DEPTH_MAX && parent > 1; i++) {
                if (parent == getpid())
                        return true;
                pid_t above = field_of(w, parent, FIELD_PARENT);
                if (field_of(w, at, FIELD_PARENT) != parent)
                        return false;
                at = parent;
                parent = above;
        }
        return false;
}

/* How many filters a process is behind; -1: it is gone. */
static long filters_of(const struct wall_init *w, const char *process)
{
        return wall_status_number(w->tasks, process, "\nSeccomp_filters:");
}

static bool is_of_payload(const struct wall_init *w, pid_t pid)
{
        char name[16];
        (void) snprintf(name, sizeof name, "%d", pid);
        return filters_of(w, name) > filters_of(w, "self") &&
               (wall_has(w->plan->wall, WALL_OWN_ROOT) || descends_from(w, pid));
}

/* Returns 0 or an errno. */
static int send_one(const struct wall_init *w, pid_t pid, int signal)
{
        AUTO_FD(process, (int) syscall(SYS_pidfd_open, pid, 0));
        if (process < 0)
                return fd_is_want(errno) ? EAGAIN : ESRCH;

        if (!is_of_payload(w, pid))
                return EPERM;

        return syscall(SYS_pidfd_send_signal, process, signal, NULL, 0) < 0 ? errno : 0;
}

struct round {
        const struct wall_init *w;
        int signal;
        pid_t group, caller; /* group 0: all */
        bool any, own;       /* the caller is among them */
};

static void send_next(void *ctx, int proc, const char *number)
{
        (void) proc;
        struct round *r = ctx;
        pid_t pid = (pid_t) strtol(number, NULL, 10);
        if (r->group && field_of(r->w, pid, FIELD_GROUP) != r->group)
                return;

        if (pid == r->caller)
                r->own = r->group != 0;
        else
                r->any |= send_one(r->w, pid, r->signal) == 0;
}

/* To a group, or to all but the caller's process. The caller gets its own last, before the answer: kill()
 * returns with it delivered, as the kernel's does. Only a deadly signal ends its wait (WAIT_KILLABLE_RECV).
 */
static bool send_many(const struct wall_init *w, const struct seccomp_notif *n, pid_t caller, pid_t target)
{
        struct round r = { .w = w, .signal = (int) n->data.args[1], .caller = caller };
        r.group = target == 0 ? field_of(w, caller, FIELD_GROUP) : target == -1 ? 0 : -target;
        if (!watched_is_waiting(w->listener, n->id)) /* then that was another's */
                return true;

        if (wall_each_process(w, send_next, &r) < 0)
                return false;

        if (r.own)
                (void) send_one(w, caller, r.signal);

        watched_answer(w->listener, n->id, r.any || r.own ? 0 : ESRCH, 0);
        return true;
}

bool wall_signal_call(const struct wall_init *w, const struct seccomp_notif *n,
                      struct seccomp_notif_resp *ret)
{
        enum seccomp_signals call = seccomp_signals(&n->data);
        pid_t caller = (pid_t) wall_task_process(w, n->pid), target = (pid_t) n->data.args[0];
        bool is_thread = call == SIGNALS_THREAD && target == (pid_t) n->pid;
        bool is_own = call != SIGNALS_THREAD && target == caller;

        ret->error = -EPERM;
        if (caller == 0)
                return false;

        if (is_own || is_thread) {
                ret->error = 0;
                ret->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        } else if (call == SIGNALS_THREAD && wall_has(w->plan->wall, WALL_OWN_ROOT)) {
                ret->error = syscall(SYS_tgkill, caller, target, (int) n->data.args[1]) < 0 ? -errno : 0;
        } else if (call == SIGNALS_PROCESS && target > 0) {
                ret->error = -send_one(w, target, (int) n->data.args[1]);
        } else if (call == SIGNALS_PROCESS) {
                return target > INT32_MIN && send_many(w, n, caller, target);
        }
        return false;
}
