/* SPDX-License-Identifier: MIT */
/* base/host/probe_kernel.c - tries no_new_privs, seccomp, Landlock and memfd in short-lived children. */
#include "base/fd.h"
#include "base/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

static int no_new_privs(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0; }

static int try_nnp(struct host_outcome *o, unsigned long arg)
{
        (void) o;
        (void) arg;
        int sys = no_new_privs();
        return sys ? sys : prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EIO;
}

void host_look_nnp(struct host_finding *f)
{
        (void) host_report(f, try_nnp, 0, "works: setuid programs gain no privileges", HOST_NO,
                           "cannot be set");
}

/* Allows everything, but getppid fails with a special errno: proof that the filter runs. */
static long load_filter(unsigned flags)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 42),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };

        struct sock_fprog prog = { .len = sizeof code / sizeof *code, .filter = code };
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static int try_seccomp(struct host_outcome *o, unsigned long flags)
{
        (void) o;
        int sys = no_new_privs();
        if (sys)
                return sys;

        if (load_filter((unsigned) flags) < 0)
                return errno;

        return syscall(SYS_getppid) == -1 && errno == 42 ? 0 : EIO;
}

void host_look_seccomp(struct host_finding *f)
{
        (void) host_report(
                f, try_seccomp, 0,
                host_filtered() == 2
                        ? "works: a test filter blocked a call (another filter is already in force)"
                        : "works: a test filter blocked a call",
                HOST_NO, "a filter cannot be loaded");
}

void host_look_notify(struct host_finding *f)
{
        struct host_outcome o = host_report(f, try_seccomp, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                                            "a supervisor can be notified of denied calls", HOST_WEAK,
                                            "no seccomp listener; blocked calls cannot be explained");
        if (o.sys == EBUSY)
                host_say(f, HOST_WEAK,
                         "another seccomp supervisor is attached; blocked calls cannot be explained");
}

static const char *const landlock_adds[] = {
        "none",
        "files",
        "renames between directories",
        "truncation",
        "TCP ports",
        "device ioctls",
        "abstract sockets and signals",
        "audit records",
        "all threads at once",
        "named unix sockets",
        "UDP ports",
};
enum { LANDLOCK_KNOWN = sizeof landlock_adds / sizeof *landlock_adds - 1, LANDLOCK_FULL = 6 };

static int try_landlock(struct host_outcome *o, unsigned long arg)
{
        (void) o;
        (void) arg;
        struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE };
        AUTO_FD(rules, (int) syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0));
        if (rules < 0)
                return errno;

        int sys = no_new_privs();
        if (sys)
                return sys;

        if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
                return errno;

        AUTO_FD(probe, open("/proc/self/status", O_RDONLY | O_CLOEXEC));
        return probe < 0 && errno == EACCES ? 0 : EIO;
}

static void say_landlock(struct host_finding *f, const struct host_facts *q)
{
        int abi = q->landlock_abi;
        int known = abi < LANDLOCK_KNOWN ? abi : LANDLOCK_KNOWN;
        char text[160] = "";

        for (int i = known + 1; i <= LANDLOCK_KNOWN; i++) {
                size_t n = strlen(text);
                (void) strncat(text, n ? ", " : "; missing: ", sizeof text - n - 1);
                n = strlen(text);
                (void) strncat(text, landlock_adds[i], sizeof text - n - 1);
        }

        host_say(f, abi >= LANDLOCK_FULL ? HOST_YES : HOST_WEAK, "ABI %d (up to: %s), errata %d%s", abi,
                 landlock_adds[known], q->landlock_errata, text);
}

void host_look_landlock(struct host_finding *f)
{
        char why[96];
        struct host_facts q;
        struct err e;
        struct host_outcome o = host_try(try_landlock, 0);
        if (o.sys == 0 && host_facts_quick(&q, &e) == 0) {
                say_landlock(f, &q);
                return;
        }

        if (o.sys == EOPNOTSUPP) {
                host_say(f, HOST_NO, "built into this kernel but off at boot");
                host_mend(f, "add to the kernel command line: lsm=landlock,$(cat /sys/kernel/security/lsm)");
        } else {
                host_say(f, HOST_NO, "%s: %s", o.sys == ENOSYS ? "not in this kernel" : "refused",
                         host_why(&o, why));
        }
}

static int try_memfd(struct host_outcome *o, unsigned long arg)
{
        (void) o;
        (void) arg;
        AUTO_FD(fd, memfd_create("cordon-probe", MFD_CLOEXEC | MFD_NOEXEC_SEAL));
        return fd < 0 ? errno : 0;
}

void host_look_memfd(struct host_finding *f)
{
        char why[96];
        struct host_outcome o = host_try(try_memfd, 0);
        long level = host_sysctl("/proc/sys/vm/memfd_noexec");
        if (o.sys == 0 && level >= 0)
                host_say(f, HOST_YES, "vm.memfd_noexec can be set in a pid namespace (here %ld)", level);
        else if (o.sys == 0)
                host_say(f, HOST_WEAK, "sealed memfds exist, but vm.memfd_noexec does not");
        else
                host_say(f, HOST_WEAK, "memfd programs can be executed (kernel older than 6.3): %s",
                         host_why(&o, why));
}
