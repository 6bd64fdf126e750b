/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/setgid.c - sets the setgid bit of a directory for a task of the box: `git init
 * --shared`, `chmod g+s`.
 *
 * On a directory the bit sets the group of new files. On a program it would lend the caller's group to any
 * user that starts it on the host. The filter does not see which of the two it is, and the target of a path
 * can change after a check (TOCTOU). So init opens it once, checks the opened file, and changes that.
 * Never: lets the call continue, follows a magic link, allocates. Namespace wall only: init has the box's
 * root and ids, and no capability over files. */
#include "base/fd.h"
#include "wall/internal.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* chmod(path, mode), fchmod(fd, mode), fchmodat(dir, path, mode), fchmodat2(dir, path, mode, flags). */
struct target {
        int dirfd;
        bool by_fd, nofollow, empty;
        unsigned path; /* which argument */
};

static struct target target_of(const struct seccomp_data *d)
{
        const char *name = seccomp_name(seccomp_native(), d->nr);
        bool by_fd = name[0] == 'f';
        if (seccomp_sets_gid(d) == 1)
                return (struct target){ .dirfd = by_fd ? (int) d->args[0] : AT_FDCWD, .by_fd = by_fd };

        uint64_t flags = strcmp(name, "fchmodat2") == 0 ? d->args[3] : 0;
        return (struct target){ .dirfd = (int) d->args[0],
                                .nofollow = flags & AT_SYMLINK_NOFOLLOW,
                                .empty = flags & AT_EMPTY_PATH,
                                .path = 1 };
}

static int open_target(const struct wall_init *w, const struct seccomp_notif *n)
{
        char path[PATH_MAX] = "";
        struct target t = target_of(&n->data);
        if (!t.by_fd && !watched_text(n->pid, n->data.args[t.path], path, sizeof path)) {
                errno = EFAULT;
                return -1;
        }

        AUTO_FD(start, wall_task_start(w, n->pid, t.dirfd, path));
        if (start < 0) {
                errno = errno == ENOENT && t.dirfd != AT_FDCWD ? EBADF : errno;
                return -1;
        }

        if (t.by_fd || (path[0] == '\0' && t.empty))
                return TAKE_FD(start);

        return fd_open2(start, path, O_PATH | (t.nofollow ? O_NOFOLLOW : 0), RESOLVE_NO_MAGICLINKS);
}

int wall_setgid(const struct wall_init *w, const struct seccomp_notif *n)
{
        char name[32];
        struct stat st;
        mode_t mode = (mode_t) n->data.args[seccomp_sets_gid(&n->data)] & 07777;
        AUTO_FD(target, open_target(w, n));
        if (target < 0 || fstat(target, &st) < 0)
                return -errno;

        if (!S_ISDIR(st.st_mode))
                return -EPERM;

        /* Last: until then the opened file may have been another task's. */
        if (ioctl(w->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &n->id) < 0)
                return -ENOENT;

        (void) snprintf(name, sizeof name, "self/fd/%d", target);
        return fchmodat(w->tasks, name, mode, 0) < 0 ? -errno : 0;
}
