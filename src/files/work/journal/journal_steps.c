/* SPDX-License-Identifier: MIT */
/* files/work/journal/journal_steps.c - the steps of a journal, forward and back: each is one atomic rename,
 * can be repeated, and is done only if it finds the entry that was checked. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The directory may be inaccessible to its own owner, before or after. */
static int meta_from(int slots, const char *name, int parent, const char *target, long mode)
{
        struct stat st;
        mode_t back;
        AUTO_FD(from, openat(slots, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        AUTO_FD(to, from < 0 ? -1 : tree_own_dir(parent, target, &back));
        if (from < 0 || to < 0 || fstat(from, &st) < 0)
                return -1;

        const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st.st_mtim };
        work_step();
        if (xattr_mirror(from, to) == 0 && futimens(to, times) == 0)
                return fchmod(to, mode < 0 ? st.st_mode & 07777 : (mode_t) mode);

        int sys = errno;
        tree_dir_end(to, back);
        errno = sys;
        return -1;
}

/* Is it an error after which a retry may succeed? */
static bool is_passing(void)
{
        return fd_is_want(errno) || errno == EIO || errno == ENOSPC || errno == EDQUOT || errno == EROFS;
}

static int changed_meanwhile(struct err *e, const char *path)
{
        errno = EBUSY;
        return journal_failed(e, "changed during the apply:", path);
}

/* Reading a large file takes long, and all of its times except ctime can be set back. ctime is unknown
 * after an interruption, and a rename also changes it: so it only decides when to read again. */
static bool is_rewritten(int parent, const char *name, const struct op *o, const struct node *there)
{
        char digest[65];
        bool same =
                there->ctime.tv_sec == o->old.ctime.tv_sec && there->ctime.tv_nsec == o->old.ctime.tv_nsec;
        if (o->old.ctime.tv_sec == 0 || o->old.kind != NODE_FILE || same || !o->before ||
            strlen(o->before) != 64)
                return false;

        return tree_digest(parent, name, there, false, digest) < 0 || strcmp(digest, o->before) != 0;
}

/* Before anything is moved: is the entry still the one that was checked? */
static bool is_another(int parent, const char *name, const struct op *o, const struct node *in_slot)
{
        struct node there;
        bool taken = o->kind == OP_TAKE ? in_slot->kind : !in_slot->kind || in_slot->ino != o->ino;
        if (!o->old.kind || taken || (o->kind != OP_SWAP && o->kind != OP_TAKE))
                return false;

        if (tree_look(parent, name, &there) < 0)
                return false;

        return there.ino != o->old.ino || is_rewritten(parent, name, o, &there);
}

/* An entry that a step took and cannot give back, because another user's file has the name now, gets a
 * name beside it: nothing is lost. */
static const char *name_beside(const struct journal *j, const char *name, char ret[NAME_MAX + 1])
{
        (void) snprintf(ret, NAME_MAX + 1, "%.150s.cordon-%.60s", name, j->l->run);
        return ret;
}

static int settle_step(const struct journal *j, const struct op *o, int parent, const char *name)
{
        char slot[32], other[NAME_MAX + 1];
        return o->kind == OP_META ? 0
                                  : plain_settle(j->targets[o->door].slots, slot_name(o->slot, "", slot),
                                                 parent, name, name_beside(j, name, other));
}

static int step_forward(struct journal *j, const struct op *o, struct err *e)
{
        const struct target *t = &j->targets[o->door];
        char slot[32], other[32];
        const char *name;
        struct node in_slot;
        AUTO_FD(parent, tree_parent(t->fd, o->path, &name));
        if (parent < 0 || settle_step(j, o, parent, name) < 0 ||
            tree_look(t->slots, slot_name(o->slot, "", slot), &in_slot) < 0)
                return journal_failed(e, "opening", o->path);

        if (is_another(parent, name, o, &in_slot))
                return changed_meanwhile(e, o->path);

        int r = 0;
        switch ((enum op_kind) o->kind) {
        case OP_PUT:
                if (in_slot.kind)
                        r = plain_move(t->slots, slot, parent, name);
                break;
        case OP_TAKE:
                if (!in_slot.kind)
                        r = plain_move(parent, name, t->slots, slot);
                break;
        case OP_SWAP:
                if (in_slot.kind && in_slot.ino == o->ino)
                        r = plain_swap(t->slots, slot, parent, name);
                break;
        case OP_META:
                r = meta_from(t->slots, slot_name(o->slot, ".new", other), parent, name, o->mode);
                break;
        }
        if (r < 0)
                return journal_failed(e, "putting in place", o->path);

        work_step();

        /* The entry that came out must be the one that was checked. */
        if (!o->old.kind || (o->kind != OP_SWAP && o->kind != OP_TAKE))
                return 0;

        if (tree_look(t->slots, slot, &in_slot) < 0 || in_slot.ino != o->old.ino ||
            in_slot.size != o->old.size ||
            (in_slot.kind != NODE_DIR &&
             (in_slot.mtime.tv_sec != o->old.mtime.tv_sec || in_slot.mtime.tv_nsec != o->old.mtime.tv_nsec)))
                return changed_meanwhile(e, o->path);

        return 0;
}

/* Reopens directories that a META step made inaccessible to their owner before a process was killed: steps
 * may follow in them, and they will be closed again. In the journal, a directory's parent follows it. */
static int open_closed(const struct journal *j)
{
        for (size_t i = j->n; geteuid() != 0 && i-- > 0;) {
                const struct op *o = &j->ops[i];
                const char *name;
                struct node n;
                if (o->kind != OP_META || o->mode < 0 || (o->mode & 0700) == 0700)
                        continue;
                AUTO_FD(parent, tree_parent(j->targets[o->door].fd, o->path, &name));
                if (parent < 0 || tree_look(parent, name, &n) < 0 || n.kind != NODE_DIR)
                        continue; /* does not exist yet; or its own step will fail */
                if ((n.mode & 0700) != 0700 && tree_set_mode(parent, name, n.mode | 0700) < 0)
                        return -1;
        }

        return 0;
}

int journal_forward(struct journal *j, struct err *e)
{
        if (open_closed(j) < 0)
                return journal_failed(e, "opening closed directories for", j->l->run);

        for (size_t i = 0; i < j->n; i++) {
                layer_progress(j->l, "putting in place", i, j->n);
                if (step_forward(j, &j->ops[i], e) < 0)
                        return -1;
        }

        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used && syncfs(j->targets[i].fd) < 0)
                        return journal_failed(e, "writing out", j->targets[i].path);

        return 0;
}

/* Another process wrote the new file again, with equal content. */
static bool is_same_content(int dir, const char *name, const struct node *n, bool own, const struct op *o)
{
        char digest[65];
        return n->kind == NODE_FILE && tree_digest(dir, name, n, own, digest) == 0 && strlen(digest) == 64 &&
               strcmp(digest, o->digest) == 0;
}

/* Is this still the entry that the step created? A file is compared by content: its inode number proves
 * nothing once another process wrote to it, or removed it and created one that got the same number. A file
 * without read permission is compared by inode number; so is a hard link of the host's own file, which
 * keeps its other names whatever its content. */
static bool is_ours(int dir, const char *name, const struct node *n, const struct op *o)
{
        char digest[65];
        bool told = n->kind == NODE_FILE && o->digest && strlen(o->digest) == 64 && !o->linked;
        if (told && tree_digest(dir, name, n, false, digest) == 0 && strlen(digest) == 64)
                return strcmp(digest, o->digest) == 0;
        return n->kind && n->ino == o->ino;
}

/* Finds our new file: under its own name, or under another in the same directory, because another process
 * may have exchanged the two. A file of the same content under its name is as good: its author loses
 * nothing. Returns false if not found. */
static bool find_ours(int parent, const char *name, const struct op *o, char ret_name[NAME_MAX + 1],
                      uint64_t *ret_ino)
{
        AUTO_NAMES(list);
        struct node n;
        *ret_ino = o->ino;
        (void) snprintf(ret_name, NAME_MAX + 1, "%s", name);
        if (tree_look(parent, name, &n) == 0 && is_ours(parent, name, &n, o)) {
                *ret_ino = n.ino;
                return true;
        }

        for (size_t i = tree_names(parent, &list) < 0 ? list.n : 0; i < list.n; i++)
                if (tree_look(parent, list.v[i], &n) == 0 && n.ino == o->ino &&
                    is_ours(parent, list.v[i], &n, o)) {
                        (void) snprintf(ret_name, NAME_MAX + 1, "%s", list.v[i]);
                        return true;
                }

        return false;
}

static int keep_beside(const struct journal *j, const struct target *t, const char *slot, int parent,
                       const char *name)
{
        char other[NAME_MAX + 1];
        return plain_move(t->slots, slot, parent, name_beside(j, name, other));
}

static int back_swap(const struct journal *j, const struct op *o, int parent, const char *name)
{
        enum { TRIES = 1000, GONE = 50 };
        const struct target *t = &j->targets[o->door];
        char slot[32], where[NAME_MAX + 1];
        struct node in_slot;
        uint64_t ours;

        (void) slot_name(o->slot, "", slot);
        for (unsigned tries = 0, gone = 0; tries < TRIES && gone < GONE; tries++) {
                if (tree_look(t->slots, slot, &in_slot) < 0)
                        return -1;
                if (!in_slot.kind || in_slot.ino == o->ino)
                        return 0;
                if (!find_ours(parent, name, o, where, &ours)) {
                        gone++;
                        if (plain_move(t->slots, slot, parent, name) == 0)
                                return 0;
                        if (errno != EEXIST)
                                return -1;
                        continue;
                }
                if (plain_swap(t->slots, slot, parent, where) < 0) {
                        if (errno != ENOENT)
                                return -1;
                        continue;
                }
                if (tree_look(t->slots, slot, &in_slot) == 0 && in_slot.ino == ours)
                        return 0;
                /* The names were exchanged between check and step (TOCTOU): reverted, and checked again. */
                (void) plain_swap(t->slots, slot, parent, where);
        }

        return keep_beside(j, t, slot, parent, name);
}

/* Our entries were moved out of our directory before: anything left in it belongs to another process. */
static bool holds_something(int parent, const char *name)
{
        AUTO_NAMES(list);
        AUTO_FD(dir, tree_dir(parent, name));
        return dir >= 0 && tree_names(dir, &list) == 0 && list.n > 0;
}

static int back_put(const struct journal *j, const struct op *o, int parent, const char *name,
                    const struct node *there)
{
        const struct target *t = &j->targets[o->door];
        char slot[32];
        struct node taken;

        if (!is_ours(parent, name, there, o))
                return 0;

        if (there->kind == NODE_DIR && holds_something(parent, name))
                return 0;

        if (plain_move(parent, name, t->slots, slot_name(o->slot, "", slot)) < 0 ||
            tree_look(t->slots, slot, &taken) < 0)
                return -1;

        if (taken.ino == there->ino || plain_move(t->slots, slot, parent, name) == 0)
                return 0;

        return errno == EEXIST ? keep_beside(j, t, slot, parent, name) : -1;
}

/* Reverts one step. An entry that another process put there since is left alone, and the kept one stays
 * kept. */
static int step_backward(struct journal *j, const struct op *o)
{
        const struct target *t = &j->targets[o->door];
        char slot[32], other[32];
        const char *name;
        struct node in_slot, there;
        AUTO_FD(parent, tree_parent(t->fd, o->path, &name));
        if (parent < 0 || settle_step(j, o, parent, name) < 0 ||
            tree_look(t->slots, slot_name(o->slot, "", slot), &in_slot) < 0 ||
            tree_look(parent, name, &there) < 0)
                return (errno == ENOENT || errno == ENOTDIR) && o->kind != OP_TAKE && o->kind != OP_SWAP ? 0
                                                                                                         : -1;

        switch ((enum op_kind) o->kind) {
        case OP_PUT:
                return in_slot.kind ? 0 : back_put(j, o, parent, name, &there);
        case OP_TAKE:
                return in_slot.kind ? plain_move(t->slots, slot, parent, name) : 0;
        case OP_SWAP:
                return back_swap(j, o, parent, name);
        case OP_META:
                if (meta_from(t->slots, slot_name(o->slot, ".old", other), parent, name, o->old_mode) == 0)
                        return 0;
                return is_passing() ? -1 : 0; /* else another process owns it by now */
        }
        return 0;
}

/* Is the new entry in its slot again? */
static bool is_in_slot(const struct target *t, const char *slot, const struct op *o, struct node *ret)
{
        return tree_look(t->slots, slot, ret) == 0 && ret->kind &&
               (!o->ino || ret->ino == o->ino || is_same_content(t->slots, slot, ret, true, o));
}

/* Moves a new file back into the overlay that it came from. SAFETY: a mode is set only in a directory of
 * ours; a file that got another hard link since also belongs to that user. */
static int give_back(const struct target *t, const struct op *o, int parent, const char *name)
{
        char slot[32];
        struct node n;
        if (!is_in_slot(t, slot_name(o->slot, "", slot), o, &n) || n.kind == NODE_DIR)
                return 0;

        if (o->left && n.kind == NODE_FILE && n.links == 1 && n.mode != (o->left & 07777) &&
            tree_set_mode(t->slots, slot, o->left & 07777) < 0)
                return -1;

        if (o->moved)
                return plain_move(t->slots, slot, parent, name);

        return copy_node(t->slots, slot, parent, name, true);
}

/* The overlay holds the change again: the new file, or a whiteout. Anything that a later box left under
 * that name, or did to its directory, stays. */
static int unstage_entry(struct journal *j, const struct op *o)
{
        const struct target *t = &j->targets[o->door];
        struct sides s;
        struct err none;
        const char *name;
        struct node n;
        bool single = o->door < j->l->door_count && !j->l->doors[o->door].is_dir;
        if (o->kind == OP_META || t->slots < 0 || single)
                return 0;

        if (sides_open(j->l, o->door, &s, &none) < 0)
                return -1;

        AUTO_FD(parent, side_upper(&s, o->source, &name));
        int r = parent < 0 ? (tree_is_missing(errno) ? 0 : -1) : tree_look(parent, name, &n);
        if (r == 0 && parent >= 0 && n.kind == NODE_NONE)
                r = o->kind == OP_TAKE ? tree_whiteout(parent, name) : give_back(t, o, parent, name);

        sides_close(&s);
        return r;
}

int journal_back(struct journal *j, struct err *e)
{
        bool committed = journal_has(j, "commit");
        if (journal_sure(j, e) < 0)
                return -1;

        for (size_t i = j->n; committed && i-- > 0;) {
                layer_progress(j->l, "taking back", j->n - i, j->n);
                if (j->targets[j->ops[i].door].slots >= 0 && step_backward(j, &j->ops[i]) < 0)
                        return journal_failed(e, "taking back", j->ops[i].path);
                work_step();
        }

        for (size_t i = 0; i < j->n; i++) {
                if (unstage_entry(j, &j->ops[i]) < 0)
                        return journal_failed(e, "taking back", j->ops[i].path);
                work_step();
        }

        for (size_t i = 0; i < WORK_DOORS_MAX; i++)
                if (j->targets[i].used && syncfs(j->targets[i].fd) < 0)
                        return journal_failed(e, "writing out", j->targets[i].path);

        return 0;
}
