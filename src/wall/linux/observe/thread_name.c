/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/thread_name.c - opens /proc/self/task/N/comm of a task's own threads for writing, as
 * pthread_setname_np() does: the one file of /proc that a box can write.
 *
 * The box's /proc is read-only. init holds a second mount of it that is not, attached nowhere. A path that
 * the box can change meanwhile is read once; what is opened is made of the two numbers in it, below the
 * process that asked. The kernel lets only the process itself write there. Never: follows a link, lets the
 * box's path be looked up again. */
#include "base/fd.h"
#include "wall/internal.h"
#include "wall/linux/observe/watched_calls.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 64 };

/* "123/rest": the number, and *at after the slash; 0 without a number. */
static uint32_t number_before_slash(const char **at)
{
        char *end;
        unsigned long n = **at >= '1' && **at <= '9' ? strtoul(*at, &end, 10) : 0;
        if (n == 0 || n > INT32_MAX || *end != '/')
                return 0;

        *at = end + 1;
        return (uint32_t) n;
}

static bool skip_word(const char **at, const char *word)
{
        size_t n = strlen(word);
        if (strncmp(*at, word, n) != 0)
                return false;

        *at += n;
        return true;
}

/* The thread whose name `path` is, and in *ret_process the process that it says; 0: it is not such a path. */
static uint32_t named_thread(const char *path, uint32_t task, uint32_t process, uint32_t *ret_process)
{
        const char *at = path;
        if (!skip_word(&at, "/proc/"))
                return 0;

        uint32_t first = skip_word(&at, "self/")          ? process
                         : skip_word(&at, "thread-self/") ? task
                                                          : number_before_slash(&at);
        uint32_t thread = skip_word(&at, "task/") ? number_before_slash(&at) : first;
        *ret_process = thread == first ? process : first;
        return strcmp(at, "comm") == 0 ? thread : 0;
}

/* -1: the call is about another file. */
static int open_name(const struct wall_init *w, const struct seccomp_notif *n)
{
        const int modes = O_WRONLY | O_RDWR, other = O_PATH | O_DIRECTORY | O_EXCL;
        unsigned flags_at = seccomp_opens(&n->data);
        int flags = flags_at ? (int) n->data.args[flags_at] : 0;
        char path[NAME_MAX_LEN];
        if (w->names < 0 || !(flags & modes) || flags & other ||
            !watched_text(n->pid, n->data.args[flags_at - 1], path, sizeof path) ||
            strncmp(path, "/proc/", strlen("/proc/")) != 0)
                return -1;

        uint32_t process = wall_task_process(w, n->pid), said = 0,
                 thread = process ? named_thread(path, n->pid, process, &said) : 0;
        if (!thread || said != process)
                return -1;

        (void) snprintf(path, sizeof path, "%u/task/%u/comm", process, thread);
        return fd_open2(w->names, path, (uint64_t) (flags & modes) | O_NOCTTY,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

bool wall_thread_name(const struct wall_init *w, const struct seccomp_notif *n)
{
        AUTO_FD(fd, open_name(w, n));
        if (fd < 0)
                return false;

        bool cloexec = n->data.args[seccomp_opens(&n->data)] & O_CLOEXEC;
        return watched_give(w->listener, n->id, fd, cloexec) == 0;
}
