/* SPDX-License-Identifier: MIT */
/* wall/limit/sweep.c - removes the groups of keepers that are gone (keeper and janitor killed at once).
 * Never: touches a directory whose name limit_name() could not have made, or whose keeper may live. */
#include "base/dir.h"
#include "base/fd.h"
#include "wall/limit/internal.h"

#include <dirent.h>
#include <string.h>

enum { NAMES_MAX = 64, SWEEP_WAIT_MS = 500 };

struct names {
        unsigned n;
        char name[NAMES_MAX][48];
};

static void note_stale(struct names *found, const char *name)
{
        struct limit_owner o;
        size_t n = strlen(name);
        if (found->n == NAMES_MAX || n >= sizeof found->name[0])
                return;
        if (limit_name_parse(name, &o) == 0 && limit_owner_gone(&o))
                memcpy(found->name[found->n++], name, n + 1);
}

static void find_stale(int top, struct names *found)
{
        DIR_LIST(list, 8192);
        found->n = 0;
        while (dir_more(&list, top) > 0)
                for (const struct dir_entry *d; (d = dir_next(&list));)
                        if (d->type == DT_DIR || d->type == DT_UNKNOWN)
                                note_stale(found, d->name);
}

/* The directory that holds groups: index CONTROLLER__COUNT is v2. Only root has v1 groups. */
static int parent_of(const struct host_cgroups *h, unsigned i)
{
        bool root = geteuid() == 0;
        if (i < CONTROLLER__COUNT)
                return root && h->v1[i].present ? host_cgroup_top(&h->v1[i], HOST_CGROUP_V1) : -1;
        return h->v2.present ? limit_v2_parent(h, root, false) : -1;
}

void limit_group_adopt(struct limit_group *g, const struct host_cgroups *h, const char *name)
{
        limit_group_init(g);
        memcpy(g->ask.name, name, strlen(name) + 1);
        for (unsigned i = 0; i <= CONTROLLER__COUNT; i++) {
                int *dir = i < CONTROLLER__COUNT ? &g->v1[i] : &g->v2;
                int *parent = i < CONTROLLER__COUNT ? &g->v1_parent[i] : &g->v2_parent;
                *parent = parent_of(h, i);
                *dir = *parent < 0 ? -1 : openat(*parent, name, DIR_FLAGS);
                if (*dir < 0)
                        fd_close(parent);
        }
}

static bool is_there(int parent, const char *name)
{
        return faccessat(parent, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A group that is stale in one hierarchy is removed from all of them. */
static unsigned sweep_one(const struct host_cgroups *h, unsigned i)
{
        unsigned swept = 0;
        struct names found;
        struct limit_group g;
        AUTO_FD(top, parent_of(h, i));
        if (top < 0)
                return 0;

        find_stale(top, &found);
        for (unsigned k = 0; k < found.n; k++) {
                limit_group_adopt(&g, h, found.name[k]);
                limit_end_within(&g, SWEEP_WAIT_MS);
                swept += !is_there(top, found.name[k]);
        }

        return swept;
}

unsigned limit_sweep(const struct host_cgroups *h)
{
        unsigned swept = 0;
        for (unsigned i = 0; i <= CONTROLLER__COUNT; i++)
                swept += sweep_one(h, i);
        return swept;
}

/* v2 is the first directory that is made for a group, and pids the last of v1 that is removed. */
void limit_sweep_quick(const struct host_cgroups *h)
{
        (void) sweep_one(h, CONTROLLER__COUNT);
        (void) sweep_one(h, CONTROLLER_PIDS);
}
