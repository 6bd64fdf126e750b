/* SPDX-License-Identifier: MIT */
/* files/work/overlay/unreadable.c - directories of an overlay that their own owner may not read, search or
 * write, and files that the owner may not read. Reading them and moving files out of them would need their
 * mode changed each time, and a kill in between would leave the wrong mode. So each is opened once, when
 * it is first read, after the mode that the box gave it is written to the file `closed` of the overlay:
 * DOOR MODE PATH, each NUL-terminated; the door's own top is `.`. A record without its NUL does not count.
 * A run that continues in the overlay finds the original modes. */
#include "base/fd.h"
#include "files/work/internal.h"

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

static int layer_failed(const struct layer *l, const char *doing, struct err *e)
{
        return err_set(e, ERR_IO, errno, "%s what is closed in the overlay %s: %s", doing, l->run,
                       strerror(errno));
}

void closed_settle(struct layer *l)
{
        if (l->closed_count > 1)
                qsort(l->closed, l->closed_count, sizeof *l->closed, by_place);
        l->closed_sorted = l->closed_count;
}

int closed_read(struct layer *l, struct err *e)
{
        struct stat st;
        AUTO_FD(fd, openat(l->dir, "closed", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (fd < 0 && errno == ENOENT)
                return 0;

        if (fd < 0 || fstat(fd, &st) < 0)
                return layer_failed(l, "reading about", e);

        size_t n = (size_t) st.st_size, count = 0;
        char *text = arena_alloc(&l->mem, n + 1);
        if (!text || fd_read_all(fd, text, n) != (ssize_t) n)
                return layer_failed(l, "reading about", e);

        for (size_t i = 0; i < n; i++)
                count += text[i] == '\0';

        l->closed_cap = count + 1;
        l->closed = arena_alloc(&l->mem, l->closed_cap * sizeof *l->closed);
        for (char *at = text; l->closed && l->closed_count < count; at += strlen(at) + 1) {
                char *mode, *path;
                unsigned door = (unsigned) strtoul(at, &mode, 10);
                mode_t m = (mode_t) strtoul(mode, &path, 8);
                l->closed[l->closed_count++] = (struct closed){ door, m, *path ? path + 1 : path };
                l->closed_bytes = (uint64_t) (path - text) + strlen(path) + 1;
        }

        closed_settle(l);
        return l->closed ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for an overlay");
}

bool closed_mode(const struct layer *l, unsigned door, const char *path, mode_t *ret)
{
        const struct closed key = { .door = door, .path = path };
        const struct closed *c =
                l->closed_sorted ? bsearch(&key, l->closed, l->closed_sorted, sizeof *c, by_place) : NULL;
        if (c)
                *ret = c->mode;
        return c != NULL;
}

/* The list lives in the overlay's arena; a full one moves to twice its size. */
static bool make_room(struct layer *l)
{
        if (l->closed_count < l->closed_cap)
                return true;

        size_t cap = l->closed_cap ? 2 * l->closed_cap : 16;
        struct closed *more = arena_alloc(&l->mem, cap * sizeof *more);
        if (!more)
                return false;

        if (l->closed_count > 0)
                memcpy(more, l->closed, l->closed_count * sizeof *more);

        l->closed = more;
        l->closed_cap = cap;
        return true;
}

/* Overwrites an incomplete record of a killed process. */
static int append_closed(struct layer *l, const struct closed *c)
{
        AUTO_BUF(out);
        buf_printf(&out, "%u %o ", c->door, c->mode);
        buf_add(&out, c->path, strlen(c->path) + 1);
        AUTO_FD(fd, openat(l->dir, "closed", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || out.failed || lseek(fd, (off_t) l->closed_bytes, SEEK_SET) < 0 ||
            fd_write_all(fd, out.p, out.n) < 0 || (l->durable && fsync(fd) < 0))
                return -1;

        l->closed_bytes += out.n;
        return 0;
}

int closed_keep(struct layer *l, unsigned door, const char *path, mode_t mode, struct err *e)
{
        const struct closed c = { door, mode, arena_str(&l->mem, path) };
        if (!c.path || !make_room(l))
                return err_set(e, ERR_MEMORY, 0, "no memory for an overlay");
        l->closed[l->closed_count++] = c;
        return append_closed(l, &c) < 0 ? layer_failed(l, "writing about", e) : 0;
}

void closed_change(struct layer *l, unsigned door, const char *path, mode_t mode)
{
        for (size_t i = 0; i < l->closed_count; i++)
                if (l->closed[i].door == door && strcmp(l->closed[i].path, path) == 0)
                        l->closed[i].mode = mode;
}

/* Sets the mode of one directory or file of the overlay; its parents are open. Succeeds if it is gone. */
static int set_mode(const struct layer *l, const struct closed *c, mode_t mode)
{
        bool single = c->door < l->door_count && !l->doors[c->door].is_dir;
        const char *name;
        struct node n;

        mode_t back = 0;
        AUTO_FD(door, layer_door_dir(l, c->door));
        AUTO_FD(upper, door < 0 ? -1 : single ? tree_place(door, "") : tree_own_dir(door, "upper", &back));
        if (upper < 0)
                return -1;

        AUTO_FD(parent, tree_parent(upper, single ? "file" : c->path, &name));
        int r = parent < 0 ? -1 : tree_look(parent, name, &n);
        if (r == 0 && (n.kind == NODE_DIR || n.kind == NODE_FILE))
                r = tree_set_mode(parent, name, mode); /* not a symlink, and no other process uses it */

        tree_dir_end(upper, back);
        return r < 0 && errno != ENOENT && errno != ENOTDIR ? -1 : 0;
}

int closed_restore(struct layer *l, struct err *e)
{
        if (l->closed_count == 0)
                return 0; /* most overlays, at each start */

        for (size_t i = l->closed_count; i-- > 0;)
                if (set_mode(l, &l->closed[i], l->closed[i].mode) < 0)
                        return layer_failed(l, "closing", e);

        l->closed_count = l->closed_sorted = 0;
        l->closed_bytes = 0;
        if (unlinkat(l->dir, "closed", 0) < 0 && errno != ENOENT)
                return layer_failed(l, "closing", e);

        return 0;
}
