/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/process_tree.c - lists the processes of a box. Behind the namespace wall its own /proc
 * shows them; behind the process wall they are all descendants of init, which is their subreaper: a process
 * leaves that tree only by ending. Never: allocates. */
#include "base/dir.h"
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int wall_each_number(int at_dir, void (*each)(void *ctx, int dir, const char *name), void *ctx)
{
        DIR_LIST(list, 4096);
        AUTO_FD(dir, openat(at_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        int more;
        while ((more = dir < 0 ? -1 : dir_more(&list, dir)) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));)
                        if (d->name[0] >= '0' && d->name[0] <= '9')
                                each(ctx, at_dir, d->name);

        return more;
}

enum { TREE_MAX = 32768, TREE_SLOTS = 2 * TREE_MAX, AGAIN_MAX = 8 };
struct tree {
        int proc;
        unsigned count;
        pid_t at[TREE_MAX], slot[TREE_SLOTS];
};

/* Each once: a process that loses a thread that was its parent is reparented to another thread, which may be
 * listed later. */
static bool plant_process(void *ctx, uint64_t pid)
{
        struct tree *t = ctx;
        unsigned i = (unsigned) pid % TREE_SLOTS;
        for (; t->slot[i]; i = (i + 1) % TREE_SLOTS)
                if (t->slot[i] == (pid_t) pid)
                        return true;

        if (t->count == TREE_MAX)
                return false;

        t->slot[i] = t->at[t->count++] = (pid_t) pid;
        return true;
}

static void plant_of_thread(void *ctx, int tasks, const char *tid)
{
        char list[48];
        (void) snprintf(list, sizeof list, "%.20s/children", tid);
        AUTO_FD(children, openat(tasks, list, O_RDONLY | O_CLOEXEC));
        fd_each_number(children, plant_process, ctx);
}

static void plant_of_process(struct tree *t, pid_t pid)
{
        char name[32];
        (void) snprintf(name, sizeof name, "%d/task", pid);
        AUTO_FD(tasks, openat(t->proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (tasks >= 0)
                (void) wall_each_number(tasks, plant_of_thread, t);
}

/* A process that loses its parent during the walk is reparented to init, whose list was read first: it is
 * read again until it does not change. */
static int grow_tree(struct tree *t)
{
        unsigned done = 0;
        for (unsigned again = 0; again < AGAIN_MAX; again++) {
                AUTO_FD(own, openat(t->proc, "thread-self/children", O_RDONLY | O_CLOEXEC));
                if (own < 0)
                        return -1;
                fd_each_number(own, plant_process, t);
                if (done == t->count)
                        break;
                while (done < t->count)
                        plant_of_process(t, t->at[done++]);
        }

        return 0;
}

int wall_each_process(const struct wall_init *w, void (*each)(void *ctx, int proc, const char *pid),
                      void *ctx)
{
        static struct tree t; /* too large for a stack, and init has one thread */
        if (w->tasks < 0)
                return -1;

        if (wall_has(w->plan->wall, WALL_OWN_ROOT))
                return wall_each_number(w->tasks, each, ctx);

        t.proc = w->tasks;
        t.count = 0;
        memset(t.slot, 0, sizeof t.slot);
        if (grow_tree(&t) < 0)
                return -1;

        for (unsigned i = 0; i < t.count; i++) {
                char pid[16];
                (void) snprintf(pid, sizeof pid, "%d", t.at[i]);
                each(ctx, t.proc, pid);
        }

        return 0;
}

struct round {
        unsigned alive;
        pid_t group; /* the last process that was killed */
};

/* Kills its whole process group at once, including members that are not our children yet. SAFETY: a child of
 * ours that has ended keeps its pid and its group until we wait for it, so no foreign process can be hit; and
 * the groups of the payload's sessions have no member from outside. */
static bool end_child(void *ctx, uint64_t number)
{
        struct round *r = ctx;
        siginfo_t ended = { 0 };
        pid_t pid = (pid_t) number, group = getpgid(pid);
        if (group > 1 && group != r->group && getsid(pid) != getsid(0)) {
                (void) kill(-group, SIGKILL);
                r->group = group;
        }

        if (waitid(P_PID, (id_t) pid, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
            ended.si_pid == pid)
                return true;

        (void) kill(pid, SIGKILL);
        r->alive++;
        return true;
}

static bool bury_all(void)
{
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
                ;
        return pid < 0 && errno == ECHILD;
}

int wall_own_children(void) { return open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC); }

/* Without a pid namespace only init ends the processes that the payload left running. All of them are ours:
 * orphans are reparented to init, the subreaper. Killed processes are not reaped before all are killed:
 * zombies take up `limit procs`, so a payload that forks faster than we kill runs into the limit. We do not
 * give up: that would let processes out of the box. The list was opened before the payload started, which may
 * have exhausted this machine's open files by now. */
void wall_kill_stragglers(int children)
{
        enum { QUIET_ROUNDS = 3, PAUSE_US = 200, PAUSE_MOST_US = 5000 };
        unsigned quiet = 0, pause = PAUSE_US;
        siginfo_t any;
        if (waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 && errno == ECHILD)
                return;

        for (;;) {
                struct round r = { 0 };
                if (lseek(children, 0, SEEK_SET) < 0)
                        return;
                fd_each_number(children, end_child, &r);
                quiet = r.alive == 0 ? quiet + 1 : 0;
                if (quiet == QUIET_ROUNDS && bury_all())
                        return;
                quiet %= QUIET_ROUNDS;
                if (r.alive == 0)
                        continue;
                (void) usleep(pause);
                pause = pause * 2 < PAUSE_MOST_US ? pause * 2 : PAUSE_MOST_US;
        }
}
