/* SPDX-License-Identifier: MIT */
/* wall/limit/run_group.c - a v2 group for each run of a session, below the session's own. It limits nothing:
 * the kernel keeps with each socket the group in which it was made, which no process in the box can change.
 * Never: allocates; the janitor removes these groups as well. */
#include "base/dir.h"
#include "base/fd.h"
#include "wall/limit/internal.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { RUN_NAME = 32 };
static const char prefix[] = "run-";

static const char *name_run(uint32_t n, char ret[RUN_NAME])
{
        (void) snprintf(ret, RUN_NAME, "%s%u", prefix, n);
        return ret;
}

int limit_run_open(const struct limit_group *g, uint32_t n, uint64_t *ret_id)
{
        char name[RUN_NAME];
        struct stat st;
        AUTO_FD(dir, g->v2 < 0 ? -1 : limit_make_dir(g->v2, name_run(n, name)));
        if (dir < 0 || fstat(dir, &st) < 0)
                return -1;

        *ret_id = st.st_ino;
        return openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
}

void limit_run_end(const struct limit_group *g, uint32_t n)
{
        char name[RUN_NAME];
        if (g->v2 >= 0)
                (void) unlinkat(g->v2, name_run(n, name), AT_REMOVEDIR);
}

void limit_runs_each(int v2, void (*each)(void *ctx, int v2, const char *name), void *ctx)
{
        DIR_LIST(list, 4096);
        AUTO_FD(dir, v2 < 0 ? -1 : openat(v2, ".", DIR_FLAGS)); /* an offset of its own */
        while (dir >= 0 && dir_more(&list, dir) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));)
                        if (d->type == DT_DIR && strncmp(d->name, prefix, sizeof prefix - 1) == 0)
                                each(ctx, v2, d->name);
}
