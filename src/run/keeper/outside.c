/* SPDX-License-Identifier: MIT */
/* run/keeper/outside.c - inspects paths of the host that the payload named. Only for reports.
 *
 * SAFETY: meanwhile the keeper does not enforce limits. So it does not inspect a path if a network or another
 * process would have to answer, and if such mounts exist it follows no symlink that might lead there. */
#include "base/fd.h"
#include "base/host/host.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_outside(struct run *run, const char *path, int flags)
{
        flags |= O_PATH | O_CLOEXEC; /* opens nothing, and mounts nothing by itself */
        if (!run->slow)
                run->slow = host_slow_read();

        if (run->slow && !host_slow_any(run->slow))
                return open(path, flags);

        if (!run->slow || host_slow_covers(run->slow, path)) {
                errno = EAGAIN;
                return -1;
        }

        return fd_open2(AT_FDCWD, path, (uint64_t) flags | O_NOFOLLOW,
                        RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

bool outside_has(struct run *run, const char *path)
{
        AUTO_FD(at, open_outside(run, path, O_NOFOLLOW));
        return at >= 0 || errno == EAGAIN || errno == ELOOP;
}

bool outside_is_directory(struct run *run, const char *path)
{
        struct stat st;
        AUTO_FD(at, open_outside(run, path, 0));
        return at >= 0 && fstat(at, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Not realpath(), which begins anew for each directory: the payload names thousands of paths, as deep as it
 * likes. */
int outside_find(struct run *run, const char *path, char *ret_real, size_t cap)
{
        AUTO_FD(at, open_outside(run, path, 0));
        if (at < 0 || fd_path(at, ret_real, cap) < 0)
                return -1;
        return TAKE_FD(at);
}
