/* SPDX-License-Identifier: MIT */
/* files/work/journal/staging.c - creates the new entries of an apply, complete, on the filesystem of their
 * target: by moving the file out of the overlay if one rename can do it, else by copying. Never: device
 * nodes, sockets, set-id bits or owners that were not asked for. */
#include "base/fd.h"
#include "base/str.h"
#include "base/vec.h"
#include "files/work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

struct linked { /* hard links of one file in the overlay: the first is created, the others are links to it */
        uint64_t ino;
        unsigned door;
        size_t slot;
};

struct staging {
        struct journal *j;
        struct sides sides;
        long door;
        struct linked *linked;
        size_t linked_count, linked_cap;
};

/* Overlayfs's attributes must not follow a file into the tree: a later overlay would trust them. Done in
 * the slot: after a kill, the file's own mode is in the journal. */
static int scrub_mode(int slots, const char *slot, mode_t mode, bool setid)
{
        struct node n;
        mode_t wanted = setid ? mode : mode & 01777;
        AUTO_FD(fd, tree_file(slots, slot, true, &n));
        if (fd < 0)
                return -1;

        if (xattr_drop_overlay(fd) < 0) { /* not writable, not even by its owner */
                if (errno != EACCES || fchmod(fd, mode | 0200) < 0 || xattr_drop_overlay(fd) < 0)
                        return -1;
                work_step();
                n.mode = mode | 0200;
        }

        return n.mode != wanted ? fchmod(fd, wanted) : 0;
}

static int take_file(struct staging *g, struct op *o, int slots, const char *slot)
{
        const char *name;
        AUTO_FD(parent, side_upper(&g->sides, o->source, &name));
        if (parent < 0 || renameat(parent, name, slots, slot) < 0)
                return -1;
        work_step();
        return scrub_mode(slots, slot, o->entry->now.mode, o->setid);
}

/* Returns 1 if created as a hard link to an earlier slot. */
static int as_link(struct staging *g, struct op *o, int slots, const char *slot)
{
        char first[32];
        const struct node *n = &o->entry->now;
        if (n->kind != NODE_FILE || n->links < 2)
                return 0;

        for (size_t i = 0; i < g->linked_count; i++)
                if (g->linked[i].ino == n->ino && g->linked[i].door == o->door) {
                        o->linked = g->j->ops[g->linked[i].slot].linked;
                        (void) slot_name(g->linked[i].slot, "", first);
                        return linkat(slots, first, slots, slot, 0) < 0 ? -1 : 1;
                }

        if (vec_room((void **) &g->linked, g->linked_count, &g->linked_cap, sizeof *g->linked) < 0)
                return -1;

        g->linked[g->linked_count++] = (struct linked){ n->ino, o->door, o->slot };
        return 0;
}

static int copy_entry(struct staging *g, const struct op *o, int slots, const char *slot)
{
        const char *name;
        AUTO_FD(parent, side_upper(&g->sides, o->source, &name));
        if (parent < 0 || copy_node(parent, name, slots, slot, o->setid) < 0)
                return -1;

        const struct node *owner = o->keep_owner && o->entry->old.kind ? &o->entry->old : &o->entry->now;
        if (owner->uid != geteuid() || owner->gid != getegid())
                (void) !fchownat(slots, slot, owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW);

        if (o->new_dir) /* open until everything is in it: its own mode is the last step */
                return tree_set_mode(slots, slot, 0700);

        /* chown() clears set-id bits, and the overlay's own mode may have been opened since it was
         * checked. */
        mode_t mode = o->entry->now.mode;
        return o->entry->now.kind == NODE_FILE ? tree_set_mode(slots, slot, o->setid ? mode : mode & 01777)
                                               : 0;
}

/* Returns false on error; an attribute that the box wrote is removed in any case, if possible. */
static bool put_origin(int fd, const char *run)
{
        return fsetxattr(fd, WORK_ORIGIN, run, strlen(run), 0) == 0 ||
               (fremovexattr(fd, WORK_ORIGIN) == 0 && fsetxattr(fd, WORK_ORIGIN, run, strlen(run), 0) == 0);
}

/* Sets the attribute with the run it came from, over any value that the box wrote. Skipped if the
 * filesystem has no attributes or the box left no room: the ledger also records it. */
static void stamp_entry(const struct staging *g, int slots, const char *slot)
{
        struct node n;
        const char *run = g->j->l->run;
        AUTO_FD(fd, tree_file(slots, slot, true, &n));
        if (fd < 0 || put_origin(fd, run) || errno != EACCES)
                return;

        if (fchmod(fd, n.mode | 0200) == 0) { /* not writable, not even by its owner */
                work_step();
                (void) put_origin(fd, run);
                (void) fchmod(fd, n.mode);
        }
}

/* Returns 1 if created as a hard link to an existing file. */
static int as_name(struct staging *g, struct op *o, int slots, const char *slot)
{
        int r = as_link(g, o, slots, slot);
        if (r != 0)
                return r;
        o->linked = links_take(&g->sides, o, slots, slot);
        return o->linked;
}

static int stage_new(struct staging *g, struct op *o)
{
        int slots = g->j->targets[o->door].slots;
        char slot[32], digest[65];
        struct node made;

        (void) slot_name(o->slot, "", slot);
        int r = as_name(g, o, slots, slot);
        if (r == 0)
                r = o->moved ? take_file(g, o, slots, slot) : copy_entry(g, o, slots, slot);

        if (r == 0 && o->entry->now.kind == NODE_FILE)
                stamp_entry(g, slots, slot);

        if (r < 0 || tree_look(slots, slot, &made) < 0 || !made.kind ||
            tree_digest(slots, slot, &made, true, digest) < 0)
                return -1;

        o->ino = made.ino;
        o->digest = arena_str(&g->j->mem, digest);
        return o->digest ? 0 : -1;
}

/* With the mode that the box left: by now files were moved out of it, and it may have been opened against
 * its mode. */
static int set_as_left(int slots, const char *name, struct op *o)
{
        const struct node *n = &o->entry->now;
        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, n->mtime };
        o->mode = landing_mode(n, o->setid);
        return tree_set_mode(slots, name, (mode_t) o->mode | 0700) < 0 /* it is read again */
                       ? -1
                       : utimensat(slots, name, times, AT_SYMLINK_NOFOLLOW);
}

/* The new and the old metadata of a directory, each on its own empty directory. */
static int stage_meta(struct staging *g, struct op *o)
{
        int slots = g->j->targets[o->door].slots;
        char fresh[32], old[32];
        const char *name;
        AUTO_FD(parent, side_upper(&g->sides, o->source, &name));
        if (parent < 0 || copy_node(parent, name, slots, slot_name(o->slot, ".new", fresh), o->setid) < 0 ||
            set_as_left(slots, fresh, o) < 0)
                return -1;

        if (o->new_dir)
                return mkdirat(slots, slot_name(o->slot, ".old", old), 0700);

        AUTO_FD(below, tree_parent(g->j->targets[o->door].fd, o->path, &name));
        if (below < 0 || copy_node(below, name, slots, slot_name(o->slot, ".old", old), true) < 0)
                return -1;

        o->old_mode = o->entry->old.mode;
        return tree_set_mode(slots, old, (mode_t) o->old_mode | 0700); /* it is read again */
}

static int stage_one(struct staging *g, struct op *o, struct err *e)
{
        if (g->door != (long) o->door) {
                if (g->door >= 0)
                        sides_close(&g->sides);
                g->door = -1;
                if (sides_open(g->j->l, o->door, &g->sides, e) < 0)
                        return -1;
                g->door = o->door;
        }

        int r = o->kind == OP_TAKE ? 0 : o->kind == OP_META ? stage_meta(g, o) : stage_new(g, o);
        char shown[256];
        if (r < 0)
                return err_set(e, ERR_IO, errno, "copying %s: %s",
                               str_inert(span_str(o->path), shown, sizeof shown), strerror(errno));

        work_step();
        return 0;
}

int stage_all(struct journal *j, struct err *e)
{
        struct staging g = { .j = j, .door = -1 };
        int r = 0;
        for (size_t i = 0; r == 0 && i < j->n; i++) {
                layer_progress(j->l, "copying", i, j->n);
                r = stage_one(&g, &j->ops[i], e);
        }

        if (g.door >= 0)
                sides_close(&g.sides);

        free(g.linked);
        for (size_t i = 0; r == 0 && i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used && syncfs(j->targets[i].slots) < 0)
                        r = err_set(e, ERR_IO, errno, "writing out the changes: %s", strerror(errno));

        return r;
}
