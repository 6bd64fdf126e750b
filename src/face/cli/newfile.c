/* SPDX-License-Identifier: MIT */
/* face/cli/newfile.c - creates a new file: complete, or not at all, also if we are killed. */
#include "base/fd.h"
#include "base/str.h"
#include "face/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory_of(const char *path, char ret[PATH_MAX])
{
        const char *slash = strrchr(path, '/');
        (void) snprintf(ret, PATH_MAX, "%.*s", slash ? (int) (slash - path + 1) : 1, slash ? path : ".");
        return ret;
}

static int cannot(const char *path, const char *advice)
{
        cordon_error e = { 0 };
        (void) snprintf(e.what, sizeof e.what, "%.300s%s%s", path, errno == EEXIST ? " already exists" : ": ",
                        errno == EEXIST ? "" : strerror(errno));
        char dir[PATH_MAX];
        if (errno == ENOENT)
                (void) snprintf(e.hint, sizeof e.hint, "mkdir -p %.200s", directory_of(path, dir));
        else
                (void) snprintf(e.hint, sizeof e.hint, "%s", advice);
        return cli_error(&e);
}

static bool is_there(const char *path)
{
        struct stat st;
        bool there = lstat(path, &st) == 0;
        if (there)
                errno = EEXIST;
        return there;
}

/* A filesystem without O_TMPFILE: the file has its name while it is written. */
static int write_named(const char *path, mode_t mode, struct span text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
        if (fd < 0)
                return -1;

        int r = fd_write_all(fd, text.p, text.n);
        if (close(fd) < 0)
                r = -1;

        int sys = errno;
        if (r < 0)
                (void) unlink(path);

        errno = sys;
        return r;
}

/* linkat() does not replace: a name that was created meanwhile stays. */
static int write_new(const char *path, mode_t mode, struct span text)
{
        char dir[PATH_MAX];
        if (is_there(path))
                return -1;

        AUTO_FD(fd, open(directory_of(path, dir), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
        if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
                return write_named(path, mode, text);

        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0)
                return -1;

        return fd_link(fd, AT_FDCWD, path);
}

int cli_new_file(const char *path, unsigned mode, struct span text, const char *advice)
{
        return write_new(path, mode, text) == 0 ? 0 : cannot(path, advice);
}

int cli_new_file_may(const char *path, const char *advice)
{
        char dir[PATH_MAX];
        return !is_there(path) && access(directory_of(path, dir), W_OK) == 0 ? 0 : cannot(path, advice);
}
