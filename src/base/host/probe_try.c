/* SPDX-License-Identifier: MIT */
/* base/host/probe_try.c - runs each check of `cordon doctor` in a short-lived child, and formats its
 * findings. */
#include "base/fd.h"
#include "base/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRY_SECONDS = 5 };

static _Noreturn void try_child(int out, int (*fn)(struct host_outcome *, unsigned long), unsigned long arg)
{
        struct host_outcome o = { 0 };
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) signal(SIGALRM, SIG_DFL);
        (void) alarm(TRY_SECONDS);
        o.sys = fn(&o, arg);
        _exit(fd_write_all(out, &o, sizeof o) < 0);
}

struct host_outcome host_try(int (*fn)(struct host_outcome *o, unsigned long arg), unsigned long arg)
{
        struct host_outcome o = { .sys = EIO };
        int ends[2], status = 0;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return (struct host_outcome){ .sys = errno };

        AUTO_FD(reads, ends[0]);
        AUTO_FD(writes, ends[1]);
        pid_t pid = fork();
        if (pid < 0)
                return (struct host_outcome){ .sys = errno };

        if (pid == 0)
                try_child(writes, fn, arg);

        fd_close(&writes);
        bool over = fd_await(reads, POLLIN, (TRY_SECONDS + 1) * 1000);
        bool told = over && read(reads, &o, sizeof o) == (ssize_t) sizeof o;
        if (!over)
                (void) kill(pid, SIGKILL);

        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;

        if (!told)
                o = (struct host_outcome){ .sys = EIO, .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0 };

        return o;
}

void host_say(struct host_finding *f, enum host_state state, const char *fmt, ...)
{
        va_list ap;
        f->state = state;
        va_start(ap, fmt);
        (void) vsnprintf(f->detail, sizeof f->detail, fmt, ap);
        va_end(ap);
}

/* Drops a command that does not fit: a truncated one would be worse than none. */
void host_mend(struct host_finding *f, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(f->mend, sizeof f->mend, fmt, ap);
        va_end(ap);
        if (n < 0 || (size_t) n >= sizeof f->mend)
                f->mend[0] = '\0';
}

const char *host_why(const struct host_outcome *o, char buf[96])
{
        if (o->signal)
                (void) snprintf(buf, 96, "killed by signal %d, %.60s", o->signal, strsignal(o->signal));
        else
                (void) snprintf(buf, 96, "%.80s", strerror(o->sys));
        return buf;
}

struct host_outcome host_report(struct host_finding *f, int (*fn)(struct host_outcome *o, unsigned long arg),
                                unsigned long arg, const char *works, enum host_state state,
                                const char *fails)
{
        char why[96];
        struct host_outcome o = host_try(fn, arg);
        if (o.sys)
                host_say(f, state, "%s: %s", fails, host_why(&o, why));
        else
                host_say(f, HOST_YES, "%s", works);
        return o;
}

long host_sysctl(const char *path)
{
        char text[32];
        char *end;
        if (fd_get(AT_FDCWD, path, text, sizeof text) <= 0)
                return -1;
        long n = strtol(text, &end, 10);
        return *end == '\0' || *end == ' ' || *end == '\t' ? n : -1;
}

int host_filtered(void)
{
        char text[4096];
        if (fd_get(AT_FDCWD, "/proc/self/status", text, sizeof text) < 0)
                return -1;
        const char *at = strstr(text, "\nSeccomp:");
        return at ? (int) strtol(at + strlen("\nSeccomp:"), NULL, 10) : -1;
}
