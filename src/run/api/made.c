/* SPDX-License-Identifier: MIT */
/* run/api/made.c - targets of `write` and `edit` doors that do not exist yet: `--write new.txt`, `--write
 * dir/`.
 *
 * They are created before the start, with the caller's ids, and removed again if the box left them unchanged.
 * cordon creates nothing else on the host for a door: the caller requested it by name. */
#include "base/fd.h"
#include "base/str.h"
#include "run/api/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct api_made {
        struct api_made *next;
        int parent;       /* the directory that it was created in, whatever its name leads to later */
        const char *name; /* in `path` */
        bool dir, edit;
        struct stat as_made;
        char path[];
};

/* Spellings of other tools, which have a hint of their own. */
static bool is_mistyped(const char *path)
{
        size_t n = strlen(path);
        return strstr(path, "/$") || strstr(path, "/'") || strstr(path, " except ") || strstr(path, ":/") ||
               (n > 3 && (strcmp(path + n - 3, ":ro") == 0 || strcmp(path + n - 3, ":rw") == 0));
}

/* A box creates files that are missing behind a wider `edit` door in its own overlay. */
static bool lies_in_edit(const struct checked_policy *c, const struct door *d)
{
        size_t lo, hi, n = strlen(d->path);
        if (policy_doors_at(c, DOOR_EDIT, span_of(d->path, n), &lo, &hi) && hi - lo > 1)
                return true;

        while ((n = str_parent(d->path, n)) > 0)
                if (policy_doors_at(c, DOOR_EDIT, span_of(d->path, n), &lo, &hi))
                        return true;
        return false;
}

bool api_is_made(const struct checked_policy *c, const struct door *d)
{
        struct stat st;
        char parent[PATH_MAX];
        if ((d->kind != DOOR_WRITE && d->kind != DOOR_EDIT) || d->optional || d->from_stock ||
            is_mistyped(d->path) || (d->kind == DOOR_EDIT && lies_in_edit(c, d)))
                return false;

        if (lstat(d->path, &st) == 0 || errno != ENOENT)
                return false;

        size_t k = str_parent(d->path, strlen(d->path));
        (void) snprintf(parent, sizeof parent, "%.*s", (int) (k ? k : 1), d->path);
        return stat(parent, &st) == 0 && S_ISDIR(st.st_mode);
}

bool api_makes_directory(const struct door *d) { return d->directory || str_names_directory(d->path); }

static int make_target(struct api_made *m)
{
        char parent[PATH_MAX];
        size_t k = (size_t) (m->name - m->path);
        (void) snprintf(parent, sizeof parent, "%.*s", (int) k, m->path);
        m->parent = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (m->parent < 0)
                return -1;

        if (m->dir)
                return mkdirat(m->parent, m->name, 0777) < 0
                               ? -1
                               : fstatat(m->parent, m->name, &m->as_made, AT_SYMLINK_NOFOLLOW);

        AUTO_FD(fd, openat(m->parent, m->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
        return fd < 0 ? -1 : fstat(fd, &m->as_made);
}

static int make_door(struct cordon_box *b, const struct door *d, struct err *e)
{
        struct api_made *m = calloc(1, sizeof *m + strlen(d->path) + 1);
        if (!m)
                return err_set(e, ERR_MEMORY, ENOMEM, "no memory for the doors");

        (void) stpcpy(m->path, d->path);
        m->name = strrchr(m->path, '/') + 1;
        m->dir = api_makes_directory(d);
        m->edit = d->kind == DOOR_EDIT;
        if (make_target(m) == 0) {
                m->next = b->made;
                b->made = m;
                return 0;
        }

        char at[256];
        (void) err_set(e, ERR_DOOR, errno, "%s: making %s: %s", policy_place(&d->at, at, sizeof at), d->path,
                       strerror(errno));
        fd_close(&m->parent);
        free(m);
        return -1;
}

int api_make_doors(struct cordon_box *b, struct err *e)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->policy->checked, d));)
                if (api_is_made(b->policy->checked, d) && make_door(b, d, e) < 0)
                        return -1;
        return 0;
}

/* Any change of the inode changes its ctime, even one that was reverted. */
static bool is_as_made(const struct api_made *m)
{
        struct stat st;
        return fstatat(m->parent, m->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == m->as_made.st_dev &&
               st.st_ino == m->as_made.st_ino && st.st_size == m->as_made.st_size &&
               st.st_nlink == m->as_made.st_nlink && st.st_ctim.tv_sec == m->as_made.st_ctim.tv_sec &&
               st.st_ctim.tv_nsec == m->as_made.st_ctim.tv_nsec;
}

void api_unmake_doors(struct cordon_box *b, bool layer_waits)
{
        for (struct api_made *m; (m = b->made);) {
                if (!(m->edit && layer_waits) && is_as_made(m))
                        (void) unlinkat(m->parent, m->name, m->dir ? AT_REMOVEDIR : 0);
                b->made = m->next;
                fd_close(&m->parent);
                free(m);
        }
}
