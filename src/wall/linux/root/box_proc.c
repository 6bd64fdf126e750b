/* SPDX-License-Identifier: MIT */
/* wall/linux/root/box_proc.c - the box's own /proc: its processes, the few covers that the plan has texts
 * for, and no other name.
 *
 * proc with subset=pid has no name to mount a cover on. So it begins whole, gets its covers, and is narrowed
 * then: from there on every name but a process's is ENOENT, unless a mount or an open descriptor holds it. No
 * process of the box is there to open one, and the probe from inside looks for such names.
 *
 * A proc with covers that cannot be taken off is not fully visible, so that a nested user and pid namespace
 * could mount no proc of its own either. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"

#include <errno.h>
#include <string.h>

/* "invisible" would show all to the group 0 outside. */
static const char hide[] = "ptraceable";

enum { NAMES_ATTR = MOUNT_PLAIN | MOUNT_ATTR_NOEXEC, PROC_ATTR = NAMES_ATTR | MOUNT_ATTR_RDONLY };

int wall_proc_make(const char *hidepid)
{
        AUTO_FD(fs, mount_fsopen("proc"));
        if (fs < 0 || mount_fsset(fs, "hidepid", hidepid) < 0 || mount_fsset(fs, "subset", "pid") < 0 ||
            mount_fscreate(fs) < 0)
                return -1;
        return mount_fsmount(fs, PROC_ATTR);
}

static int make_whole(void)
{
        AUTO_FD(fs, mount_fsopen("proc"));
        if (fs < 0 || mount_fsset(fs, "hidepid", hide) < 0 || mount_fscreate(fs) < 0)
                return -1;
        return mount_fsmount(fs, NAMES_ATTR);
}

static int narrow_proc(int proc)
{
        AUTO_FD(fs, mount_fspick(proc));
        return fs < 0 || mount_fsset(fs, "subset", "pid") < 0 || mount_fsreconfigure(fs) < 0 ? -1 : 0;
}

/* The files lie where proc is mounted over them, or where a watched root has its texts. */
int wall_do_cover(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        const char *last = strrchr(s->path, '/') + 1;
        int dir = w->observer ? w->texts : place_open_parent(w, s->path, &last);
        if (dir < 0)
                return wall_fail(e, STAGE_ROOT, "making %s", s->path);
        return wall_write_text(s, dir, last, e);
}

/* A name that this kernel's proc does not have, as that of a driver, stays unknown. */
static int cover_names(const struct wall_init *w, int from)
{
        for (size_t i = 0; i < w->plan->step_count; i++) {
                const struct plan_step *s = &w->plan->steps[i];
                if (s->kind != STEP_COVER)
                        continue;
                const char *name = s->path + sizeof "/proc/" - 1, *last = strrchr(s->path, '/') + 1;
                AUTO_FD(tree, mount_clone(from, w->observer ? last : name, 0));
                if (tree < 0 || (mount_move_to(tree, w->proc, name) < 0 && errno != ENOENT))
                        return -1;
        }

        return 0;
}

/* Symlinks into the asking process's own directory, which a box sees: they are held in place by a mount of
 * their own. Where the kernel does not permit it, the box has none. */
static void keep_links(int proc)
{
        static const char *const names[] = { "mounts", "net" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                AUTO_FD(tree, mount_clone(proc, names[i], AT_SYMLINK_NOFOLLOW));
                if (tree >= 0)
                        (void) mount_move_to(tree, proc, names[i]);
        }
}

static bool has_covers(const struct plan *p)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_COVER)
                        return true;
        return false;
}

/* Unmounts the attached mounts, so that no part of a whole proc stays. */
static int take_off(struct wall_init *w, struct err *e)
{
        if (fchdir(w->proc) < 0 || mount_detach_here() < 0 || chdir("/") < 0)
                return wall_fail(e, STAGE_ROOT, "taking off /proc");
        fd_close(&w->proc);
        fd_close(&w->names);
        return 0;
}

/* Returns 1 if done. 0: this kernel, or a mount over the host's /proc, prevents it; then the box has none of
 * these names, as `cordon doctor` reports. Attached first: before Linux 6.15 nothing can be mounted on a
 * detached mount. */
static int proc_with_covers(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(under, place_find(w, s->path));
        AUTO_FD(whole, under < 0 ? -1 : make_whole());
        if (whole < 0)
                return 0;

        w->proc = TAKE_FD(whole);
        if (wall_attach(w, w->proc, s->path, true, e) < 0)
                return -1;

        keep_links(w->proc);
        if (cover_names(w, w->observer ? w->texts : under) == 0 && narrow_proc(w->proc) == 0) {
                w->names = mount_clone(w->proc, "", 0);
                if (wall_set_attr(w->proc, AT_RECURSIVE, PROC_ATTR, 0) == 0)
                        return 1;
        }

        return take_off(w, e);
}

/* Where the kernel denies it, threads keep the names that they have. */
static void hold_names(struct wall_init *w, bool own)
{
        w->names = own ? mount_clone(w->proc, "", 0) : -1;
        if (w->names >= 0 && wall_set_attr(w->names, 0, 0, MOUNT_ATTR_RDONLY) < 0)
                fd_close(&w->names);
}

int wall_do_proc(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        bool own = !wall_left_out(LAYER_PID);
        int done = own && has_covers(w->plan) ? proc_with_covers(w, s, e) : 0;
        if (done != 0)
                return done < 0 ? -1 : 0;

        if (own)
                w->proc = wall_proc_make(hide);

        if (w->proc < 0) {
                (void) wall_fail(e, STAGE_ROOT, "making the box's own /proc");
                return e->sys == EPERM ? err_hint(e, "parts of /proc are covered here, as in most "
                                                     "containers: `cordon doctor` shows how to fix it")
                                       : -1;
        }

        hold_names(w, own);
        return wall_attach(w, w->proc, s->path, true, e);
}
