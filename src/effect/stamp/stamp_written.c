/* SPDX-License-Identifier: MIT */
/* effect/stamp/stamp_written.c - what a labelled run wrote below a directory bears the label itself, by its
 * attribute: moved out of the directory it still has it. What has changed since a moment counts as written
 * (ctime, which no process sets); on tmpfs, where a write to mapped memory leaves no trace, all that there
 * is. Symlinks are not followed. It goes on in steps, because one thread drives many boxes. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "effect/stamp/stamp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { ENTRIES_MAX = 200000, QUEUE_BYTES_MAX = 32 << 20, STEP_ENTRIES = 2000 };

struct place { /* a directory that is still to be looked at */
        struct place *next;
        size_t n;
        dev_t dev;
        char path[];
};

struct stamp_written {
        struct label label;
        struct timespec since;
        bool drops; /* the label is taken off */
        struct place *queue;
        size_t queued; /* bytes */
        unsigned entries;
        struct host_slow *slow; /* NULL: not read yet */
        struct stamp_left left;
        struct place *at; /* the directory that is open; or NULL */
        int dir;
        bool all;    /* each file in it counts as written */
        mode_t mode; /* to be given back when it is closed; 0: it was not changed */
        struct {
                dev_t dev;
                ino_t ino;
        } own; /* our state directory */
        _Alignas(struct dir_entry) char bytes[32768];
        struct dir_list list;
};

struct stamp_written *stamp_written_new(const struct label *l, struct timespec since, const char *own)
{
        struct stat st;
        struct stamp_written *w = calloc(1, sizeof *w);
        if (!w)
                return NULL;

        w->label = *l;
        w->since = since;
        w->dir = -1;
        w->list = (struct dir_list){ .bytes = w->bytes, .cap = sizeof w->bytes };
        if (own && stat(own, &st) == 0) {
                w->own.dev = st.st_dev;
                w->own.ino = st.st_ino;
        }
        return w;
}

struct stamp_written *stamp_unwritten_new(const struct label *l, const char *own)
{
        struct stamp_written *w = stamp_written_new(l, (struct timespec){ 0 }, own);
        if (w)
                w->drops = true;
        return w;
}

const struct stamp_left *stamp_written_left(const struct stamp_written *w) { return &w->left; }

static void leave_path(struct stamp_written *w, const char *path)
{
        if (w->left.count++ > 0)
                return;
        size_t n = strnlen(path, sizeof w->left.first - 1);
        memcpy(w->left.first, path, n);
        w->left.first[n] = '\0';
}

static void put_place(struct stamp_written *w, const char *path, dev_t dev)
{
        size_t n = strlen(path);
        struct place *p = n < PATH_MAX && w->queued + n < QUEUE_BYTES_MAX ? malloc(sizeof *p + n + 1) : NULL;
        if (!p) {
                leave_path(w, path);
                return;
        }

        *p = (struct place){ .next = w->queue, .n = n, .dev = dev };
        memcpy(p->path, path, n + 1);
        w->queue = p;
        w->queued += n;
}

void stamp_written_add(struct stamp_written *w, const char *dir)
{
        struct stat st;
        if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode))
                put_place(w, dir, 0);
}

/* A filesystem may keep whole seconds, or even ones. */
static bool is_written(const struct stamp_written *w, const struct stat *st)
{
        int64_t s = st->st_ctim.tv_sec + (st->st_ctim.tv_nsec == 0 ? 2 : 0);
        return s > w->since.tv_sec || (s == w->since.tv_sec && st->st_ctim.tv_nsec >= w->since.tv_nsec);
}

/* ---- one directory ---- */

/* A run may have shut a directory of its own against us. */
static int widen_place(struct stamp_written *w, const struct place *p)
{
        struct stat st;
        char at[32];
        AUTO_FD(fd, fd_open2(AT_FDCWD, p->path, O_PATH | O_DIRECTORY | O_CLOEXEC, RESOLVE_NO_SYMLINKS));
        if (fd < 0 || fstat(fd, &st) < 0 || !is_written(w, &st))
                return -1;

        (void) snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        if (chmod(at, (st.st_mode & 07777) | S_IRWXU) < 0)
                return -1;
        w->mode = st.st_mode;
        return openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Is it on another filesystem than its parent? One that may hang is not entered. */
static bool may_hang(struct stamp_written *w, const char *path)
{
        if (!w->slow)
                w->slow = host_slow_read();
        return !w->slow || host_slow_covers(w->slow, path);
}

static void open_next(struct stamp_written *w)
{
        struct stat st;
        struct statfs fs;
        struct place *p = w->queue;
        w->queue = p->next;
        w->queued -= p->n;
        w->at = p;
        if (p->dev == 0 && may_hang(w, p->path)) {
                leave_path(w, p->path);
                return;
        }

        w->dir = fd_open2(AT_FDCWD, p->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC,
                          RESOLVE_NO_SYMLINKS);
        bool shut = w->dir < 0 ? errno == EACCES : faccessat(w->dir, ".", X_OK, AT_EACCESS) < 0;
        if (shut) {
                fd_close(&w->dir);
                w->dir = widen_place(w, p);
        }

        if (w->dir < 0 || fstat(w->dir, &st) < 0 || fstatfs(w->dir, &fs) < 0) {
                leave_path(w, p->path);
                fd_close(&w->dir);
                return;
        }

        p->dev = st.st_dev;
        w->all = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
        if (st.st_dev == w->own.dev && st.st_ino == w->own.ino)
                fd_close(&w->dir);
}

static void close_this(struct stamp_written *w)
{
        if (w->dir >= 0 && w->mode)
                (void) fchmod(w->dir, w->mode & 07777);
        w->mode = 0;
        fd_close(&w->dir);
        free(w->at);
        w->at = NULL;
}

static void stamp_one(struct stamp_written *w, const char *name, const char *path)
{
        struct stat st;
        char at[32];
        AUTO_FD(fd, openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
                return; /* it went, or keeps no attribute */

        (void) snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        if (!stamp_change_attribute(at, &w->label, w->drops))
                leave_path(w, path);
}

static void look_at(struct stamp_written *w, const char *name)
{
        struct stat st;
        char path[PATH_MAX + 256];
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            fstatat(w->dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
                return;

        (void) snprintf(path, sizeof path, "%s/%s", w->at->n == 1 ? "" : w->at->path, name);
        if (S_ISDIR(st.st_mode))
                put_place(w, path, st.st_dev == w->at->dev ? st.st_dev : 0);
        if (is_written(w, &st) || (w->all && S_ISREG(st.st_mode)))
                stamp_one(w, name, path);
}

/* ---- the walk ---- */

bool stamp_written_step(struct stamp_written *w)
{
        for (unsigned last = w->entries + STEP_ENTRIES; w->entries < last;) {
                if (!w->at && !w->queue)
                        return false;
                if (!w->at)
                        open_next(w);

                int more = w->dir < 0 ? 0 : dir_more(&w->list, w->dir);
                if (more < 0 || (more > 0 && w->entries >= ENTRIES_MAX)) {
                        leave_path(w, w->at->path);
                        more = 0;
                }

                for (const struct dir_entry *d; more > 0 && (d = dir_next(&w->list)); w->entries++)
                        look_at(w, d->name);
                if (more == 0)
                        close_this(w);
        }

        return true;
}

void stamp_written_free(struct stamp_written *w)
{
        if (!w)
                return;

        if (w->at)
                close_this(w);
        for (struct place *p; (p = w->queue);) {
                w->queue = p->next;
                free(p);
        }
        host_slow_free(w->slow);
        free(w);
}
