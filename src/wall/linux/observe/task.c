/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/task.c - the directories that paths of a task begin in; its process. */
#include "base/fd.h"
#include "wall/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long wall_status_number(int proc, const char *process, const char *key)
{
        char name[32], text[8192];
        (void) snprintf(name, sizeof name, "%s/status", process);
        const char *at = fd_get(proc, name, text, sizeof text) > 0 ? strstr(text, key) : NULL;
        return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

uint32_t wall_task_process(const struct wall_init *w, uint32_t task)
{
        char name[16];
        (void) snprintf(name, sizeof name, "%u", task);
        long process = wall_status_number(w->tasks, name, "\nTgid:");
        return process > 0 ? (uint32_t) process : 0;
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
