/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/inotify.c - adds an inotify watch for a task of the box. A watch on a file that boxes
 * and host share shows which processes open it. So all events are shown of files that the box can change: its
 * own, and those behind edit and write doors. Of files behind a read door changes are shown, which stat()
 * would show as well; not in a directory in which an `except` hides a name, because events have names.
 *
 * The filter cannot see a path, and a path in the task's memory can change after a check (TOCTOU). So the
 * connector does the call itself: it opens the path once, checks the opened file, and adds the watch to the
 * task's own inotify instance by that descriptor. The task never makes the call. Not init: the path may lead
 * to a file system that does not answer.
 * Never: lets the call continue, follows a magic link, allocates. Namespace wall only: the connector has the
 * box's root and, except for its capabilities over the box, the box's rights. */
#include "base/fd.h"
#include "base/str.h"
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

enum {
        EVENTS_OF_CHANGES = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE |
                            IN_DELETE_SELF | IN_MOVE_SELF,
        EVENTS_OF_LOOKS = IN_ACCESS | IN_OPEN | IN_CLOSE_NOWRITE
};

static bool is_directory_of(const char *dir, const char *path)
{
        size_t n = str_parent(path, strlen(path));
        return n == 0 ? strcmp(dir, "/") == 0 : strlen(dir) == n && memcmp(dir, path, n) == 0;
}

/* Is `path` the directory of a name that is hidden? */
static bool shows_hidden(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->step_count; i++) {
                const struct plan_step *s = &p->steps[i];
                if ((s->kind == STEP_MASK || s->kind == STEP_SHUT) && is_directory_of(path, s->path))
                        return true;
        }

        return false;
}

/* A right to read files or list directories, at this path or above it. */
static bool is_shown(const struct plan *p, const char *path)
{
        for (size_t i = 0; i < p->rule_count; i++)
                if ((p->rules[i].rights | p->rules[i].entries) & (RIGHT_READ | RIGHT_LIST) &&
                    path_under(path, p->rules[i].path))
                        return true;

        return false;
}

/* The events that may be shown of an open file; 0: none. Devices are the host's, also on a mount that can be
 * written. */
static uint32_t events_of(const struct wall_init *w, int fd, const char *path)
{
        struct stat st;
        struct statfs fs;
        if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) ||
            fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC)
                return 0;

        if (!(fs.f_flags & ST_RDONLY))
                return IN_ALL_EVENTS;

        return path[0] == '/' && is_shown(w->plan, path) && !shows_hidden(w->plan, path) ? EVENTS_OF_CHANGES
                                                                                         : 0;
}

/* The task's inotify instance. If the descriptor was reused meanwhile, it is not an inotify instance, or
 * another one of the box. */
static int take_instance(const struct wall_init *w, const struct seccomp_notif *n)
{
        AUTO_FD(process, (int) syscall(SYS_pidfd_open, (pid_t) wall_task_process(w, n->pid), 0));
        if (process < 0 || !still_waits(w, n)) {
                errno = EBADF;
                return -1;
        }
        return (int) syscall(SYS_pidfd_getfd, process, (int) n->data.args[0], 0);
}

int wall_inotify_add(const struct wall_init *w, const struct seccomp_notif *n, char *ret_denied, size_t cap)
{
        char own[48];
        uint32_t mask = (uint32_t) n->data.args[2] & ~(uint32_t) IN_DONT_FOLLOW;
        AUTO_FD(instance, take_instance(w, n));
        if (instance < 0)
                return -errno;

        AUTO_FD(target, open_target(w, n));
        if (target < 0)
                return -errno;

        if (fd_path(target, ret_denied, cap) < 0)
                ret_denied[0] = '\0';

        uint32_t events = events_of(w, target, ret_denied);
        if (!(mask & events) && (!events || mask & EVENTS_OF_LOOKS))
                return -EACCES;

        ret_denied[0] = '\0';
        mask &= ~(uint32_t) IN_ALL_EVENTS | events;
        (void) snprintf(own, sizeof own, "/proc/self/fd/%d", target);
        int id = inotify_add_watch(instance, own, mask);
        return id < 0 ? -errno : id;
}
