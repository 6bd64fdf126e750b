/* SPDX-License-Identifier: MIT */
/* wall/linux/root/edit_mount.c - edit doors: the real tree below, a private overlay above, merged by the
 * kernel's overlayfs in the box's own namespaces.
 *
 * Directories are passed to the kernel by descriptor, through the host's /proc, which was checked to be one,
 * so no path is looked up twice. Never: creates anything on the host (the keeper created the mount points in
 * the overlay), leaves a path to the overlay's own directory in the new root. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"
#include "wall/linux/observe/fuse_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>

int wall_open_layer(const struct wall_edit *l, struct err *e)
{
        AUTO_FD(dir, fd_open2(AT_FDCWD, l->path, O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS));
        struct stat st;
        if (dir < 0 || fstat(dir, &st) < 0)
                return wall_fail(e, STAGE_DOORS, "opening the private overlay %s", l->path);

        if (st.st_dev != l->dev || st.st_ino != l->ino) {
                errno = ESTALE;
                return wall_fail(e, STAGE_DOORS, "the private overlay %s changed while the box was starting",
                                 l->path);
        }

        return TAKE_FD(dir);
}

/* The lower directory must be mounted: a detached tree (taken) gets a temporary place of ours in the new
 * root. */
int wall_hold(struct wall_init *w, int detached, const char *name)
{
        AUTO_FD(tree, detached);
        if (tree < 0 || (!w->observer && mkdirat(w->root, name, 0700) < 0))
                return -1;

        AUTO_FD(place, openat(w->root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (place < 0 || mount_move(tree, place) < 0)
                return -1;

        return openat(w->root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int let_go(struct wall_init *w, const char *name, int held)
{
        if (fchdir(held) < 0 || mount_detach_here() < 0 || chdir("/") < 0)
                return -1;
        return w->observer ? 0 : unlinkat(w->root, name, AT_REMOVEDIR);
}

static int set_layer(int fs, const char *key, int fd)
{
        char name[32];
        (void) snprintf(name, sizeof name, "self/fd/%d", fd);
        return mount_fsset(fs, key, name);
}

/* userxattr: needs no privilege over the host's attributes, and one reader can read the overlays of either
 * caller's boxes. Features that need trust in a lower directory's attributes (redirects, metacopy, index) are
 * off. volatile: else the end of each box would sync the whole filesystem below the overlay, and a box could
 * make the host do that at any time. */
int wall_make_overlay(const struct wall_init *w, int lower, int layer, unsigned attr)
{
        AUTO_FD(upper, openat(layer, "upper", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        AUTO_FD(work, openat(layer, "work", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        AUTO_FD(fs, mount_fsopen("overlay"));
        if (upper < 0 || work < 0 || fs < 0 || fchdir(w->host_proc) < 0)
                return -1;

        if (set_layer(fs, "lowerdir", lower) < 0 || set_layer(fs, "upperdir", upper) < 0 ||
            set_layer(fs, "workdir", work) < 0 || mount_fsflag(fs, "userxattr") < 0 ||
            mount_fsset(fs, "index", "off") < 0 || mount_fsset(fs, "metacopy", "off") < 0 ||
            mount_fsset(fs, "xino", "auto") < 0 || mount_fsflag(fs, "volatile") < 0 || mount_fscreate(fs) < 0)
                return -1;

        return mount_fsmount(fs, attr);
}

static int overlay_failed(const struct plan_step *s, const struct wall_edit *l, struct err *e)
{
        int sys = errno;
        (void) wall_fail(e, STAGE_DOORS, "laying a private overlay over %s", s->text);
        if (sys == ELOOP)
                return err_hint(e, "cordon's state lies inside the door: let CORDON_STATE name a directory "
                                   "outside of it");

        if (sys == ENODEV)
                return err_hint(e, "this kernel has no overlayfs: `modprobe overlay`");

        return err_hint(e,
                        "either a filesystem is mounted below it: name narrower doors; or the one that %.80s "
                        "lies on cannot hold layers: CORDON_STATE=/dev/shm/cordon cordon run ...",
                        l->path);
}

/* One file: a copy lies in the overlay; the box sees and changes the copy. */
static int edit_file(struct wall_init *w, const struct plan_step *s, int layer, struct err *e)
{
        struct stat st;
        AUTO_FD(file, openat(layer, "file", O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (file >= 0 && place_look(file, &st) < 0)
                return wall_fail(e, STAGE_DOORS, "taking the private copy of %s", s->text);

        AUTO_FD(tree, file < 0 ? -1 : mount_clone(file, "", 0));
        if (tree < 0 || wall_set_attr(tree, 0, wall_step_attr(s->flags), 0) < 0)
                return wall_fail(e, STAGE_DOORS, "taking the private copy of %s", s->text);

        return wall_attach(w, tree, s->path, false, e);
}

static int edit_tree(struct wall_init *w, const struct plan_step *s, int lower, int layer, struct err *e)
{
        AUTO_FD(tree, wall_make_overlay(w, lower, layer, (unsigned) wall_step_attr(s->flags)));
        if (tree < 0)
                return overlay_failed(s, &w->s->edits[s->layer], e);
        if (chdir("/") < 0 || wall_set_attr(tree, 0, 0, 0) < 0)
                return wall_fail(e, STAGE_DOORS, "laying a private overlay over %s", s->text);
        return wall_attach(w, tree, s->path, true, e);
}

static int edit_mapped(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        bool tree = s->flags & STEP_IS_DIR;
        AUTO_FD(below, wall_receive_mount(w, s, e));
        AUTO_FD(above, below < 0 ? -1 : wall_receive_mount(w, s, e));
        if (above < 0)
                return -1;

        AUTO_FD(lower, tree ? wall_hold(w, TAKE_FD(below), FRONT_EDIT_BELOW) : -1);
        AUTO_FD(layer, wall_hold(w, TAKE_FD(above), FRONT_EDIT_ABOVE));
        if (layer < 0 || (tree && lower < 0))
                return wall_fail(e, STAGE_DOORS, "placing the overlays of %s", s->text);

        if ((tree ? edit_tree(w, s, lower, layer, e) : edit_file(w, s, layer, e)) < 0)
                return -1;

        if (let_go(w, FRONT_EDIT_ABOVE, layer) < 0 || (tree && let_go(w, FRONT_EDIT_BELOW, lower) < 0))
                return wall_fail(e, STAGE_DOORS, "hiding the overlays of %s", s->text);

        return 0;
}

int wall_do_edit(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        if (s->flags & STEP_IDMAP)
                return edit_mapped(w, s, e);

        AUTO_FD(lower, wall_open_door(s, e));
        AUTO_FD(layer, lower < 0 ? -1 : wall_open_layer(&w->s->edits[s->layer], e));
        if (layer < 0)
                return -1;

        return s->flags & STEP_IS_DIR ? edit_tree(w, s, lower, layer, e) : edit_file(w, s, layer, e);
}

/* A bind mount over itself: for a file that the kernel must not move or remove, or that is read-only or
 * executable while the rest of the door is not. Read-only is only ever added: below an `except` nothing
 * becomes writable. */
int wall_do_pin(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        struct stat st;
        AUTO_FD(place, place_find(w, s->path));
        bool seen = place_look(place, &st) == 0;
        if (!seen && s->flags & STEP_OPTIONAL && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
                return 0;

        if (!seen) {
                (void) wall_fail(e, STAGE_DOORS, "cannot hold %s", s->path);
                if (e->sys == ELOOP)
                        (void) err_hint(e, "it is, or lies behind, a symbolic link: name what it leads to");
                return -1;
        }

        /* Recursive: a door below must not be covered by the host's own files. */
        AUTO_FD(tree, mount_clone(place, "", s->flags & STEP_GUARD ? 0 : AT_RECURSIVE));
        uint64_t clear = s->flags & STEP_EXEC ? MOUNT_ATTR_NOEXEC : 0;
        if (tree < 0 || wall_set_attr(tree, 0, wall_step_attr(s->flags), clear) < 0 ||
            mount_move(tree, place) < 0)
                return wall_fail(e, STAGE_DOORS, "holding %s", s->path);

        wall_forget_parent(w);
        return 0;
}
