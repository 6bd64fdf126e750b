/* SPDX-License-Identifier: MIT */
/* work/closed.c - directories of a layer that not even their owner may read, search or write in. Reading them
 * and taking files out of them would need their mode changed each time, and whoever is killed meanwhile would
 * leave another one. So they are opened once, when the layer is sealed, and the modes that the box gave them
 * stand in the file `closed` of the layer: DOOR MODE PATH, ended by NUL each. A run that goes on in the layer
 * finds them as they were. */
#include "base/fd.h"
#include "work/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_place(const void *a, const void *b)
{
        const struct closed *x = a, *y = b;
        return x->door != y->door ? (x->door < y->door ? -1 : 1) : path_order(x->path, y->path);
}

static int failed(const struct layer *l, const char *doing, struct err *e)
{
        return err_set(e, ERR_IO, errno, "%s closed directories of the layer %s: %s", doing, l->run,
                       strerror(errno));
}

int closed_read(struct layer *l, struct err *e)
{
        struct stat st;
        AUTO_FD(fd, openat(l->dir, "closed", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT)
                return 0;
        if (fd < 0 || fstat(fd, &st) < 0)
                return failed(l, "reading about", e);
        size_t n = (size_t) st.st_size, count = 0;
        char *text = arena_alloc(&l->mem, n + 1);
        if (!text || fd_read_all(fd, text, n) != (ssize_t) n)
                return failed(l, "reading about", e);
        for (size_t i = 0; i < n; i++)
                count += text[i] == '\0';
        l->closed = arena_alloc(&l->mem, (count + 1) * sizeof *l->closed);
        for (char *at = text; l->closed && l->closed_count < count; at += strlen(at) + 1) {
                char *mode, *path;
                unsigned door = (unsigned) strtoul(at, &mode, 10);
                mode_t m = (mode_t) strtoul(mode, &path, 8);
                l->closed[l->closed_count++] = (struct closed){ door, m, *path ? path + 1 : path };
        }
        return l->closed ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for a layer");
}

bool closed_mode(const struct layer *l, unsigned door, const char *path, mode_t *ret)
{
        const struct closed key = { .door = door, .path = path };
        const struct closed *c =
                l->closed_count ? bsearch(&key, l->closed, l->closed_count, sizeof *c, by_place) : NULL;
        if (c)
                *ret = c->mode;
        return c != NULL;
}

int closed_note(struct entries *v, unsigned door, const char *path, mode_t mode, struct err *e)
{
        if (v->closed_count == v->closed_cap) {
                size_t cap = v->closed_cap ? v->closed_cap * 2 : 16;
                struct closed *more = realloc(v->closed, cap * sizeof *more);
                if (!more)
                        return err_set(e, ERR_MEMORY, 0, "no memory for the changes");
                v->closed = more;
                v->closed_cap = cap;
        }
        const char *kept = arena_str(&v->mem, path);
        if (!kept)
                return err_set(e, ERR_MEMORY, 0, "no memory for the changes");
        v->closed[v->closed_count++] = (struct closed){ door, mode, kept };
        return 0;
}

static int write_list(const struct layer *l, struct err *e)
{
        AUTO_BUF(out);
        for (size_t i = 0; i < l->closed_count; i++) {
                buf_printf(&out, "%u %o ", l->closed[i].door, l->closed[i].mode);
                buf_add(&out, l->closed[i].path, strlen(l->closed[i].path) + 1);
        }
        AUTO_FD(fd,
                openat(l->dir, "closed.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (out.failed || fd < 0 || fd_write_all(fd, out.p, out.n) < 0 || (l->durable && fsync(fd) < 0) ||
            renameat(l->dir, "closed.new", l->dir, "closed") < 0 || (l->durable && fsync(l->dir) < 0))
                return failed(l, "writing about", e);
        return 0;
}

/* Gives one directory of the layer a mode; those that it lies in are open. Gone: no error. */
static int set_mode(const struct layer *l, const struct closed *c, mode_t mode)
{
        const char *name;
        struct node n;
        mode_t back;
        AUTO_FD(door, layer_door_dir(l, c->door));
        AUTO_FD(upper, door < 0 ? -1 : tree_own_dir(door, "upper", &back));
        if (upper < 0)
                return -1;
        AUTO_FD(parent, tree_parent(upper, c->path, &name));
        int r = parent < 0 ? -1 : tree_look(parent, name, &n);
        if (r == 0 && n.kind == NODE_DIR)
                r = fchmodat(parent, name, mode,
                             0); /* a directory: no link to follow, and nobody else is at it */
        tree_dir_end(upper, back);
        return r < 0 && errno != ENOENT && errno != ENOTDIR ? -1 : 0;
}

int closed_open(struct layer *l, const struct entries *v, struct err *e)
{
        size_t n = 0;
        if (v->closed_count == 0)
                return 0;
        struct closed *all = arena_alloc(&l->mem, (l->closed_count + v->closed_count) * sizeof *all);
        if (!all)
                return err_set(e, ERR_MEMORY, 0, "no memory for a layer");
        for (size_t i = 0; i < l->closed_count; i++)
                all[n++] = l->closed[i];
        for (size_t i = 0; i < v->closed_count; i++) {
                all[n] = v->closed[i];
                all[n++].path = arena_str(&l->mem, v->closed[i].path);
        }
        if (l->mem.failed)
                return err_set(e, ERR_MEMORY, 0, "no memory for a layer");
        if (n > 1)
                qsort(all, n, sizeof *all, by_place);
        l->closed = all;
        l->closed_count = n;
        if (write_list(l, e) < 0)
                return -1;
        for (size_t i = 0; i < n; i++) /* sorted: what a directory lies in comes first */
                if (set_mode(l, &all[i], all[i].mode | 0700) < 0)
                        return failed(l, "opening", e);
        return 0;
}

int closed_restore(struct layer *l, struct err *e)
{
        for (size_t i = l->closed_count; i-- > 0;)
                if (set_mode(l, &l->closed[i], l->closed[i].mode) < 0)
                        return failed(l, "closing", e);
        l->closed_count = 0;
        if (unlinkat(l->dir, "closed", 0) < 0 && errno != ENOENT)
                return failed(l, "closing", e);
        return 0;
}
