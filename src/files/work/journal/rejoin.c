/* SPDX-License-Identifier: MIT */
/* files/work/journal/rejoin.c - an undo across filesystems brings back a copy. If the file had other hard
 * links in the tree, and one of them is still that very file, the copy is replaced by a new hard link. To
 * find it the tree is walked, only for an undo of such files. Never: changes a file, follows a symlink,
 * crosses a mount. */
#include "base/fd.h"
#include "files/work/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lost {
        uint64_t ino;
        struct op *op;
};

struct looking {
        const struct target *t;
        struct lost *v; /* sorted by inode number */
        size_t n, left, seen;
        unsigned depth;
};

static int by_number(const void *a, const void *b)
{
        const struct lost *x = a, *y = b;
        return x->ino != y->ino ? (x->ino < y->ino ? -1 : 1) : (x->op > y->op) - (x->op < y->op);
}

static bool had_names(const struct op *o, size_t door)
{
        return o->door == door && (o->kind == OP_SWAP || o->kind == OP_TAKE) && o->old.kind == NODE_FILE &&
               o->old.links > 1;
}

/* Is this file equal to the one in the slot, in content, metadata and mtime? Then the slot becomes a hard
 * link to it. */
static bool rejoin_link(const struct looking *w, int dir, const char *name, const struct node *here,
                        const struct op *o)
{
        char slot[32], fresh[32];
        struct node kept, made;
        int slots = w->t->slots;
        if (tree_look(slots, slot_name(o->slot, "", slot), &kept) < 0 || kept.kind != NODE_FILE ||
            kept.ino == here->ino || kept.mtime.tv_sec != here->mtime.tv_sec ||
            kept.mtime.tv_nsec != here->mtime.tv_nsec ||
            node_differs(slots, dir, slot, name, &kept, here) != 0)
                return false;

        (void) slot_name(o->slot, ".name", fresh);
        if (linkat(dir, name, slots, fresh, 0) < 0)
                return false;

        if (tree_look(slots, fresh, &made) == 0 && made.ino == here->ino &&
            renameat(slots, fresh, slots, slot) == 0)
                return true;

        (void) unlinkat(slots, fresh, 0);
        return false;
}

static void look_at(struct looking *w, int dir, const char *name, const struct node *here)
{
        size_t low = 0, high = w->n;
        while (low < high) {
                size_t mid = low + (high - low) / 2;
                if (w->v[mid].ino < here->ino)
                        low = mid + 1;
                else
                        high = mid;
        }

        for (; low < w->n && w->v[low].ino == here->ino; low++)
                if (w->v[low].op && rejoin_link(w, dir, name, here, w->v[low].op)) {
                        w->v[low].op->rejoined = true;
                        w->v[low].op = NULL;
                        w->left--;
                }
}

static void walk_dir(struct looking *w, int dir)
{
        AUTO_NAMES(list);
        struct stat slots;
        if (w->depth == WORK_DEPTH_MAX || tree_names(dir, &list) < 0 || fstat(w->t->slots, &slots) < 0)
                return;

        for (size_t i = 0; i < list.n && w->left > 0 && w->seen < WORK_ENTRIES_MAX; i++) {
                struct node n;
                w->seen++;
                if (tree_look(dir, list.v[i], &n) < 0)
                        continue;
                if (n.kind == NODE_FILE)
                        look_at(w, dir, list.v[i], &n);
                if (n.kind != NODE_DIR || n.ino == slots.st_ino)
                        continue;
                AUTO_FD(down, tree_dir(dir, list.v[i]));
                w->depth++;
                if (down >= 0)
                        walk_dir(w, down);
                w->depth--;
        }
}

int rejoin_names(struct journal *j, size_t door)
{
        const struct target *t = &j->targets[door];
        struct looking w = { .t = t, .v = calloc(j->n + 1, sizeof *w.v) };
        if (!w.v)
                return -1;

        for (size_t i = 0; i < j->n; i++)
                if (had_names(&j->ops[i], door))
                        w.v[w.n++] = (struct lost){ j->ops[i].old.ino, &j->ops[i] };

        w.left = w.n;
        if (w.n > 1)
                qsort(w.v, w.n, sizeof *w.v, by_number);

        if (w.n > 0 && t->slots >= 0)
                walk_dir(&w, t->fd);

        free(w.v);
        return 0;
}
