/* SPDX-License-Identifier: MIT */
/* ledger/write/sealer_jail.c - the sandbox of the process that holds the ledger's key. It reads untrusted
 * files and answers a broker that is exposed to attackers: it keeps the ledger's own directory, the witness
 * next to it, and the system calls for those. No other file, socket, process or program. */
#include "base/calls.h"
#include "base/fd.h"
#include "base/jail.h"
#include "base/store/store.h"
#include "ledger/write/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Landlock rights by number: the header may be older than the kernel. */
enum { READ_FILE = 1 << 2, READ_DIR = 1 << 3, WRITE_FILE = 1 << 1, REMOVE_FILE = 1 << 5 };
enum { MAKE_DIR = 1 << 7, MAKE_FILE = 1 << 8, TRUNCATE = 1 << 14 };
static const char program[] = "cordon-ledger";

static int leave_open(int set, int fd, uint64_t rights)
{
        struct landlock_path_beneath_attr a = { .allowed_access = rights, .parent_fd = fd };
        return fd < 0 ? 0 : (int) syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
}

static int close_files(int dir, int witness)
{
        struct jail_rules r = JAIL_ALL;
        int set = jail_ruleset(&r);
        if (set < 0)
                return jail_restrict(set, false);

        const uint64_t own =
                (READ_FILE | READ_DIR | WRITE_FILE | REMOVE_FILE | MAKE_DIR | MAKE_FILE | TRUNCATE) & r.fs;
        AUTO_FD(boot, open("/proc/sys/kernel/random/boot_id", O_PATH | O_CLOEXEC));
        return jail_restrict(set, leave_open(set, dir, own) < 0 || leave_open(set, witness, own) < 0 ||
                                          leave_open(set, boot, READ_FILE) < 0);
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

int jail_close(int dir, bool seals, struct err *e)
{
        struct err ignored;
        AUTO_FD(up, dir >= 0 && seals ? openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
        AUTO_FD(witness, up < 0 ? -1 : store_dir(up, "witness", &ignored));

        if (chdir("/") < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            (!calls_sanitized() && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0))
                return jail_failed(program, "give up what it does not need", e);

        (void) jail_limit(RLIMIT_CORE, 0);
        if (calls_sanitized())
                return 0; /* for tests: the sanitizer reads files that would be denied */

        if (close_files(dir, witness) < 0)
                return jail_failed(program, "close other files", e);

        return jail_calls(program, allowed, sizeof allowed / sizeof *allowed, e);
}
