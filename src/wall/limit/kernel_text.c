/* SPDX-License-Identifier: MIT */
/* wall/limit/kernel_text.c - numbers to and from the kernel's small files. */
#include "base/fd.h"
#include "base/str.h"
#include "wall/limit/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int limit_put(int dir, const char *file, uint64_t n)
{
        char text[24];
        (void) snprintf(text, sizeof text, "%llu", (unsigned long long) n);
        return fd_put(dir, file, text);
}

int limit_key(int dir, const char *file, const char *key, uint64_t *ret)
{
        char text[4096];
        ssize_t n = fd_get(dir, file, text, sizeof text);
        size_t len = strlen(key);

        if (n < 0)
                return -1;

        for (const char *at = text; at; at = strchr(at, '\n')) {
                at += *at == '\n';
                if (strncmp(at, key, len) == 0 && at[len] == ' ')
                        return str_to_u64(span_of(at + len + 1, strcspn(at + len + 1, "\n")), ret);
        }

        errno = ENOENT;
        return -1;
}

/* Field 22 of stat, counted from the last ')' because the program chooses the bytes of the second field. */
uint64_t limit_start_time(pid_t pid)
{
        char path[48], text[1024];
        uint64_t start = 0;
        (void) snprintf(path, sizeof path, "/proc/%d/stat", pid);
        if (fd_get(AT_FDCWD, path, text, sizeof text) < 0)
                return 0;

        const char *at = strrchr(text, ')');
        for (int field = 2; at && field < 22; field++) {
                at = strchr(at, ' ');
                at += at != NULL;
        }

        if (!at || str_to_u64(span_of(at, strcspn(at, " ")), &start) < 0)
                return 0;

        return start;
}

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
