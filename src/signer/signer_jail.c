/* SPDX-License-Identifier: MIT */
/* signer/signer_jail.c - see signer_jail.h. The box writes to this process, and the process holds connections
 * to the agents of the user: what takes it over can use those, but open no file, make no socket and start no
 * process. */
#include "signer/signer_jail.h"
#include "base/calls.h"
#include "base/precedence.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MEMORY_MAX = 64 << 20 };

static int failed(struct err *e, const char *what)
{
        int sys = errno;
        return err_set(e, ERR_WALL, sys, "cordon-signer cannot %s: %s", what, strerror(sys));
}

static int limit(int what, rlim_t most)
{
        struct rlimit r;
        if (getrlimit(what, &r) < 0)
                return -1;
        r.rlim_max = r.rlim_max < most ? r.rlim_max : most;
        r.rlim_cur = r.rlim_max;
        return setrlimit(what, &r);
}

static int drop_ids(uint32_t become)
{
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
        if (become && (setgroups(0, NULL) < 0 || setresgid(become, become, become) < 0 ||
                       setresuid(become, become, become) < 0))
                return -1;
        return (int) syscall(SYS_capset, &head, none);
}

/* A kernel without Landlock was reported when the box's walls were raised; the filter still applies. */
static int close_files(void)
{
        struct {
                uint64_t fs, net, scoped;
        } r = { 0xffff, 3, 3 };
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1)
                return 0;

        r.fs = abi >= 5 ? r.fs : abi >= 3 ? 0x7fff : abi >= 2 ? 0x3fff : 0x1fff;
        int set = (int) syscall(SYS_landlock_create_ruleset, &r, abi >= 6 ? sizeof r : abi >= 4 ? 16 : 8, 0);
        int bad = set < 0 || syscall(SYS_landlock_restrict_self, set, 0) < 0;
        if (set >= 0)
                (void) close(set);
        return bad ? -1 : 0;
}

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
        struct calls f;
        if (chdir("/") < 0 || precedence_drop() < 0 || drop_ids(become) < 0 ||
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return failed(e, "give up what it does not need");

        if (limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_MEMLOCK, 0) < 0 || limit(RLIMIT_NPROC, 0) < 0)
                return failed(e, "limit itself");

        if (calls_sanitized())
                return 0; /* for tests: the sanitizer reads files that would be denied */

        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || limit(RLIMIT_DATA, MEMORY_MAX) < 0 || close_files() < 0)
                return failed(e, "close files");

        calls_begin(&f);
        calls_allow(&f, allowed, sizeof allowed / sizeof *allowed);
        calls_allow_memory(&f);
        return calls_close(&f) < 0 ? failed(e, "close system calls") : 0;
}
