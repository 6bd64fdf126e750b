/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_root.c - the new root: one function for each kind of operation, carried out in their
 * order.
 *
 * Sources are paths of the caller, resolved before anything is mounted and then opened without following a
 * symlink. Destinations are looked up from the descriptor of the new root alone (bwrap_place.c). */
#include "base/arena.h"
#include "base/fd.h"
#include "base/mountapi.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int root_failed(struct err *e, const char *what, const char *path)
{
        return err_set(e, ERR_WALL, errno, "%s %.256s", what, path);
}

/* Directories above a file that group or others may not use are closed to them too. */
static mode_t mode_above(const struct bwrap_op *op)
{
        mode_t mode = 0755;
        if (op->perms >= 0 && (op->perms & 0070) == 0)
                mode &= ~0050u;
        if (op->perms >= 0 && (op->perms & 0007) == 0)
                mode &= ~0005u;
        return mode;
}

/* A descriptor's path must lead to the file that the caller has open. */
static int check_given(int given, int found)
{
        struct stat want, got;
        if (fstat(given, &want) < 0 || fstat(found, &got) < 0)
                return -1;
        if (want.st_dev == got.st_dev && want.st_ino == got.st_ino)
                return 0;
        errno = ESTALE;
        return -1;
}

static int open_source(const struct bwrap_op *op, const struct bwrap_root *r)
{
        AUTO_FD(fd, bwrap_open_old(r, op->source, O_PATH));
        return fd < 0 || (op->flags & BWRAP_BY_FD && check_given(op->fd, fd) < 0) ? -1 : TAKE_FD(fd);
}

static int do_bind(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                   struct err *e)
{
        (void) o;
        struct stat st;
        if (!op->source)
                return 0; /* --bind-try */

        AUTO_FD(source, open_source(op, r));
        if (source < 0 || fstat(source, &st) < 0)
                return root_failed(e, "Can't find source path", op->source);

        bool directory = S_ISDIR(st.st_mode);
        AUTO_FD(place, directory ? bwrap_place_dir(r, op->dest, mode_above(op), 0755)
                                 : bwrap_place_file(r, op->dest, mode_above(op)));
        if (place < 0)
                return root_failed(e, directory ? "Can't mkdir" : "Can't create file at", op->dest);

        AUTO_FD(tree, bwrap_clone(source, op->flags));
        if (tree < 0)
                return root_failed(e, "Can't bind mount on", op->dest);
        return bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(place), op->dest, e);
}

/* A directory at the destination, for a mount. */
static int open_place(const struct bwrap_op *op, const struct bwrap_root *r, struct err *e)
{
        int place = bwrap_place_dir(r, op->dest, mode_above(op), 0755);
        return place < 0 ? root_failed(e, "Can't mkdir", op->dest) : place;
}

static int do_overlay(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                      struct err *e)
{
        int place = open_place(op, r, e);
        return place < 0 ? -1 : bwrap_mount_overlay(o, op, r, place, e);
}

static int do_proc(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                   struct err *e)
{
        (void) o;
        int place = open_place(op, r, e);
        return place < 0 ? -1 : bwrap_mount_proc(op, r, place, e);
}

static int do_dev(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r, struct err *e)
{
        (void) o;
        int place = open_place(op, r, e);
        return place < 0 ? -1 : bwrap_mount_dev(op, r, place, e);
}

static int do_tmpfs(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                    struct err *e)
{
        (void) o;
        char mode[8], size[24];
        (void) snprintf(mode, sizeof mode, "%04o", (unsigned) op->perms);
        (void) snprintf(size, sizeof size, "%llu", (unsigned long long) op->size);
        const char *const options[] = { "mode", mode, op->size ? "size" : NULL, size, NULL };
        AUTO_FD(place, open_place(op, r, e));
        if (place < 0)
                return -1;

        AUTO_FD(tree, bwrap_fresh("tmpfs", options, MOUNT_PLAIN));
        if (tree < 0)
                return root_failed(e, "Can't mount tmpfs on", op->dest);
        return bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(place), op->dest, e);
}

static int do_mqueue(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                     struct err *e)
{
        (void) o;
        static const char *const options[] = { NULL };
        AUTO_FD(place, open_place(op, r, e));
        if (place < 0)
                return -1;

        AUTO_FD(tree, bwrap_fresh("mqueue", options, 0));
        if (tree < 0)
                return root_failed(e, "Can't mount mqueue on", op->dest);
        return bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(place), op->dest, e);
}

static int do_dir(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r, struct err *e)
{
        (void) o;
        AUTO_FD(place, bwrap_place_dir(r, op->dest, mode_above(op), (mode_t) op->perms));
        return place < 0 ? root_failed(e, "Can't mkdir", op->dest) : 0;
}

static int copy_bytes(int from, int to)
{
        char bytes[65536];
        for (;;) {
                ssize_t n = read(from, bytes, sizeof bytes);
                if (n == 0)
                        return 0;
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 || fd_write_all(to, bytes, (size_t) n) < 0)
                        return -1;
        }
}

static int do_file(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                   struct err *e)
{
        (void) o;
        char last[NAME_MAX + 1];
        AUTO_FD(parent, bwrap_place_parent(r, op->dest, mode_above(op), last));
        if (parent < 0)
                return root_failed(e, "Can't mkdir parents for", op->dest);

        AUTO_FD(file, bwrap_open_in(r->top, op->dest, O_WRONLY | O_CREAT | O_TRUNC, (mode_t) op->perms));
        if (file < 0)
                return root_failed(e, "Can't create file", op->dest);
        if (copy_bytes(op->fd, file) < 0)
                return root_failed(e, "Can't write data to file", op->dest);
        return 0;
}

/* A file without a name that the box could open it by elsewhere. */
static int do_data(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                   struct err *e)
{
        (void) o;
        static const char name[] = "data";
        AUTO_FD(place, bwrap_place_file(r, op->dest, mode_above(op)));
        if (place < 0)
                return root_failed(e, "Can't create file at", op->dest);

        AUTO_FD(file, openat(r->aside, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (file < 0 || fchmod(file, (mode_t) op->perms) < 0 || copy_bytes(op->fd, file) < 0)
                return root_failed(e, "Can't write data to file", op->dest);

        AUTO_FD(source, openat(r->aside, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
        AUTO_FD(tree, source < 0 ? -1 : bwrap_clone(source, op->flags));
        if (tree < 0)
                return root_failed(e, "Can't bind mount on", op->dest);
        if (bwrap_mount_at(r, TAKE_FD(tree), TAKE_FD(place), op->dest, e) < 0)
                return -1;
        return unlinkat(r->aside, name, 0) < 0 ? root_failed(e, "Can't unlink the copy for", op->dest) : 0;
}

/* The same link may be there already. */
static int check_link(const struct bwrap_op *op, int parent, const char *last, struct err *e)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(parent, last, target, sizeof target - 1);
        if (n < 0)
                return err_set(e, ERR_WALL, 0,
                               "Can't make symlink at %.128s: destination exists and is not a symlink",
                               op->dest);

        target[n] = '\0';
        if (strcmp(target, op->source) == 0)
                return 0;
        return err_set(e, ERR_WALL, 0, "Can't make symlink at %.128s: existing destination is %.128s",
                       op->dest, target);
}

static int do_symlink(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                      struct err *e)
{
        (void) o;
        char last[NAME_MAX + 1];
        AUTO_FD(parent, bwrap_place_parent(r, op->dest, mode_above(op), last));
        if (parent < 0)
                return root_failed(e, "Can't mkdir parents for", op->dest);
        if (symlinkat(op->source, parent, last) == 0)
                return 0;
        return errno == EEXIST ? check_link(op, parent, last, e)
                               : root_failed(e, "Can't make symlink at", op->dest);
}

static int do_remount(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                      struct err *e)
{
        (void) o;
        struct mount_attr a = { .attr_set = MOUNT_ATTR_RDONLY };
        AUTO_FD(place, bwrap_place_find(r, op->dest));
        if (place < 0 || mount_attr_set(place, 0, &a) < 0)
                return root_failed(e, "Can't remount readonly on", op->dest);
        return 0;
}

static int do_chmod(const struct bwrap_order *o, const struct bwrap_op *op, struct bwrap_root *r,
                    struct err *e)
{
        (void) o;
        char path[40];
        AUTO_FD(place, bwrap_place_find(r, op->dest));
        (void) snprintf(path, sizeof path, "self/fd/%d", place);
        if (place < 0 || fchmodat(r->proc, path, (mode_t) op->perms, 0) < 0)
                return root_failed(e, "Can't chmod", op->dest);
        return 0;
}

static int (*const doers[BWRAP_KIND__COUNT])(const struct bwrap_order *, const struct bwrap_op *,
                                             struct bwrap_root *, struct err *) = {
        [BWRAP_BIND] = do_bind,       [BWRAP_OVERLAY] = do_overlay, [BWRAP_PROC] = do_proc,
        [BWRAP_DEV] = do_dev,         [BWRAP_TMPFS] = do_tmpfs,     [BWRAP_MQUEUE] = do_mqueue,
        [BWRAP_DIR] = do_dir,         [BWRAP_FILE] = do_file,       [BWRAP_DATA] = do_data,
        [BWRAP_SYMLINK] = do_symlink, [BWRAP_REMOUNT] = do_remount, [BWRAP_CHMOD] = do_chmod,
};

/* The path of what `path` leads to; NULL with errno if it leads nowhere. Links of /proc, such as
 * /proc/self/fd/5, lead to mounts of the caller's namespace, which cannot be cloned here, so the path is what
 * counts. */
static const char *resolve_path(const char *path)
{
        static struct arena paths; /* until the command is executed */
        char real[PATH_MAX];
        AUTO_FD(fd, open(path, O_PATH | O_CLOEXEC));
        return fd < 0 || fd_path(fd, real, sizeof real) < 0 ? NULL : arena_str(&paths, real);
}

static int resolve_op(struct bwrap_op *op, struct err *e)
{
        char given[40];
        const char *path = op->source;
        if (op->kind == BWRAP_BIND && op->flags & BWRAP_BY_FD) {
                (void) snprintf(given, sizeof given, "/proc/self/fd/%d", op->fd);
                path = given;
        }

        if (!path || (op->kind != BWRAP_BIND && op->kind != BWRAP_OVERLAY))
                return 0;

        op->source = resolve_path(path);
        if (!op->source && !(op->flags & BWRAP_TRY && errno == ENOENT))
                return root_failed(e, "Can't find source path", path);
        if (op->work && !(op->work = resolve_path(op->work)))
                return root_failed(e, "Can't find source path", "of the work directory");
        return 0;
}

/* Before anything is mounted: a symlink that climbs over the caller's "/" would see the new root. A source
 * that does not exist is reported before anything is created in a directory of the host. */
static int resolve_sources(struct bwrap_order *o, struct err *e)
{
        for (size_t i = 0; i < o->op_count; i++)
                if (resolve_op(&o->ops[i], e) < 0)
                        return -1;

        for (size_t i = 0; i < o->layer_count; i++) {
                const char *path = o->layers[i];
                o->layers[i] = resolve_path(path);
                if (!o->layers[i])
                        return root_failed(e, "Can't find source path", path);
        }

        return 0;
}

/* A tmpfs becomes the root: "old" is the caller's, "new" the box's, "aside" holds files that no path of the
 * box leads to. */
static int mount_base(struct bwrap_root *r, struct err *e)
{
        static const char *const options[] = { "mode", "0755", NULL };
        AUTO_FD(base, bwrap_fresh("tmpfs", options, MOUNT_PLAIN));
        if (base < 0 || mount_move(base, r->old) < 0 || fchdir(base) < 0)
                return err_set(e, ERR_WALL, errno, "Failed to mount tmpfs");
        if (mkdir("old", 0755) < 0 || mkdir("new", 0755) < 0 || mkdir("aside", 0700) < 0)
                return err_set(e, ERR_WALL, errno, "Creating newroot failed");
        if (syscall(SYS_pivot_root, ".", "old") < 0 || chdir("/") < 0)
                return err_set(e, ERR_WALL, errno, "pivot_root");

        AUTO_FD(new, open("new", O_PATH | O_DIRECTORY | O_CLOEXEC));
        r->aside = open("aside", O_PATH | O_DIRECTORY | O_CLOEXEC);
        r->top = new < 0 ? -1 : mount_clone(new, "", 0);
        if (r->aside < 0 || r->top < 0 || mount_move(r->top, new) < 0)
                return err_set(e, ERR_WALL, errno, "setting up newroot bind");

        r->base = TAKE_FD(base);
        return 0;
}

int bwrap_root_build(struct bwrap_order *o, struct bwrap_root *r, struct err *e)
{
        if (resolve_sources(o, e) < 0)
                return -1;

        /* Mounts of the host still come in; none goes out. */
        if (mount(NULL, "/", NULL, MS_SILENT | MS_SLAVE | MS_REC, NULL) < 0)
                return err_set(e, ERR_WALL, errno, "Failed to make / slave");
        if (mount_base(r, e) < 0)
                return -1;

        for (size_t i = 0; i < o->op_count; i++) {
                const struct bwrap_op *op = &o->ops[i];
                if (doers[op->kind](o, op, r, e) < 0)
                        return -1;
                if (op->fd >= 0)
                        (void) close(op->fd);
        }

        return 0;
}

int bwrap_root_enter(struct bwrap_root *r, struct err *e)
{
        if (fchdir(r->top) < 0 || mount_pivot_here() < 0)
                return err_set(e, ERR_WALL, errno, "pivot_root");
        if (fchdir(r->base) < 0 || mount_detach_here() < 0)
                return err_set(e, ERR_WALL, errno, "unmount old root");
        if (chdir("/") < 0)
                return err_set(e, ERR_WALL, errno, "chdir /");

        fd_close(&r->base);
        fd_close(&r->old);
        fd_close(&r->top);
        fd_close(&r->aside);
        return 0;
}
