/* SPDX-License-Identifier: MIT */
/* files/image/tree_remove.c - removes a tree that a hostile archive made, by descriptor: never through a
 * symlink.
 */
#include "files/image/tree_remove.h"

#include "base/dir.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool keep_none(void *ctx, uint64_t ino)
{
        (void) ctx;
        (void) ino;
        return false;
}

static int remove_entry(int dir, const char *name, bool (*keep)(void *, uint64_t), void *ctx)
{
        struct stat st;
        if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -1;

        bool kept = keep(ctx, st.st_ino);
        if (!S_ISDIR(st.st_mode))
                return kept ? 0 : unlinkat(dir, name, 0);

        AUTO_FD(sub, openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (sub < 0 || tree_remove_but(sub, keep, ctx) < 0)
                return -1;

        return kept ? 0 : unlinkat(dir, name, AT_REMOVEDIR);
}

/* Not deeper than a tree can be. Listed again after each round, because entries go away in between. */
int tree_remove_but(int dir, bool (*keep)(void *ctx, uint64_t ino), void *ctx)
{
        DIR_LIST(list, 4096);
        AUTO_FD(own, openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        int more = own < 0 ? -1 : 1;
        while (more > 0 && (more = dir_more(&list, own)) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));) {
                        if (strcmp(d->name, ".") == 0 || strcmp(d->name, "..") == 0)
                                continue;
                        if (remove_entry(own, d->name, keep, ctx) < 0)
                                return -1;
                }

        return more;
}

int tree_remove(int dir, const char *name) { return remove_entry(dir, name, keep_none, NULL); }
