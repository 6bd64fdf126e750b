/* SPDX-License-Identifier: MIT */
/* files/work/overlay/hard_links.c - new hard links that a box made to files of the host. The kernel copies
 * such a file into the overlay, where its old and new name are one file. An apply makes the new name a hard
 * link of the host's own file again, if that still equals the overlay's. Never: touches the host's file
 * except for its link count. */
#include "base/fd.h"
#include "base/vec.h"
#include "files/work/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int links_note(struct entries *v, unsigned door, const char *path, const struct node *n, struct err *e)
{
        if (n->kind != NODE_FILE || n->links < 2)
                return 0;

        if (vec_room((void **) &v->twins, v->twin_count, &v->twin_cap, sizeof *v->twins) < 0)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        const char *kept = arena_str(&v->mem, path);
        if (!kept)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        v->twins[v->twin_count++] = (struct twin){ door, n->ino, kept };
        return 0;
}

static int by_file(const void *a, const void *b)
{
        const struct twin *x = a, *y = b;
        if (x->door != y->door)
                return x->door < y->door ? -1 : 1;
        return (x->ino > y->ino) - (x->ino < y->ino);
}

struct name { /* of a file in the overlay that has several */
        struct entry *x;
};

static int by_layer_file(const void *a, const void *b)
{
        const struct entry *x = ((const struct name *) a)->x, *y = ((const struct name *) b)->x;
        if (x->door != y->door)
                return x->door < y->door ? -1 : 1;
        if (x->now.ino != y->now.ino)
                return x->now.ino < y->now.ino ? -1 : 1;
        return (x > y) - (x < y);
}

static int by_both_files(const void *a, const void *b)
{
        const struct entry *x = ((const struct name *) a)->x, *y = ((const struct name *) b)->x;
        if (x->door == y->door && x->old.ino != y->old.ino)
                return x->old.ino < y->old.ino ? -1 : 1;
        return by_layer_file(a, b);
}

/* The entries that `is_one` selects, sorted; the caller frees. NULL: out of memory. */
static struct name *gather_entries(struct entries *v, bool (*is_one)(const struct entry *),
                                   int (*order)(const void *, const void *), size_t *ret_n, struct err *e)
{
        struct name *names = calloc(v->n + 1, sizeof *names);
        size_t n = 0;
        if (!names)
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the changes");

        for (size_t i = 0; names && i < v->n; i++)
                if (is_one(&v->v[i]))
                        names[n++].x = &v->v[i];

        if (n > 1)
                qsort(names, n, sizeof *names, order);

        *ret_n = n;
        return names;
}

static bool had_names(const struct entry *x)
{
        return x->old.kind == NODE_FILE && x->old.links > 1 && x->now.kind == NODE_FILE;
}

static bool has_names(const struct entry *x)
{
        return x->now.kind == NODE_FILE && x->now.links > 1 && !x->shut && !x->link;
}

/* The kernel copies up a file with several hard links under the changed name alone. Whether it was written
 * in place, which outside changes all of its names, or replaced, is unknown. So it is reported. */
static int find_apart(struct entries *v, struct err *e)
{
        size_t n;
        struct name *names = gather_entries(v, had_names, by_both_files, &n, e);
        if (!names)
                return -1;

        for (size_t i = 0, k; i < n; i = k) {
                const struct entry *x = names[i].x;
                for (k = i + 1; k < n && names[k].x->door == x->door && names[k].x->old.ino == x->old.ino &&
                                names[k].x->now.ino == x->now.ino;)
                        k++;
                for (size_t j = i; x->old.links > k - i && j < k; j++)
                        names[j].x->apart = names[j].x->link ? 0 : x->old.links;
        }

        free(names);
        return 0;
}

/* The most important of several hard links of one file: a change applies to it, or the host has it. NULL:
 * all are new. */
static const struct entry *chief_name(const struct name *names, size_t n)
{
        const struct entry *old = NULL;
        for (size_t i = 0; i < n; i++) {
                if (flags_by_name(names[i].x->path))
                        return names[i].x;
                if (!old && names[i].x->old.kind)
                        old = names[i].x;
        }

        return old;
}

/* Hard links of one file that are all in the entries are also one file after an apply. */
static int find_among_entries(struct entries *v, struct err *e)
{
        size_t n;
        struct name *names = gather_entries(v, has_names, by_layer_file, &n, e);
        if (!names)
                return -1;

        for (size_t i = 0, k; i < n; i = k) {
                for (k = i + 1; k < n && names[k].x->door == names[i].x->door &&
                                names[k].x->now.ino == names[i].x->now.ino;)
                        k++;
                const struct entry *first = k > i + 1 ? chief_name(names + i, k - i) : NULL;
                for (size_t j = i; first && j < k; j++)
                        if (names[j].x != first)
                                names[j].x->link = first->path;
        }

        free(names);
        return 0;
}

int links_find(struct entries *v, struct err *e)
{
        if (v->twin_count > 1)
                qsort(v->twins, v->twin_count, sizeof *v->twins, by_file);

        for (size_t i = 0; v->twin_count > 0 && i < v->n; i++) {
                struct entry *x = &v->v[i];
                if (x->now.kind != NODE_FILE || x->now.links < 2 || x->shut)
                        continue;
                const struct twin key = { .door = x->door, .ino = x->now.ino };
                const struct twin *t = bsearch(&key, v->twins, v->twin_count, sizeof *v->twins, by_file);
                x->link = t ? t->path : NULL;
        }

        return find_among_entries(v, e) < 0 ? -1 : find_apart(v, e);
}

/* The compared file may have been replaced since: then it is not the linked one, and is left alone. */
static bool link_same(int from, const char *name, const struct node *n, int slots, const char *slot)
{
        struct node made;
        if (linkat(from, name, slots, slot, 0) < 0)
                return false;

        if (tree_look(slots, slot, &made) == 0 && made.kind == NODE_FILE && made.ino == n->ino)
                return true;

        (void) unlinkat(slots, slot, 0);
        return false;
}

bool links_take(const struct sides *sides, const struct op *o, int slots, const char *slot)
{
        const struct entry *x = o->entry;
        const char *above, *below;
        struct node host;

        if (!x->link || o->elsewhere || o->keep_owner || (!o->setid && x->now.mode & 06000))
                return false;

        AUTO_FD(upper, side_upper(sides, o->source, &above));
        AUTO_FD(lower, side_lower(sides, x->link, &below));
        if (upper < 0 || lower < 0 || tree_look(lower, below, &host) < 0 || host.kind != NODE_FILE)
                return false;

        /* Two hard links of one file cannot be exchanged: rename() does nothing. */
        if ((x->old.kind && x->old.ino == host.ino) ||
            node_differs(upper, lower, above, below, &x->now, &host) != 0)
                return false;

        return link_same(lower, below, &host, slots, slot);
}
