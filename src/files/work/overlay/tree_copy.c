/* SPDX-License-Identifier: MIT */
/* files/work/overlay/tree_copy.c - copies and removes entries. Never follows a symlink or opens a FIFO or
 * device; creates those only when it copies a whole tree, for undo or a fork. */
#include "base/fd.h"
#include "base/vec.h"
#include "files/work/internal.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

static int copy_range(int from, int to, off_t at, off_t end)
{
        while (at < end) {
                off_t in = at, out = at;
                ssize_t n = copy_file_range(from, &in, to, &out, (size_t) (end - at), 0);
                if (n < 0 && errno != EINTR) {
                        char chunk[65536];
                        size_t want = (size_t) (end - at) < sizeof chunk ? (size_t) (end - at) : sizeof chunk;
                        n = pread(from, chunk, want, at);
                        if (n > 0) /* a short write: a full disk fails the next one */
                                n = pwrite(to, chunk, (size_t) n, at);
                        if (n < 0)
                                return -1;
                }
                if (n == 0)
                        break; /* it became shorter */
                at += n > 0 ? n : 0;
        }

        return 0;
}

static int copy_bytes(int from, int to)
{
        struct stat st;
        if (ioctl(to, FICLONE, from) == 0)
                return 0;

        if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
                return -1;

        for (off_t at = 0; at < st.st_size;) {
                off_t data = lseek(from, at, SEEK_DATA);
                if (data < 0)
                        return errno == ENXIO ? 0 : copy_range(from, to, at, st.st_size);
                off_t hole = lseek(from, data, SEEK_HOLE);
                if (hole < 0)
                        hole = st.st_size;
                if (copy_range(from, to, data, hole) < 0)
                        return -1;
                at = hole;
        }

        return 0;
}

mode_t landing_mode(const struct node *n, bool setid)
{
        return setid ? n->mode : n->mode & (n->kind == NODE_DIR ? 03777 : 01777);
}

static int copy_opened(int in, const struct node *n, int to, const char *name, bool setid)
{
        AUTO_FD(out,
                in < 0 ? -1 : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (out < 0)
                return -1;

        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, n->mtime };
        if (copy_bytes(in, out) < 0 || xattr_copy(in, out) < 0 || fchmod(out, landing_mode(n, setid)) < 0 ||
            futimens(out, times) < 0)
                return -1;

        return 0;
}

static int copy_file(int from, const char *from_name, int to, const char *name, bool setid)
{
        struct node n;
        AUTO_FD(in, tree_file(from, from_name, true, &n));
        return copy_opened(in, &n, to, name, setid);
}

int copy_place(int place, int to, const char *name)
{
        struct node n;
        AUTO_FD(in, tree_file_at(place, true, &n));
        return copy_opened(in, &n, to, name, false);
}

static int copy_dir(int from, const char *from_name, int to, const char *name, const struct node *n,
                    bool setid)
{
        mode_t back;
        AUTO_FD(in, tree_own_dir(from, from_name, &back));
        if (in < 0 || mkdirat(to, name, 0700) < 0)
                return -1;

        AUTO_FD(out, openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, n->mtime };
        int bad = out < 0 || xattr_copy(in, out) < 0 || fchmod(out, landing_mode(n, setid)) < 0 ||
                  futimens(out, times) < 0;
        tree_dir_end(in, back);
        return bad ? -1 : 0;
}

int copy_node(int from, const char *from_name, int to, const char *name, bool setid)
{
        struct node n;
        char target[WORK_PATH_MAX];
        if (tree_look(from, from_name, &n) < 0)
                return -1;

        switch (n.kind) {
        case NODE_FILE:
                return copy_file(from, from_name, to, name, setid);
        case NODE_DIR:
                return copy_dir(from, from_name, to, name, &n, setid);
        case NODE_LINK: {
                const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, n.mtime };
                if (tree_link(from, from_name, target, sizeof target) < 0 || symlinkat(target, to, name) < 0)
                        return -1;
                (void) utimensat(to, name, times, AT_SYMLINK_NOFOLLOW);
                return 0;
        }
        case NODE_NONE:
                errno = ENOENT;
                return -1;
        case NODE_OTHER:
                break;
        }
        errno = EINVAL;
        return -1;
}

/* ---- trees ---- */

struct copying {
        bool marks;
        unsigned depth;
        struct { /* hard links of one file, so that they stay one file */
                uint64_t ino;
                char *path;
        } * linked;
        size_t linked_count, linked_cap;
        struct arena mem; /* their paths */
        int top;
        char path[WORK_PATH_MAX];
};

/* The marks of an overlay, which hide the lower tree. Without them a fork would show deleted entries. */
static int copy_marks(int in, int out)
{
        static const char *const marks[] = { "user.overlay.opaque", "user.overlay.impure",
                                             "user.overlay.origin" };
        char value[256];
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
                ssize_t n = fgetxattr(in, marks[i], value, sizeof value);
                if (n >= 0 && fsetxattr(out, marks[i], value, (size_t) n, 0) < 0)
                        return -1;
        }

        return 0;
}

static int copy_linked(struct copying *c, const struct node *n, int to, const char *name)
{
        for (size_t i = 0; i < c->linked_count; i++)
                if (c->linked[i].ino == n->ino)
                        return linkat(c->top, c->linked[i].path, to, name, 0) == 0 ? 1 : -1;

        if (vec_room((void **) &c->linked, c->linked_count, &c->linked_cap, sizeof *c->linked) < 0)
                return -1;

        c->linked[c->linked_count].ino = n->ino;
        c->linked[c->linked_count].path = arena_str(&c->mem, c->path);
        return c->linked[c->linked_count++].path ? 0 : -1;
}

static int copy_any(struct copying *c, int from, const char *from_name, int to, const char *name);

static int copy_inside(struct copying *c, int from, const char *from_name, int to, const char *name,
                       const struct node *n)
{
        mode_t back;
        AUTO_NAMES(list);
        AUTO_FD(in, tree_own_dir(from, from_name, &back));
        AUTO_FD(out, openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (in < 0 || out < 0 || fchmod(out, 0700) < 0)
                return -1;

        int bad = tree_names(in, &list);
        if (!bad && c->marks)
                bad = copy_marks(in, out);

        size_t len = strlen(c->path);
        for (size_t i = 0; !bad && i < list.n; i++) {
                int k = snprintf(c->path + len, sizeof c->path - len, "/%s", list.v[i]);
                bad = k < 0 || (size_t) k >= sizeof c->path - len ||
                      copy_any(c, in, list.v[i], out, list.v[i]) < 0;
                c->path[len] = '\0';
        }

        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, n->mtime };
        if (!bad && (fchmod(out, n->mode) < 0 || futimens(out, times) < 0))
                bad = -1;

        tree_dir_end(in, back);
        return bad ? -1 : 0;
}

/* A FIFO, socket or device that an apply replaced is kept for undo; a whiteout is also a device. */
static int copy_special(int from, const char *from_name, int to, const char *name)
{
        struct stat st;
        if (fstatat(from, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            mknodat(to, name, st.st_mode & (S_IFMT | 0777), st.st_rdev) < 0)
                return -1;

        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st.st_mtim };
        if (st.st_uid != geteuid() || st.st_gid != getegid())
                (void) !fchownat(to, name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW);

        (void) !tree_set_mode(to, name, st.st_mode & 07777);
        (void) utimensat(to, name, times, AT_SYMLINK_NOFOLLOW);
        return 0;
}

static int copy_any(struct copying *c, int from, const char *from_name, int to, const char *name)
{
        struct node n;
        if (tree_look(from, from_name, &n) < 0)
                return -1;

        if (n.kind == NODE_OTHER)
                return n.whiteout && !c->marks ? 0 : copy_special(from, from_name, to, name);

        if (n.kind == NODE_FILE && n.links > 1) {
                int done = copy_linked(c, &n, to, name);
                if (done)
                        return done < 0 ? -1 : 0;
        }

        if (copy_node(from, from_name, to, name, true) < 0)
                return -1;

        if (n.kind != NODE_DIR)
                return 0;

        if (c->depth == WORK_DEPTH_MAX) {
                errno = ELOOP;
                return -1;
        }

        c->depth++;
        int r = copy_inside(c, from, from_name, to, name, &n);
        c->depth--;
        return r;
}

int copy_tree(int from, const char *from_name, int to, const char *name, bool marks)
{
        struct copying *c = calloc(1, sizeof *c);
        if (!c)
                return -1;

        c->marks = marks;
        c->top = to;
        (void) snprintf(c->path, sizeof c->path, "%s", name);
        int r = copy_any(c, from, from_name, to, name);
        arena_done(&c->mem);
        free(c->linked);
        free(c);
        return r;
}

/* ---- removal ---- */

/* Empties one directory: subdirectories move up to `top` under a number, so no depth and no path length is
 * too large. */
static int empty_into(int top, int dir, unsigned long *next)
{
        AUTO_NAMES(list);
        if (tree_names(dir, &list) < 0)
                return -1;

        for (size_t i = 0; i < list.n; i++) {
                struct node n;
                char number[32];
                if (tree_look(dir, list.v[i], &n) < 0)
                        return -1;
                if (n.kind != NODE_DIR) {
                        if (unlinkat(dir, list.v[i], 0) < 0 && errno != ENOENT)
                                return -1;
                        continue;
                }
                do
                        (void) snprintf(number, sizeof number, ".gone-%lu", (*next)++);
                while (faccessat(top, number, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
                mode_t back; /* moving a directory writes its `..`: needs write permission on it */
                AUTO_FD(open, tree_own_dir(dir, list.v[i], &back));
                if (renameat(dir, list.v[i], top, number) < 0)
                        return -1;
        }

        return 0;
}

static int remove_dir(int top, const char *name, unsigned long *next)
{
        mode_t back;
        AUTO_FD(dir, tree_own_dir(top, name, &back));
        if (dir < 0 || empty_into(top, dir, next) < 0)
                return -1;
        return unlinkat(top, name, AT_REMOVEDIR);
}

int remove_tree(int dir, const char *name)
{
        struct node n;
        if (tree_look(dir, name, &n) < 0)
                return -1;

        if (n.kind == NODE_NONE)
                return 0;

        if (n.kind != NODE_DIR)
                return unlinkat(dir, name, 0);

        unsigned long next = 0, done = 0;
        mode_t back;
        char number[32];
        AUTO_FD(top, tree_own_dir(dir, name, &back));
        if (top < 0 || empty_into(top, top, &next) < 0)
                return -1;

        for (; done < next; done++) {
                (void) snprintf(number, sizeof number, ".gone-%lu", done);
                if (remove_dir(top, number, &next) < 0 && errno != ENOENT)
                        return -1;
        }

        return unlinkat(dir, name, AT_REMOVEDIR);
}
