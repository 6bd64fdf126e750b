/* SPDX-License-Identifier: MIT */
/* files/image/unpack/tree.c - directories of the tree that is unpacked, by descriptor and component by
 * component. A symlink is followed as it would be in a box: inside the root. `..` goes back to a descriptor
 * that is open, never to a name. (A box has no openat2.) */
#include "files/image/unpack/image_unpack.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LINKS_MAX = 40 };

void tree_begin(struct tree *t, int root)
{
        *t = (struct tree){ .root = root };
        t->at[0] = root;
}

static void climb_up(struct tree *t)
{
        if (t->depth > 0)
                (void) close(t->at[t->depth--]);
}

void tree_forget(struct tree *t)
{
        while (t->depth > 0)
                climb_up(t);
        t->cached = false;
}

static int tree_failed(struct err *e, const char *path)
{
        return err_set(e, errno == ELOOP || errno == ENOTDIR ? ERR_DOOR : ERR_IO, errno,
                       "unpacking %.200s: %s", path, strerror(errno));
}

static int enter_dir(struct tree *t, const char *name, bool create)
{
        if (t->depth == UNPACK_DEPTH) {
                errno = ENAMETOOLONG;
                return -1;
        }

        int here = t->at[t->depth];
        int next = openat(here, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (next < 0 && errno == ENOENT && create && mkdirat(here, name, 0755) == 0)
                next = openat(here, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (next < 0)
                return -1;

        t->at[++t->depth] = next;
        return 0;
}

/* A path that is being walked: symlinks put their target before the rest. */
struct walk {
        char rest[2 * UNPACK_PATH];
        unsigned links;
};

static int follow_link(struct tree *t, struct walk *w, const char *name, const char *after)
{
        char target[UNPACK_PATH], joined[sizeof w->rest];
        ssize_t n = readlinkat(t->at[t->depth], name, target, sizeof target - 1);
        if (n <= 0)
                return -1;

        target[n] = '\0';
        if (++w->links > LINKS_MAX ||
            (size_t) snprintf(joined, sizeof joined, "%s/%s", target, after) >= sizeof joined) {
                errno = ELOOP;
                return -1;
        }

        memcpy(w->rest, joined, strlen(joined) + 1);
        while (target[0] == '/' && t->depth > 0)
                climb_up(t);

        return 0;
}

static int walk_on(struct tree *t, struct walk *w, bool create)
{
        while (w->rest[strspn(w->rest, "/")]) {
                char name[256], after[sizeof w->rest];
                const char *at = w->rest + strspn(w->rest, "/");
                size_t n = strcspn(at, "/");
                if (n >= sizeof name) {
                        errno = ENAMETOOLONG;
                        return -1;
                }
                memcpy(name, at, n);
                name[n] = '\0';
                memcpy(after, at + n, strlen(at + n) + 1);
                bool up = strcmp(name, "..") == 0, stay = strcmp(name, ".") == 0;
                if (up)
                        climb_up(t);
                if (!up && !stay && enter_dir(t, name, create) < 0) {
                        int sys = errno;
                        if ((sys != ENOTDIR && sys != ELOOP) || follow_link(t, w, name, after) < 0) {
                                errno = errno == EINVAL ? ENOTDIR : errno;
                                return -1;
                        }
                        continue;
                }
                memcpy(w->rest, after, strlen(after) + 1);
        }

        return 0;
}

int tree_open(struct tree *t, const char *path, bool create, struct err *e)
{
        static struct walk w;
        if (t->cached && strcmp(path, t->parent) == 0)
                return t->at[t->depth];

        tree_forget(t);
        w.links = 0;
        (void) snprintf(w.rest, sizeof w.rest, "%s", path);
        if (walk_on(t, &w, create) < 0)
                return tree_failed(e, path);

        (void) snprintf(t->parent, sizeof t->parent, "%s", path);
        t->cached = true;
        return t->at[t->depth];
}
