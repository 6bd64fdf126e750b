/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_namespaces.c - creates namespaces by every call and every flag, and joins existing ones.
 * Most kernel exploits start in a new user namespace. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void reap(long pid)
{
        int sys = errno;
        if (pid > 0)
                (void) waitpid((pid_t) pid, NULL, __WALL);
        errno = sys;
}

static long call_unshare(unsigned long flags) { return unshare((int) flags); }

static long call_clone(unsigned long flags)
{
        /* The order of the last two arguments differs between machines; both are empty. */
        long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
        if (pid == 0)
                _exit(0);
        reap(pid);
        return pid;
}

static long call_clone3(unsigned long flags)
{
        struct clone_args a = { .flags = flags, .exit_signal = SIGCHLD };
        long pid = syscall(SYS_clone3, &a, sizeof a);
        if (pid == 0)
                _exit(0);
        reap(pid);
        return pid;
}

/* Tries it alone, and then as every unprivileged process does it: together with a user namespace. */
static int try_flag(struct probe_result *r, long (*call)(unsigned long), unsigned long flag, const char *what)
{
        if (call(flag) >= 0)
                return escaped(r, "%s succeeded", what);
        return by_reply(r, call(flag | CLONE_NEWUSER), what);
}

static int try_unshare(struct probe_result *r, unsigned long flag, const char *what)
{
        char text[64];
        (void) snprintf(text, sizeof text, "unshare(%s)", what);
        return try_flag(r, call_unshare, flag, text);
}

static int try_clone(struct probe_result *r, unsigned long flag, const char *what)
{
        char text[64];
        (void) snprintf(text, sizeof text, "clone(%s)", what);
        return try_flag(r, call_clone, flag, text);
}

static int try_clone3(struct probe_result *r, unsigned long flag, const char *what)
{
        char text[64];
        (void) snprintf(text, sizeof text, "clone3(%s)", what);
        return try_flag(r, call_clone3, flag, text);
}

static int try_setns(struct probe_result *r, const char *name)
{
        char path[64], call[64];
        (void) snprintf(path, sizeof path, "/proc/self/ns/%s", name);
        (void) snprintf(call, sizeof call, "setns(%s)", name);
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        if (fd < 0) { /* no descriptor to join by: the call itself must be shut all the same */
                fd_close(&fd);
                return by_reach(r, syscall(SYS_setns, -1, 0), call, 0);
        }

        return by_reply(r, syscall(SYS_setns, fd, 0), call);
}

/* The flags, and their names. clone(2) has no bit for a time namespace. */
#define CLONES(X)                                                                                            \
        X(user, CLONE_NEWUSER, "NEWUSER")                                                                    \
        X(mnt, CLONE_NEWNS, "NEWNS")                                                                         \
        X(pid, CLONE_NEWPID, "NEWPID")                                                                       \
        X(net, CLONE_NEWNET, "NEWNET")                                                                       \
        X(ipc, CLONE_NEWIPC, "NEWIPC")                                                                       \
        X(uts, CLONE_NEWUTS, "NEWUTS")                                                                       \
        X(cgroup, CLONE_NEWCGROUP, "NEWCGROUP")
#define EACH(X)                                                                                              \
        CLONES(X)                                                                                            \
        X(time, CLONE_NEWTIME, "NEWTIME")

#define FUNCTIONS(n, flag, text)                                                                             \
        static int unshare_##n(struct probe_result *r) { return try_unshare(r, flag, text); }                \
        static int clone3_##n(struct probe_result *r) { return try_clone3(r, flag, text); }                  \
        static int setns_##n(struct probe_result *r) { return try_setns(r, #n); }
EACH(FUNCTIONS)

#define CLONE_FUNCTION(n, flag, text)                                                                        \
        static int clone_##n(struct probe_result *r) { return try_clone(r, flag, text); }
CLONES(CLONE_FUNCTION)

/* All at once, as `unshare -Urmpf` does: one bit that is let through would be enough. */
static int unshare_all(struct probe_result *r)
{
        return try_unshare(
                r, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS,
                "all");
}

static int clone_parent(struct probe_result *r)
{
        return by_reply(r, call_clone(CLONE_PARENT), "clone(PARENT)");
}

/* Garbage in the high half must not hide a flag (CVE-2019-10063's shape). */
static int clone_high_bits(struct probe_result *r)
{
        return try_clone(r, CLONE_NEWUSER | (1ul << 40), "NEWUSER | 1 << 40");
}

static int userns_owner(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/self/uid_map", O_RDWR | O_CLOEXEC));
        return by_reply(r, fd, "open /proc/self/uid_map for writing");
}

static int ns_last_pid(struct probe_result *r) { return by_write_open(r, "/proc/sys/kernel/ns_last_pid"); }

#define FIRST  "seccomp,nested-user,capabilities"
#define CLASS  PROBE_NAMESPACES
#define OWNERS "kernel code for namespace owners"
#define ROWS(n, flag, text)                                                                                  \
        ROW("no new namespace by unshare: " #n, OWNERS, FIRST, unshare_##n),                                 \
                ROW("no new namespace by clone3: " #n, OWNERS, FIRST, clone3_##n),                           \
                ROW("no namespace is joined: " #n, "the box leaves its namespaces", FIRST, setns_##n),
#define CLONE_ROW(n, flag, text) ROW("no new namespace by clone: " #n, OWNERS, FIRST, clone_##n),

static const struct probe rows[] = {
        EACH(ROWS) CLONES(CLONE_ROW) ROW("no new namespaces all at once",
                                         "a box within the box with all powers", FIRST, unshare_all),
        ROW("no child is given to the parent", "a process leaves the payload's tree", "seccomp",
            clone_parent),
        ROW("high bits do not hide a namespace flag", "the filter looks at the wrong half", FIRST,
            clone_high_bits),
        ROW("the id map cannot be written again", "more ids are mapped in", "mount,landlock,user",
            userns_owner),
        ROW("the next pid cannot be chosen", "pids are reused at will", "mount,landlock,proc", ns_last_pid),
};
const struct probe_list probes_namespaces = PROBE_LIST(rows);
