/* SPDX-License-Identifier: MIT */
/* wall/linux/root/mount_place.c - places in the new root, and detached mounts that are moved to them.
 *
 * Every path is a (descriptor, name) pair resolved by openat2. Never: creates anything on a filesystem of the
 * host, follows a symlink inside the new root. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "base/wire/wire.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

int place_find(const struct wall_init *w, const char *path)
{
        return fd_open2(w->root, path + 1, O_PATH | O_NOFOLLOW,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

int place_look(int place, struct stat *ret)
{
        if (place < 0 || fstat(place, ret) < 0)
                return -1;
        if (!S_ISLNK(ret->st_mode))
                return 0;
        errno = ELOOP;
        return -1;
}

static bool device_of(const struct wall_init *w, int dir, dev_t *ret)
{
        struct stat at;
        if (dir >= 0 && dir == w->parent && w->parent_dev) {
                *ret = (dev_t) w->parent_dev;
                return true;
        }

        if (fstat(dir, &at) < 0)
                return false;

        *ret = at.st_dev;
        return true;
}

bool place_is_ours(const struct wall_init *w, int dir)
{
        dev_t at;
        return device_of(w, dir, &at) && (at == w->root_dev || at == w->scratch_dev);
}

bool place_is_made(const struct wall_init *w, int dir)
{
        dev_t at;
        return w->observer && device_of(w, dir, &at) && at == w->root_dev;
}

int place_make_node(int dir, const char *name, bool is_dir)
{
        return is_dir ? mkdirat(dir, name, 0755) : mknodat(dir, name, S_IFREG | 0444, 0);
}

/* Walks down from `dir` (taken) and creates missing directories on our own filesystems. */
static int walk_down(struct wall_init *w, int dir, const char *at, const char *end)
{
        char part[NAME_MAX + 1];
        while (dir >= 0 && at < end) {
                size_t n = strcspn(at, "/");
                if (n == 0 || n > NAME_MAX) {
                        (void) close(dir);
                        errno = EINVAL;
                        return -1;
                }
                memcpy(part, at, n);
                part[n] = '\0';
                int next = openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (next < 0 && errno == ENOENT && place_is_ours(w, dir) &&
                    place_make_node(dir, part, true) == 0)
                        next = openat(dir, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                (void) close(dir);
                dir = next;
                at += n + 1;
        }

        return dir;
}

int place_open_parent(struct wall_init *w, const char *path, const char **ret_last)
{
        const char *last = strrchr(path, '/') + 1;
        size_t n = (size_t) (last - path);
        *ret_last = last;
        if (w->parent >= 0 && n == w->parent_len && memcmp(path, w->parent_path, n) == 0)
                return w->parent;

        fd_close(&w->parent);
        w->parent = walk_down(w, fcntl(w->root, F_DUPFD_CLOEXEC, 0), path + 1, last);
        w->parent_path = path;
        w->parent_len = n;
        dev_t dev;
        w->parent_dev = 0;
        if (w->parent >= 0 && device_of(w, w->parent, &dev))
                w->parent_dev = dev;

        return w->parent;
}

void wall_forget_parent(struct wall_init *w) { fd_close(&w->parent); }

/* A mount at `path` hides the cached directory, if that lies below. */
static void forget_hidden(struct wall_init *w, const char *path)
{
        size_t n = strlen(path);
        if (w->parent >= 0 && n < w->parent_len && memcmp(w->parent_path, path, n) == 0 &&
            w->parent_path[n] == '/')
                wall_forget_parent(w);
}

/* An O_PATH descriptor of the mount point, created if it is missing and lies on our own tmpfs. */
static int open_place(struct wall_init *w, const char *path, bool is_dir)
{
        int fd = place_find(w, path);
        if (fd >= 0 || errno != ENOENT)
                return fd;

        const char *last;
        int dir = place_open_parent(w, path, &last);
        if (dir < 0)
                return -1;

        if (!place_is_ours(w, dir)) {
                errno = ENOENT; /* inside a door of the host: no stub is ever made there */
                return -1;
        }

        if (place_make_node(dir, last, is_dir) < 0)
                return -1;

        return openat(dir, last, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* Attaches it by its name in a directory of ours, which no other process changes. False: must be looked up.
 */
static bool attach_here(struct wall_init *w, int tree, const char *path, bool is_dir)
{
        const char *last;
        int dir = place_open_parent(w, path, &last);
        if (dir < 0 || !place_is_ours(w, dir) ||
            (!place_is_made(w, dir) && place_make_node(dir, last, is_dir) < 0))
                return false;
        return mount_move_to(tree, dir, last) == 0;
}

int wall_attach(struct wall_init *w, int tree, const char *path, bool is_dir, struct err *e)
{
        if (attach_here(w, tree, path, is_dir)) {
                forget_hidden(w, path);
                return 0;
        }

        AUTO_FD(place, open_place(w, path, is_dir));
        if (place < 0) {
                int sys = errno;
                (void) wall_fail(e, STAGE_DOORS, "%s has no place in the box", path);
                if (sys == ELOOP)
                        (void) err_hint(e, "a part of the path is a symbolic link inside another door: name "
                                           "where it leads");
                return -1;
        }

        if (mount_move(tree, place) < 0)
                return wall_fail(e, STAGE_DOORS, "mounting %s", path);

        forget_hidden(w, path);
        return 0;
}

int wall_set_attr(int tree, unsigned recursive, uint64_t set, uint64_t clear)
{
        struct mount_attr a = { .attr_set = set, .attr_clr = clear, .propagation = MS_PRIVATE };
        return mount_attr_set(tree, recursive, &a);
}

uint64_t wall_step_attr(unsigned flags)
{
        uint64_t a = MOUNT_PLAIN;
        if (!(flags & STEP_WRITE))
                a |= MOUNT_ATTR_RDONLY;
        if (!(flags & STEP_EXEC))
                a |= MOUNT_ATTR_NOEXEC;
        return a;
}

/* The keeper of a root caller made this one, with the caller's ids mapped to the box's: see start.c. */
int wall_receive_mount(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        struct wall_order order;
        int fd = -1;
        if (wall_hear(w, &order, &fd) != 1 || order.command != COMMAND_MOUNT)
                return wall_fail(e, STAGE_DOORS, "no mount came for %s", s->path);
        return fd;
}

int wall_judge_door(int fd, const struct plan_step *s, struct err *e)
{
        struct stat st;
        if (fstat(fd, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino)
                return 0;
        errno = ESTALE;
        return wall_fail(e, STAGE_DOORS, "%s changed while the box was starting", s->text);
}

int wall_open_door(const struct plan_step *s, struct err *e)
{
        AUTO_FD(from, fd_open2(AT_FDCWD, s->text, O_PATH, RESOLVE_NO_MAGICLINKS));
        if (from < 0)
                return wall_fail(e, STAGE_DOORS, "opening the door %s", s->text);
        return wall_judge_door(from, s, e) < 0 ? -1 : TAKE_FD(from);
}

int wall_write_text(const struct plan_step *s, int dir, const char *name, struct err *e)
{
        mode_t mode = s->flags & STEP_PRIVATE ? 0600 : 0444;
        AUTO_FD(fd, openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (fd < 0 || fd_write_all(fd, s->text, strlen(s->text)) < 0)
                return wall_fail(e, STAGE_ROOT, "making %s", s->path);
        return 0;
}
