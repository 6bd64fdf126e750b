/* SPDX-License-Identifier: MIT */
/* policy/learn/path_fold.c - folds many paths to few: users read few lines, and skip many. */
#include "policy/learn/internal.h"

#include <stdlib.h>

enum { ENOUGH = 3 }; /* this many in one directory become the directory */

bool fold_inside(const char *dir, const char *path)
{
        size_t n = strlen(dir);
        return n == 1 || (strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

char *fold_parent(struct arena *mem, const char *path)
{
        const char *slash = strrchr(path, '/');
        size_t n = slash && slash > path ? (size_t) (slash - path) : 1;
        return arena_copy(mem, span_of(path, n));
}

static unsigned path_depth(const char *path)
{
        unsigned n = 0;
        for (const char *p = path; *p; p++)
                n += *p == '/' && p[1];
        return n;
}

/* Never the root, the home or anything that holds it, and outside the project nothing as wide as /etc. */
bool fold_may_open(const struct learn_context *c, const char *dir)
{
        if (fold_inside(dir, c->home))
                return false;
        if (fold_inside(c->work, dir))
                return path_depth(dir) >= 1;
        return !fold_inside(dir, c->work) && path_depth(dir) >= 2;
}

void nodes_add(struct nodes *s, const char *path, uint64_t runs, bool directory)
{
        for (size_t i = 0; i < s->n; i++)
                if (strcmp(s->v[i].path, path) == 0) {
                        s->v[i].runs |= runs;
                        s->v[i].directory |= directory;
                        return;
                }

        if (vec_room((void **) &s->v, s->n, &s->cap, sizeof *s->v) < 0) {
                s->failed = true;
                return;
        }

        char *copy = arena_str(&s->mem, path);
        if (!copy) {
                s->failed = true;
                return;
        }

        s->v[s->n++] = (struct node){ copy, runs, directory };
}

bool nodes_done(struct nodes *s)
{
        bool failed = s->failed || s->mem.failed;
        arena_done(&s->mem);
        free(s->v);
        *s = (struct nodes){ 0 };
        return failed;
}

static void drop(struct nodes *s, size_t i) { s->v[i] = s->v[--s->n]; }

/* Paths below a directory of the list merge into it. */
static void drop_covered(struct nodes *s)
{
        for (size_t i = 0; i < s->n; i++)
                for (size_t k = 0; k < s->n;) {
                        if (k != i && s->v[i].directory && fold_inside(s->v[i].path, s->v[k].path)) {
                                s->v[i].runs |= s->v[k].runs;
                                drop(s, k);
                                if (i == s->n)
                                        i = k; /* it was the last, and has moved */
                        } else {
                                k++;
                        }
                }
}

static size_t count_children(const struct nodes *s, const char *dir)
{
        size_t n = 0, len = strlen(dir);
        for (size_t i = 0; i < s->n; i++)
                n += fold_inside(dir, s->v[i].path) && strlen(s->v[i].path) > len &&
                     !strchr(s->v[i].path + (len > 1 ? len + 1 : 1), '/');
        return n;
}

static void count_one(void *to, const char *below)
{
        (void) below;
        ++*(size_t *) to;
}

/* A directory with a key or token in it is not opened because of three other files. */
static bool hides_secret(const struct learn_context *c, struct nodes *s, const char *dir)
{
        size_t found = 0;
        for (size_t i = 0; i < s->shut_count; i++)
                if (strcmp(s->shut[i], dir) == 0)
                        return true;

        if (!c->secrets || (c->secrets(c->look_ctx, dir, count_one, &found) && found == 0))
                return false;

        if (s->shut_count < COUNT(s->shut))
                s->shut[s->shut_count++] = dir;

        return true;
}

static bool fold_once(const struct learn_context *c, struct nodes *s)
{
        for (size_t i = 0; i < s->n; i++) {
                char *dir = fold_parent(&s->mem, s->v[i].path);
                if (!dir || !fold_may_open(c, dir) || count_children(s, dir) < ENOUGH ||
                    hides_secret(c, s, dir))
                        continue;
                nodes_add(s, dir, s->v[i].runs, true);
                drop_covered(s);
                return !s->failed;
        }

        return false;
}

static int by_path(const void *x, const void *y)
{
        const struct node *a = x, *b = y;
        return strcmp(a->path, b->path);
}

void fold_nodes(const struct learn_context *c, struct nodes *s)
{
        drop_covered(s);
        while (fold_once(c, s))
                ;
        if (s->n > 1)
                qsort(s->v, s->n, sizeof *s->v, by_path);
}
