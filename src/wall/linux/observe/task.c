/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/task.c - the directories that paths of a task begin in. */
#include "wall/internal.h"

#include <fcntl.h>
#include <stdio.h>

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
