/* SPDX-License-Identifier: MIT */
/* base/host/spawn.c - starts one of cordon's programs with exactly the given descriptors and nothing else of
 * this process. Works in a process with threads, at a cost independent of its memory: the child shares it
 * until its exec, on a stack of its own, with every signal blocked, and makes nothing but system calls. */
#include "base/fd.h"
#include "base/host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 32768, STOPPED_NS = 50000000 };

struct birth { /* shared with the child until its exec */
        const struct host_spawn *s;
        sigset_t mask;
        char *second;      /* top of the stack of an orphan */
        int sys;           /* why exec failed */
        atomic_int shares; /* 0 when the child has left this memory; written by the kernel */
};

/* ---- the child ---- */

static int stand_in(const struct host_spawn *s, unsigned i, int null)
{
        return i < 3 && s->flags & HOST_SPAWN_APART ? null : -1;
}

/* Duplicates all of them first, above every number that is overwritten; closes the others. */
static int place_descriptors(const struct host_spawn *s)
{
        int high[HOST_SPAWN_FDS], null = -1;
        if (s->flags & HOST_SPAWN_APART && (null = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0)
                return -1;

        for (unsigned i = 0; i < s->fd_count; i++) {
                int from = s->fds[i] >= 0 ? s->fds[i] : stand_in(s, i, null);
                high[i] = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, (int) s->fd_count);
                if (from >= 0 && high[i] < 0)
                        return -1;
        }

        unsigned first = s->flags & HOST_SPAWN_STREAMS ? 3 : 0;
        if (s->fd_count > first && syscall(SYS_close_range, first, s->fd_count - 1, 0) < 0)
                return -1;

        for (unsigned i = 0; i < s->fd_count; i++)
                if (high[i] >= 0 && dup2(high[i], (int) i) < 0)
                        return -1;

        return (int) syscall(SYS_close_range, s->fd_count, ~0U, 0);
}

static int execute_program(void *arg)
{
        struct birth *x = arg;
        (void) execve(x->s->path, x->s->argv, x->s->envp);
        x->sys = errno;
        _exit(127);
}

/* The memory is the caller's, the descriptors are the child's own. In a session of its own it does not get
 * the signals of keys pressed for a payload. */
static int child_main(void *arg)
{
        struct birth *x = arg;
        unsigned flags = x->s->flags;
        if (place_descriptors(x->s) < 0) {
                x->sys = errno == EINVAL ? EMFILE : errno; /* EINVAL: the number exceeds the limit */
                _exit(127);
        }

        if (flags & HOST_SPAWN_APART)
                (void) setsid();

        for (int s = 1; s < NSIG; s++)
                if (flags & HOST_SPAWN_APART && s != SIGKILL && s != SIGSTOP)
                        (void) signal(s, SIG_DFL);

        (void) sigprocmask(SIG_SETMASK, &x->mask, NULL);
        if (!(flags & HOST_SPAWN_ORPHAN))
                return execute_program(x);

        if (chdir("/") < 0 || clone(execute_program, x->second, CLONE_VM | CLONE_VFORK, x) < 0)
                x->sys = errno;
        _exit(0);
}

/* ---- the caller ---- */

static bool is_stopped(pid_t pid)
{
        siginfo_t info = { .si_pid = 0 };
        return waitid(P_PID, (id_t) pid, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) == 0 &&
               info.si_pid == pid;
}

/* The child has this thread's errno, so nothing else is called meanwhile. Not vfork(): a child that another
 * process stopped before its exec would hold the caller up. */
static void await_exec(struct birth *x, const struct child *c)
{
        while (atomic_load(&x->shares)) {
                struct timespec t = { .tv_nsec = STOPPED_NS };
                long r = syscall(SYS_futex, &x->shares, FUTEX_WAIT, 1, &t, NULL, 0);
                if (r < 0 && errno == ETIMEDOUT && is_stopped(c->pid))
                        (void) syscall(SYS_pidfd_send_signal, c->pidfd, SIGCONT, NULL, 0);
        }
}

static void start_child(struct birth *x, char *stack, struct child *ret)
{
        unsigned flags = x->s->flags;
        int exit_signal = flags & HOST_SPAWN_ORPHAN ? 0 : SIGCHLD;
        char *top = stack + STACK_BYTES;
        top -= (uintptr_t) top % 16;
        x->second = top - STACK_BYTES / 2;
        ret->pid = clone(child_main, top, CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | exit_signal, x,
                         &ret->pidfd, NULL, &x->shares);
        if (ret->pid < 0)
                x->sys = errno;
        else
                await_exec(x, ret);
}

struct child host_spawn(const struct host_spawn *s)
{
        struct child c = CHILD_NONE;
        char *stack = malloc(STACK_BYTES);
        if (!stack)
                return c;

        struct birth x = { .s = s, .shares = 1 };
        sigset_t all, old;
        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &old); /* no handler of the caller's runs in the child */
        x.mask = s->flags & HOST_SPAWN_BLOCKED ? all : old;
        if (s->flags & HOST_SPAWN_APART && !(s->flags & HOST_SPAWN_BLOCKED))
                (void) sigemptyset(&x.mask);

        start_child(&x, stack, &c);
        (void) sigprocmask(SIG_SETMASK, &old, NULL);
        free(stack);
        if (c.pid > 0 && (x.sys != 0 || s->flags & HOST_SPAWN_ORPHAN)) {
                while (waitpid(c.pid, NULL, __WALL) < 0 && errno == EINTR)
                        ;
                fd_close(&c.pidfd);
                c = CHILD_NONE;
        }

        errno = x.sys;
        return c;
}
