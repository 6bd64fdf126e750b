/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/guest_filter.c - the system calls that cordon-wasm keeps, below the box's own filter:
 * those of open files and clocks, and the others only if a door needs them. No executable memory, no new
 * process, no program. A module that takes over the engine reaches no more than that. */
#include "base/calls.h"
#include "wall/wasm/program/program.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

static const uint32_t always[] = {
        SYS_read,         SYS_write,     SYS_readv,      SYS_writev,       SYS_preadv,
        SYS_pwritev,      SYS_lseek,     SYS_close,      SYS_fstat,        SYS_fcntl,
        SYS_ftruncate,    SYS_fallocate, SYS_fsync,      SYS_fdatasync,    SYS_fadvise64,
        SYS_utimensat,    SYS_ppoll,     SYS_ioctl,      SYS_getrandom,    SYS_sched_yield,
        SYS_munmap,       SYS_mremap,    SYS_brk,        SYS_madvise,      SYS_clock_gettime,
        SYS_clock_getres, SYS_exit,      SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef __GLIBC__
        SYS_newfstatat, /* its fstat() */
#endif
};

static const uint32_t of_doors[] = { SYS_openat, SYS_newfstatat, SYS_getdents64, SYS_readlinkat };
static const uint32_t of_writes[] = {
        SYS_mkdirat,  SYS_unlinkat, SYS_symlinkat, SYS_linkat, SYS_renameat2,
#ifdef SYS_renameat
        SYS_renameat,
#endif
};
static const uint32_t of_sockets[] = { SYS_accept4,  SYS_recvmsg,    SYS_sendmsg,
                                       SYS_shutdown, SYS_getsockopt, SYS_recvfrom };

#define LIST(list) list, sizeof(list) / sizeof *(list)

int guest_filter_close(const struct guest_needs *n, struct err *e)
{
        struct calls f;
        calls_begin(&f);
        calls_allow(&f, LIST(always));
        calls_allow_memory(&f);
        if (n->doors)
                calls_allow(&f, LIST(of_doors));
        if (n->writes)
                calls_allow(&f, LIST(of_writes));
        if (n->sockets)
                calls_allow(&f, LIST(of_sockets));

        if (calls_close(&f) == 0)
                return 0;

        return err_set(e, ERR_WALL, errno, "the filter of cordon-wasm cannot be installed: %s",
                       strerror(errno));
}
