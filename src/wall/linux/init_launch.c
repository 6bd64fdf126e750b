/* SPDX-License-Identifier: MIT */
/* wall/linux/init_launch.c - from the caller's process to a program of our own.
 *
 * The new process shares the caller's memory until exec (CLONE_VM), however big that is, and the calling
 * thread sleeps meanwhile (CLONE_VFORK). It runs on a stack of its own, with every signal blocked, and makes
 * nothing but system calls. */
#include "wall/linux/init_launch.h"
#include "base/block.h"
#include "base/fd.h"
#include "base/limits.h"
#include "host/host.h"
#include "wire/wire.h"

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

enum { LAUNCH_STACK = 16384, LIFTED = INIT_FD__END };

/* ---- the new process ---- */

struct newborn {
        const struct wall_start *s;
        const struct wall_descriptors *with;
        int program;
        const char *failed; /* at what, if sys is not 0 */
        int sys;
};

/* One descriptor to its number. All are lifted above the last number first, so that none covers another. */
struct placed {
        int from, to;
};

static int lift(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, LIFTED); }

static unsigned list_descriptors(const struct newborn *n, struct placed *ret)
{
        const struct wall_start *s = n->s;
        unsigned k = 0;
        for (int i = 0; i < 3; i++) /* with a terminal these are held until it is there */
                ret[k++] = (struct placed){ s->order->tty ? n->with->host_proc : s->io->stdio[i], i };

        for (unsigned i = 0; i < s->io->handle_count; i++)
                ret[k++] = (struct placed){ s->io->handles[i], 3 + (int) i };

        ret[k++] = (struct placed){ n->with->control, INIT_CONTROL };
        ret[k++] = (struct placed){ n->with->host_proc, INIT_HOST_PROC };
        ret[k++] = (struct placed){ n->with->plan, INIT_PLAN };
        ret[k++] = (struct placed){ n->with->keeper, INIT_KEEPER };
        ret[k++] = (struct placed){ s->trust_fd, INIT_TRUST };
        ret[k++] = (struct placed){ s->cgroup_fd, INIT_CGROUP };
        return k;
}

/* The box's descriptors have their final numbers, the program is the one descriptor above, and every other
 * descriptor of the caller is closed, however many there were. */
static bool place_descriptors(struct newborn *n)
{
        struct placed list[3 + HANDLES_MAX + INIT_FD__END - INIT_CONTROL];
        unsigned count = list_descriptors(n, list);
        n->program = lift(n->program);
        bool room = n->program >= 0;
        for (unsigned i = 0; i < count; i++)
                room &= list[i].from < 0 || (list[i].from = lift(list[i].from)) >= 0;

        n->failed = "keeping descriptors";
        if (!room) {
                errno = EMFILE; /* a limit below their new numbers is EINVAL, which has other meanings */
                return false;
        }

        n->failed = "closing the caller's descriptors";
        if (syscall(SYS_close_range, 0, LIFTED - 1, 0) < 0)
                return false;

        n->failed = "placing descriptors";
        for (unsigned i = 0; i < count; i++)
                if (list[i].from >= 0 && dup2(list[i].from, list[i].to) < 0)
                        return false;

        return (n->program == LIFTED ||
                syscall(SYS_close_range, LIFTED, (unsigned) n->program - 1, 0) == 0) &&
               syscall(SYS_close_range, (unsigned) n->program + 1, ~0U, 0) == 0;
}

/* The program's own descriptors are closed by exec: all but those below LIFTED were made so. */
static int execute_program(void *arg)
{
        struct newborn *n = arg;
        char name[] = WALL_INIT_NAME;
        char *argv[] = { name, NULL };
        if (place_descriptors(n)) {
                n->failed = "starting cordon-init";
                (void) syscall(SYS_execveat, n->program, "", argv, wall_init_environment(), AT_EMPTY_PATH);
        }

        n->sys = errno;
        _exit(127);
}

/* ---- the caller ---- */

/* The box's filter denies this prctl to every process, even if it changes nothing. */
static bool is_in_a_box(void)
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
        return err_hint(e, is_in_a_box() ? WALL_NOT_NESTED
                                         : "`cordon doctor` shows why; `--wall process` needs none");
}

/* This program, if it is its own init (init/self.c); else the installed one. */
static int open_program(const struct cordon_context *cx, struct err *e)
{
        char path[PATH_MAX_BYTES] = "/proc/self/exe";
        if (!wall_is_own_init && host_program(cx, WALL_INIT_NAME, path, sizeof path, e) < 0)
                return -1;

        int fd = open(path, O_PATH | O_CLOEXEC);
        return fd < 0 ? wall_fail(e, STAGE_EXEC, "opening %s", path) : fd;
}

/* A process that ended before exec does not show that the host denies a mechanism: it must not choose the
 * wall. */
static pid_t report_newborn(const struct newborn *n, pid_t pid, struct err *e)
{
        while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
                ;

        errno = n->sys;
        (void) wall_fail(e, STAGE_EXEC, "%s", n->failed);
        return e->sys == EMFILE ? err_hint(e, "raise the limit of open files: ulimit -n 1024") : -1;
}

pid_t wall_launch(const struct wall_start *s, const struct wall_descriptors *with, struct err *e)
{
        unsigned char stack[LAUNCH_STACK] __attribute__((aligned(16)));
        AUTO_FD(program, open_program(s->cx, e));
        if (program < 0)
                return -1;

        struct newborn n = { .s = s, .with = with, .program = program };
        sigset_t all, old;
        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &old); /* no handler of the caller's runs in the child */
        pid_t pid = clone(execute_program, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &n);
        int sys = errno;
        (void) sigprocmask(SIG_SETMASK, &old, NULL);
        errno = sys;
        if (pid < 0)
                return clone_error(e);

        return n.sys != 0 ? report_newborn(&n, pid, e) : pid;
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
        c->own_pids = s->plan->wall == WALL_NAMESPACE && !wall_left_out(LAYER_PID);
        return 1;
}
