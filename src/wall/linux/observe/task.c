/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/task.c - the directories that paths of a task begin in; its process. */
#include "base/fd.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t wall_task_process(const struct wall_init *w, uint32_t task)
{
        static const char key[] = "\nTgid:";
        char name[32], text[4096];
        (void) snprintf(name, sizeof name, "%u/status", task);
        const char *at = fd_get(w->tasks, name, text, sizeof text) > 0 ? strstr(text, key) : NULL;
        return at ? (uint32_t) strtoul(at + sizeof key - 1, NULL, 10) : 0;
}

int wall_task_start(const struct wall_init *w, uint32_t task, int dirfd, const char *path)
{
        char name[48];
        if (*path == '/')
                return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (dirfd == AT_FDCWD)
                (void) snprintf(name, sizeof name, "%u/cwd", task);
        else
                (void) snprintf(name, sizeof name, "%u/fd/%d", task, dirfd);

        return openat(w->tasks, name, O_PATH | O_CLOEXEC);
}
