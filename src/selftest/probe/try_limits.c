/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_limits.c - raises its own limits, or puts pressure on the machine and on other
 * processes. Nothing here uses much of any resource: bombs do, and have their own command. */
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { QUEUES = 200, CACHESTAT = 451 };

/* The size of files is not among them: if the box writes only private files, their filesystem has a size of
 * its own. */
static int raise_each(struct probe_result *r)
{
        static const int which[] = { RLIMIT_CORE,       RLIMIT_NOFILE,  RLIMIT_NPROC,
                                     RLIMIT_CPU,        RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE,
                                     RLIMIT_SIGPENDING, RLIMIT_RTPRIO,  RLIMIT_NICE };
        for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
                struct rlimit now, more;
                if (syscall(SYS_prlimit64, 0, which[i], NULL, &now) < 0 || now.rlim_max == RLIM_INFINITY)
                        return escaped(r, "limit %d has no end", which[i]);
                more = (struct rlimit){ now.rlim_cur, now.rlim_max + 1 };
                if (syscall(SYS_prlimit64, 0, which[i], &more, NULL) == 0)
                        return escaped(r, "limit %d was raised", which[i]);
        }

        return refused(r, "raising nine limits");
}

static int limit_other(struct probe_result *r)
{
        struct rlimit now;
        if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &now) < 0)
                return refused(r, "prlimit64");
        return by_reply(r, syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, &now, NULL),
                        "prlimit64 of another process");
}

static int raise_priority(struct probe_result *r)
{
        errno = 0;
        int now = getpriority(PRIO_PROCESS, 0);
        return by_reply(r, setpriority(PRIO_PROCESS, 0, now - 1), "raising its own priority");
}

static int real_time(struct probe_result *r)
{
        struct sched_param p = { .sched_priority = 1 };
        return by_reply(r, syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &p), "real-time scheduling");
}

/* The process that answers denials and samples limits has the box's own user outside: a nice value or a
 * processor mask that the box may set slows its own supervisor. Each is set to its present value. */
static pid_t braked_process(const struct probe_result *r)
{
        return r->probe->call[0] == OF_BYSTANDER ? (pid_t) r->world->bystander : 1;
}

static int brake_nice(struct probe_result *r)
{
        pid_t pid = braked_process(r);
        errno = 0;
        int now = getpriority(PRIO_PROCESS, (id_t) pid);
        if (errno != 0)
                return refused(r, r->probe->what);
        return by_reply(r, setpriority(PRIO_PROCESS, (id_t) pid, now), r->probe->what);
}

static int brake_mask(struct probe_result *r)
{
        pid_t pid = braked_process(r);
        cpu_set_t now;
        if (sched_getaffinity(pid, sizeof now, &now) < 0)
                return refused(r, r->probe->what);
        return by_reply(r, sched_setaffinity(pid, sizeof now, &now), r->probe->what);
}

/* musl answers both calls by itself. */
static int brake_class(struct probe_result *r)
{
        pid_t pid = braked_process(r);
        struct sched_param p = { 0 };
        long now = syscall(SYS_sched_getscheduler, pid);
        if (now < 0)
                return refused(r, r->probe->what);
        return by_reply(r, syscall(SYS_sched_setscheduler, pid, now, &p), r->probe->what);
}

static int brake_io(struct probe_result *r)
{
        pid_t pid = braked_process(r);
        long now = syscall(SYS_ioprio_get, 1, pid);
        if (now < 0)
                return refused(r, r->probe->what);
        return by_reply(r, syscall(SYS_ioprio_set, 1, pid, now), r->probe->what);
}

static int oom_score(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /proc/self/oom_score_adj for writing");
        return by_reply(r, write(fd, "-1000", 5), "lowering its own out-of-memory score");
}

static int lock_memory(struct probe_result *r)
{
        enum { MUCH = 64 << 20 };
        void *p =
                mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
                return refused(r, "mmap");
        return by_reply(r, mlock(p, MUCH), "locking 64 MiB of memory");
}

static int many_files(struct probe_result *r)
{
        struct rlimit now;
        if (getrlimit(RLIMIT_NOFILE, &now) < 0 || now.rlim_max > 1 << 20)
                return escaped(r, "more than a million open files are allowed");
        return held(r, "at most %llu open files", (unsigned long long) now.rlim_max);
}

static int madvise_share(struct probe_result *r)
{
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return by_reply(r, madvise(p, 4096, MADV_MERGEABLE), "madvise(MERGEABLE)");
}

/* Each takes some 80 KiB from the user's budget. */
static int many_queues(struct probe_result *r)
{
        char name[32];
        struct mq_attr a = { .mq_maxmsg = 10, .mq_msgsize = 8192 };
        long made = 0, fd = 0;

        for (; made < QUEUES && fd >= 0; made++) {
                (void) snprintf(name, sizeof name, "cordon-%ld", made);
                fd = syscall(SYS_mq_open, name, O_CREAT | O_EXCL | O_RDWR, 0600, &a);
                r->sys = errno;
                if (fd >= 0)
                        (void) close((int) fd);
        }

        for (long i = 0; i < made; i++) {
                (void) snprintf(name, sizeof name, "cordon-%ld", i);
                (void) syscall(SYS_mq_unlink, name);
        }

        return fd >= 0 ? escaped(r, "%d message queues", QUEUES)
                       : held(r, "message queue %ld: %s", made, errno_name(r->sys));
}

static int page_cache(struct probe_result *r)
{
        struct {
                uint64_t off, len;
        } range = { 0, 4096 };

        uint64_t found[5];
        AUTO_FD(fd, open(r->world->self[0] ? r->world->self : "/proc/self/exe", O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open");

        /* It answers in both cases: bytes, or EAGAIN when they would have to be read first. */
        char byte;
        struct iovec to = { &byte, 1 };
        if (syscall(SYS_preadv2, fd, &to, 1, 0, 0, 8 /* RWF_NOWAIT */) >= 0 || errno == EAGAIN)
                return escaped(r, "preadv2(RWF_NOWAIT) tells what the page cache has");

        return by_reply(r, syscall(CACHESTAT, fd, &range, found, 0), "cachestat");
}

static int advise_other(struct probe_result *r)
{
        AUTO_FD(pidfd, (int) syscall(SYS_pidfd_open, getppid(), 0));
        return by_reach(r, syscall(440 /* process_madvise */, pidfd, NULL, 0, 20, 0), "process_madvise", 0);
}

static const struct rlimit low = { 1, 1 };
static const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
} deadline = { sizeof deadline, 6 /* SCHED_DEADLINE */, 0, 0, 0, 1000000, 10000000, 10000000 };
#ifdef __x86_64__
static char segments[16];
#endif

static const struct probe rows[] = {
#define CLASS PROBE_LIMITS
        ROW("no limit can be raised", "the box uses more than it was given", "rlimit,capabilities",
            raise_each),
        ROW("no other's limits can be set", "others are starved", "seccomp", limit_other),
        ANSWER("init's limits cannot be set", "the supervisor is starved", "seccomp,user",
               "prlimit64 of pid 1", SYS_prlimit64, 1, RLIMIT_NOFILE, PROBE_PTR(&low)),
        ROW("the priority cannot be raised", "others wait", "rlimit,capabilities", raise_priority),
        ROW("no real-time scheduling", "others stop", "rlimit,capabilities", real_time),
        ANSWER("no deadline scheduling", "others stop", "capabilities", "deadline scheduling",
               SYS_sched_setattr, 0, PROBE_PTR(&deadline), 0),
        ANSWER("no real-time input and output", "others wait for the disk", "capabilities",
               "real-time input and output", SYS_ioprio_set, 1, 0, 1 << 13 /* real-time class */),
        NUMBERS("init's priority cannot be set", "the supervisor falls behind", "seccomp", brake_nice,
                "setpriority of pid 1", 1),
        NUMBERS("init's processors cannot be set", "the supervisor falls behind", "seccomp", brake_mask,
                "sched_setaffinity of pid 1", 1),
        NUMBERS("init's scheduling cannot be set", "the supervisor starves", "seccomp", brake_class,
                "sched_setscheduler of pid 1", 1),
        NUMBERS("init's disk priority cannot be set", "the supervisor falls behind", "seccomp", brake_io,
                "ioprio_set of pid 1", 1),
        NUMBERS("no priority outside can be set", "the caller's programs crawl", "pid,seccomp", brake_nice,
                "setpriority of a process outside", OF_BYSTANDER),
        NUMBERS("no processors outside can be set", "the caller's programs crawl", "pid,seccomp", brake_mask,
                "sched_setaffinity of a process outside", OF_BYSTANDER),
        NUMBERS("no scheduling outside can be set", "the caller's programs starve", "pid,seccomp",
                brake_class, "sched_setscheduler of a process outside", OF_BYSTANDER),
        NUMBERS("no disk priority outside can be set", "the caller's programs crawl", "pid,seccomp", brake_io,
                "ioprio_set of a process outside", OF_BYSTANDER),
        ROW("the out-of-memory score cannot be lowered", "others are ended in its place",
            "mount,landlock,capabilities", oom_score),
        ROW("memory cannot be locked beyond the limit", "the machine swaps", "rlimit", lock_memory),
        ROW("open files have an end", "the machine's table fills", "rlimit", many_files),
        ROW("message queues have an end", "kernel memory that no process holds", "landlock,rlimit,seccomp",
            many_queues),
        ROW("the page cache does not tell what others read", "the caller's work is observed", "seccomp",
            page_cache),
#ifdef __x86_64__
        ANSWER("no port privilege by iopl", "hardware", "seccomp,capabilities", "iopl", SYS_iopl, 3),
        ANSWER("no port privilege by ioperm", "hardware", "seccomp,capabilities", "ioperm", SYS_ioperm, 0x80,
               1, 1),
        CALL("no segments of its own", "rarely looked-at kernel code", "seccomp", "modify_ldt",
             SYS_modify_ldt, 0, PROBE_PTR(segments), sizeof segments),
#endif
        ROW("pages are not shared with strangers", "timing tells what others hold", "seccomp", madvise_share),
        ROW("no advice on another's memory", "others' pages are dropped", "seccomp", advise_other),
};
const struct probe_list probes_limits = PROBE_LIST(rows);
