/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/inotify.c - adds an inotify watch for a task of the box. A watch on a file that boxes
 * and host share shows which processes open it, so a watch is allowed only on files that the box can change:
 * its own, and those behind edit and write doors.
 *
 * The filter cannot see a path, and a path in the task's memory can change after a check (TOCTOU). So init
 * does the call itself: it opens the path once, checks the opened file, and adds the watch to the task's own
 * inotify instance by that descriptor. The task never makes the call.
 * Never: lets the call continue, follows a magic link, allocates. Namespace wall only: init has the box's
 * root and, except for two capabilities over its children, the box's rights. */
#include "base/fd.h"
#include "wall/internal.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

static bool still_waits(const struct wall_init *w, const struct seccomp_notif *n)
{
        return ioctl(w->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &n->id) == 0;
}

/* Opens the target of the path as the task would find it. */
static int open_target(const struct wall_init *w, const struct seccomp_notif *n)
{
        char path[PATH_MAX], name[32];
        if (!watched_text(n->pid, n->data.args[1], path, sizeof path)) {
                errno = EFAULT;
                return -1;
        }

        (void) snprintf(name, sizeof name, "%u/cwd", n->pid);
        AUTO_FD(start, openat(w->tasks, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (start < 0)
                return -1;

        uint64_t nofollow = n->data.args[2] & IN_DONT_FOLLOW ? O_NOFOLLOW : 0;
        return fd_open2(start, path, O_PATH | nofollow, RESOLVE_NO_MAGICLINKS);
}

/* Devices are the host's, also on a mount that can be written. */
static bool is_changeable(int fd)
{
        struct stat st;
        struct statfs fs;
        if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
                return false;
        return !(fs.f_flags & ST_RDONLY) && fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC;
}

/* The process that the task is a thread of. */
static pid_t process_of(const struct wall_init *w, uint32_t task)
{
        static const char key[] = "\nTgid:";
        char name[32], text[4096];
        (void) snprintf(name, sizeof name, "%u/status", task);
        const char *at = fd_get(w->tasks, name, text, sizeof text) > 0 ? strstr(text, key) : NULL;
        return at ? (pid_t) strtol(at + sizeof key - 1, NULL, 10) : -1;
}

/* The task's inotify instance. If the descriptor was reused meanwhile, it is not an inotify instance, or
 * another one of the box. */
static int take_instance(const struct wall_init *w, const struct seccomp_notif *n)
{
        AUTO_FD(process, (int) syscall(SYS_pidfd_open, process_of(w, n->pid), 0));
        if (process < 0 || !still_waits(w, n)) {
                errno = EBADF;
                return -1;
        }
        return (int) syscall(SYS_pidfd_getfd, process, (int) n->data.args[0], 0);
}

int wall_inotify_add(const struct wall_init *w, const struct seccomp_notif *n)
{
        char path[48];
        AUTO_FD(instance, take_instance(w, n));
        if (instance < 0)
                return -errno;

        AUTO_FD(target, open_target(w, n));
        if (target < 0)
                return -errno;

        if (!is_changeable(target))
                return -EACCES;

        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", target);
        int id = inotify_add_watch(instance, path, (uint32_t) n->data.args[2] & ~(uint32_t) IN_DONT_FOLLOW);
        return id < 0 ? -errno : id;
}
