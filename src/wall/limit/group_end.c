/* SPDX-License-Identifier: MIT */
/* wall/limit/group_end.c - kills the processes of a group and removes it. Never: allocates, takes a lock,
 * waits without a bound; the janitor runs all of this in a forked child. */
#include "base/clock.h"
#include "base/dir.h"
#include "base/fd.h"
#include "wall/limit/internal.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each run of a session has a v2 group below the session's own. It limits nothing: the kernel keeps with each
 * socket the group in which it was made, which no process in the box can change. Never: allocates; the
 * janitor removes these groups as well. */
enum { RUN_NAME = 32 };
static const char prefix[] = "run-";

static const char *name_run(uint32_t n, char ret[RUN_NAME])
{
        (void) snprintf(ret, RUN_NAME, "%s%u", prefix, n);
        return ret;
}

int limit_run_open(const struct limit_group *g, uint32_t n, uint64_t *ret_id)
{
        char name[RUN_NAME];
        struct stat st;
        AUTO_FD(dir, g->v2 < 0 ? -1 : limit_make_dir(g->v2, name_run(n, name)));
        if (dir < 0 || fstat(dir, &st) < 0)
                return -1;

        *ret_id = st.st_ino;
        return openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
}

void limit_run_end(const struct limit_group *g, uint32_t n)
{
        char name[RUN_NAME];
        if (g->v2 >= 0)
                (void) unlinkat(g->v2, name_run(n, name), AT_REMOVEDIR);
}

static void limit_runs_each(int v2, void (*each)(void *ctx, int v2, const char *name), void *ctx)
{
        DIR_LIST(list, 4096);
        AUTO_FD(dir, v2 < 0 ? -1 : openat(v2, ".", DIR_FLAGS)); /* with its own offset */
        while (dir >= 0 && dir_more(&list, dir) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));)
                        if (d->type == DT_DIR && strncmp(d->name, prefix, sizeof prefix - 1) == 0)
                                each(ctx, v2, d->name);
}

enum { BATCH = 128, LEVELS_MAX = 64 };

/* --- thaw --- */

/* A v1 task is frozen by its own group or by any above it. The root has no freezer.state: the walk ends
 * there. */
static void thaw_v1(int dir)
{
        AUTO_FD(at, dir);
        char text[16];
        for (unsigned i = 0; i < LEVELS_MAX && at >= 0; i++) {
                if (fd_get(at, "freezer.self_freezing", text, sizeof text) < 0)
                        return;
                if (text[0] == '1')
                        (void) fd_put(at, "freezer.state", "THAWED");
                int up = openat(at, "..", DIR_FLAGS);
                fd_close(&at);
                at = up;
        }
}

void limit_thaw(pid_t pid)
{
        struct host_cgroups h;
        struct err e;
        char path[48], text[8192], group[1024];

        (void) snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
        if (fd_get(AT_FDCWD, path, text, sizeof text) < 0)
                return;

        if (host_cgroups_read(&h, &e) < 0)
                return;

        if (host_cgroup_find(text, "freezer", group, sizeof group) == 0 && strcmp(group, "/") != 0)
                thaw_v1(host_cgroup_at(&h.v1[CONTROLLER_FREEZER], group, HOST_CGROUP_V1));

        /* v2: its own group only. SIGKILL works on a frozen v2 task anyway, and freezing an ancestor was not
         * our doing. */
        if (host_cgroup_find(text, "", group, sizeof group) == 0 && strcmp(group, "/") != 0) {
                AUTO_FD(dir, host_cgroup_at(&h.v2, group, HOST_CGROUP_V2));
                char state[8];
                if (dir >= 0 && fd_get(dir, "cgroup.freeze", state, sizeof state) > 0 && state[0] == '1')
                        (void) fd_put(dir, "cgroup.freeze", "0");
        }
}

/* --- kill --- */

/* Some pids of a group: the first listed ones above `after`. */
struct members {
        pid_t after;
        unsigned n;
        pid_t at[BATCH];
};

static bool add_member(void *ctx, uint64_t pid)
{
        struct members *m = ctx;
        if (pid > (uint64_t) m->after)
                m->at[m->n++] = (pid_t) pid;
        return m->n < BATCH;
}

/* A process outside our pid namespace is listed as 0: it cannot be signalled (and kill(0) would signal our
 * own process group). */
static void list_members(int dir, pid_t after, struct members *ret)
{
        AUTO_FD(list, openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        ret->after = after;
        ret->n = 0;
        fd_each_number(list, add_member, ret);
}

static bool is_member(const struct members *m, pid_t pid)
{
        for (unsigned i = 0; i < m->n; i++)
                if (m->at[i] == pid)
                        return true;
        return false;
}

/* SAFETY: a pid may be reused between reading it and killing it. So: open a pidfd, read the list again, and
 * signal only pids that are still listed. The process with that pid is then a member, and the pidfd refers
 * to it or to a dead process. */
static void kill_batch(int dir, const struct members *m, bool thaw)
{
        struct members again;
        int fds[BATCH];
        for (unsigned i = 0; i < m->n; i++)
                fds[i] = (int) syscall(SYS_pidfd_open, m->at[i], 0);

        list_members(dir, m->after, &again);
        for (unsigned i = 0; i < m->n; i++) {
                if (fds[i] < 0)
                        continue;
                if (is_member(&again, m->at[i])) {
                        (void) syscall(SYS_pidfd_send_signal, fds[i], SIGKILL, NULL, 0);
                        if (thaw)
                                limit_thaw(m->at[i]);
                }
                (void) close(fds[i]);
        }
}

/* All of them, in batches, because each needs a descriptor. v1 lists them by number. v2 does not: of a group
 * without cgroup.kill some are left for the next round. */
static unsigned kill_members(int dir, bool thaw)
{
        unsigned seen = 0;
        struct members m = { .n = 0 };
        do {
                list_members(dir, m.n > 0 ? m.at[m.n - 1] : 0, &m);
                if (m.n > 0)
                        kill_batch(dir, &m, thaw);
                seen += m.n;
        } while (m.n == BATCH);

        return seen;
}

struct round {
        unsigned seen;
        bool thaw;
};

static void kill_run(void *ctx, int v2, const char *name)
{
        struct round *r = ctx;
        AUTO_FD(dir, openat(v2, name, DIR_FLAGS));
        if (dir >= 0)
                r->seen += kill_members(dir, r->thaw);
}

/* One round over all directories; returns the number of processes seen. */
static unsigned kill_round(struct limit_group *g, bool thaw)
{
        struct round r = { 0, thaw };

        /* No forks meanwhile; a kernel before 5.14 has no cgroup.kill. */
        if (g->v1[CONTROLLER_PIDS] >= 0)
                (void) fd_put(g->v1[CONTROLLER_PIDS], "pids.max", "0");

        if (g->v2 >= 0 && fd_put(g->v2, "cgroup.kill", "1") < 0)
                (void) fd_put(g->v2, "pids.max", "0");

        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                if (g->v1_parent[c] >= 0)
                        r.seen += kill_members(g->v1[c], thaw);

        if (g->v2 >= 0)
                r.seen += kill_members(g->v2, thaw);

        limit_runs_each(g->v2, kill_run, &r);
        return r.seen;
}

static void pause_us(unsigned us)
{
        struct timespec t = { .tv_nsec = us * 1000L };
        (void) ppoll(NULL, 0, &t, NULL);
}

/* Back-off: most groups are empty within a millisecond. */
static unsigned pause_after(unsigned round) { return round < 5 ? 100u << round : 5000; }

/* From the third round on processes may be frozen: a frozen v1 task does not die before it is thawed. */
static bool is_held(unsigned round) { return round >= 2; }

void limit_group_kill(struct limit_group *g)
{
        uint64_t deadline = clock_mono_ns() + WAIT_MS * 1000000ull;
        for (unsigned round = 0; kill_round(g, is_held(round)) > 0 && clock_mono_ns() <= deadline; round++)
                pause_us(pause_after(round));
}

/* --- remove --- */

/* True if nothing is left to wait for: removed, shared with another controller, or not removable by us. */
static bool remove_one(int *dir, int *parent, const char *name)
{
        if (*parent < 0) {
                fd_close(dir);
                return true;
        }

        /* Only EBUSY is transient; ENOENT is success; the rest (EACCES, EROFS) cannot be fixed here. */
        if (unlinkat(*parent, name, AT_REMOVEDIR) < 0 && errno == EBUSY)
                return false;

        fd_close(dir);
        fd_close(parent);
        return true;
}

static void remove_run(void *ctx, int v2, const char *name)
{
        (void) ctx;
        (void) unlinkat(v2, name, AT_REMOVEDIR);
}

/* v2 first: it contains the whole box, and if it is empty the others are as well. */
static bool remove_all(struct limit_group *g)
{
        limit_runs_each(g->v2, remove_run, NULL);
        bool gone = remove_one(&g->v2, &g->v2_parent, g->ask.name);
        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                gone &= remove_one(&g->v1[c], &g->v1_parent[c], g->ask.name);
        return gone;
}

static void close_watches(struct limit_group *g)
{
        fd_close(&g->oom_event);
        fd_close(&g->v2_procs);
        for (unsigned c = 0; c < CONTROLLER__COUNT; c++)
                fd_close(&g->v1_tasks[c]);
}

void limit_group_close(struct limit_group *g)
{
        close_watches(g);
        fd_close(&g->v2);
        fd_close(&g->v2_parent);
        for (unsigned c = 0; c < CONTROLLER__COUNT; c++) {
                fd_close(&g->v1[c]);
                fd_close(&g->v1_parent[c]);
        }

        g->holds_memory = g->holds_procs = g->counts_cpu = false;
        g->end_round = 0;
        g->end_until_ns = 0;
}

/* Tries rmdir before anything else: the usual group is empty by now. */
static unsigned end_try(struct limit_group *g, unsigned wait_ms)
{
        if (g->end_round == 0)
                g->end_until_ns = clock_mono_ns() + wait_ms * 1000000ull;

        close_watches(g);
        if (!remove_all(g)) {
                (void) kill_round(g, is_held(g->end_round));
                if (clock_mono_ns() <= g->end_until_ns)
                        return pause_after(g->end_round++);
        }

        limit_group_close(g);
        return 0;
}

unsigned limit_group_end_try(struct limit_group *g) { return end_try(g, WAIT_MS); }

void limit_end_within(struct limit_group *g, unsigned wait_ms)
{
        for (unsigned us; (us = end_try(g, wait_ms)) > 0;)
                pause_us(us);
}

void limit_group_end(struct limit_group *g) { limit_end_within(g, WAIT_MS); }
