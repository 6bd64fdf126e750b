/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/fuse_tree.c - the box's own directories as a table, made from the plan. Pure: allocates
 * nothing, makes no system call. */
#include "wall/linux/observe/fuse_root.h"

#include "wall/internal.h"

#include <string.h>

enum { ROOT = 1, FIXED = 16 };

static uint32_t count_components(const char *path)
{
        uint32_t n = 0;
        for (; *path; path++)
                n += *path == '/';
        return n;
}

uint32_t fuse_tree_room(const struct plan *p)
{
        uint32_t n = FIXED;
        for (size_t i = 0; i < p->step_count; i++)
                n += count_components(p->steps[i].path);
        return n;
}

uint32_t fuse_tree_find(const struct fuse_tree *t, uint32_t dir, const char *name, size_t len, bool by_init)
{
        if (dir == 0 || dir >= t->count)
                return 0;
        for (uint32_t i = t->node[dir].child; i; i = t->node[i].next)
                if (t->node[i].name_len == len && memcmp(t->node[i].name, name, len) == 0)
                        return t->node[i].ours && !by_init ? 0 : i;
        return 0;
}

static uint32_t add_node(struct fuse_tree *t, uint32_t dir, const char *name, size_t len, mode_t mode,
                         const char *text)
{
        if (t->count == t->cap)
                return 0;

        uint32_t i = t->count++;
        t->node[i] = (struct fuse_node){ .name = name,
                                         .name_len = (uint32_t) len,
                                         .parent = dir,
                                         .next = t->node[dir].child,
                                         .mode = mode,
                                         .text = text };
        t->node[dir].child = i;
        return i;
}

/* The parent directory of `path`, created as far as it is missing. 0: a component of the path is not a
 * directory. */
static uint32_t make_parents(struct fuse_tree *t, const char *path, const char **ret_last)
{
        uint32_t dir = ROOT;
        const char *at = path + 1;
        for (const char *slash; (slash = strchr(at, '/')); at = slash + 1) {
                size_t n = (size_t) (slash - at);
                uint32_t next = fuse_tree_find(t, dir, at, n, true);
                if (!next)
                        next = add_node(t, dir, at, n, S_IFDIR | 0755, NULL);
                if (!next || !S_ISDIR(t->node[next].mode))
                        return 0;
                dir = next;
        }

        *ret_last = at;
        return dir;
}

static mode_t mode_of(const struct plan_step *s)
{
        switch (s->kind) {
        case STEP_LINK:
                return S_IFLNK | 0777;
        case STEP_FILE:
        case STEP_DEVICE:
        case STEP_LISTEN:
                return S_IFREG | 0444;
        case STEP_TRUST: /* ours, and a symlink to it if no door shows the system's own */
                return strcmp(s->path, BOX_TRUST) == 0 ? S_IFREG | 0444
                       : s->flags & STEP_OPTIONAL      ? 0
                                                       : S_IFLNK | 0777;
        case STEP_BIND:
        case STEP_EDIT:
                return s->flags & STEP_IS_DIR ? S_IFDIR | 0755 : S_IFREG | 0444;
        case STEP_SCRATCH:
        case STEP_DIR:
        case STEP_PROC:
        case STEP_DEVPTS:
                return S_IFDIR | 0755;
        case STEP_NONE:
        case STEP_ROOT:
        case STEP_MASK:
        case STEP_SHUT:
        case STEP_STILL:
        case STEP_PIN:
        case STEP_COPY:  /* on the private files */
        case STEP_COVER: /* on proc's */
        case STEP_KIND__COUNT:
                break;
        }
        return 0;
}

static int add_step(struct fuse_tree *t, const struct plan_step *s)
{
        const char *last;
        mode_t mode = mode_of(s);
        if (mode == 0)
                return 0; /* an `except` covers an existing entry */

        uint32_t dir = make_parents(t, s->path, &last);
        if (dir == 0)
                return s->kind == STEP_TRUST ? 0 : -1; /* then it lies behind something else of the box */

        size_t n = strlen(last);
        if (fuse_tree_find(t, dir, last, n, true))
                return 0;

        const char *text = s->kind == STEP_LINK ? s->text : NULL; /* a file's is mounted: see root.c */
        if (s->kind == STEP_TRUST && S_ISLNK(mode))
                text = BOX_TRUST;

        return add_node(t, dir, last, n, mode, text) ? 0 : -1;
}

/* init's own places. An `except` is covered with an empty directory or file of ours, and lookups below it are
 * reported; the other two hold overlays of edit doors while they are assembled. */
static int add_ours(struct fuse_tree *t)
{
        static const struct {
                const char *name;
                mode_t mode;
        } ours[] = { { FRONT_MASK_DIR, S_IFDIR | 0555 },
                     { FRONT_MASK_FILE, S_IFREG | 0444 },
                     { FRONT_EDIT_BELOW, S_IFDIR | 0700 },
                     { FRONT_EDIT_ABOVE, S_IFDIR | 0700 } };

        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
                uint32_t at = add_node(t, ROOT, ours[i].name, strlen(ours[i].name), ours[i].mode, NULL);
                if (!at)
                        return -1;
                t->node[at].ours = true;
        }

        return 0;
}

int fuse_tree_build(struct fuse_tree *t, const struct plan *p)
{
        static const struct plan_step canary = { .kind = STEP_FILE, .path = LANDLOCK_CANARY, .text = "" };
        if (t->cap < FIXED)
                return -1;

        t->node[ROOT] = (struct fuse_node){ .name = "", .mode = S_IFDIR | 0755 };
        t->count = ROOT + 1;
        if (add_ours(t) < 0)
                return -1;

        for (size_t i = 0; i < p->step_count; i++)
                if (add_step(t, &p->steps[i]) < 0)
                        return -1;

        return add_step(t, &canary);
}

bool fuse_tree_path(const struct fuse_tree *t, uint32_t dir, const char *name, char *ret, size_t cap)
{
        size_t n = strlen(name);
        if (n + 2 > cap)
                return false;

        size_t at = cap - n - 1;
        memcpy(ret + at, name, n + 1);
        ret[--at] = '/';
        for (uint32_t i = dir; i > ROOT && i < t->count; i = t->node[i].parent) {
                size_t len = t->node[i].name_len;
                if (len + 1 > at)
                        return false;
                at -= len;
                memcpy(ret + at, t->node[i].name, len);
                ret[--at] = '/';
        }

        memmove(ret, ret + at, cap - at);
        return true;
}
