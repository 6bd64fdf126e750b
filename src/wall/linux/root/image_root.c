/* SPDX-License-Identifier: MIT */
/* wall/linux/root/image_root.c - the tree of an image as the box's root: read-only below, a part of the
 * private tmpfs above it, merged by overlayfs in the box's own namespaces.
 *
 * The image is hostile: its names are never followed. A symlink, file or device in the way of the box's own
 * directories is removed in the overlay, never on the host, and its /dev is covered whole. Never: writes to
 * the image, mounts through one of its symlinks. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Parents first. */
static const char *const own_dirs[] = { "dev",  "etc", "etc/cordon", "home", "home/box",
                                        "proc", "sys", "tmp",        "var",  "var/tmp" };

/* A file that root's one id, or the caller's, does not cover is not copied into the overlay. */
static int cannot_change(const char *path, struct err *e)
{
        (void) wall_fail(e, STAGE_DOORS, "making /%s in the image's overlay", path);
        bool foreign = e->sys == EOVERFLOW || e->sys == EPERM || e->sys == EACCES;
        return foreign ? err_hint(
                                 e,
                                 "files of the image belong to another user or group: chown them, or `cordon "
                                 "image add` an archive of it")
                       : -1;
}

/* In the overlay: the image itself keeps it. */
int wall_image_clear(const struct wall_init *w, int dir, const char *path, struct err *e)
{
        const char *name = strrchr(path, '/') + 1;
        if (!place_is_ours(w, dir) || unlinkat(dir, name, 0) == 0 || errno == ENOENT)
                return 0;

        if (errno == EISDIR && unlinkat(dir, name, AT_REMOVEDIR) == 0)
                return 0;

        return cannot_change(path + 1, e);
}

/* Every part of its path is a real directory from here on, or missing: steps make those that they need. */
static int own_dir(const struct wall_init *w, const char *name)
{
        struct stat st;
        if (fstatat(w->root, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -1;

        if (S_ISDIR(st.st_mode))
                return 0;

        return unlinkat(w->root, name, 0) < 0 ? -1 : mkdirat(w->root, name, 0755);
}

/* The private tmpfs is mounted below the root that is made: overlayfs takes no detached tree. */
static int make_layer(struct wall_init *w, struct err *e)
{
        if (wall_scratch_make(w, e) < 0)
                return -1;

        AUTO_FD(held, wall_hold(w, fcntl(w->scratch, F_DUPFD_CLOEXEC, 0), "above"));
        if (held < 0 || mkdirat(w->scratch, "dev", 0755) < 0 || mkdirat(w->scratch, "image", 0755) < 0 ||
            mkdirat(w->scratch, "image/upper", 0755) < 0 || mkdirat(w->scratch, "image/work", 0755) < 0)
                return wall_fail(e, STAGE_ROOT, "making the overlay of the image");

        return openat(held, "image", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int overlay_of(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(layer, make_layer(w, e));
        AUTO_FD(mapped, layer >= 0 && s->flags & STEP_IDMAP ? wall_receive_mount(w, s, e) : -1);
        if (layer < 0 || (s->flags & STEP_IDMAP && mapped < 0))
                return -1;

        AUTO_FD(lower, s->flags & STEP_IDMAP ? wall_hold(w, TAKE_FD(mapped), "below") : wall_open_door(s, e));
        if (lower < 0)
                return s->flags & STEP_IDMAP ? wall_fail(e, STAGE_DOORS, "placing the image") : -1;

        AUTO_FD(tree, wall_make_overlay(w, lower, layer, MOUNT_PLAIN));
        if (tree < 0) {
                (void) wall_fail(e, STAGE_DOORS, "laying a private overlay over the image %s", s->text);
                return err_hint(e, e->sys == ENODEV ? "this kernel has no overlayfs: `modprobe overlay`"
                                                    : "its filesystem cannot be the lower one of an overlay");
        }

        return chdir("/") < 0 ? wall_fail(e, STAGE_ROOT, "leaving /proc") : TAKE_FD(tree);
}

static int claim_dirs(struct wall_init *w, struct err *e)
{
        for (size_t i = 0; i < sizeof own_dirs / sizeof *own_dirs; i++)
                if (own_dir(w, own_dirs[i]) < 0)
                        return cannot_change(own_dirs[i], e);

        AUTO_FD(dev, mount_clone(w->scratch, "dev", 0));
        return dev < 0 ? wall_fail(e, STAGE_ROOT, "making /dev") : wall_attach(w, dev, "/dev", true, e);
}

int wall_image_root(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        fd_close(&w->fuse); /* a name that an image lacks is no name of the host */
        w->root = wall_make_tmpfs("64k", "64", MOUNT_PLAIN | MOUNT_ATTR_NOEXEC);
        if (w->root < 0 || mount_over_proc(w->root) < 0)
                return wall_fail(e, STAGE_ROOT, "making the new root");

        AUTO_FD(tree, overlay_of(w, s, e));
        if (tree < 0)
                return -1;

        /* On top of the temporary root, which goes away with the old one. */
        if (mount_over_proc(tree) < 0)
                return wall_fail(e, STAGE_ROOT, "attaching the image");

        (void) close(w->root);
        w->root = TAKE_FD(tree);
        if (wall_set_attr(w->root, 0, 0, 0) < 0 || wall_note_device(w->root, &w->root_dev) < 0)
                return wall_fail(e, STAGE_ROOT, "attaching the image");

        return claim_dirs(w, e);
}

/* Its mount points are made. */
int wall_image_close(struct wall_init *w, struct err *e)
{
        AUTO_FD(dev, place_find(w, "/dev"));
        if (dev < 0 || wall_set_attr(dev, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0)
                return wall_fail(e, STAGE_ROOT, "closing /dev");
        return 0;
}
