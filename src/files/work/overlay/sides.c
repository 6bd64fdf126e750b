/* SPDX-License-Identifier: MIT */
/* files/work/overlay/sides.c - the two sides of an edit door, the overlay above and the tree of the host
 * below, and the differences between their entries. */
#include "base/fd.h"
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int open_host(const struct work_door *d, struct err *e)
{
        AUTO_FD(fd, fd_open2(AT_FDCWD, d->host, d->is_dir ? O_RDONLY | O_DIRECTORY : O_PATH,
                             RESOLVE_NO_MAGICLINKS));
        struct stat st;
        char shown[256];

        if (fd < 0 || fstat(fd, &st) < 0)
                return err_set(e, ERR_DOOR, errno, "opening the door %s: %s",
                               str_inert(span_str(d->host), shown, sizeof shown), strerror(errno));

        /* A single file may have been replaced by saving it: that is a change, found by its content. */
        if (d->is_dir && (!tree_is_on(fd, d->dev, d->uuid) || st.st_ino != d->ino)) {
                (void) err_set(e, ERR_DOOR, ESTALE, "%s is another directory than the one that the box saw",
                               str_inert(span_str(d->host), shown, sizeof shown));
                return err_hint(e, "move what it saw back there; or drop the changes with `cordon discard`");
        }

        return TAKE_FD(fd);
}

/* SAFETY: a process that can write beside the file, another box or this one by a second door, may have put
 * a symlink in its place or on the way to it. A file outside is not shown, compared or replaced. */
int file_stays(const struct work_door *d, int dir, const char *name, struct err *e)
{
        char shown[256];
        struct stat st;
        if (d->in_ino == 0 || !d->name ||
            (fstat(dir, &st) == 0 && st.st_ino == d->in_ino && tree_is_on(dir, d->in_dev, d->in_uuid) &&
             strcmp(name, d->name) == 0))
                return 0;

        (void) err_set(e, ERR_DOOR, ESTALE, "%s leads elsewhere than when the box saw it",
                       str_inert(span_str(d->host), shown, sizeof shown));
        return err_hint(e, "move what it saw back there; or drop the changes with `cordon discard`");
}

static int open_file_parent(const struct work_door *d, char ret_name[NAME_MAX + 1], struct err *e)
{
        char real[PATH_MAX];
        if (!realpath(d->host, real)) {
                /* removed: its directory is still the same */
                if (errno != ENOENT || snprintf(real, sizeof real, "%s", d->host) >= (int) sizeof real)
                        return err_set(e, ERR_DOOR, errno, "opening the door %s: %s", d->host,
                                       strerror(errno));
        }

        char *slash = strrchr(real, '/');
        if (snprintf(ret_name, NAME_MAX + 1, "%s", slash + 1) > NAME_MAX)
                return err_set(e, ERR_DOOR, ENAMETOOLONG, "no file has a name as long as %s", d->host);

        *slash = '\0';
        AUTO_FD(fd, open(real[0] ? real : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0)
                return err_set(e, ERR_DOOR, errno, "opening the directory of %s: %s", d->host,
                               strerror(errno));

        return file_stays(d, fd, ret_name, e) < 0 ? -1 : TAKE_FD(fd);
}

int sides_open(const struct layer *l, size_t door, struct sides *ret, struct err *e)
{
        const struct work_door *d = &l->doors[door];
        *ret = (struct sides){ .upper = -1, .lower = -1 };
        AUTO_FD(dir, layer_door_dir(l, door));
        if (dir < 0)
                return err_set(e, ERR_IO, errno, "opening the overlay of %s: %s", d->host, strerror(errno));

        if (d->is_dir) {
                ret->lower = open_host(d, e);
                ret->upper = ret->lower < 0 ? -1 : tree_own_dir(dir, "upper", &ret->back);
        } else {
                ret->upper_name = "file";
                ret->lower = open_file_parent(d, ret->lower_name, e);
                ret->upper = ret->lower < 0 ? -1 : TAKE_FD(dir);
        }

        if (ret->lower >= 0 && ret->upper < 0)
                (void) err_set(e, ERR_IO, errno, "opening the overlay of %s: %s", d->host, strerror(errno));

        if (ret->upper >= 0)
                return 0;

        sides_close(ret);
        return -1;
}

void sides_close(struct sides *s)
{
        tree_dir_end(s->upper, s->back);
        fd_close(&s->upper);
        fd_close(&s->lower);
}

int side_upper(const struct sides *s, const char *path, const char **ret_name)
{
        if (!s->upper_name)
                return tree_parent(s->upper, path, ret_name);
        *ret_name = s->upper_name;
        return fcntl(s->upper, F_DUPFD_CLOEXEC, 0);
}

int side_lower(const struct sides *s, const char *path, const char **ret_name)
{
        if (!s->lower_name[0])
                return tree_parent(s->lower, path, ret_name);
        *ret_name = s->lower_name;
        return fcntl(s->lower, F_DUPFD_CLOEXEC, 0);
}

unsigned node_differs(int upper, int lower, const char *un, const char *ln, const struct node *now,
                      const struct node *old)
{
        unsigned what = 0;
        char a[WORK_PATH_MAX], b[WORK_PATH_MAX];
        if (now->kind != NODE_LINK && now->mode != old->mode)
                what |= WHAT_MODE;

        if (now->uid != old->uid || now->gid != old->gid)
                what |= WHAT_OWNER;

        if (now->kind == NODE_LINK)
                return what | (tree_link(upper, un, a, sizeof a) < 0 ||
                                               tree_link(lower, ln, b, sizeof b) < 0 || strcmp(a, b) != 0
                                       ? WHAT_CONTENT
                                       : 0);

        if (now->kind == NODE_OTHER)
                return what;

        AUTO_FD(x, now->kind == NODE_DIR ? tree_dir(upper, un) : tree_file(upper, un, true, NULL));
        AUTO_FD(y, now->kind == NODE_DIR ? tree_dir(lower, ln) : tree_file(lower, ln, false, NULL));
        if (x < 0 || y < 0)
                what |= now->kind == NODE_FILE ? WHAT_CONTENT : 0;
        else {
                if (!xattr_same(x, y))
                        what |= WHAT_XATTR;
                if (now->kind == NODE_FILE && (now->size != old->size || !tree_same_content(x, y)))
                        what |= WHAT_CONTENT;
        }

        return what;
}

int cursor_at(struct cursor *c, unsigned door, struct err *e)
{
        if (c->door == (long) door)
                return 0;

        if (c->door >= 0)
                sides_close(&c->s);

        c->door = -1;
        if (sides_open(c->l, door, &c->s, e) < 0)
                return -1;

        c->door = door;
        return 0;
}

void cursor_done(struct cursor *c)
{
        if (c->door >= 0)
                sides_close(&c->s);
}

int digest_of(struct cursor *c, const struct entry *x, bool now, char ret_hex[65], struct err *e)
{
        const char *name;
        const struct node *n = now ? &x->now : &x->old;
        ret_hex[0] = '\0';
        if (n->kind != NODE_FILE && n->kind != NODE_LINK)
                return 0;

        if (cursor_at(c, x->door, e) < 0)
                return -1;

        AUTO_FD(dir, now ? side_upper(&c->s, x->path, &name) : side_lower(&c->s, x->path, &name));
        char shown[256];
        if (dir < 0 || tree_digest(dir, name, n, now, ret_hex) < 0)
                return err_set(e, ERR_IO, errno, "reading %s: %s",
                               str_inert(span_str(x->path), shown, sizeof shown), strerror(errno));

        return 0;
}
