/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/dir_move.c - moves a directory inside one overlay mount if rename() fails with EXDEV:
 * see mover.h.
 *
 * Every file is hard-linked into a staging directory beside the new name (overlayfs copies it up; the old
 * tree stays whole), one rename publishes that directory, then the old names are removed. A kill in between
 * leaves each file under at least one of its names, and possibly a staging directory, which diff and apply
 * skip.
 * Never: follows a symlink, enters another mount, removes the last name of a file. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/moving.h"
#include "wall/linux/observe/mover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

enum { DEPTH_MAX = 64, DRAINS_MAX = 8, XATTR_MAX = 4096, ROOM = 2048 };
#define NO_REPLACE 1u /* RENAME_NOREPLACE */

struct tree {
        unsigned entries;
        uint64_t bytes;
        enum effect_reason reason;
        char room[DEPTH_MAX][ROOM]; /* of directories that are being read; the stack may be a small one */
};

static int give_up(struct tree *t, enum effect_reason why)
{
        t->reason = why;
        return EXDEV;
}

/* ENOSPC and ENOMEM are passed on; any other error means that this directory cannot be moved. */
static int move_refused(struct tree *t, int error)
{
        if (error == EXDEV)
                return give_up(t, REASON_MOUNTED);
        if (error == EPERM || error == EACCES || error == EMLINK || error == EINVAL || error == ENOTSUP)
                return give_up(t, REASON_NOT_OWNED);
        return error;
}

static int open_dir(int dir, const char *name)
{
        return fd_open2(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                        RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
}

/* ---- walking ---- */

/* One entry of `from`, and its destination. Returns 0 or an errno. */
typedef int visit(struct tree *t, int from, int to, const struct dir_entry *d, unsigned depth);

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static bool is_dir(int from, const struct dir_entry *d)
{
        struct stat st;
        if (d->type != DT_UNKNOWN)
                return d->type == DT_DIR;
        return fstatat(from, d->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int walk_dir(struct tree *t, int from, int to, unsigned depth, visit *each)
{
        if (depth >= DEPTH_MAX)
                return give_up(t, REASON_TOO_LARGE);

        struct dir_list list = { .bytes = t->room[depth], .cap = ROOM };
        int more, error = 0;
        while (!error && (more = dir_more(&list, from)) != 0) {
                if (more < 0)
                        return errno;
                for (const struct dir_entry *d; !error && (d = dir_next(&list));)
                        if (!is_dots(d->name))
                                error = each(t, from, to, d, depth);
        }

        return error;
}

/* ---- before: the size of the move ---- */

static int survey_dir(struct tree *t, int dir, unsigned depth);

static int survey_entry(struct tree *t, int from, int to, const struct dir_entry *d, unsigned depth)
{
        struct stat st;
        (void) to;
        if (++t->entries > MOVE_ENTRIES_MAX)
                return give_up(t, REASON_TOO_LARGE);

        if (is_dir(from, d)) {
                AUTO_FD(dir, open_dir(from, d->name));
                return dir < 0 ? move_refused(t, errno) : survey_dir(t, dir, depth + 1);
        }

        if (fstatat(from, d->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : errno;

        if (S_ISREG(st.st_mode))
                t->bytes += (uint64_t) st.st_size;

        return t->bytes > MOVE_BYTES_MAX ? give_up(t, REASON_TOO_LARGE) : 0;
}

/* A new directory is ours, and every name must be removable. */
static int survey_dir(struct tree *t, int dir, unsigned depth)
{
        struct stat st;
        if (fstat(dir, &st) < 0)
                return errno;
        if (st.st_uid != geteuid() || syscall(SYS_faccessat, dir, ".", R_OK | W_OK | X_OK) < 0)
                return give_up(t, REASON_NOT_OWNED);
        return walk_dir(t, dir, -1, depth, survey_entry);
}

/* ---- staging ---- */

static int copy_xattr(struct tree *t, int from, int to, const char *name)
{
        char value[XATTR_MAX];
        ssize_t n = fgetxattr(from, name, value, sizeof value);
        if (n < 0)
                return errno == ENODATA ? 0 : give_up(t, REASON_NOT_OWNED);
        return fsetxattr(to, name, value, (size_t) n, 0) < 0 ? move_refused(t, errno) : 0;
}

static int copy_xattrs(struct tree *t, int from, int to)
{
        char names[XATTR_MAX];
        ssize_t n = flistxattr(from, names, sizeof names);
        if (n < 0)
                return errno == ENOTSUP ? 0 : give_up(t, REASON_NOT_OWNED);

        int error = 0;
        for (const char *at = names; !error && at < names + n; at += strlen(at) + 1)
                error = copy_xattr(t, from, to, at);

        return error;
}

/* The mode is last but for the times: it may close the directory, and a change of group takes bits away. */
static int copy_attributes(struct tree *t, int from, int to)
{
        struct stat st, made;
        if (fstat(from, &st) < 0 || fstat(to, &made) < 0)
                return errno;

        if (st.st_gid != made.st_gid && fchown(to, (uid_t) -1, st.st_gid) < 0)
                return move_refused(t, errno);

        int error = copy_xattrs(t, from, to);
        if (error)
                return error;

        const struct timespec times[2] = { st.st_atim, st.st_mtim };
        return fchmod(to, st.st_mode & 07777) < 0 || futimens(to, times) < 0 ? move_refused(t, errno) : 0;
}

static int gather_entry(struct tree *t, int from, int to, const struct dir_entry *d, unsigned depth)
{
        if (++t->entries > MOVE_ENTRIES_MAX)
                return give_up(t, REASON_TOO_LARGE);

        if (!is_dir(from, d))
                return linkat(from, d->name, to, d->name, 0) == 0 || errno == ENOENT ? 0
                                                                                     : move_refused(t, errno);

        AUTO_FD(src, open_dir(from, d->name));
        if (src < 0)
                return errno == ENOENT ? 0 : move_refused(t, errno);

        if (mkdirat(to, d->name, 0700) < 0)
                return errno;

        AUTO_FD(dst, open_dir(to, d->name));
        int error = dst < 0 ? errno : walk_dir(t, src, dst, depth + 1, gather_entry);
        return error ? error : copy_attributes(t, src, dst);
}

/* Removes an entry of the staging directory: every file there has its old name as well. */
static int drop_entry(struct tree *t, int from, int to, const struct dir_entry *d, unsigned depth)
{
        (void) to;
        if (!is_dir(from, d))
                return unlinkat(from, d->name, 0) < 0 && errno != ENOENT ? errno : 0;
        AUTO_FD(dir, open_dir(from, d->name));
        int error = dir < 0 ? errno : walk_dir(t, dir, -1, depth + 1, drop_entry);
        return error ? error : unlinkat(from, d->name, AT_REMOVEDIR) < 0 ? errno : 0;
}

static void take_back(struct tree *t, const struct move *m, const char *staging, int dir)
{
        enum effect_reason reason = t->reason;
        (void) lseek(dir, 0, SEEK_SET);
        (void) walk_dir(t, dir, -1, 0, drop_entry);
        (void) unlinkat(m->new_dir, staging, AT_REMOVEDIR);
        t->reason = reason;
}

/* ---- the old names ---- */

/* st_ino of two hard links of one file differ in this overlay; the fields of the inode itself do not. */
static bool is_linked(int from, int to, const char *name)
{
        struct stat a, b;
        return fstatat(from, name, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
               fstatat(to, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_nlink > 1 &&
               a.st_nlink == b.st_nlink && a.st_mode == b.st_mode && a.st_size == b.st_size &&
               a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
               a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

/* A file that was created or replaced meanwhile has only its old name: it is renamed. */
static int drain_entry(struct tree *t, int from, int to, const struct dir_entry *d, unsigned depth)
{
        if (!is_dir(from, d)) {
                int r = is_linked(from, to, d->name) ? unlinkat(from, d->name, 0)
                                                     : renameat(from, d->name, to, d->name);
                return r < 0 && errno != ENOENT ? errno : 0;
        }

        AUTO_FD(src, open_dir(from, d->name));
        if (src < 0)
                return errno == ENOENT ? 0 : errno;

        bool made = mkdirat(to, d->name, 0700) == 0;
        AUTO_FD(dst, open_dir(to, d->name));
        int error = dst < 0 ? errno : walk_dir(t, src, dst, depth + 1, drain_entry);
        if (!error && made)
                error = copy_attributes(t, src, dst);

        return error ? error : unlinkat(from, d->name, AT_REMOVEDIR) < 0 ? errno : 0;
}

static int drain_all(struct tree *t, const struct move *m, int from, int to)
{
        int error = ENOTEMPTY;
        for (unsigned i = 0; error == ENOTEMPTY && i < DRAINS_MAX; i++) {
                (void) lseek(from, 0, SEEK_SET);
                error = walk_dir(t, from, to, 0, drain_entry);
                if (!error && unlinkat(m->old_dir, m->old, AT_REMOVEDIR) < 0)
                        error = errno;
        }

        return error;
}

/* ---- all of it ---- */

/* stx_mnt_id, at its place in the kernel's struct. */
static bool mount_of(int dir, uint64_t *ret)
{
        enum { WORDS = 32, MNT_ID = 18, ASK_MNT_ID = 0x1000 };
        uint64_t st[WORDS] = { 0 };
        if (syscall(SYS_statx, dir, "", AT_EMPTY_PATH, ASK_MNT_ID, st) < 0 || !(st[0] & ASK_MNT_ID))
                return false;
        *ret = st[MNT_ID];
        return true;
}

static int publish_move(struct tree *t, const struct move *m, int src)
{
        char staging[sizeof MOVING_PREFIX + 16];
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
                return EIO;

        (void) snprintf(staging, sizeof staging, MOVING_PREFIX "%016llx", (unsigned long long) number);
        if (mkdirat(m->new_dir, staging, 0700) < 0)
                return errno;

        AUTO_FD(dst, open_dir(m->new_dir, staging));
        if (dst < 0) {
                int error = errno;
                (void) unlinkat(m->new_dir, staging, AT_REMOVEDIR);
                return error;
        }

        t->entries = 0;
        (void) lseek(src, 0, SEEK_SET);
        int error = walk_dir(t, src, dst, 0, gather_entry);
        error = error ? error : copy_attributes(t, src, dst);
        if (!error && syscall(SYS_renameat2, m->new_dir, staging, m->new_dir, m->new, m->flags) < 0)
                error = errno;

        if (error) {
                take_back(t, m, staging, dst);
                return error;
        }

        return drain_all(t, m, src, dst);
}

int move_directory(const struct move *m, enum effect_reason *ret)
{
        static struct tree t;
        uint64_t from, to;
        *ret = REASON_NONE;
        if (syscall(SYS_renameat2, m->old_dir, m->old, m->new_dir, m->new, m->flags) == 0)
                return 0;

        if (errno != EXDEV || m->flags & ~NO_REPLACE)
                return errno;

        if (!mount_of(m->old_dir, &from) || !mount_of(m->new_dir, &to) || from != to)
                return EXDEV;

        AUTO_FD(src, open_dir(m->old_dir, m->old));
        if (src < 0)
                return errno;

        t.entries = 0;
        t.bytes = 0;
        t.reason = REASON_NONE;
        int error = survey_dir(&t, src, 0);
        error = error ? error : publish_move(&t, m, src);
        *ret = t.reason;
        return error;
}
