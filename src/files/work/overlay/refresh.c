/* SPDX-License-Identifier: MIT */
/* files/work/overlay/refresh.c - before the next box on an overlay: makes it show the host for every path
 * without a record of a pending change. Applied entries were moved out of the overlay or are older than
 * the host's; and an opaque directory hides applied entries, which the end of the next run would take for
 * deleted.
 *
 * Each step keeps every pending change: after a kill, the next command continues. Never: changes the host,
 * or an entry that has a record. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct refresh {
        struct layer *l;
        struct work_door *d;
        unsigned door;
        const struct base *waiting;
        unsigned depth;
        size_t len;
        char path[WORK_PATH_MAX];
};

/* Below the current path. Returns -1 with errno set on error. */
static int enter_dir(struct refresh *s, const char *name, size_t *ret_before)
{
        *ret_before = s->len;
        int n = snprintf(s->path + s->len, sizeof s->path - s->len, "%s%s", s->len ? "/" : "", name);
        if (n < 0 || (size_t) n >= sizeof s->path - s->len) {
                errno = ENAMETOOLONG;
                return -1;
        }

        s->len += (size_t) n;
        return 0;
}

static void leave_dir(struct refresh *s, size_t before)
{
        s->len = before;
        s->path[before] = '\0';
}

static bool waits(const struct refresh *s) { return base_has(s->waiting, s->door, s->path); }

/* ---- opaque directories ---- */

/* One name of the host in a directory that is about to become transparent: a pending deletion gets a
 * whiteout of its own, and a directory becomes opaque until it is processed itself. */
static int keep_hidden(const struct refresh *s, int upper, int lower, const char *name)
{
        struct node above, below;
        if (tree_look(upper, name, &above) < 0 || tree_look(lower, name, &below) < 0)
                return -1;

        if (above.kind == NODE_NONE)
                return below.kind && base_waits(s->waiting, s->door, s->path) ? tree_whiteout(upper, name)
                                                                              : 0;

        if (above.kind != NODE_DIR || below.kind != NODE_DIR)
                return 0;

        AUTO_FD(dir, tree_dir(upper, name));
        return dir < 0 ? -1 : xattr_set_opaque(dir, true);
}

static int uncover_dir(struct refresh *s, int upper, int lower)
{
        AUTO_NAMES(below);
        if (!xattr_is_opaque(upper))
                return 0;

        if (tree_names(lower, &below) < 0)
                return -1;

        for (size_t i = 0; i < below.n; i++) {
                size_t before;
                if (enter_dir(s, below.v[i], &before) < 0 || keep_hidden(s, upper, lower, below.v[i]) < 0)
                        return -1;
                leave_dir(s, before);
        }

        return xattr_set_opaque(upper, false);
}

/* ---- entries ---- */

static int refresh_inside(struct refresh *s, int upper, int lower);

/* A directory that the box did not change itself gets the host's current metadata. */
static int copy_metadata(struct refresh *s, int upper, int lower, const struct node *old)
{
        const char *path = s->len ? s->path : ".";
        closed_change(s->l, s->door, path, old->mode);
        if (xattr_mirror(lower, upper) < 0 || fchmod(upper, old->mode | 0700) < 0)
                return -1;
        (void) !fchown(upper, old->uid, old->gid);
        return fchmod(upper, old->mode);
}

static int refresh_both(struct refresh *s, int upper, int lower, const char *name, struct node *now,
                        const struct node *old)
{
        AUTO_FD(up, tree_dir(upper, name));
        AUTO_FD(low, up < 0 ? -1 : tree_dir(lower, name));
        if (low < 0)
                return up >= 0 && errno == EACCES ? 0 : -1; /* no permission: the same for every apply */

        (void) closed_mode(s->l, s->door, s->path, &now->mode);
        bool stale = !waits(s) && node_differs(upper, lower, name, name, now, old) != 0;
        if (refresh_inside(s, up, low) < 0)
                return -1;

        return stale ? copy_metadata(s, up, low, old) : 0;
}

static int refresh_entry(struct refresh *s, int upper, int lower, const char *name)
{
        struct node now, old;
        if (door_is_guarded(s->d, s->path) || door_is_stub(s->d, s->path))
                return 0;

        if (tree_look(upper, name, &now) < 0 || tree_look(lower, name, &old) < 0)
                return -1;

        if (now.kind == NODE_DIR && old.kind == NODE_DIR)
                return refresh_both(s, upper, lower, name, &now, &old);

        if (waits(s) || base_has_below(s->waiting, s->door, s->path))
                return 0;

        (void) closed_mode(s->l, s->door, s->path, &now.mode);
        if (now.kind == old.kind && node_differs(upper, lower, name, name, &now, &old) == 0)
                return 0; /* a file that got another hard link in the overlay */

        return remove_tree(upper, name);
}

static int refresh_inside(struct refresh *s, int upper, int lower)
{
        AUTO_NAMES(above);
        if (s->depth == WORK_DEPTH_MAX) {
                errno = ELOOP;
                return -1;
        }

        if (uncover_dir(s, upper, lower) < 0 || tree_names(upper, &above) < 0)
                return -1;

        s->depth++;
        for (size_t i = 0; i < above.n; i++) {
                size_t before;
                if (enter_dir(s, above.v[i], &before) < 0 || refresh_entry(s, upper, lower, above.v[i]) < 0)
                        return -1;
                leave_dir(s, before);
        }

        s->depth--;
        return 0;
}

/* The door's own top. */
static int refresh_top(struct refresh *s, const struct sides *x)
{
        struct node now, old;
        if (tree_look(x->upper, ".", &now) < 0 || tree_look(x->lower, ".", &old) < 0)
                return -1;

        (void) closed_mode(s->l, s->door, ".", &now.mode);
        if (base_has(s->waiting, s->door, ".") || node_differs(x->upper, x->lower, ".", ".", &now, &old) == 0)
                return 0;

        s->d->top = S_IFDIR | old.mode;
        return copy_metadata(s, x->upper, x->lower, &old);
}

static int refresh_door(struct layer *l, size_t door, const struct base *waiting, struct err *e)
{
        struct sides x;
        char shown[256];
        struct refresh *s = calloc(1, sizeof *s);
        if (!s)
                return err_set(e, ERR_MEMORY, 0, "no memory for an overlay");

        *s = (struct refresh){ .l = l, .d = &l->doors[door], .door = (unsigned) door, .waiting = waiting };
        int r = sides_open(l, door, &x, e);
        if (r == 0) {
                r = refresh_inside(s, x.upper, x.lower) < 0 || refresh_top(s, &x) < 0 ? -1 : 0;
                if (r < 0)
                        (void) err_set(e, ERR_IO, errno, "bringing the overlay %s up to date at %s: %s",
                                       l->run, str_inert(span_str(s->path), shown, sizeof shown),
                                       strerror(errno));
                sides_close(&x);
        }

        free(s);
        return r;
}

int refresh_layer(struct layer *l, struct err *e)
{
        AUTO_ENTRIES(found); /* the scan opens inaccessible directories of the overlay */
        if (scan_layer(l, &found, e) < 0)
                return -1;

        struct base *waiting = base_open(l, e);
        int r = waiting ? 0 : -1;
        for (size_t i = 0; r == 0 && i < l->door_count; i++)
                if (l->doors[i].is_dir)
                        r = refresh_door(l, i, waiting, e);

        base_free(waiting);
        return r;
}
