/* SPDX-License-Identifier: MIT */
/* wall/linux/root/root.c - assembles the box's file tree on a fresh tmpfs and makes it the root.
 *
 * Every mount is detached first, given its flags, then moved by descriptor to a place that mount_place.c
 * opened. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "base/str.h"
#include "base/wire/wire.h"
#include "wall/internal.h"
#include "wall/linux/observe/fuse_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

/* ---- steps ---- */

/* Two mounts that a watched root needs and never shows: a tmpfs for its files, and the observer's /proc.
 * Before Linux 6.15 nothing can be cloned from a detached mount, and the removal of one waits for every core
 * to leave the kernel: so both have a place, and stay buried under /tmp's. */
static int bury_own(struct wall_init *w, struct err *e)
{
        w->texts = wall_make_tmpfs("12m", "512", MOUNT_PLAIN | MOUNT_ATTR_NOEXEC);
        if (w->texts < 0)
                return wall_fail(e, STAGE_ROOT, "making the box's own files");

        if (w->observer_proc >= 0 && wall_attach(w, w->observer_proc, "/tmp", true, e) < 0)
                return -1;

        fd_close(&w->observer_proc);
        return wall_attach(w, w->texts, "/tmp", true, e);
}

static int texts_mount(struct wall_init *w, const char *name, const struct plan_step *s, struct err *e)
{
        AUTO_FD(tree, mount_clone(w->texts, name, 0));
        if (tree < 0 || wall_set_attr(tree, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0)
                return wall_fail(e, STAGE_ROOT, "making %s", s->path);
        return wall_attach(w, tree, s->path, false, e);
}

/* SAFETY: no page of a watched root can be mapped. The observer reads the payload's memory while a lookup
 * waits for it; a page that only the observer itself can fill would stop both for ever, and init after them.
 */
static int mount_text(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        char name[16];
        (void) snprintf(name, sizeof name, "%u", w->text_count++);
        return wall_write_text(s, w->texts, name, e) < 0 ? -1 : texts_mount(w, name, s, e);
}

static int do_file(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        const char *last;
        int dir = place_open_parent(w, s->path, &last);
        if (dir < 0)
                return wall_fail(e, STAGE_DOORS, "making %s", s->path);

        if (place_is_made(w, dir))
                return s->text[0] ? mount_text(w, s, e) : 0;

        if (plan_image_step(w->plan) && wall_image_clear(w, dir, s->path, e) < 0)
                return -1;

        return wall_write_text(s, dir, last, e);
}

static int do_link(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        const char *last;
        int dir = place_open_parent(w, s->path, &last);
        if (dir < 0 || !place_is_ours(w, dir))
                return wall_fail(e, STAGE_DOORS, "making the link %s", s->path);

        if (place_is_made(w, dir))
                return 0;

        if (symlinkat(s->text, dir, last) < 0 && errno != EEXIST)
                return wall_fail(e, STAGE_ROOT, "making the link %s", s->path);

        return 0;
}

static int do_dir(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        const char *last;
        int dir = place_open_parent(w, s->path, &last);
        if (dir < 0 || !place_is_ours(w, dir) ||
            (!place_is_made(w, dir) && place_make_node(dir, last, true) < 0))
                return wall_fail(e, STAGE_ROOT, "making %s", s->path);
        if (s->flags & STEP_PRIVATE && fchmodat(dir, last, 0700, 0) < 0)
                return wall_fail(e, STAGE_ROOT, "closing %s", s->path);
        return 0;
}

/* Opened by its name and then checked: the mounted file is the checked one, whatever the name leads to. */
static int clone_door(const struct plan_step *s, struct err *e)
{
        AUTO_FD(tree, mount_clone(AT_FDCWD, s->text, AT_RECURSIVE | AT_NO_AUTOMOUNT));
        if (tree < 0)
                return wall_fail(e, STAGE_DOORS, "opening the door %s", s->text);
        return wall_judge_door(tree, s, e) < 0 ? -1 : TAKE_FD(tree);
}

static int do_bind(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(tree, s->flags & STEP_IDMAP ? wall_receive_mount(w, s, e) : clone_door(s, e));
        if (tree < 0)
                return -1;

        if (wall_set_attr(tree, AT_RECURSIVE, wall_step_attr(s->flags), 0) < 0)
                return wall_fail(e, STAGE_DOORS, "making %s %s", s->path,
                                 s->flags & STEP_WRITE ? "nosuid" : "read-only");

        if (s->flags & STEP_SOCK && wall_keep_sock(w, tree, e) < 0)
                return -1;

        return wall_attach(w, tree, s->path, s->flags & STEP_IS_DIR, e);
}

/* Its own mount stays buried under /tmp's. */
static int scratch_begin(struct wall_init *w, struct err *e)
{
        if (wall_scratch_make(w, e) < 0)
                return -1;

        AUTO_FD(own, fcntl(w->scratch, F_DUPFD_CLOEXEC, 0));
        return wall_attach(w, own, "/tmp", true, e);
}

static int do_scratch(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        if (w->scratch < 0 && scratch_begin(w, e) < 0)
                return -1;

        if (mkdirat(w->scratch, s->text, 0755) < 0 && errno != EEXIST)
                return wall_fail(e, STAGE_ROOT, "making the private %s", s->text);

        AUTO_FD(tree, mount_clone(w->scratch, s->text, 0));
        if (tree < 0 || (s->flags & STEP_EXEC && wall_set_attr(tree, 0, 0, MOUNT_ATTR_NOEXEC) < 0))
                return wall_fail(e, STAGE_ROOT, "taking the private %s", s->text);

        return wall_attach(w, tree, s->path, true, e);
}

static const struct {
        const char *path;
        unsigned major, minor;
} device_numbers[] = {
        { "/dev/null", 1, 3 },   { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
        { "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
};

/* A device is identified by its number, not by its name (CVE-2025-31133: /dev/null as a symlink). */
static bool is_device(int fd, const char *path)
{
        struct stat st;
        if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode))
                return false;

        int i = str_row(device_numbers, sizeof device_numbers / sizeof *device_numbers, path);
        return i < 0 ? false : st.st_rdev == makedev(device_numbers[i].major, device_numbers[i].minor);
}

static int do_device(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(tree, mount_clone(AT_FDCWD, s->path, AT_SYMLINK_NOFOLLOW));
        if (tree < 0)
                return wall_fail(e, STAGE_ROOT, "opening %s", s->path);

        if (s->ino ? wall_judge_door(tree, s, e) < 0 : !is_device(tree, s->path)) {
                errno = ENODEV;
                return wall_fail(e, STAGE_ROOT, "%s of this host is not the device it should be", s->path);
        }

        if (wall_set_attr(tree, 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY, 0) < 0)
                return wall_fail(e, STAGE_ROOT, "taking %s", s->path);

        return wall_attach(w, tree, s->path, false, e);
}

/* The machine has a few thousand terminals for all: one box gets enough of them for itself. */
#define TERMINALS_MAX "64"

static int do_devpts(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(fs, mount_fsopen("devpts"));
        if (fs < 0 || mount_fsset(fs, "ptmxmode", "0666") < 0 || mount_fsset(fs, "mode", "0600") < 0 ||
            mount_fsset(fs, "max", TERMINALS_MAX) < 0 || mount_fscreate(fs) < 0)
                return wall_fail(e, STAGE_ROOT, "making the box's own terminals");

        AUTO_FD(tree, mount_fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC));
        if (tree < 0)
                return wall_fail(e, STAGE_ROOT, "making the box's own terminals");

        return wall_attach(w, tree, s->path, true, e);
}

/* Mounts the entry `name` of the box's own root over another place of it, read-only. */
static int cover_name(const struct wall_init *w, const char *name, int place)
{
        AUTO_FD(tree, mount_clone(w->root, name, 0));
        if (tree < 0 || wall_set_attr(tree, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0)
                return -1;
        return mount_move(tree, place);
}

/* An empty, read-only directory: a tmpfs of its own, because in a removed directory the kernel answers ENOENT
 * where it answers EROFS in others. */
static int cover_dir(struct wall_init *w, int place)
{
        if (w->empty >= 0) {
                AUTO_FD(again, mount_clone(w->empty, "", 0));
                return again < 0 ? -1 : mount_move(again, place);
        }

        w->empty = wall_make_tmpfs("4k", "2", MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
        return w->empty < 0 ? -1 : mount_move(w->empty, place);
}

/* An empty file of ours, created once. Its mode lets it be written, as all that lies behind a read-only mount
 * may: the mount answers first. */
static int cover_file(const struct wall_init *w, int place)
{
        if (mknodat(w->root, FRONT_MASK_FILE, S_IFREG | 0644, 0) < 0 && errno != EEXIST)
                return -1;
        return cover_name(w, FRONT_MASK_FILE, place);
}

/* A watched root has both from the beginning. */
static int mask_place(struct wall_init *w, int place, bool is_dir)
{
        if (w->observer)
                return cover_name(w, is_dir ? FRONT_MASK_DIR : FRONT_MASK_FILE, place);
        return is_dir ? cover_dir(w, place) : cover_file(w, place);
}

/* Covers the target of an `except` with an empty, closed file of the same kind. */
static int do_mask(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(place, place_find(w, s->path));
        if (place < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0;

        if (place < 0 && errno == ELOOP && s->flags & STEP_OPTIONAL)
                return 0; /* the symlink's target has its own step */

        struct stat st;
        if (place_look(place, &st) < 0) {
                (void) wall_fail(e, STAGE_DOORS, "cannot hide %s", s->path);
                if (e->sys == ELOOP)
                        (void) err_hint(e, "it is, or lies behind, a symbolic link: name what it leads to "
                                           "after `except`");
                return -1;
        }

        w->masked = true;
        if (mask_place(w, place, S_ISDIR(st.st_mode)) < 0)
                return wall_fail(e, STAGE_DOORS, "hiding %s", s->path);

        return 0;
}

/* Mounts of them stay. */
void wall_masks_remove(const struct wall_init *w)
{
        if (w->observer)
                return;
        (void) unlinkat(w->root, FRONT_MASK_DIR, AT_REMOVEDIR);
        (void) unlinkat(w->root, FRONT_MASK_FILE, 0);
}

/* An empty file or directory. Not of a watched root's, which reports what is looked up below it. */
static int plain_cover(struct wall_init *w, bool is_dir)
{
        const char *name = is_dir ? FRONT_MASK_DIR : FRONT_MASK_FILE;
        int from = w->observer ? w->texts : w->root;
        w->masked = true;
        if ((is_dir ? mkdirat(from, name, 0555) : place_make_node(from, name, false)) < 0 && errno != EEXIST)
                return -1;

        AUTO_FD(tree, mount_clone(from, name, 0));
        if (tree < 0 || wall_set_attr(tree, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0)
                return -1;
        return TAKE_FD(tree);
}

/* The cover of a place that is shut: it is mounted later, by touch_cover(). All of a box are of one kind. */
static int do_shut(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(place, place_find(w, s->path));
        struct stat st;
        if (s->layer >= SHUT_MAX || (place >= 0 && place_look(place, &st) < 0))
                return wall_fail(e, STAGE_DOORS, "cannot shut %s", s->path);

        bool is_dir = place >= 0 && S_ISDIR(st.st_mode);
        int *tree = &w->shut[s->layer];
        if (w->covers_ask)
                *tree = wall_fuse_mount(w->shut_asks[s->layer], is_dir ? "40555" : "100555", false);

        if (*tree < 0 && w->shut_count == 0)
                w->covers_ask = false;

        if (!w->covers_ask)
                *tree = plain_cover(w, is_dir);

        if (*tree < 0)
                return wall_fail(e, STAGE_DOORS, "making the cover of %s", s->path);

        w->shut_count = s->layer + 1 > w->shut_count ? s->layer + 1 : w->shut_count;
        return 0;
}

/* The broker's files, on our own filesystem: the bundle, or the database behind it. */
static int write_trust(struct wall_init *w, const struct plan_step *s, int dir, const char *last,
                       struct err *e)
{
        bool nss = s->flags & STEP_PRIVATE;
        AUTO_FD(fd, dir < 0 ? -1
                            : openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                     nss ? 0600 : 0444));
        char text[4096];
        ssize_t n = -1;
        off_t at = nss ? (off_t) w->s->bundle_bytes : 0;
        off_t end = nss || !w->s->bundle_bytes ? INT32_MAX : (off_t) w->s->bundle_bytes;

        for (; fd >= 0; at += n) {
                size_t most = end - at < (off_t) sizeof text ? (size_t) (end - at) : sizeof text;
                n = pread(w->trust, text, most, at);
                if (n <= 0)
                        break;
                if (fd_write_all(fd, text, (size_t) n) < 0)
                        return wall_fail(e, STAGE_ROOT, "making %s", s->path);
        }

        return n < 0 ? wall_fail(e, STAGE_ROOT, "making %s", s->path) : 0;
}

static int mount_trust(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        return write_trust(w, s, w->texts, "trust", e) < 0 ? -1 : texts_mount(w, "trust", s, e);
}

static int make_trust(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        if (w->observer && !(s->flags & STEP_PRIVATE))
                return mount_trust(w, s, e);
        const char *last;
        int dir = place_open_parent(w, s->path, &last);
        return write_trust(w, s, dir, last, e);
}

/* If no door shows the system's file, programs find ours under its name. */
static int link_trust(struct wall_init *w, const struct plan_step *s)
{
        const char *last;
        int dir = place_open_parent(w, s->path, &last);
        if (dir >= 0 && place_is_ours(w, dir))
                (void) !symlinkat(BOX_TRUST, dir, last);
        return 0;
}

static bool has_nss(const struct wall_init *w)
{
        struct stat st;
        return w->s->bundle_bytes && fstat(w->trust, &st) == 0 && st.st_size > (off_t) w->s->bundle_bytes;
}

static int do_trust(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        struct stat st;
        if (w->trust < 0)
                return 0; /* this host has no roots */

        if (s->flags & STEP_PRIVATE && !has_nss(w))
                return 0;

        if (strcmp(s->path, BOX_TRUST) == 0 || s->flags & STEP_PRIVATE)
                return make_trust(w, s, e);

        AUTO_FD(place, place_find(w, s->path));
        if (place < 0 && errno == ENOENT && !(s->flags & STEP_OPTIONAL))
                return link_trust(w, s);

        if (place < 0 || fstat(place, &st) < 0 || !S_ISREG(st.st_mode))
                return 0; /* not a file of this box */

        if (cover_name(w, &BOX_TRUST[1], place) < 0)
                return wall_fail(e, STAGE_DOORS, "covering %s", s->path);

        return 0;
}

/* The root exists already: root_begin() made it. */
static int do_root(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        (void) w;
        (void) s;
        (void) e;
        return 0;
}

static int (*const doers[])(struct wall_init *, const struct plan_step *, struct err *) = {
        [STEP_ROOT] = do_root,          [STEP_FILE] = do_file,
        [STEP_LINK] = do_link,          [STEP_BIND] = do_bind,
        [STEP_SCRATCH] = do_scratch,    [STEP_DEVICE] = do_device,
        [STEP_DEVPTS] = do_devpts,      [STEP_MASK] = do_mask,
        [STEP_EDIT] = wall_do_edit,     [STEP_PIN] = wall_do_pin,
        [STEP_TRUST] = do_trust,        [STEP_COPY] = wall_do_copy,
        [STEP_SHUT] = do_shut,          [STEP_DIR] = do_dir,
        [STEP_COVER] = wall_do_cover,   [STEP_PROC] = wall_do_proc,
        [STEP_LISTEN] = wall_do_listen, [STEP_STILL] = wall_do_still,
};
_Static_assert(sizeof doers / sizeof *doers == STEP_KIND__COUNT, "a doer for each step");

/* ---- the root ---- */

static int root_begin(struct wall_init *w, struct err *e)
{
        char inodes[32];
        (void) snprintf(inodes, sizeof inodes, "%zu", 1024 + 32 * w->plan->step_count);
        if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return wall_fail(e, STAGE_ROOT, "making mounts private");

        if (plan_image_step(w->plan))
                return wall_image_root(w, plan_image_step(w->plan), e);

        w->root = wall_front_open(w);
        if (w->root < 0)
                w->root = wall_make_tmpfs("4m", inodes, MOUNT_PLAIN);

        if (w->root < 0 || wall_note_device(w->root, &w->root_dev) < 0)
                return wall_fail(e, STAGE_ROOT, "making the new root");

        /* Somewhere in the old root: it is reached through its descriptor until pivot_root. Not on top of it:
         * the kernel would treat a process with the root below as chrooted, and deny it a user namespace,
         * which an early payload must create. No door leads to a file of the host's /proc. */
        if (wall_left_out(LAYER_PID)) /* tests only: the host's processes, as they are */
                w->proc = mount_clone(AT_FDCWD, "/proc", AT_RECURSIVE);

        if (mount_over_proc(w->root) < 0)
                return wall_fail(e, STAGE_ROOT, "attaching the new root");

        return w->observer ? bury_own(w, e) : 0;
}

/* A soft limit of the caller's is not for the files that a box is given; the payload's is set anew later. */
static void lift_file_size(void)
{
        struct rlimit size;

        if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur != size.rlim_max)
                (void) setrlimit(RLIMIT_FSIZE, &(struct rlimit){ size.rlim_max, size.rlim_max });
}

/* While the home is empty: before any door that may be mounted in it. */
static int write_files(struct wall_init *w, struct err *e)
{
        for (size_t i = 0; i < w->order->file_count; i++)
                if (do_file(w, &w->order->files[i], e) < 0)
                        return -1;

        return 0;
}

int wall_root_build(struct wall_init *w, struct err *e)
{
        if (root_begin(w, e) < 0)
                return -1;

        lift_file_size();
        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (!doers[s->kind] || doers[s->kind](w, s, e) < 0)
                        return -1;
                if (s->kind == STEP_SCRATCH && strcmp(s->path, BOX_HOME) == 0 && write_files(w, e) < 0)
                        return -1;
        }

        wall_front_part(w);
        wall_forget_parent(w);
        fd_close(&w->texts);
        fd_close(&w->empty);
        if (w->masked && (w->shut_count == 0 || w->covers_ask))
                wall_masks_remove(w);

        if ((!w->observer && place_make_node(w->root, &LANDLOCK_CANARY[1], false) < 0) ||
            wall_set_attr(w->root, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0)
                return wall_fail(e, STAGE_ROOT, "closing the new root");

        return plan_image_step(w->plan) ? wall_image_close(w, e) : 0;
}

/* The old root goes on top of the new one and is taken off again: no place for it is needed inside. */
int wall_root_enter(struct wall_init *w, struct err *e)
{
        if (fchdir(w->root) < 0 || mount_pivot_here() < 0) {
                (void) wall_fail(e, STAGE_PIVOT, "entering the new root");
                if (e->sys == EINVAL)
                        (void) err_hint(e, "this system runs from its initial ramdisk; use `--wall process`");
                return -1;
        }

        if (mount_detach_here() < 0 || chdir("/") < 0)
                return wall_fail(e, STAGE_PIVOT, "leaving the old root");

        w->layers |= 1u << LAYER_MOUNT;
        return 0;
}
