/* SPDX-License-Identifier: MIT */
/* base/host/cgroup_place.c - opens control-group directories by descriptor, and finds where an account
 * without root may create one. Never: writes, follows a symlink, leaves the filesystem it started in,
 * allocates. */
#include "base/fd.h"
#include "base/host/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

enum { DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, DEPTH_MAX = 64 };

bool host_list_has(struct span list, char sep, const char *word)
{
        while (list.n > 0)
                if (span_is(span_cut(&list, sep), word))
                        return true;
        return false;
}

bool host_lists(const char *text, const char *word)
{
        struct span all = span_str(text);
        while (all.n > 0)
                if (host_list_has(span_cut(&all, '\n'), ' ', word))
                        return true;
        return false;
}

/* Returns `fd`, or closes it and returns -1 with ENODEV. */
static int checked_group(int fd, enum host_cgroup_fs fs)
{
        struct statfs s;
        if (fd < 0 || fs == HOST_CGROUP_ANY)
                return fd;

        long want = fs == HOST_CGROUP_V2 ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC;
        if (fstatfs(fd, &s) == 0 && (long) s.f_type == want)
                return fd;

        (void) close(fd);
        errno = ENODEV;
        return -1;
}

bool host_cgroups_unified(void)
{
        struct statfs s;
        return statfs("/sys/fs/cgroup", &s) == 0 && (long) s.f_type == CGROUP2_SUPER_MAGIC;
}

int host_cgroup_top(const struct host_hierarchy *y, enum host_cgroup_fs fs)
{
        if (!y->present) {
                errno = ENODEV;
                return -1;
        }
        return checked_group(open(y->mount, DIR_FLAGS), fs);
}

/* Copies the next name of a path, NUL-terminated, to `name`; false at the end. Never returns "." or "..". */
static bool next_name(const char **path, char name[256])
{
        while (**path == '/')
                (*path)++;

        size_t n = strcspn(*path, "/");
        if (n == 0 || n > 255 || (**path == '.' && (n == 1 || (n == 2 && (*path)[1] == '.'))))
                return false;

        memcpy(name, *path, n);
        name[n] = '\0';
        *path += n;
        return true;
}

int host_cgroup_at(const struct host_hierarchy *y, const char *path, enum host_cgroup_fs fs)
{
        char name[256];
        AUTO_FD(at, host_cgroup_top(y, fs));
        while (at >= 0 && next_name(&path, name)) {
                int below = checked_group(openat(at, name, DIR_FLAGS), fs);
                int kept = errno;
                fd_close(&at);
                at = below;
                errno = kept;
        }

        if (at >= 0 && *path != '\0') {
                errno = EINVAL;
                return -1;
        }

        return TAKE_FD(at);
}

static bool may_write(int dir)
{
        return faccessat(dir, ".", W_OK, AT_EACCESS) == 0 &&
               faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == 0;
}

static bool hands_down(int dir)
{
        char text[512];
        return fd_get(dir, "cgroup.subtree_control", text, sizeof text) >= 0 && host_lists(text, "memory") &&
               host_lists(text, "pids");
}

/* Walks from the top, because names are checked on the way down. Returns the first directory of the unbroken
 * writable stretch that ends in our own group (to move a process, the kernel requires write access to the
 * common ancestor's cgroup.procs) and that delegates both controllers. */
int host_cgroup_seat(const struct host_hierarchy *v2, enum host_cgroup_fs fs)
{
        const char *path = v2->own;
        char name[256];
        AUTO_FD(seat, -1);
        AUTO_FD(at, host_cgroup_top(v2, fs));
        if (at < 0)
                return -1;

        for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
                if (!may_write(at))
                        fd_close(&seat);
                else if (seat < 0 && hands_down(at))
                        seat = fcntl(at, F_DUPFD_CLOEXEC, 3);
                if (!next_name(&path, name))
                        break;
                int below = checked_group(openat(at, name, DIR_FLAGS), fs);
                if (below < 0)
                        return -1;
                fd_close(&at);
                at = below;
        }

        if (seat < 0 || v2->own[0] == '\0' || strspn(path, "/") != strlen(path)) {
                errno = EACCES;
                return -1;
        }

        return TAKE_FD(seat);
}
