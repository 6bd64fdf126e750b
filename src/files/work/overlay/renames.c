/* SPDX-License-Identifier: MIT */
/* files/work/overlay/renames.c - finds renames: an added and a deleted file of one content. */
#include "files/work/internal.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
        uint64_t size;
        unsigned door;
        struct entry *x;
        char digest[65];
};

static bool may_move(const struct node *n) { return n->kind == NODE_FILE && n->size > 0; }

static int by_size(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : (x->size > y->size) - (x->size < y->size);
}

static int by_content(const void *a, const void *b)
{
        const struct candidate *x = a, *y = b;
        int c = by_size(a, b) ? by_size(a, b) : strcmp(x->digest, y->digest);
        return c ? c : path_order(x->x->path, y->x->path);
}

static struct candidate *gather_files(struct entries *v, unsigned what, size_t *ret_n)
{
        struct candidate *all = calloc(v->n + 1, sizeof *all);
        size_t n = 0;
        for (size_t i = 0; all && i < v->n; i++) {
                struct entry *x = &v->v[i];
                const struct node *side = what == WHAT_ADDED ? &x->now : &x->old;
                if (x->what & what && may_move(side))
                        all[n++] = (struct candidate){ .size = side->size, .door = x->door, .x = x };
        }

        if (n > 1)
                qsort(all, n, sizeof *all, by_size);

        *ret_n = n;
        return all;
}

/* Only files with an equal size on the other side are read. */
static int digest_those(struct cursor *c, struct candidate *v, size_t n, const struct candidate *other,
                        size_t m, bool now, struct err *e)
{
        for (size_t i = 0; i < n; i++) {
                layer_progress(c->l, "looking for renames", i, n);
                if (m > 0 && bsearch(&v[i], other, m, sizeof *other, by_size) &&
                    digest_of(c, v[i].x, now, v[i].digest, e) < 0)
                        return -1;
        }

        return 0;
}

/* Both are sorted by content: the first of each pair up, and so on. */
static void pair_up(struct candidate *gone, size_t n, struct candidate *added, size_t m)
{
        for (size_t i = 0, k = 0; i < n && k < m;) {
                int c = by_size(&gone[i], &added[k]);
                c = c ? c : strcmp(gone[i].digest, added[k].digest);
                if (c == 0 && strlen(gone[i].digest) == 64) {
                        struct entry *from = gone[i].x, *to = added[k].x;
                        to->other = from->path;
                        from->other = to->path;
                        to->what |= WHAT_RENAMED;
                        from->what |= WHAT_RENAMED;
                }
                i += c <= 0;
                k += c >= 0;
        }
}

int find_renames(const struct layer *l, struct entries *v, struct err *e)
{
        AUTO_CURSOR(c, l);
        size_t n, m;
        struct candidate *gone = gather_files(v, WHAT_DELETED, &n), *added = gather_files(v, WHAT_ADDED, &m);
        int r = gone && added ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        if (r == 0)
                r = digest_those(&c, gone, n, added, m, false, e);

        if (r == 0)
                r = digest_those(&c, added, m, gone, n, true, e);

        if (r == 0) {
                qsort(gone, n, sizeof *gone, by_content);
                qsort(added, m, sizeof *added, by_content);
                pair_up(gone, n, added, m);
        }

        free(gone);
        free(added);
        return r;
}
