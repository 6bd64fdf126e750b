/* SPDX-License-Identifier: MIT */
/* wall/linux/root/still_dir.c - a directory of a door that shows the entries it has when the box starts: each
 * is mounted on a tmpfs of the box's own. A process outside that renames, removes or makes something there
 * changes nothing in the box, so what covers an entry stays on it.
 *
 * For names below the box's own directories and without Landlock: see wall/plan/hidden.c. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SHOWN_MAX = 4096 /* mounts; the kernel has 100,000 for a namespace */ };

bool wall_is_hidden(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->step_count; i++)
                if (p->steps[i].kind == STEP_MASK && strcmp(p->steps[i].path, path) == 0)
                        return true;
        return false;
}

struct still {
        const struct wall_init *w;
        const char *path;
        int from, to; /* the directory, below; the tmpfs, above */
};

static int copy_link(const struct still *t, const char *name)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(t->from, name, target, sizeof target - 1);
        if (n < 0)
                return errno == ENOENT || errno == EINVAL ? 0 : -1;
        target[n] = '\0';
        return symlinkat(target, t->to, name);
}

/* A hidden entry has a place, and nothing on it. */
static int show_entry(const struct still *t, const char *name, bool is_dir)
{
        char path[PATH_MAX];
        (void) snprintf(path, sizeof path, "%s/%s", t->path, name);
        if (place_make_node(t->to, name, is_dir) < 0)
                return -1;
        if (wall_is_hidden(t->w->plan, path))
                return 0;

        AUTO_FD(tree, mount_clone(t->from, name, AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT));
        if (tree < 0)
                return errno == ENOENT || errno == EACCES ? 0 : -1; /* gone meanwhile, or not to be entered */
        return mount_move_to(tree, t->to, name);
}

static int show_dir_entry(const struct still *t, const struct dir_entry *d)
{
        struct stat st;
        unsigned type = d->type;
        if (strcmp(d->name, ".") == 0 || strcmp(d->name, "..") == 0)
                return 0;

        if (type == DT_UNKNOWN) {
                if (fstatat(t->from, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return errno == ENOENT ? 0 : -1;
                type = S_ISLNK(st.st_mode) ? DT_LNK : S_ISDIR(st.st_mode) ? DT_DIR : DT_REG;
        }

        return type == DT_LNK ? copy_link(t, d->name) : show_entry(t, d->name, type == DT_DIR);
}

static int too_many(struct err *e, const char *path)
{
        errno = E2BIG;
        (void) wall_fail(e, STAGE_DOORS, "hiding something among more than %d names in %s", SHOWN_MAX, path);
        return err_hint(e, "name what the box may read instead of what it may not");
}

static int show_all(const struct still *t, struct err *e)
{
        DIR_LIST(list, 8192);
        unsigned count = 0;
        int more;
        while ((more = dir_more(&list, t->from)) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        if (count++ > SHOWN_MAX)
                                return too_many(e, t->path);
                        if (show_dir_entry(t, d) < 0)
                                return wall_fail(e, STAGE_DOORS, "showing %s in %s", d->name, t->path);
                }
        return more < 0 ? wall_fail(e, STAGE_DOORS, "listing %s, in which something is hidden", t->path) : 0;
}

/* The target of an own directory's symlink has its own steps. */
static int cannot_hide(const struct plan_step *s, struct err *e)
{
        if (errno == ELOOP && s->flags & STEP_OPTIONAL)
                return 0;
        (void) wall_fail(e, STAGE_DOORS, "cannot hide what lies in %s", s->path);
        return e->sys == ELOOP ? err_hint(e, "it is, or lies behind, a symbolic link: name what it leads to "
                                             "after `except`")
                               : -1;
}

int wall_do_still(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        AUTO_FD(place, place_find(w, s->path));
        if (place < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0; /* nor does it appear: the directory above is still */

        struct stat st;
        if (place_look(place, &st) < 0)
                return cannot_hide(s, e);

        if (!S_ISDIR(st.st_mode))
                return 0;

        /* In one that cannot be listed, nothing is opened; one that cannot be entered is told by the mask. */
        AUTO_FD(entered, openat(place, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
        AUTO_FD(from, openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (from < 0 && errno == EACCES && entered < 0)
                return 0;
        if (from < 0 && errno != EACCES)
                return wall_fail(e, STAGE_DOORS, "listing %s, in which something is hidden", s->path);

        AUTO_FD(to, wall_make_tmpfs("16m", "8192", MOUNT_PLAIN | MOUNT_ATTR_NOEXEC));
        const struct still t = { w, s->path, from, to };
        if (to < 0 || mount_move(to, place) < 0)
                return wall_fail(e, STAGE_DOORS, "mounting %s", s->path);

        wall_forget_parent(w);
        if (from >= 0 && show_all(&t, e) < 0)
                return -1;
        return wall_set_attr(to, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0
                       ? wall_fail(e, STAGE_DOORS, "closing %s", s->path)
                       : 0;
}
