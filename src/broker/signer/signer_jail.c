/* SPDX-License-Identifier: MIT */
/* broker/signer/signer_jail.c - see signer_jail.h. The box writes to this process, and the process holds
 * connections to the agents of the user: what takes it over can use those, but open no file, make no socket
 * and start no process. */
#include "broker/signer/signer_jail.h"
#include "base/jail.h"
#include "broker/signer/signer.h"

#include <sys/syscall.h>

enum { MEMORY_MAX = 64 << 20 };

static const uint32_t allowed[] = {
        SYS_read,      SYS_write,           SYS_writev,       SYS_recvmsg,        SYS_sendmsg,
        SYS_recvfrom,  SYS_sendto,          SYS_accept4,      SYS_fcntl,          SYS_ppoll,
        SYS_close,     SYS_munmap,          SYS_brk,          SYS_mremap,         SYS_madvise,
        SYS_futex,     SYS_rt_sigreturn,    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_getpid,
        SYS_gettid,    SYS_tgkill,          SYS_exit,         SYS_exit_group,     SYS_clock_gettime,
        SYS_getrandom, SYS_restart_syscall,
#ifdef SYS_poll
        SYS_poll,
#endif
};

int signer_jail(uint32_t become, struct err *e)
{
        if (jail_enter(SIGNER_PROGRAM, become, MEMORY_MAX, e) < 0)
                return -1;
        return jail_limit(RLIMIT_NPROC, 0) < 0
                       ? jail_failed(SIGNER_PROGRAM, "limit itself", e)
                       : jail_calls(SIGNER_PROGRAM, allowed, sizeof allowed / sizeof *allowed, e);
}
