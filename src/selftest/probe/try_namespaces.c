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

static void reap_child(long pid)
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
        reap_child(pid);
        return pid;
}

static long call_clone3(unsigned long flags)
{
        struct clone_args a = { .flags = flags, .exit_signal = SIGCHLD };
        long pid = syscall(SYS_clone3, &a, sizeof a);
        if (pid == 0)
                _exit(0);
        reap_child(pid);
        return pid;
}

/* Tries it alone, and then as every unprivileged process does it: together with a user namespace. */
static int try_flag(struct probe_result *r, long (*call)(unsigned long))
{
        unsigned long flag = (unsigned long) r->probe->call[0];
        if (call(flag) >= 0)
                return escaped(r, "%s succeeded", r->probe->what);
        return by_reply(r, call(flag | CLONE_NEWUSER), r->probe->what);
}

static int by_unshare(struct probe_result *r) { return try_flag(r, call_unshare); }
static int by_clone(struct probe_result *r) { return try_flag(r, call_clone); }
static int by_clone3(struct probe_result *r) { return try_flag(r, call_clone3); }

static int by_setns(struct probe_result *r)
{
        const char *name = r->probe->what;
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

static int clone_parent(struct probe_result *r)
{
        return by_reply(r, call_clone(CLONE_PARENT), "clone(PARENT)");
}

static int userns_owner(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/self/uid_map", O_RDWR | O_CLOEXEC));
        return by_reply(r, fd, "open /proc/self/uid_map for writing");
}

#define FIRST  "seccomp,nested-user,capabilities"
#define CLASS  PROBE_NAMESPACES
#define OWNERS "kernel code for namespace owners"
#define NAMESPACE(n, flag, text)                                                                             \
        NUMBERS("no new namespace by unshare: " #n, OWNERS, FIRST, by_unshare, "unshare(" text ")", flag),   \
                NUMBERS("no new namespace by clone3: " #n, OWNERS, FIRST, by_clone3, "clone3(" text ")",     \
                        flag),                                                                               \
                NUMBERS("no namespace is joined: " #n, "the box leaves its namespaces", FIRST, by_setns, #n, \
                        0)
#define CLONE(n, flag, text)                                                                                 \
        NUMBERS("no new namespace by clone: " #n, OWNERS, FIRST, by_clone, "clone(" text ")", flag)

static const struct probe rows[] = {
        NAMESPACE(user, CLONE_NEWUSER, "NEWUSER"),
        NAMESPACE(mnt, CLONE_NEWNS, "NEWNS"),
        NAMESPACE(pid, CLONE_NEWPID, "NEWPID"),
        NAMESPACE(net, CLONE_NEWNET, "NEWNET"),
        NAMESPACE(ipc, CLONE_NEWIPC, "NEWIPC"),
        NAMESPACE(uts, CLONE_NEWUTS, "NEWUTS"),
        NAMESPACE(cgroup, CLONE_NEWCGROUP, "NEWCGROUP"),
        NAMESPACE(time, CLONE_NEWTIME, "NEWTIME"),
        /* clone(2) has no bit for a time namespace. */
        CLONE(user, CLONE_NEWUSER, "NEWUSER"),
        CLONE(mnt, CLONE_NEWNS, "NEWNS"),
        CLONE(pid, CLONE_NEWPID, "NEWPID"),
        CLONE(net, CLONE_NEWNET, "NEWNET"),
        CLONE(ipc, CLONE_NEWIPC, "NEWIPC"),
        CLONE(uts, CLONE_NEWUTS, "NEWUTS"),
        CLONE(cgroup, CLONE_NEWCGROUP, "NEWCGROUP"),
        /* One bit that is let through would be enough. */
        NUMBERS("no new namespaces all at once", "a box within the box with all powers", FIRST, by_unshare,
                "unshare(all)",
                CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS),
        ROW("no child is given to the parent", "a process leaves the payload's tree", "seccomp",
            clone_parent),
        /* Garbage in the high half must not hide a flag (CVE-2019-10063's shape). */
        NUMBERS("high bits do not hide a namespace flag", "the filter looks at the wrong half", FIRST,
                by_clone, "clone(NEWUSER | 1 << 40)", CLONE_NEWUSER | (1ul << 40)),
        ROW("the id map cannot be written again", "more ids are mapped in", "mount,landlock,user",
            userns_owner),
        WRITES("the next pid cannot be chosen", "pids are reused at will", "mount,landlock,proc",
               "/proc/sys/kernel/ns_last_pid"),
};
const struct probe_list probes_namespaces = PROBE_LIST(rows);
