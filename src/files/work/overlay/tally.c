/* SPDX-License-Identifier: MIT */
/* files/work/overlay/tally.c - the disk usage of a tree that a box is writing in. */
#include "files/work/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { DEEP = 64 };

bool tally_is_full(const struct disk_tally *t)
{
        return t->bytes > t->max_bytes || t->entries > t->max_entries;
}

/* SAFETY: with O_NOATIME. By the access time a box could see our position, and move its files to
 * directories that were counted. */
int tally_open(int dir, const char *name)
{
        int fd = tree_dir(dir, name);
        if (fd >= 0)
                (void) fcntl(fd, F_SETFL, O_NOATIME);
        return fd;
}

/* Deeper than we will read, or than we have descriptors for: it counts as full. In a tree that is not deep
 * others have used up the descriptors. */
static bool is_too_deep(const struct disk_tally *t, int error)
{
        return t->depth == WORK_DEPTH_MAX || (t->depth >= DEEP && (error == EMFILE || error == ENFILE));
}

/* The box writes during the walk: entries that vanish are not counted. Bounded by the cap. */
void tally_dir(struct disk_tally *t, int fd)
{
        DIR *d = fdopendir(fd);
        if (!d) {
                t->blind = true;
                (void) close(fd);
                return;
        }

        for (const struct dirent *x; !tally_is_full(t) && (x = readdir(d));) {
                struct node n;
                if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0)
                        continue;
                if (tree_look(dirfd(d), x->d_name, &n) < 0) { /* listable but not searchable */
                        t->blind |= !tree_is_missing(errno);
                        continue;
                }
                t->entries++;
                t->bytes += n.blocks * 512 / (n.links > 1 && n.kind == NODE_FILE ? n.links : 1);
                if (n.kind != NODE_DIR)
                        continue;
                int down = t->depth < WORK_DEPTH_MAX ? tally_open(dirfd(d), x->d_name) : -1;
                if (down < 0 && is_too_deep(t, errno)) {
                        t->entries = t->max_entries + 1;
                        break;
                }
                t->blind |= down < 0 && !tree_is_missing(errno);
                if (down >= 0) {
                        t->depth++;
                        tally_dir(t, down);
                        t->depth--;
                }
        }

        (void) closedir(d);
}
