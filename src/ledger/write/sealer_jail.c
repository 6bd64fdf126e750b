/* SPDX-License-Identifier: MIT */
/* ledger/write/sealer_jail.c - the sandbox of the process that holds the ledger's key. It reads untrusted
 * files and answers a broker that is exposed to attackers: it keeps the ledger's own directory, the witness
 * next to it, and the system calls for those. No other file, socket, process or program. */
#include "base/calls.h"
#include "base/fd.h"
#include "base/store/store.h"
#include "ledger/write/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Landlock rights by number: the header may be older than the kernel. */
enum { READ_FILE = 1 << 2, READ_DIR = 1 << 3, WRITE_FILE = 1 << 1, REMOVE_FILE = 1 << 5 };
enum { MAKE_DIR = 1 << 7, MAKE_FILE = 1 << 8, TRUNCATE = 1 << 14 };
enum { NET_ALL = 3, SCOPES = 3 };

struct ruleset {
        uint64_t fs, net, scoped;
};

static int jail_failed(struct err *e, const char *what)
{
        int sys = errno;
        return err_set(e, ERR_WALL, sys, "cordon-ledger cannot %s: %s", what, strerror(sys));
}

static uint64_t known(long abi) { return abi >= 5 ? 0xffff : abi >= 3 ? 0x7fff : abi >= 2 ? 0x3fff : 0x1fff; }

static int leave_open(int set, int fd, uint64_t rights)
{
        struct landlock_path_beneath_attr a = { .allowed_access = rights, .parent_fd = fd };
        return fd < 0 ? 0 : (int) syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
}

/* A kernel without Landlock was reported when the box's walls were raised; the seccomp filter still applies.
 */
static int close_files(int dir, int witness)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1)
                return 0;

        const struct ruleset r = { .fs = known(abi), .net = NET_ALL, .scoped = SCOPES };
        const uint64_t own =
                (READ_FILE | READ_DIR | WRITE_FILE | REMOVE_FILE | MAKE_DIR | MAKE_FILE | TRUNCATE) & r.fs;
        AUTO_FD(set, (int) syscall(SYS_landlock_create_ruleset, &r,
                                   abi >= 6   ? sizeof r
                                   : abi >= 4 ? 16
                                              : 8,
                                   0));
        AUTO_FD(boot, open("/proc/sys/kernel/random/boot_id", O_PATH | O_CLOEXEC));
        if (set < 0 || leave_open(set, dir, own) < 0 || leave_open(set, witness, own) < 0 ||
            leave_open(set, boot, READ_FILE) < 0)
                return -1;

        return (int) syscall(SYS_landlock_restrict_self, set, 0);
}

/* Files of the ledger, its socket, waiting, memory, and exit. */
static const uint32_t allowed[] = {
        SYS_read,      SYS_write,           SYS_pread64,         SYS_pwrite64,
        SYS_openat,    SYS_close,           SYS_fstat,           SYS_newfstatat,
        SYS_statx,     SYS_lseek,           SYS_ftruncate,       SYS_fdatasync,
        SYS_fsync,     SYS_renameat,        SYS_renameat2,       SYS_unlinkat,
        SYS_mkdirat,   SYS_getdents64,      SYS_fcntl,           SYS_recvmsg,
        SYS_sendmsg,   SYS_ppoll,           SYS_inotify_init1,   SYS_inotify_add_watch,
        SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime,   SYS_munmap,
        SYS_brk,       SYS_mremap,          SYS_madvise,         SYS_futex,
        SYS_getrandom, SYS_getpid,          SYS_gettid,          SYS_tgkill,
        SYS_geteuid,   SYS_rt_sigaction,    SYS_rt_sigprocmask,  SYS_rt_sigreturn,
        SYS_exit,      SYS_exit_group,      SYS_restart_syscall,
#ifdef SYS_poll
        SYS_poll,      SYS_rename,          SYS_unlink,
#endif
};

static int close_calls(void)
{
        struct calls f;
        calls_begin(&f);
        calls_allow(&f, allowed, sizeof allowed / sizeof *allowed);
        calls_allow_memory(&f);
        return calls_close(&f);
}

int jail_close(int dir, bool seals, struct err *e)
{
        const struct rlimit none = { 0, 0 };
        struct err ignored;
        AUTO_FD(up, dir >= 0 && seals ? openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
        AUTO_FD(witness, up < 0 ? -1 : store_dir(up, "witness", &ignored));

        if (chdir("/") < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            (!calls_sanitized() && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0))
                return jail_failed(e, "give up what it does not need");

        (void) setrlimit(RLIMIT_CORE, &none);
        if (calls_sanitized())
                return 0; /* for tests: the sanitizer reads files that would be denied */

        if (close_files(dir, witness) < 0)
                return jail_failed(e, "close other files");

        return close_calls() < 0 ? jail_failed(e, "close other system calls") : 0;
}
