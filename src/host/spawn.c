/* SPDX-License-Identifier: MIT */
/* host/spawn.c - starts one of cordon's programs with exactly the given descriptors and nothing else of this
 * process. Works in a process with threads, at a cost independent of its memory: the child shares it until
 * its exec. */
#include "base/fd.h"
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 32768 };

struct birth { /* shared with the child until its exec */
        const struct host_spawn *s;
        sigset_t mask;
        int sys; /* why exec failed */
};

/* Duplicates all of them first, above every number that is overwritten. */
static int place_descriptors(const struct host_spawn *s)
{
        int high[HOST_SPAWN_FDS];
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null < 0)
                return -1;

        for (unsigned i = 0; i < s->fd_count; i++) {
                int from = s->fds[i] >= 0 ? s->fds[i] : i < 3 && s->apart ? null : -1;
                high[i] = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, HOST_SPAWN_FDS);
                if (from >= 0 && high[i] < 0)
                        return -1;
        }

        for (unsigned i = 0; i < s->fd_count; i++)
                if (high[i] >= 0 ? dup2(high[i], (int) i) < 0
                                 : i >= 3 && close((int) i) < 0 && errno != EBADF)
                        return -1;

        return (int) syscall(SYS_close_range, s->fd_count, ~0U, 0);
}

/* The memory is the caller's, the descriptors are the child's own. In a session of its own it does not get
 * the signals of keys pressed for a payload. */
static int child_main(void *arg)
{
        struct birth *x = arg;
        if (place_descriptors(x->s) == 0) {
                if (x->s->apart)
                        (void) setsid();

                for (int s = 1; s < NSIG; s++)
                        if (x->s->apart && s != SIGKILL && s != SIGSTOP)
                                (void) signal(s, SIG_DFL);

                (void) sigprocmask(SIG_SETMASK, &x->mask, NULL);
                (void) execve(x->s->path, x->s->argv, x->s->envp);
        }

        /* EINVAL: the number exceeds the limit of descriptors */
        x->sys = errno == EINVAL ? EMFILE : errno;
        _exit(127);
}

struct child host_spawn(const struct host_spawn *s)
{
        struct child c = CHILD_NONE;
        char *stack = malloc(STACK_BYTES);
        if (!stack)
                return c;

        struct birth x = { .s = s };
        sigset_t all, old;
        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &old);
        if (s->apart)
                (void) sigemptyset(&x.mask);
        else
                x.mask = old;

        char *top = stack + STACK_BYTES;
        top -= (uintptr_t) top % 16;
        c.pid = clone(child_main, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &x, &c.pidfd);
        int sys = c.pid < 0 ? errno : x.sys;
        (void) sigprocmask(SIG_SETMASK, &old, NULL);
        free(stack);
        if (c.pid > 0 && sys != 0) {
                while (waitpid(c.pid, NULL, 0) < 0 && errno == EINTR)
                        ;
                fd_close(&c.pidfd);
                c = CHILD_NONE;
        }

        errno = sys;
        return c;
}
