/* SPDX-License-Identifier: MIT */
/* wall/limit/sweep.c - names of groups, and removes the groups of keepers that are gone (keeper and janitor
 * killed at once). Never: touches a directory whose name limit_name() could not have made, or whose keeper
 * may live. */
#include "base/dir.h"
#include "base/fd.h"
#include "base/str.h"
#include "wall/limit/internal.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

/* A name of a group tells any process whether the keeper still lives: cordon-<pid>-<start time in ticks,
 * hex>-<pid namespace, 8 hex><random, 8 hex>. The pid namespace is included because a pid has no meaning in
 * another one: a sweep on the host must not take the groups of a cordon inside a container for orphans. */

/* 44 bits of ticks are five thousand years of uptime; with this width a name fits into 48 bytes. */
static uint64_t start_ticks(pid_t pid) { return limit_start_time(pid) & 0xfffffffffffu; }

static uint32_t own_pid_ns(void)
{
        struct stat s;
        return stat("/proc/self/ns/pid", &s) == 0 ? (uint32_t) s.st_ino : 0;
}

static uint32_t random_u32(void)
{
        uint32_t n;
        /* It makes the name unique and keeps no secret: mkdir fails if the name exists. */
        if (getrandom(&n, sizeof n, GRND_INSECURE) != (ssize_t) sizeof n)
                n = (uint32_t) (uintptr_t) &n;
        return n;
}

void limit_name(char out[48])
{
        (void) snprintf(out, 48, "cordon-%d-%llx-%08x%08x", getpid(),
                        (unsigned long long) start_ticks(getpid()), random_u32(), own_pid_ns());
}

static int read_hex(const char *at, size_t n, uint64_t *ret)
{
        uint64_t value = 0;
        if (n == 0 || n > 16)
                return -1;

        for (size_t i = 0; i < n; i++) {
                const char *digits = "0123456789abcdef";
                const char *d = at[i] ? strchr(digits, at[i]) : NULL;
                if (!d)
                        return -1;
                value = value << 4 | (uint64_t) (d - digits);
        }

        *ret = value;
        return 0;
}

int limit_name_parse(const char *name, struct limit_owner *ret)
{
        uint64_t pid, start, ns, random;
        if (strncmp(name, "cordon-", 7) != 0)
                return -1;

        const char *p = name + 7;
        size_t pid_len = strcspn(p, "-");
        if (p[pid_len] != '-' || str_to_u64(span_of(p, pid_len), &pid) < 0 || pid == 0 || pid > INT32_MAX)
                return -1;

        const char *s = p + pid_len + 1;
        size_t start_len = strcspn(s, "-");
        if (s[start_len] != '-' || read_hex(s, start_len, &start) < 0)
                return -1;

        const char *tail = s + start_len + 1;
        if (strlen(tail) != 16 || read_hex(tail, 8, &random) < 0 || read_hex(tail + 8, 8, &ns) < 0)
                return -1;

        *ret = (struct limit_owner){ .pid = (pid_t) pid, .start = start, .pid_ns = (uint32_t) ns };
        return 0;
}

/* If in doubt the keeper lives: a leftover group is only debris, killing a live box loses work. */
bool limit_owner_gone(const struct limit_owner *o)
{
        if (o->pid_ns == 0 || o->pid_ns != own_pid_ns())
                return false;
        if (kill(o->pid, 0) < 0 && errno == ESRCH)
                return true;
        uint64_t start = start_ticks(o->pid);
        return start != 0 && o->start != 0 && start != o->start;
}

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
