/* SPDX-License-Identifier: MIT */
/* wall/linux/root/link_walk.c - resolves a path, symlink by symlink, as the task that named it: by its own
 * /proc/self and its own descriptors, for which the kernel would give us ours. Only for reports. Never: opens
 * anything without O_PATH, allocates. */
#include "wall/linux/root/link_walk.h"

#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
        LINKS_MAX = 40, /* as many as the kernel follows */
        STEPS_MAX = 256 /* SAFETY: each is a system call, and the process that makes it enforces the limits of
                           the box */
};

struct way {
        uint32_t task;
        unsigned links;
        size_t n;
        char done[PATH_MAX];     /* it has no symlink */
        char rest[2 * PATH_MAX]; /* the rest of the path */
};

static void go_up(struct way *w)
{
        w->n = str_parent(w->done, w->n);
        w->done[w->n] = '\0';
}

static bool go_down(struct way *w, const char *name, size_t k)
{
        if (w->n + k + 2 > sizeof w->done)
                return false;

        w->done[w->n] = '/';
        memcpy(w->done + w->n + 1, name, k);
        w->n += k + 1;
        w->done[w->n] = '\0';
        return true;
}

/* The two links that differ for each task. */
static bool is_own_number(struct way *w)
{
        if (strcmp(w->done, "/proc/self") != 0 && strcmp(w->done, "/proc/thread-self") != 0)
                return false;
        w->n = (size_t) snprintf(w->done, sizeof w->done, "/proc/%u", w->task);
        return true;
}

/* Puts the target of a symlink before the rest of the path. `after` lies in `rest`. */
static bool put_before(struct way *w, const char *target, const char *after)
{
        size_t n = strlen(target), k = strlen(after);
        if (n + 1 + k + 1 > sizeof w->rest)
                return false;

        memmove(w->rest + n + 1, after, k + 1);
        memcpy(w->rest, target, n);
        w->rest[n] = '/';
        return true;
}

/* `done` may end in a symlink. Returns whether it does; then the walk continues at its target. */
static bool follow_link(struct way *w, const char *after, enum leads *ret)
{
        char target[PATH_MAX];
        ssize_t n = is_own_number(w) ? 0 : readlink(w->done, target, sizeof target - 1);
        if (n <= 0)
                return false;

        target[n] = '\0';

        /* Magic links lead to a path, or to a file without one. */
        bool no_path = target[0] != '/' && path_under(w->done, "/proc");
        if (++w->links > LINKS_MAX || no_path)
                *ret = LEADS_NOWHERE;
        else if (!put_before(w, target, after))
                *ret = LEADS_TOO_FAR;

        go_up(w);
        if (target[0] == '/')
                w->n = 0;

        w->done[w->n] = '\0';
        return true;
}

enum leads leads_to(uint32_t task, const char *path, bool follow, char *ret, size_t cap)
{
        static struct way w; /* too large for a stack that is a guest's; we are alone */
        enum leads end = LEADS_THERE;
        const char *at = w.rest;

        w.task = task;
        w.links = 0;
        w.n = 0;
        w.done[0] = '\0';
        if ((size_t) snprintf(w.rest, sizeof w.rest, "%s", path) >= sizeof w.rest)
                return LEADS_TOO_FAR;

        for (unsigned steps = 0; end == LEADS_THERE && *(at += strspn(at, "/")); steps++) {
                size_t k = strcspn(at, "/");
                const char *after = at + k;
                if (k == 2 && at[0] == '.' && at[1] == '.')
                        go_up(&w);
                else if (k == 1 && at[0] == '.')
                        ;
                else if (steps >= STEPS_MAX || !go_down(&w, at, k))
                        end = LEADS_TOO_FAR;
                else if ((*after || follow) && follow_link(&w, after, &end))
                        after = w.rest;
                at = after;
        }

        if (end == LEADS_THERE && (size_t) snprintf(ret, cap, "%s", w.n ? w.done : "/") >= cap)
                end = LEADS_TOO_FAR;

        return end;
}

bool leads_up(const char *path)
{
        for (const char *at = path; (at = strstr(at, "..")); at++)
                if ((at == path || at[-1] == '/') && (at[2] == '\0' || at[2] == '/'))
                        return true;
        return false;
}

bool leads_straight(const char *path, bool follow)
{
        if (leads_up(path))
                return false;
        AUTO_FD(place, fd_open2(AT_FDCWD, path, O_PATH | (follow ? 0 : O_NOFOLLOW), RESOLVE_NO_SYMLINKS));
        return place >= 0 || errno != ELOOP;
}

bool leads_by_kernel(const char *path)
{
        AUTO_FD(place, fd_open2(AT_FDCWD, path, O_PATH, RESOLVE_NO_MAGICLINKS));
        return place < 0 && errno == ELOOP;
}
