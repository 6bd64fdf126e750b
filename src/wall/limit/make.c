/* SPDX-License-Identifier: MIT */
/* wall/limit/make.c - creates one control-group directory, and reports why it could not. */
#include "wall/limit/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates and opens a directory; returns -1 with errno, leaving nothing behind. */
int limit_make_dir(int parent, const char *name)
{
        if (mkdirat(parent, name, 0755) < 0)
                return -1;

        int fd = openat(parent, name, DIR_FLAGS);
        if (fd < 0) {
                int kept = errno;
                (void) unlinkat(parent, name, AT_REMOVEDIR);
                errno = kept;
        }

        return fd;
}

int limit_denied(struct err *e, int sys, bool v2, const char *what)
{
        (void) err_set(e, ERR_LIMIT, sys, "%s: %s", what, strerror(sys));
        if (sys == EROFS)
                return err_hint(e,
                                "control groups are read-only here (a container?): start it with a writable "
                                "/sys/fs/cgroup, or leave --require-limit out");

        if (sys == EBUSY && v2)
                return err_hint(
                        e,
                        "the top control group here holds processes itself (a container?): move them into a "
                        "sub-group first, or leave --require-limit out");

        if (sys != EACCES && sys != EPERM)
                return -1;

        if (v2)
                return err_hint(e, "systemd-run --user --scope -p Delegate=yes cordon run ...");

        return err_hint(
                e,
                "control groups v1 need root; without --require-limit, rlimits and sampling keep the limits");
}
