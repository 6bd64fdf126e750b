/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_kernel.c - parts of the kernel that a box has no business with. Arguments are chosen so
 * that a call that is let through changes nothing: an empty list, a name that does not exist, the value that
 * is set already. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Arguments in memory, which a kernel that takes the call may write. */
static unsigned char no_params[120], text[64];
static unsigned long context;
static int pipe_ends[2];
static union bpf_attr no_program,
        map = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1 };
static struct perf_event_attr counter = { .type = PERF_TYPE_SOFTWARE,
                                          .size = sizeof counter,
                                          .config = PERF_COUNT_SW_CPU_CLOCK,
                                          .exclude_kernel = 1 };

static int urgent_data(struct probe_result *r)
{
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                return refused(r, "socketpair");
        return by_reply(r, send(ends[0], "x", 1, MSG_OOB), "send(MSG_OOB) on a local socket");
}

static int huge_pages(struct probe_result *r)
{
        void *p = mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE,
                       -1, 0);
        return by_reply(r, p == MAP_FAILED ? -1 : 0, "mmap(MAP_HUGETLB)");
}

static int compare_processes(struct probe_result *r)
{
        return by_reach(r, syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0), "kcmp", 0);
}

/* Calls that are there for the sake of old programs, and of exploits. */
static int old_calls(struct probe_result *r)
{
        static const struct {
                long nr;
                const char *name;
        } calls[] = {
#ifdef __x86_64__
                { 134, "uselib" },          { 136, "ustat" },
                { 139, "sysfs" },           { 156, "_sysctl" },
                { 174, "create_module" },   { 154, "modify_ldt" },
                { 205, "set_thread_area" }, { 216, "remap_file_pages" },
#else
                { 234, "remap_file_pages" }, { 42, "nfsservctl" },
#endif
                { 447, "memfd_secret" },    { 451, "cachestat" },
                { 470, "listns" },
        };

        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
                if (by_reach(r, syscall(calls[i].nr, 0, 0, 0, 0, 0, 0), calls[i].name, 0) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;

        return PROBE_HELD;
}

/* Numbers that no kernel of today has: an allow-list answers as an old kernel would. */
static int unknown_calls(struct probe_result *r)
{
        for (long nr = 472; nr < 600; nr++)
                if (syscall(nr, 0, 0, 0, 0, 0, 0) >= 0 || errno != ENOSYS)
                        return escaped(r, "call number %ld is not refused", nr);
        errno = ENOSYS;
        return refused(r, "calls 472 to 599");
}

static struct sock_filter allow_all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
static struct sock_fprog allow_prog = { 1, allow_all };

/* The newest filter's notification comes first: a listener of its own would answer for the box's filter. */
static int filter_listener(struct probe_result *r)
{
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* or the kernel refuses by itself */
        AUTO_FD(fd, (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 8 /* NEW_LISTENER */, &allow_prog));
        return by_reply(r, fd, "seccomp(NEW_LISTENER)");
}

static int filter_override(struct probe_result *r)
{
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 /* TSYNC */, &allow_prog) < 0)
                return refused(r, "seccomp(TSYNC)");
        AUTO_FD(fd, (int) syscall(425, 4, no_params));
        return by_reach(r, fd, "io_uring_setup after a filter that allows all", 0);
}

static int filter_by_prctl(struct probe_result *r)
{
        (void) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &allow_prog);
        AUTO_FD(fd, (int) syscall(425, 4, no_params));
        return by_reach(r, fd, "io_uring_setup after prctl(SECCOMP)", 0);
}

#define CLASS PROBE_KERNEL
static const struct probe rows[] = {
        CALL("io_uring cannot be set up", "calls go around the filter", "seccomp", "io_uring_setup", 425, 4,
             PROBE_PTR(no_params)),
        CALL("io_uring cannot be entered", "calls go around the filter", "seccomp", "io_uring_enter", 426, -1,
             0, 0, 0, 0, 0),
        CALL("io_uring cannot be registered with", "calls go around the filter", "seccomp",
             "io_uring_register", 427, -1, 0, 0, 0),
        CALL("no BPF map", "programs in the kernel", "seccomp,capabilities", "bpf(MAP_CREATE)", SYS_bpf,
             BPF_MAP_CREATE, PROBE_PTR(&map), sizeof map),
        CALL("no BPF program", "programs in the kernel", "seccomp,capabilities", "bpf(PROG_LOAD)", SYS_bpf,
             BPF_PROG_LOAD, PROBE_PTR(&no_program), sizeof no_program),
        CALL("no performance counter", "the machine is observed, and the kernel's largest call is reached",
             "seccomp", "perf_event_open", SYS_perf_event_open, PROBE_PTR(&counter), 0, -1, -1, 0),
        CALL("no userfaultfd", "the kernel can be held inside a copy", "seccomp", "userfaultfd",
             SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY: needs no privilege */),
        OPENS("no userfaultfd by device", "the kernel can be held inside a copy", "mount,landlock", O_RDWR,
              "/dev/userfaultfd"),
        CALL("no key can be added", "data outlives the box", "seccomp", "add_key", SYS_add_key, (long) "user",
             (long) "cordon-probe", (long) "x", 1, -2 /* process keyring */),
        CALL("no key can be asked for", "a helper runs on the host", "seccomp", "request_key",
             SYS_request_key, (long) "user", (long) "cordon-probe", 0, 0),
        CALL("no keyring can be read", "keys of the caller", "seccomp", "keyctl(GET_KEYRING_ID)", SYS_keyctl,
             0 /* GET_KEYRING_ID */, -3 /* session */, 0),
        CALL("the user's keyring cannot be linked", "keys of the caller (CVE-2017-12191)", "seccomp,user",
             "keyctl(LINK)", SYS_keyctl, 8 /* LINK */, -4 /* user keyring */, -2),
        CALL("kexec_load is closed", "another kernel is booted", "seccomp,capabilities", "kexec_load",
             SYS_kexec_load, 0, 0, 0, 1ul << 30),
        CALL("kexec_file_load is closed", "another kernel is booted", "seccomp,capabilities",
             "kexec_file_load", SYS_kexec_file_load, -1, -1, 0, (long) "", 0),
        CALL("init_module is closed", "code in the kernel", "seccomp,capabilities", "init_module",
             SYS_init_module, 0, 0, (long) ""),
        CALL("finit_module is closed", "code in the kernel", "seccomp,capabilities", "finit_module",
             SYS_finit_module, -1, (long) "", 0),
        CALL("delete_module is closed", "the host's drivers vanish", "seccomp,capabilities", "delete_module",
             SYS_delete_module, (long) "cordon_probe", O_NONBLOCK),
        CALL("quotactl is closed", "quotas of the host", "seccomp,capabilities", "quotactl", SYS_quotactl,
             0x80000100 /* Q_SYNC */, 0, 0, 0),
        CALL("quotactl_fd is closed", "quotas of the host", "seccomp,capabilities", "quotactl_fd", 443, -1,
             0x80000100, 0, 0),
        CALL("accounting is closed", "the kernel writes where the box says", "seccomp,capabilities", "acct",
             SYS_acct, (long) "/nonexistent/cordon"),
        CALL("swapon is closed", "memory of all goes where the box says", "seccomp,capabilities", "swapon",
             SYS_swapon, (long) "/nonexistent/cordon", 0),
        CALL("swapoff is closed", "the host runs out of memory", "seccomp,capabilities", "swapoff",
             SYS_swapoff, (long) "/nonexistent/cordon"),
        CALL("the kernel's log is closed", "addresses and events of the host", "seccomp", "syslog",
             SYS_syslog, 3 /* READ_ALL */, PROBE_PTR(text), sizeof text),
        CALL("no fanotify group", "file events of the host", "seccomp", "fanotify_init", SYS_fanotify_init,
             0x200 /* report ids: no privilege */, O_RDONLY),
        CALL_OR("no notification pipe", "rarely looked-at kernel code", "seccomp",
                "pipe2(O_NOTIFICATION_PIPE)", EINVAL, SYS_pipe2, PROBE_PTR(pipe_ends), O_EXCL | O_CLOEXEC),
        ROW("no urgent data on local sockets", "rarely looked-at kernel code (CVE-2025-38236)", "seccomp",
            urgent_data),
        ROW("no huge page of the host's pool", "memory that no limit counts", "seccomp", huge_pages),
        ROW("processes cannot be compared", "kernel pointers are ordered", "seccomp", compare_processes),
        ANSWER("randomisation cannot be turned off", "exploits become easy", "seccomp",
               "personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC)", SYS_personality,
               ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC),
        ANSWER("page zero cannot be asked for", "null pointers become usable", "seccomp",
               "personality(MMAP_PAGE_ZERO)", SYS_personality, MMAP_PAGE_ZERO),
        CALL("old asynchronous I/O is closed", "rarely looked-at kernel code", "seccomp", "io_setup",
             SYS_io_setup, 1, PROBE_PTR(&context)),
        ROW("old calls are closed", "rarely looked-at kernel code", "seccomp", old_calls),
        ROW("unknown calls are closed", "calls that the filter has not heard of", "seccomp", unknown_calls),
        ROW("no listener of the box's own", "the box answers for its own filter", "seccomp", filter_listener),
        ROW("a second filter does not undo the first", "the newest filter wins", "seccomp", filter_override),
        ROW("a filter by prctl does not undo the first", "the newest filter wins", "seccomp",
            filter_by_prctl),
        ANSWER("memory is not merged with strangers'", "timing tells what others hold", "seccomp",
               "prctl(MEMORY_MERGE)", SYS_prctl, 67 /* PR_SET_MEMORY_MERGE */, 1),
        CALL_OR("the layout of memory cannot be set", "rarely looked-at kernel code", "seccomp,capabilities",
                "prctl(SET_MM)", EINVAL, SYS_prctl, PR_SET_MM),
        CALL("pages cannot be moved between nodes", "memory of others is steered", "seccomp", "move_pages",
             SYS_move_pages, 0, 0, 0, 0, 0, 0),
};
const struct probe_list probes_kernel = PROBE_LIST(rows);
