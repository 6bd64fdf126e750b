/* SPDX-License-Identifier: MIT */
/* wall/linux/init_launch.c - from the caller's process to a program of our own. */
#include "wall/linux/init_launch.h"
#include "base/block.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "base/limits.h"
#include "base/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct wire_field birth_fields[] = { WIRE_NUMBER(struct wall_birth, pid),
                                                  WIRE_NUMBER(struct wall_birth, sys),
                                                  WIRE_NUMBER(struct wall_birth, in_cgroup) };
const struct wire_form wall_birth_form = WIRE_FORM(WIRE_WALL_BIRTH, 1, struct wall_birth, birth_fields);

/* The box's filter denies this prctl to every process, even if it changes nothing. */
bool wall_is_nested(void)
{
        int is = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
        return (is == 0 || is == 1) && prctl(PR_SET_DUMPABLE, is, 0, 0, 0) < 0;
}

static int clone_error(struct err *e)
{
        int sys = errno;
        if (wall_is_shortage(sys)) {
                (void) wall_fail(e, STAGE_CLONE, "making the box's first process");
                return err_hint(e, sys == EMFILE ? "raise the limit of open files: ulimit -n 1024"
                                   : sys == EAGAIN
                                           ? "the limit on processes of this user is reached: `ulimit -u`"
                                           : "try again when this machine has room");
        }

        (void) err_set(e, ERR_HOST, sys, "this host does not let us make namespaces: %s", strerror(sys));
        e->step = STAGE_CLONE;
        return err_hint(e, wall_is_nested() ? WALL_NOT_NESTED : WALL_ASK_DOCTOR);
}

/* With a terminal, and for a spare, the standard streams are only held until they are there. */
static void list_descriptors(const struct wall_start *s, const struct wall_descriptors *with,
                             int ret[INIT_FD__END])
{
        for (int i = 0; i < INIT_FD__END; i++)
                ret[i] = -1;

        for (int i = 0; i < 3; i++)
                ret[i] = s->order->tty || (s->spare && !wall_is_warm(s->spare, s->plan)) ? with->host_proc
                                                                                         : s->io->stdio[i];

        for (unsigned i = 0; i < s->io->handle_count; i++)
                ret[3 + i] = s->io->handles[i];

        ret[INIT_CONTROL] = with->control;
        ret[INIT_HOST_PROC] = with->host_proc;
        ret[INIT_PLAN] = with->plan;
        ret[INIT_KEEPER] = with->keeper;
        ret[INIT_TRUST] = s->trust_fd;
        ret[INIT_CGROUP] = s->cgroup_fd;
        ret[INIT_SPARE] = with->spare;
}

/* A program that could not be executed does not show that the host denies a mechanism: it must not choose the
 * wall. */
pid_t wall_launch(const struct wall_start *s, const struct wall_descriptors *with, struct err *e)
{
        _Static_assert((int) INIT_FD__END <= (int) HOST_SPAWN_FDS, "a place for each");
        char path[PATH_MAX_BYTES], name[] = HOST_INIT_PROGRAM, *const argv[] = { name, NULL };
        int fds[INIT_FD__END];
        if (host_init_program(s->cx, path, sizeof path, e) < 0)
                return -1;

        list_descriptors(s, with, fds);
        struct child c = host_spawn(&(struct host_spawn){ .path = path,
                                                          .argv = argv,
                                                          .envp = wall_init_environment(),
                                                          .fds = fds,
                                                          .fd_count = INIT_FD__END,
                                                          .flags = HOST_SPAWN_BLOCKED });
        AUTO_FD(pidfd, c.pidfd);
        if (c.pid > 0)
                return c.pid;

        return wall_is_shortage(errno) ? clone_error(e)
                                       : wall_fail(e, STAGE_EXEC, "starting %s", HOST_INIT_PROGRAM);
}

/* Through a socket: it is not subject to RLIMIT_FSIZE, and bytes read from it exist nowhere else. */
int wall_send_plan(const struct wall_start *s, int to, struct err *e)
{
        AUTO_BUF(blocks);
        struct wall_launch l = { .s = *s,
                                 .edit_count = s->edits ? s->plan->edits : 0,
                                 .handle_count = s->io->handle_count,
                                 .has_copies = s->copies != NULL };
        block_seal(&wall_launch_type, &l, &blocks);
        plan_seal_box(s->plan, &blocks);
        plan_seal_order(s->order, &blocks);
        if (blocks.failed)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the plan's blocks");

        for (size_t at = 0; at < blocks.n;) {
                ssize_t n = send(to, blocks.p + at, blocks.n - at, MSG_NOSIGNAL);
                if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
                        return 0; /* it is gone: the process that waits for the birth sees that */
                if (n < 0 && errno != EINTR)
                        return wall_fail(e, STAGE_EXEC, "sending the plan");
                at += n > 0 ? (size_t) n : 0;
        }

        (void) shutdown(to, SHUT_WR);
        return 0;
}

/* Its work is done, or will not be: it is killed, so that a launcher that was stopped holds up nothing. */
void wall_end_launcher(struct wall_child *c)
{
        if (c->launcher <= 0)
                return;

        (void) kill(c->launcher, SIGKILL);
        while (waitpid(c->launcher, NULL, __WALL) < 0 && errno == EINTR)
                ;
        c->launcher = 0;
}

/* A launcher that ended without a message was killed, or has reported the error on the control socket. */
int wall_take_birth(const struct wall_start *s, struct wall_child *c, struct err *e)
{
        struct wall_birth b;
        struct pollfd p = { .fd = c->birth, .events = POLLIN };
        if (poll(&p, 1, 0) == 0)
                return 0;

        int r = wire_take(c->birth, &wall_birth_form, &b, &c->pidfd);
        wall_end_launcher(c);
        if (r != 1)
                return err_set(e, ERR_WALL, 0, "cordon-init ended before there was a box");

        errno = b.sys;
        if (b.pid < 0)
                return clone_error(e);

        c->pid = b.pid;
        c->born_in_cgroup = b.in_cgroup;
        c->own_pids = wall_has(s->plan->wall, WALL_OWN_ROOT) && !wall_left_out(LAYER_PID);
        return 1;
}
