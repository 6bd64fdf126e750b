/* SPDX-License-Identifier: MIT */
/* broker/egress/broker_jail.c - the broker's own walls. It faces the box on one side and any server on the
 * other, so it keeps nothing that it does not need: after jail_close() it can move bytes between sockets, and
 * connect to the ports that doors name. */
#include "broker/egress/broker_jail.h"
#include "base/calls.h"
#include "base/jail.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char broker[] = "the broker";

int jail_memory(struct err *e)
{
        (void) jail_limit(RLIMIT_CORE, 0);
        return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? jail_failed(broker, "hide its memory", e) : 0;
}

int jail_identity(uint32_t become, struct err *e)
{
        if (jail_drop(become) < 0)
                return jail_failed(broker, "give up what it does not need", e);
        if (jail_memory(e) < 0) /* once more: another id brings the default back */
                return -1;

        (void) jail_limit(RLIMIT_NOFILE, 4096);
        (void) jail_limit(RLIMIT_MEMLOCK, 0);
        return 0;
}

/* ---- Landlock ---- */

enum { NET_CONNECT_TCP = 1 << 1, RULE_NET_PORT = 2 };
/* Write, remove, make, truncate, ioctl: everything but executing, and reading files and directories. */
#define FS_CHANGES (0xffffULL & ~0xdULL)

struct port_rule {
        uint64_t access, port;
};

int jail_read_only(void)
{
        struct jail_rules r = { .fs = FS_CHANGES };
        return jail_restrict(jail_ruleset(&r), false);
}

static int close_files(const uint16_t *ports, size_t count)
{
        struct jail_rules r = JAIL_ALL;
        int set = jail_ruleset(&r);
        bool bad = false;
        for (size_t i = 0; set >= 0 && r.net && i < count && !bad; i++) {
                const struct port_rule rule = { NET_CONNECT_TCP, ports[i] };
                bad = syscall(SYS_landlock_add_rule, set, RULE_NET_PORT, &rule, 0) < 0;
        }

        return jail_restrict(set, bad);
}

/* ---- system calls ---- */

#define NAMESPACES                                                                                           \
        (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |           \
         CLONE_NEWCGROUP)

/* Moving bytes, waiting, memory, and ending. Not among them: any call that opens, makes or names anything. */
static const uint32_t allowed[] = {
        SYS_brk,          SYS_exit,          SYS_read,           SYS_close,           SYS_fcntl,
        SYS_futex,        SYS_pipe2,         SYS_ppoll,          SYS_readv,           SYS_write,
        SYS_getpid,       SYS_gettid,        SYS_mremap,         SYS_munmap,          SYS_sendto,
        SYS_splice,       SYS_tgkill,        SYS_writev,         SYS_accept4,         SYS_connect,
        SYS_madvise,      SYS_recvmsg,       SYS_sendmsg,        SYS_recvfrom,        SYS_shutdown,
        SYS_epoll_ctl,    SYS_getrandom,     SYS_exit_group,     SYS_getsockopt,      SYS_setsockopt,
        SYS_epoll_pwait,  SYS_getpeername,   SYS_getsockname,    SYS_gettimeofday,    SYS_rt_sigaction,
        SYS_rt_sigreturn, SYS_clock_gettime, SYS_rt_sigprocmask, SYS_clock_nanosleep, SYS_restart_syscall,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,   SYS_poll,          SYS_time,
#endif
};

/* Calls that name-lookup libraries need besides: they read files, query local services over Unix sockets and
 * the kernel over netlink, are loaded on demand, and may have threads. Not among them: any call that executes
 * a program, changes a file, inspects another process or creates a namespace. */
static const uint32_t resolver_allowed[] = {
        SYS_dup,    SYS_prctl,    SYS_openat,  SYS_eventfd2,  SYS_prlimit64,   SYS_clock_getres,
        SYS_bind,   SYS_statx,    SYS_waitid,  SYS_mprotect,  SYS_setitimer,   SYS_epoll_create1,
        SYS_dup3,   SYS_uname,    SYS_getegid, SYS_pselect6,  SYS_getdents64,  SYS_timerfd_create,
        SYS_mmap,   SYS_wait4,    SYS_geteuid, SYS_recvmmsg,  SYS_newfstatat,  SYS_set_robust_list,
        SYS_rseq,   SYS_getcwd,   SYS_getppid, SYS_sendmmsg,  SYS_readlinkat,  SYS_set_tid_address,
        SYS_fstat,  SYS_getgid,   SYS_pread64, SYS_faccessat, SYS_sched_yield, SYS_timerfd_settime,
        SYS_ioctl,  SYS_getuid,   SYS_sysinfo, SYS_nanosleep, SYS_sigaltstack, SYS_sched_getaffinity,
        SYS_lseek,
#ifdef SYS_open
        SYS_dup2,   SYS_open,     SYS_stat,    SYS_alarm,     SYS_lstat,       SYS_access,
        SYS_select, SYS_readlink,
#endif
};

int jail_resolver(void)
{
        static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
        struct calls f;
        calls_begin(&f);
        calls_allow(&f, allowed, sizeof allowed / sizeof *allowed);
        calls_allow(&f, resolver_allowed, sizeof resolver_allowed / sizeof *resolver_allowed);
        calls_allow_among(&f, SYS_socket, families, sizeof families / sizeof *families, EAFNOSUPPORT);
        calls_allow_without(&f, SYS_clone, NAMESPACES, EPERM); /* clone3, whose flags lie in memory, is not */
        return calls_close_softly(&f);
}

enum { MEMORY_MAX = 128 << 20 };

int jail_close(const uint16_t *ports, size_t count, uint64_t file_bytes, struct err *e)
{
        struct calls f;
        (void) jail_limit(RLIMIT_NPROC, 0);
        (void) jail_limit(RLIMIT_FSIZE, file_bytes);
        (void) jail_limit(RLIMIT_DATA,
                          MEMORY_MAX); /* a failed allocation denies: a connection, a request, an answer */
        if (close_files(ports, count) < 0)
                return jail_failed(broker, "close its files", e);

        calls_begin(&f);
        calls_allow(&f, allowed, sizeof allowed / sizeof *allowed);
        calls_allow_memory(&f);
        calls_allow_first(&f, SYS_socket, AF_INET, AF_INET6); /* internet only */
        return calls_close(&f) < 0 ? jail_failed(broker, "close its system calls", e) : 0;
}
