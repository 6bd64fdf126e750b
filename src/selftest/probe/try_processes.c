/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_processes.c - other processes: seeing them, reading them, steering them, signalling
 * them. The harness's own processes are only ever sent signal 0. */
#include "selftest/probe/probe_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t sleeping_child(void)
{
        pid_t pid = fork();
        if (pid == 0) {
                (void) pause();
                _exit(0);
        }
        return pid;
}

static void end_sleeper(pid_t pid)
{
        int sys = errno;
        if (pid > 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
        }
        errno = sys;
}

static int trace_child(struct probe_result *r)
{
        pid_t pid = sleeping_child();
        if (pid < 0)
                return cannot_tell(r, "no process to trace");

        long reply = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
        int o = by_reply(r, reply, "ptrace of a child");
        end_sleeper(pid);
        return o;
}

static int vm_read(struct probe_result *r)
{
        char byte, *far = (char *) (uintptr_t) &sleeping_child; /* the same program: the address is mapped
                                                                   there too */
        pid_t pid = sleeping_child();
        struct iovec mine = { &byte, 1 }, its = { far, 1 };
        int o = by_reply(r, process_vm_readv(pid, &mine, 1, &its, 1, 0), "process_vm_readv of a child");

        end_sleeper(pid);
        return o;
}

static int vm_write(struct probe_result *r)
{
        static char byte = 'x';
        pid_t pid = sleeping_child();
        struct iovec mine = { &byte, 1 }, its = { &byte, 1 };
        int o = by_reply(r, process_vm_writev(pid, &mine, 1, &its, 1, 0), "process_vm_writev to a child");
        end_sleeper(pid);
        return o;
}

static int take_descriptor(struct probe_result *r)
{
        pid_t pid = sleeping_child();
        AUTO_FD(pidfd, (int) syscall(SYS_pidfd_open, pid, 0));
        AUTO_FD(fd, (int) syscall(SYS_pidfd_getfd, pidfd, 1, 0));
        int o = by_reply(r, fd, "pidfd_getfd of a child");
        end_sleeper(pid);
        return o;
}

static int pidfd_init(struct probe_result *r)
{
        AUTO_FD(pidfd, (int) syscall(SYS_pidfd_open, 1, 0));
        if (pidfd < 0)
                return refused(r, "pidfd_open of pid 1");
        AUTO_FD(fd, (int) syscall(SYS_pidfd_getfd, pidfd, 0, 0));
        return by_reply(r, fd, "pidfd_getfd of pid 1");
}

/* Linux 6.11: a pidfd hands out the namespaces of its process. */
static int pidfd_namespaces(struct probe_result *r)
{
        AUTO_FD(pidfd, (int) syscall(SYS_pidfd_open, 1, 0));
        if (pidfd < 0)
                return refused(r, "pidfd_open of pid 1");

        for (unsigned nr = 1; nr <= 10; nr++) {
                AUTO_FD(ns, ioctl(pidfd, _IO(0xff, nr), 0));
                if (ns >= 0)
                        return escaped(r, "a namespace of pid 1 was handed out by ioctl %u", nr);
        }

        return refused(r, "ioctl PIDFD_GET_*_NAMESPACE of pid 1");
}

static int proc_mem_outside(struct probe_result *r)
{
        char path[64];
        (void) snprintf(path, sizeof path, "/proc/%lld/mem", (long long) r->world->bystander);
        return by_open(r, path, O_RDWR);
}

static int proc_shows(struct probe_result *r)
{
        DIR *d = opendir("/proc");
        if (!d)
                return refused(r, "opendir /proc");

        for (struct dirent *e; (e = readdir(d));) {
                long pid = strtol(e->d_name, NULL, 10);
                /* All of ours descend from the prober, whose process group is this one's parent's or its own.
                 */
                if (pid <= 0 || pid == getpid() || pid == getppid())
                        continue;
                (void) closedir(d);
                return escaped(r, "/proc shows process %ld, which is not ours", pid);
        }

        (void) closedir(d);
        return held(r, "/proc shows only the prober");
}

/* Signal 0 to every possible pid: a process that answers and is not ours lies outside. */
static int signal_sweep(struct probe_result *r)
{
        for (int pid = 2; pid < 70000; pid++) { /* pid 1 has its own probe */
                if (pid == getpid() || pid == getppid())
                        continue;
                if (kill(pid, 0) == 0)
                        return escaped(r, "process %d, which is not ours, can be signalled", pid);
        }

        return refused(r, "kill(2..70000, 0)");
}

static int signal_pidfd(struct probe_result *r)
{
        AUTO_FD(pidfd, (int) syscall(SYS_pidfd_open, (pid_t) r->world->bystander, 0));
        if (pidfd < 0)
                return refused(r, "pidfd_open outside");
        return by_reply(r, syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0), "pidfd_send_signal outside");
}

/* init must outlive the signals of its children; a stopped init could not be a witness. */
static int signal_init(struct probe_result *r)
{
        int a = kill(1, SIGSTOP), sys = errno;
        const struct timespec t = { 0, 20000000 };
        (void) nanosleep(&t, NULL);

        /* Only init answers a reported call: an answer shows that it lives. */
        errno = sys;
        if (a == 0)
                return held(r, "SIGSTOP to pid 1 was taken and dropped");

        return refused(r, "kill(1, SIGSTOP)");
}

/* A descriptor's signal goes to the target set by fcntl, and the kernel decides only when it is sent. The
 * bystander counts the signals that it gets; every other process ignores SIGURG. */
static int signal_owner(struct probe_result *r)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
                return cannot_tell(r, "no pipe");

        if (fcntl(ends[0], F_SETOWN, (pid_t) r->world->bystander) < 0)
                return refused(r, "F_SETOWN to a process outside");

        (void) fcntl(ends[0], F_SETSIG, SIGURG);
        (void) fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        (void) !write(ends[1], "x", 1);
        return held(r, "sent by the kernel; the bystander tells whether it came");
}

/* A box names its own threads by /proc, and no other process: opened, and not written. */
static int name_other(struct probe_result *r)
{
        static const char *const ways[] = { "/proc/%d/comm", "/proc/%d/task/%d/comm",
                                            "/proc/self/task/%d/comm", "/proc/thread-self/../%d/comm" };
        const pid_t of[] = { 1, getppid(), (pid_t) r->world->keeper, (pid_t) r->world->bystander };
        char path[64];
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
                for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                        (void) snprintf(path, sizeof path, ways[i], (int) of[k], (int) of[k]);
#pragma GCC diagnostic pop
                        if (by_write_open(r, path) == PROBE_ESCAPED)
                                return PROBE_ESCAPED;
                }

        return (int) r->outcome;
}

/* Other files of a thread that could be written, by the paths of its name. */
static int write_beside_name(struct probe_result *r)
{
        static const char *const files[] = {
                "oom_score_adj",  "oom_adj",   "clear_refs", "sched",    "coredump_filter", "attr/current",
                "attr/exec",      "loginuid",  "uid_map",    "gid_map",  "setgroups",       "projid_map",
                "timens_offsets", "autogroup", "mem",        "fail-nth", "timerslack_ns",
        };
        char path[96];
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                for (int way = 0; way < 3; way++) {
                        if (way == 0)
                                (void) snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int) getpid(),
                                                files[i]);
                        else
                                (void) snprintf(path, sizeof path, "/proc/%s/%s",
                                                way == 1 ? "thread-self" : "self", files[i]);
                        if (by_write_open(r, path) == PROBE_ESCAPED)
                                return PROBE_ESCAPED;
                }

        return (int) r->outcome;
}

static char far_byte;
static const struct iovec here = { &far_byte, 1 }, there = { (void *) (uintptr_t) &sleeping_child, 1 };
static const siginfo_t queued = { .si_code = SI_QUEUE };

#define CLASS PROBE_PROCESSES
static const struct probe rows[] = {
        ROW("a child cannot be traced", "the kernel's tracing code is reached", "seccomp", trace_child),
        ANSWER("nobody can ask to be traced", "the kernel's tracing code is reached", "seccomp",
               "PTRACE_TRACEME", SYS_ptrace, PTRACE_TRACEME),
        ANSWER("init cannot be traced", "the box's own supervisor is steered", "seccomp,landlock,user",
               "ptrace of pid 1", SYS_ptrace, PTRACE_SEIZE, 1),
        ANSWER("a process outside cannot be traced", "code runs outside", "seccomp,pid,landlock",
               "ptrace of a process outside", SYS_ptrace, PTRACE_SEIZE, OF_BYSTANDER),
        ROW("another's memory cannot be read by call", "secrets of other processes", "seccomp", vm_read),
        ROW("another's memory cannot be written by call", "code runs in other processes", "seccomp",
            vm_write),
        CALL_OR("memory outside cannot be read", "secrets of host processes", "seccomp,pid,landlock",
                "process_vm_readv outside", ESRCH, SYS_process_vm_readv, OF_BYSTANDER, PROBE_PTR(&here), 1,
                PROBE_PTR(&there), 1),
        ROW("no descriptor of another can be taken", "files and sockets of other processes", "seccomp",
            take_descriptor),
        ROW("no descriptor of init can be taken", "the control socket of the box", "seccomp,landlock,user",
            pidfd_init),
        ROW("no namespace is handed out by pidfd", "namespaces of init", "landlock,user,pid",
            pidfd_namespaces),
        READS("init's memory is closed", "the box's supervisor is rewritten", "proc,landlock,pid",
              "/proc/1/mem"),
        ROW("memory outside is closed", "host processes are rewritten", "pid,proc,landlock",
            proc_mem_outside),
        READS("init's environment is closed", "the caller's variables", "proc,landlock,pid",
              "/proc/1/environ"),
        ROW("/proc shows no process that is not ours", "the host's processes and their arguments",
            "pid,proc,landlock", proc_shows),
        ROW("no process outside answers a signal", "host processes can be ended", "pid,landlock",
            signal_sweep),
        ANSWER("a bystander of the same user is not signalled", "the caller's programs can be ended",
               "pid,landlock", "kill of a process outside", SYS_kill, OF_BYSTANDER, 0),
        ANSWER("the keeper is not signalled", "limits end with the keeper", "pid,landlock",
               "kill of the keeper", SYS_kill, OF_KEEPER, 0),
        ROW("no pidfd of a process outside", "signals without a pid", "pid,landlock", signal_pidfd),
        ANSWER("no queued signal goes outside", "signals with a payload", "pid,landlock",
               "rt_sigqueueinfo outside", SYS_rt_sigqueueinfo, OF_BYSTANDER, 0, PROBE_PTR(&queued)),
        ROW("init cannot be stopped", "refusals and limits stop with it", "pid,landlock", signal_init),
        ROW("no descriptor's signal goes outside", "signals by way of the kernel", "pid,landlock",
            signal_owner),
        ROW("no other process can be named", "what the host's process lists show is false",
            "mount,proc,landlock,pid", name_other),
        ROW("nothing of a thread can be written but its name", "the kernel treats it otherwise",
            "mount,landlock", write_beside_name),
};
const struct probe_list probes_processes = PROBE_LIST(rows);
