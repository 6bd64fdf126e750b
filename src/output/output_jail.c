/* SPDX-License-Identifier: MIT */
/* output/output_jail.c - the sandbox of the process that reads what a box wrote: no file, no socket, no
 * process, no program, a gigabyte and a minute of processor time. What takes it over can do nothing but write
 * other bytes to the same reader. */
#include "output/output_jail.h"
#include "base/calls.h"
#include "base/jail.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { MEMORY_MAX = 1 << 30, SECONDS_MAX = 60 };

static int failed(struct err *e, const char *what) { return jail_failed("cordon-output", what, e); }

static const uint32_t allowed[] = {
        SYS_read,         SYS_write,          SYS_writev,          SYS_close,     SYS_munmap,
        SYS_brk,          SYS_mremap,         SYS_madvise,         SYS_futex,     SYS_rt_sigreturn,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_getpid,          SYS_gettid,    SYS_tgkill,
        SYS_exit,         SYS_exit_group,     SYS_restart_syscall, SYS_getrandom,
};

/* For a process of each check: a socket pair, and the walls of that process. */
static const uint32_t service_allowed[] = {
        SYS_recvmsg,     SYS_sendmsg, SYS_wait4, SYS_prlimit64,       SYS_getrlimit,       SYS_setrlimit,
        SYS_seccomp,     SYS_prctl,   SYS_fcntl, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq,
        SYS_sigaltstack,
#ifdef SYS_fork
        SYS_fork,
#endif
};

#define NAMESPACES                                                                                           \
        (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |           \
         CLONE_NEWCGROUP)

static int enter_jail(uint32_t become, struct err *e)
{
        return jail_enter("cordon-output", become, MEMORY_MAX, e);
}

int output_jail_check(struct err *e)
{
        if (jail_limit(RLIMIT_CPU, SECONDS_MAX) < 0 || jail_limit(RLIMIT_NPROC, 0) < 0)
                return failed(e, "limit itself");

        return jail_calls("cordon-output", allowed, sizeof allowed / sizeof *allowed, e);
}

int output_jail(uint32_t become, struct err *e)
{
        return enter_jail(become, e) < 0 ? -1 : output_jail_check(e);
}

int output_jail_service(uint32_t become, struct err *e)
{
        struct calls f;
        if (enter_jail(become, e) < 0)
                return -1;

        if (calls_sanitized())
                return 0;

        calls_begin(&f);
        calls_allow(&f, allowed, sizeof allowed / sizeof *allowed);
        calls_allow(&f, service_allowed, sizeof service_allowed / sizeof *service_allowed);
        calls_allow_memory(&f);
        calls_allow_first(&f, SYS_socketpair, AF_UNIX, AF_UNIX);
        calls_allow_without(&f, SYS_clone, NAMESPACES, EPERM);
        return calls_close(&f) < 0 ? failed(e, "close system calls") : 0;
}
