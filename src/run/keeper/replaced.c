/* SPDX-License-Identifier: MIT */
/* run/keeper/replaced.c - watches the names that lead from a `write` or `edit` door to cordon's own files. A
 * process outside that replaces, moves or makes one takes away what covers it in the box: the box ends.
 *
 * The names are watched before the box has mounts, and by the parent directory of each: nothing that a box
 * does behind its door has an event with such a name. */
#include "base/fd.h"
#include "base/str.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GOES = IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE };

static int cannot_watch(const char *path, struct err *e)
{
        bool many = errno == EMFILE || errno == ENOSPC;
        (void) err_set(e, ERR_HOST, errno, "%s cannot be watched, and a door shows what leads to it: %s",
                       path, strerror(errno));
        return err_hint(e,
                        many ? "raise fs.inotify.max_user_instances and max_user_watches, or name narrower "
                               "doors"
                             : "name narrower doors");
}

/* The name of a directory that does not exist yet is watched as well, in the one above. */
static int watch_directory(int fd, const char *path, int *ret, struct err *e)
{
        char up[PATH_MAX];
        struct stat st;
        size_t n = str_parent(path, strlen(path));
        (void) snprintf(up, sizeof up, "%.*s", (int) (n ? n : 1), path);
        *ret = inotify_add_watch(fd, up, IN_ONLYDIR | IN_MASK_ADD | GOES);
        if (*ret >= 0 && lstat(path, &st) < 0)
                *ret = inotify_add_watch(fd, up, IN_ONLYDIR | IN_MASK_ADD | IN_CREATE);
        return *ret < 0 && errno != ENOENT && errno != ENOTDIR ? cannot_watch(path, e) : 0;
}

int replaced_watch(struct box *b, struct err *e)
{
        const struct plan *p = b->c.plan;
        if (p->held_count == 0)
                return 0;

        if (p->held_count > HELD_NAMES_MAX)
                return err_set(e, ERR_HOST, 0, "%zu names lead to cordon's own files, of at most %d",
                               p->held_count, (int) HELD_NAMES_MAX);

        b->replaced = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (b->replaced < 0)
                return cannot_watch(p->held[0].path, e);

        for (size_t i = 0; i < p->held_count; i++)
                if (watch_directory(b->replaced, p->held[i].path, &b->held_at[i], e) < 0)
                        return -1;
        return 0;
}

/* The name that an event tells of. So many events that some are lost may be of any. */
static const char *told_name(const struct box *b, const struct inotify_event *v)
{
        const struct plan *p = b->c.plan;
        if (v->mask & IN_Q_OVERFLOW)
                return p->held[0].path;

        for (size_t i = 0; v->len > 0 && i < p->held_count && i < HELD_NAMES_MAX; i++)
                if (b->held_at[i] == v->wd && strcmp(strrchr(p->held[i].path, '/') + 1, v->name) == 0)
                        return p->held[i].path;
        return NULL;
}

static void refuse_replaced(struct run *run, const char *path)
{
        if (run->refused.code != ERR_NONE)
                return;

        run->stopped_by = "outside";
        run->outside = true;
        (void) err_set(&run->refused, ERR_DOOR, 0,
                       "a process outside replaced, moved or made %s, which a door of the box shows: the box "
                       "was stopped",
                       path);
        (void) err_hint(&run->refused, "name narrower doors, or do so when no box runs");
}

void replaced_told(struct run *run) { refuse_replaced(run, "what leads to cordon's own files"); }

/* Not even the time that init has to report what was used. */
static void end_replaced(struct box *b, const char *path)
{
        refuse_replaced(&b->run, path);
        for (struct box *one = b->runs; one; one = one->sibling)
                if (!one->remote) /* others hear of it: session_runs.c */
                        refuse_replaced(&one->run, path);
        if (b->phase < PHASE_RUN && b->run.r.out.end == CORDON_RUNNING) {
                b->run.r.error = b->run.refused;
                b->run.r.out.end = CORDON_FAILED;
        }
        box_kill(b);
        keeper_kill_now(b);
        fd_close(&b->replaced);
}

void replaced_serve(struct box *b)
{
        _Alignas(struct inotify_event) char events[16384];
        ssize_t n = read(b->replaced, events, sizeof events);
        for (const char *at = events; n > 0 && at < events + n;) {
                const struct inotify_event *v = (const struct inotify_event *) (const void *) at;
                const char *path = told_name(b, v);
                at += sizeof *v + v->len;
                if (path) {
                        end_replaced(b, path);
                        return;
                }
        }
}
