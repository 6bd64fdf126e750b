/* SPDX-License-Identifier: MIT */
/* face/bwrap/bwrap_place.c - places in the new root. Every path is resolved by openat2() with the new root as
 * "/": a symlink, also one that another process swaps in meanwhile, leads nowhere else. */
#include "base/fd.h"
#include "face/bwrap/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* EAGAIN: something was renamed meanwhile, and the path has "..". */
int bwrap_open_in(int root, const char *path, uint64_t flags, mode_t mode)
{
        struct open_how how = { .flags = flags | O_CLOEXEC, .mode = mode, .resolve = RESOLVE_IN_ROOT };
        int fd = -1;
        for (int tries = 0; tries < 100; tries++) {
                fd = (int) syscall(SYS_openat2, root, path, &how, sizeof how);
                if (fd >= 0 || errno != EAGAIN)
                        break;
        }

        return fd;
}

int bwrap_open_old(const struct bwrap_root *r, const char *path, uint64_t flags)
{
        return fd_open2(r->old, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

int bwrap_place_find(const struct bwrap_root *r, const char *path)
{
        return bwrap_open_in(r->top, path, O_PATH, 0);
}

/* Opens the first `n` bytes of a path, which is created as a directory if it does not exist. */
static int open_above(const struct bwrap_root *r, char *path, size_t n, mode_t mode)
{
        char kept = path[n];
        path[n] = '\0';
        int fd = bwrap_open_in(r->top, n ? path : "/", O_PATH | O_DIRECTORY, 0);
        path[n] = kept;
        if (fd >= 0 || errno != ENOENT || n == 0)
                return fd;

        size_t end = n;
        while (end > 0 && path[end - 1] != '/')
                end--;

        size_t up = end;
        while (up > 0 && path[up - 1] == '/')
                up--;

        AUTO_FD(above, open_above(r, path, up, mode));
        if (above < 0)
                return -1;

        path[n] = '\0';
        if (mkdirat(above, path + end, mode) == 0 || errno == EEXIST)
                fd = openat(above, path + end, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        path[n] = kept;
        return fd;
}

int bwrap_place_parent(const struct bwrap_root *r, const char *path, mode_t mode, char ret_last[256])
{
        char copy[PATH_MAX];
        size_t n = strlen(path);
        while (n > 0 && path[n - 1] == '/')
                n--;

        size_t last = n;
        while (last > 0 && path[last - 1] != '/')
                last--;

        if (n >= sizeof copy || n - last > NAME_MAX) {
                errno = ENAMETOOLONG;
                return -1;
        }

        memcpy(copy, path, n);
        copy[n] = '\0';
        memcpy(ret_last, copy + last, n - last + 1);
        while (last > 0 && copy[last - 1] == '/')
                last--;

        copy[last] = '\0';
        return open_above(r, copy, last, mode);
}

static int open_checked(const struct bwrap_root *r, const char *path, bool directory)
{
        struct stat st;
        AUTO_FD(fd, bwrap_place_find(r, path));
        if (fd < 0 || fstat(fd, &st) < 0)
                return -1;
        if (S_ISDIR(st.st_mode) == directory)
                return TAKE_FD(fd);

        errno = directory ? ENOTDIR : EISDIR;
        return -1;
}

int bwrap_place_dir(const struct bwrap_root *r, const char *path, mode_t above, mode_t mode)
{
        char last[NAME_MAX + 1];
        int fd = open_checked(r, path, true);
        if (fd >= 0 || errno != ENOENT)
                return fd;

        AUTO_FD(parent, bwrap_place_parent(r, path, above, last));
        if (parent < 0 || mkdirat(parent, last, mode) < 0)
                return -1;
        return openat(parent, last, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int bwrap_place_file(const struct bwrap_root *r, const char *path, mode_t above)
{
        char last[NAME_MAX + 1];
        int fd = open_checked(r, path, false);
        if (fd >= 0 || errno != ENOENT)
                return fd;

        AUTO_FD(parent, bwrap_place_parent(r, path, above, last));
        if (parent < 0 || mknodat(parent, last, S_IFREG | 0444, 0) < 0)
                return -1;
        return openat(parent, last, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}
