/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_races.c - between the look and the act: names that flip while a check runs, and
 * processes that outlive theirs. Each hammers for a fifth of a second. */
#include "base/clock.h"
#include "selftest/probe/probe_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HAMMER_NS = 200000000 };

struct shared {
        volatile int stop;
        char path[256];
};

static struct shared *share_path(void)
{
        struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        return s == MAP_FAILED ? NULL : s;
}

static pid_t flip_path(struct shared *s, const char *a, const char *b)
{
        pid_t pid = fork();
        if (pid != 0)
                return pid;
        for (unsigned i = 0; !s->stop; i++)
                (void) snprintf(s->path, sizeof s->path, "%s", i & 1 ? a : b);
        _exit(0);
}

static void end_flipping(struct shared *s, pid_t pid)
{
        s->stop = 1;
        if (pid > 0) {
                (void) kill(pid, SIGKILL);
                (void) waitpid(pid, NULL, 0);
        }
}

/* A path in memory that another process rewrites (TOCTOU): a check that reads it cannot know what the kernel
 * reads. */
static int flipped_argument(struct probe_result *r)
{
        char other[256];
        struct shared *s = share_path();
        if (!s)
                return cannot_tell(r, "no memory");

        (void) snprintf(other, sizeof other, "%s", canary(r, "secret"));
        pid_t pid = flip_path(s, "/usr/lib/os-release", other);
        bool got = false;
        for (uint64_t until = clock_mono_ns() + HAMMER_NS; !got && clock_mono_ns() < until;) {
                AUTO_FD(fd, open(s->path, O_RDONLY | O_CLOEXEC));
                got = fd >= 0 && holds_mark(fd);
        }

        end_flipping(s, pid);
        if (got)
                says_canary(r);

        return got ? escaped(r, "a path that flips led out") : held(r, "a path that flips never led out");
}

static int exchange_links(struct probe_result *r)
{
        char a[128], b[128];
        AUTO_FD(fd, make_file(a, "race-a", 0600));
        AUTO_FD(fd2, make_file(b, "race-b", 0600));
        if (fd < 0 || fd2 < 0)
                return refused(r, "making two files");

        (void) unlink(b);
        (void) !symlink(canary(r, "secret"), b);
        pid_t pid = fork();
        if (pid == 0)
                for (;;)
                        (void) syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2 /* RENAME_EXCHANGE */);

        bool got = false;
        for (uint64_t until = clock_mono_ns() + HAMMER_NS; !got && clock_mono_ns() < until;) {
                AUTO_FD(in, open(a, O_RDONLY | O_CLOEXEC));
                got = in >= 0 && holds_mark(in);
        }

        if (pid > 0)
                (void) kill(pid, SIGKILL), (void) waitpid(pid, NULL, 0);

        (void) unlink(a);
        (void) unlink(b);
        if (got)
                says_canary(r);

        return got ? escaped(r, "a link that flips led out") : held(r, "a link that flips never led out");
}

/* A directory moved up while another walks down from it with `..`: the kernel must keep the walk under the
 * root. */
static int moved_directory(struct probe_result *r)
{
        const char *dir = writable_dir();
        char deep[200], away[200], up[600];
        if (!dir)
                return refused(r, "finding a writable place");

        (void) snprintf(deep, sizeof deep, "%s/race-d", dir);
        (void) snprintf(away, sizeof away, "%s/race-d/in", dir);
        (void) mkdir(deep, 0700);
        (void) mkdir(away, 0700);
        (void) snprintf(up, sizeof up, "%s/../../../../../../..%s", away, canary(r, "secret"));
        char moved[200];
        (void) snprintf(moved, sizeof moved, "%s/race-moved", dir);
        pid_t pid = fork();
        if (pid == 0)
                for (;;) {
                        (void) rename(away, moved);
                        (void) rename(moved, away);
                }

        bool got = false;
        for (uint64_t until = clock_mono_ns() + HAMMER_NS; !got && clock_mono_ns() < until;) {
                AUTO_FD(in, open(up, O_RDONLY | O_CLOEXEC));
                got = in >= 0 && holds_mark(in);
        }

        if (pid > 0)
                (void) kill(pid, SIGKILL), (void) waitpid(pid, NULL, 0);

        (void) rmdir(away);
        (void) rmdir(moved);
        (void) rmdir(deep);
        if (got)
                says_canary(r);

        return got ? escaped(r, "the walk up left the root") : held(r, "the walk up never left the root");
}

/* Open-and-write on every /proc/PID/exe while processes come and go. */
static int exe_window(struct probe_result *r)
{
        for (uint64_t until = clock_mono_ns() + HAMMER_NS; clock_mono_ns() < until;) {
                pid_t pid = fork();
                if (pid == 0)
                        _exit(0);
                char path[64];
                (void) snprintf(path, sizeof path, "/proc/%d/exe", pid);
                if (by_write_open(r, path) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
                if (pid > 0)
                        (void) waitpid(pid, NULL, 0);
        }

        return by_write_open(
                r, "/proc/self/exe"); /* a race that was never won shows nothing about a busy file */
}

/* A mode read by the filter from a register cannot be changed under it; one behind a pointer could. */
static int pointer_modes(struct probe_result *r)
{
        uint64_t how[3] = { O_RDONLY, 0, 0 };
        AUTO_FD(fd, (int) syscall(437, AT_FDCWD, "/", how, sizeof how));
        return by_reach(r, fd, "openat2, whose arguments lie in memory", 0);
}

static const struct probe rows[] = {
#define CLASS PROBE_RACES
        ROW("an argument that flips is not judged", "a check and an act see two paths", "mount,landlock",
            flipped_argument),
        ROW("a link that flips leads nowhere", "a check and an act see two files", "mount,landlock",
            exchange_links),
        ROW("a directory that moves leads nowhere", "dot-dot passes the root", "mount,landlock",
            moved_directory),
        ROW("no moment in which a program can be overwritten", "the runtime itself is replaced",
            "mount,landlock,proc", exe_window),
        ROW("no call whose mode lies in memory", "the filter cannot see the mode", "seccomp", pointer_modes),
};
const struct probe_list probes_races = PROBE_LIST(rows);
