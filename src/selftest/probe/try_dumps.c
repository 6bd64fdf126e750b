/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_dumps.c - the kernel's actions for a crashing process: a core file, or a program of the
 * host. */
#include "selftest/probe/probe_internal.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int core_limit(struct probe_result *r)
{
        struct rlimit now, more = { RLIM_INFINITY, RLIM_INFINITY };
        if (getrlimit(RLIMIT_CORE, &now) < 0)
                return refused(r, "getrlimit");
        if (now.rlim_max > 1)
                return escaped(r, "core files of %llu bytes are allowed", (unsigned long long) now.rlim_max);
        return by_reply(r, setrlimit(RLIMIT_CORE, &more), "raising the limit of core files");
}

static void crash_child(void *arg)
{
        (void) arg;
        (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        (void) signal(SIGABRT, SIG_DFL);
        (void) raise(SIGABRT);
}

static int core_file(struct probe_result *r)
{
        const char *dir = writable_dir();
        if (!dir || chdir(dir) < 0)
                return refused(r, "finding a writable place");

        int status = child_status(crash_child, NULL);
        if (status == -1 || !WIFSIGNALED(status))
                return cannot_tell(r, "nothing crashed");

        if (WCOREDUMP(status))
                return escaped(r, "the kernel dumped the memory of a process");

        return held(r, "crashed, and nothing was dumped");
}

/* RLIMIT_CORE of 0 does not stop a core_pattern that starts a program: only 1 does (fs/coredump.c, since
 * 2.6.32). Such a program runs as root outside every namespace, on the memory of the crashing process. A
 * socket there (since 6.16) gets it whatever the limit is. */
static int core_program(struct probe_result *r)
{
        struct rlimit now;
        if (getrlimit(RLIMIT_CORE, &now) < 0)
                return refused(r, "getrlimit");

        if (r->world->core_pipe == PROBE_CORE_SOCKET)
                return cannot_tell(r, "this host's core_pattern is a socket, which no limit closes");

        if (now.rlim_cur == 1 && now.rlim_max == 1)
                return held(r, "the limit is 1, by which the kernel starts no program");

        if (r->world->core_pipe != PROBE_CORE_PROGRAM)
                return held(r, "this host's core_pattern starts no program");

        if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
                return refused(r, "becoming dumpable");

        return escaped(r, "the limit is %llu: a crash starts the host's core program as root",
                       (unsigned long long) now.rlim_cur);
}

static const struct probe rows[] = {
#define CLASS PROBE_DUMPS
        ROW("core files are off and stay off", "memory is written to disk", "rlimit", core_limit),
        ROW("a crash leaves no file", "memory is written to disk", "rlimit,mount", core_file),
        ROW("a crash starts no program of the host", "a root program parses what the box made", "rlimit",
            core_program),
        WRITES("core_pattern cannot be written", "the kernel runs the box's program as root",
               "mount,landlock,proc", "/proc/sys/kernel/core_pattern"),
        WRITES("core_pattern cannot be written through init", "the kernel runs the box's program as root",
               "proc,mount,landlock,pid", "/proc/1/root/proc/sys/kernel/core_pattern"),
        WRITES("init's dump filter cannot be written", "the supervisor's memory is dumped",
               "proc,mount,landlock,pid", "/proc/1/coredump_filter"),
};
const struct probe_list probes_dumps = PROBE_LIST(rows);
