/* SPDX-License-Identifier: MIT */
/* files/work/journal/plain_rename.c - the two renames of a journal, also where the filesystem has neither
 * flag, as NFS, CIFS and 9p: then each is several steps, and one that was interrupted between them is brought
 * to an end before the next. A tree's lock keeps other applies away. */
#include "files/work/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_without_flags(int sys) { return sys == EINVAL || sys == ENOSYS || sys == EOPNOTSUPP; }

/* A hard link that was made, and its first name not removed. */
static bool is_one_file(int a, const char *an, int b, const char *bn)
{
        struct node x, y;
        return tree_look(a, an, &x) == 0 && tree_look(b, bn, &y) == 0 && x.kind && x.kind != NODE_DIR &&
               x.ino == y.ino && x.dev == y.dev;
}

/* A directory has one name, and so has every file of some filesystems. */
static int move_looking(int a, const char *an, int b, const char *bn)
{
        struct node there;
        if (tree_look(b, bn, &there) < 0)
                return -1;

        if (there.kind) {
                errno = EEXIST;
                return -1;
        }

        return renameat(a, an, b, bn);
}

int plain_move(int a, const char *an, int b, const char *bn)
{
        if (syscall(SYS_renameat2, a, an, b, bn, RENAME_NOREPLACE) == 0)
                return 0;

        if (!is_without_flags(errno))
                return -1;

        bool linked = linkat(a, an, b, bn, 0) == 0;
        if (linked || (errno == EEXIST && is_one_file(a, an, b, bn)))
                return work_step(), unlinkat(a, an, 0);

        return errno == EEXIST || errno == ENOENT ? -1 : move_looking(a, an, b, bn);
}

static const char *name_aside(const char *slot, char ret[40])
{
        (void) snprintf(ret, 40, "%s.aside", slot);
        return ret;
}

int plain_swap(int slots, const char *slot, int parent, const char *name)
{
        char old[40];
        if (syscall(SYS_renameat2, slots, slot, parent, name, RENAME_EXCHANGE) == 0)
                return 0;

        if (!is_without_flags(errno) || renameat(parent, name, slots, name_aside(slot, old)) < 0)
                return -1;

        work_step();
        if (plain_move(slots, slot, parent, name) < 0) {
                int sys = errno;
                (void) plain_move(slots, old, parent, name);
                errno = sys;
                return -1;
        }

        work_step();
        return renameat(slots, old, slots, slot);
}

int plain_settle(int slots, const char *slot, int parent, const char *name, const char *beside)
{
        char old[40];
        struct node kept, in_slot;
        if (tree_look(slots, name_aside(slot, old), &kept) < 0)
                return -1;

        if (is_one_file(slots, slot, parent, name) && unlinkat(slots, slot, 0) < 0)
                return -1;

        if (kept.kind == NODE_NONE)
                return 0;

        if (tree_look(slots, slot, &in_slot) < 0)
                return -1;

        if (in_slot.kind == NODE_NONE)
                return renameat(slots, old, slots, slot);

        int r = plain_move(slots, old, parent, name);
        return r < 0 && errno == EEXIST ? plain_move(slots, old, parent, beside) : r;
}
