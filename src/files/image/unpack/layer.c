/* SPDX-License-Identifier: MIT */
/* files/image/unpack/layer.c - applies one layer to a tree: the last entry of a name holds, whiteouts remove
 * what the layers below have.
 *
 * Flattened on the way: every file belongs to the caller; set-id and sticky bits, extended attributes,
 * devices and FIFOs are left out; the owner may read all files and enter all directories. All of it is
 * counted. */
#include "base/fd.h"
#include "files/image/unpack/image_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The inodes that this layer made or touched: an opaque directory keeps them. Open addressing; 0 is free. */
struct inodes {
        uint64_t *v;
        size_t n, cap;
};

struct layer {
        struct tree *t;
        struct unpack_counts *c;
        struct inodes own;
        struct tar_reader tar;
        struct tar_entry entry;
        struct entry_name name, target;
        struct err *e;
};

static void inodes_put(uint64_t *v, size_t cap, uint64_t ino)
{
        size_t i = (size_t) (ino * UINT64_C(0x9e3779b97f4a7c15)) & (cap - 1);
        while (v[i] && v[i] != ino)
                i = (i + 1) & (cap - 1);
        v[i] = ino;
}

static bool inodes_have(void *ctx, uint64_t ino)
{
        const struct inodes *s = ctx;
        if (!s->cap)
                return false;

        size_t i = (size_t) (ino * UINT64_C(0x9e3779b97f4a7c15)) & (s->cap - 1);
        while (s->v[i] && s->v[i] != ino)
                i = (i + 1) & (s->cap - 1);

        return s->v[i] != 0;
}

static int inodes_add(struct inodes *s, uint64_t ino, struct err *e)
{
        if (2 * s->n >= s->cap) {
                size_t cap = s->cap ? 2 * s->cap : 1024;
                uint64_t *v = calloc(cap, sizeof *v);
                if (!v)
                        return err_set(e, ERR_MEMORY, ENOMEM, "no memory for a layer");
                for (size_t i = 0; i < s->cap; i++)
                        if (s->v[i])
                                inodes_put(v, cap, s->v[i]);
                free(s->v);
                s->v = v;
                s->cap = cap;
        }

        inodes_put(s->v, s->cap, ino);
        s->n++;
        return 0;
}

static int entry_failed(struct layer *l)
{
        return err_set(l->e, ERR_IO, errno, "unpacking %.200s: %s", l->entry.name, strerror(errno));
}

/* Note what has been made, by its name. */
static int note_made(struct layer *l, int dir)
{
        struct stat st;
        if (fstatat(dir, l->name.last, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return entry_failed(l);

        l->c->entries++;
        return inodes_add(&l->own, st.st_ino, l->e);
}

static int set_time(struct layer *l, int dir)
{
        const struct timespec at = { .tv_sec = (time_t) (l->entry.mtime >> 40 ? 0 : l->entry.mtime) };
        const struct timespec both[2] = { at, at };
        (void) utimensat(dir, l->name.last, both, AT_SYMLINK_NOFOLLOW);
        return note_made(l, dir);
}

/* A later entry replaces an earlier one of the name, with all below it. */
static int make_way(struct layer *l, int dir)
{
        struct stat st;
        if (fstatat(dir, l->name.last, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : entry_failed(l);

        tree_forget(l->t);
        int again = tree_open(l->t, l->name.parent, false, l->e);
        return again < 0 ? -1 : tree_remove(again, l->name.last) < 0 ? entry_failed(l) : 1;
}

/* The directory of the entry, after what had its name is gone. */
static int clear_place(struct layer *l)
{
        int dir = tree_open(l->t, l->name.parent, true, l->e);
        int r = dir < 0 ? -1 : make_way(l, dir);
        return r < 0 ? -1 : tree_open(l->t, l->name.parent, false, l->e);
}

static int put_directory(struct layer *l)
{
        struct stat st;
        int dir = tree_open(l->t, l->name.parent, true, l->e);
        if (dir < 0)
                return -1;

        bool there = fstatat(dir, l->name.last, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
        if (!there && (dir = clear_place(l)) < 0)
                return -1;

        if (!there && mkdirat(dir, l->name.last, 0700) < 0)
                return entry_failed(l);

        /* Not a symlink: it was looked at, and nobody else writes here. */
        if (fchmodat(dir, l->name.last, (l->entry.mode & 0777) | 0700, 0) < 0)
                return entry_failed(l);

        return note_made(l, dir);
}

static int copy_data(struct layer *l, int fd)
{
        static char data[262144];
        ssize_t n;
        l->c->bytes += l->entry.size;
        if (l->entry.size > UNPACK_BYTES || l->c->bytes > UNPACK_BYTES)
                return err_set(l->e, ERR_LIMIT, 0, "the image has more than %llu GB of files",
                               (unsigned long long) (UNPACK_BYTES >> 30));

        while ((n = tar_data(&l->tar, data, sizeof data, l->e)) > 0)
                if (fd_write_all(fd, data, (size_t) n) < 0)
                        return entry_failed(l);

        return (int) n;
}

static int put_file(struct layer *l)
{
        int dir = clear_place(l);
        if (dir < 0)
                return -1;

        AUTO_FD(fd, openat(dir, l->name.last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0)
                return entry_failed(l);

        if (copy_data(l, fd) < 0)
                return -1;

        if (fchmod(fd, (l->entry.mode & 0777) | 0400) < 0)
                return entry_failed(l);

        return set_time(l, dir);
}

static int put_symlink(struct layer *l)
{
        int dir = l->entry.link[0] ? clear_place(l) : err_set(l->e, ERR_DOOR, 0, "a symlink leads nowhere");
        if (dir < 0)
                return -1;

        if (symlinkat(l->entry.link, dir, l->name.last) < 0)
                return entry_failed(l);

        tree_forget(l->t);
        dir = tree_open(l->t, l->name.parent, false, l->e);
        return dir < 0 ? -1 : set_time(l, dir);
}

static int bad_link(struct layer *l, const char *why)
{
        return err_set(l->e, ERR_DOOR, 0, "the hard link %.120s to %.120s: %s", l->entry.name, l->entry.link,
                       why);
}

/* The target's directory, opened on its own: the tree's is the new name's. */
static int open_target(struct layer *l)
{
        int dir = tree_open(l->t, l->target.parent, false, l->e);
        return dir < 0 ? -1 : fcntl(dir, F_DUPFD_CLOEXEC, 3);
}

static int put_hard_link(struct layer *l)
{
        struct stat from, to;
        if (entry_name_judge(l->entry.link, &l->target) != ENTRY_KEPT)
                return bad_link(l, l->target.why ? l->target.why : "no such file is unpacked");

        AUTO_FD(target, open_target(l));
        if (target < 0)
                return -1;

        if (fstatat(target, l->target.last, &from, AT_SYMLINK_NOFOLLOW) < 0)
                return bad_link(l, strerror(errno));

        if (!S_ISREG(from.st_mode) && !S_ISLNK(from.st_mode))
                return bad_link(l, "it is a directory");

        int dir = tree_open(l->t, l->name.parent, true, l->e);
        if (dir < 0)
                return -1;

        if (fstatat(dir, l->name.last, &to, AT_SYMLINK_NOFOLLOW) == 0 && to.st_ino == from.st_ino)
                return note_made(l, dir); /* to itself */

        if ((dir = clear_place(l)) < 0)
                return -1;

        return linkat(target, l->target.last, dir, l->name.last, 0) < 0 ? entry_failed(l) : note_made(l, dir);
}

/* Only what the layers below have: the order of entries in a layer does not matter. */
static int take_away(struct layer *l, bool opaque)
{
        struct err none;
        struct stat st;
        int dir = tree_open(l->t, l->name.parent, false, &none);
        if (dir < 0)
                return 0; /* there is nothing to remove */

        AUTO_FD(own, fcntl(dir, F_DUPFD_CLOEXEC, 3));
        tree_forget(l->t);
        if (opaque)
                return own < 0 || tree_remove_but(own, inodes_have, &l->own) < 0 ? entry_failed(l) : 0;

        if (own < 0 || fstatat(own, l->name.last, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return own >= 0 && errno == ENOENT ? 0 : entry_failed(l);

        if (inodes_have(&l->own, st.st_ino))
                return 0;

        return tree_remove(own, l->name.last) < 0 ? entry_failed(l) : 0;
}

static int put_entry(struct layer *l)
{
        switch (l->entry.type) {
        case TAR_FILE:
                return put_file(l);
        case TAR_HARD_LINK:
                return put_hard_link(l);
        case TAR_SYMLINK:
                return put_symlink(l);
        case TAR_DIRECTORY:
                return put_directory(l);
        case TAR_DEVICE:
                l->c->devices++;
                return 0;
        case TAR_FIFO:
                l->c->fifos++;
                return 0;
        case TAR_NONE:
        case TAR_PAX:
        case TAR_PAX_GLOBAL:
        case TAR_LONG_NAME:
        case TAR_LONG_LINK:
        case TAR_SPARSE:
        case TAR_UNKNOWN:
                break;
        }
        return err_set(l->e, ERR_INTERNAL, 0, "an entry of no type");
}

static int apply_entry(struct layer *l)
{
        switch (entry_name_judge(l->entry.name, &l->name)) {
        case ENTRY_REFUSED:
                return err_set(l->e, ERR_DOOR, 0, "the entry \"%.200s\" is refused: %s", l->entry.name,
                               l->name.why);
        case ENTRY_ROOT:
                return 0;
        case ENTRY_LEFT_OUT:
                l->c->left_out++;
                return 0;
        case ENTRY_WHITEOUT:
                return take_away(l, false);
        case ENTRY_OPAQUE:
                l->name.last[0] = '\0';
                return take_away(l, true);
        case ENTRY_KEPT:
                break;
        }

        l->c->setid += (l->entry.mode & 07000) != 0 && l->entry.type != TAR_SYMLINK;
        l->c->owners += l->entry.owned;
        l->c->xattrs += l->entry.xattrs;
        return put_entry(l);
}

int layer_apply(struct unpack_source in, struct tree *t, struct unpack_counts *c, struct err *e)
{
        struct layer *l = calloc(1, sizeof *l);
        int r;
        if (!l)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for a layer");

        *l = (struct layer){ .t = t, .c = c, .e = e, .tar = { .in = in, .headers = c->headers } };
        while ((r = tar_next(&l->tar, &l->entry, e)) > 0)
                if ((r = apply_entry(l)) < 0)
                        break;

        c->headers = l->tar.headers;
        free(l->own.v);
        free(l);
        tree_forget(t);
        return r;
}
