/* SPDX-License-Identifier: MIT */
/* files/image/image_look.c - looks at an unpacked tree before a box gets it as its root: the entries at its
 * top and its accounts. The tree is hostile: nothing outside of it is ever opened. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/str.h"
#include "files/image/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void image_done(struct image *m)
{
        arena_done(&m->mem);
        fd_close(&m->use);
        *m = (struct image){ .use = -1 };
}

static int by_name(const void *a, const void *b)
{
        const struct plan_top *x = a, *y = b;
        return strcmp(x->name, y->name);
}

static int too_many(const char *dir, struct err *e)
{
        return err_set(e, ERR_DOOR, 0, "%s has more than %d entries at its top", dir, IMAGE_TOPS_MAX);
}

/* Directories and files only: a symlink is followed by the box itself, and nothing else is shown. */
static int list_tops(int dir, const char *path, struct image *m, struct err *e)
{
        struct plan_top *v = arena_alloc(&m->mem, IMAGE_TOPS_MAX * sizeof *v);
        DIR_LIST(list, 8192);
        size_t n = 0;
        int more = v ? 1 : -1;

        while (more > 0 && (more = dir_more(&list, dir)) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        struct stat st;
                        if (strcmp(d->name, ".") == 0 || strcmp(d->name, "..") == 0 ||
                            fstatat(dir, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                            (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
                                continue;
                        if (n == IMAGE_TOPS_MAX)
                                return too_many(path, e);
                        v[n++] = (struct plan_top){ arena_str(&m->mem, d->name), S_ISDIR(st.st_mode) };
                }

        if (more < 0 || m->mem.failed)
                return err_set(e, ERR_IO, errno, "listing %s: %s", path, strerror(errno));

        qsort(v, n, sizeof *v, by_name); /* the plan's digest must not depend on the filesystem's order */
        m->plan.tops = v;
        m->plan.top_count = n;
        return 0;
}

/* Without it, or if it is not a plain text of a usual size, the box has its own accounts. */
static void read_passwd(int dir, struct image *m)
{
        struct stat st;
        AUTO_FD(fd, fd_open2(dir, "etc/passwd", O_RDONLY | O_NONBLOCK | O_NOCTTY,
                             RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > IMAGE_PASSWD_MAX)
                return;

        char *text = arena_alloc(&m->mem, (size_t) st.st_size + 1);
        ssize_t n = text ? fd_read_all(fd, text, (size_t) st.st_size) : -1;
        if (n >= 0 && strlen(text) == (size_t) n)
                m->plan.passwd = text;
}

int image_look(const char *dir, struct image *ret, struct err *e)
{
        struct stat st;
        char real[PATH_MAX];
        struct image m = { .use = -1 };
        AUTO_FD(fd, open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0 || fd_path(fd, real, sizeof real) < 0)
                return err_set(e, ERR_DOOR, errno, "opening the image %s: %s", dir, strerror(errno));

        m.plan = (struct plan_image){ .dir = arena_str(&m.mem, real), .dev = st.st_dev, .ino = st.st_ino };
        if (list_tops(fd, dir, &m, e) < 0) {
                image_done(&m);
                return -1;
        }

        read_passwd(fd, &m);
        *ret = m;
        return 0;
}
