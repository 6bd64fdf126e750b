/* SPDX-License-Identifier: MIT */
/* base/host/confined_groups.c - whether the control groups of one process limit it where those of another do
 * not. Two terminals of a user are in two groups without limits of their own, below one of the user. */
#include "base/fd.h"
#include "base/host/host.h"
#include "base/str.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Programs that are attached to a group, as for a service with rules of addresses, are not visible: groups
 * with less than this in common are never alike. */
enum { COMMON_LEAST = 2 };

/* Whether this file of a group sets no limit: it is empty, or begins with "max". */
static bool is_open(int dir, const char *file)
{
        char text[256];
        struct span name = span_str(file);
        bool counts = span_ends(name, ".max") || span_ends(name, ".high") || span_is(name, "cpuset.cpus") ||
                      span_is(name, "cpuset.mems");
        if (!counts)
                return true;

        return fd_get(dir, file, text, sizeof text) >= 0 && (!text[0] || strncmp(text, "max", 3) == 0);
}

static bool is_unlimited(int group)
{
        DIR *d = fdopendir(group); /* takes it */
        bool open = d != NULL;
        for (const struct dirent *f; open && (f = readdir(d));)
                open = is_open(dirfd(d), f->d_name);

        if (d)
                (void) closedir(d);
        else if (group >= 0)
                (void) close(group);
        return open;
}

/* The length of the path that two groups have in common, and how many groups that is. */
static size_t common_path(const char *a, const char *b, unsigned *ret_depth)
{
        size_t n = 0, at = 0;
        *ret_depth = 0;
        for (; a[at] && a[at] == b[at]; at++)
                if (a[at] == '/' && at > n) {
                        n = at;
                        ++*ret_depth;
                }

        bool whole = (a[at] == '\0' || a[at] == '/') && (b[at] == '\0' || b[at] == '/');
        if (whole && at > n + 1) {
                n = at;
                ++*ret_depth;
        }

        return n;
}

/* The unified hierarchy, as the caller of this function sees it. */
static bool path_limits_more(const char *a, const char *b)
{
        struct host_cgroups mounted;
        struct err ignored;
        char path[1024];
        unsigned depth;
        size_t n = common_path(a, b, &depth), end = strlen(a);
        if (depth < COMMON_LEAST || end >= sizeof path || host_cgroups_read(&mounted, &ignored) < 0)
                return true;

        for (; end > n; end = str_parent(a, end)) {
                memcpy(path, a, end);
                path[end] = '\0';
                if (!is_unlimited(host_cgroup_at(&mounted.v2, path, HOST_CGROUP_V2)))
                        return true;
        }

        return false;
}

/* One line is "4:memory:/path". */
static bool line_limits_more(struct span line, const char *b)
{
        char controller[256], own[1024], other[1024];
        (void) span_cut(&line, ':');
        struct span controllers = span_cut(&line, ':'),
                    first = span_cut(&controllers, ','); /* all have one path */
        if (line.n == 0 || line.n >= sizeof own || first.n >= sizeof controller)
                return true;

        (void) snprintf(controller, sizeof controller, "%.*s", (int) first.n, (const char *) first.p);
        (void) snprintf(own, sizeof own, "%.*s", (int) line.n, (const char *) line.p);
        if (span_starts(first, "name="))
                return false; /* a hierarchy without controllers */
        if (host_cgroup_find(b, controller, other, sizeof other) < 0)
                return true;
        return strcmp(own, other) != 0 && (controller[0] || path_limits_more(own, other));
}

bool host_groups_limit_more(const char *a, const char *b)
{
        if (strcmp(a, b) == 0)
                return false;
        for (struct span rest = span_str(a); rest.n > 0;)
                if (line_limits_more(span_cut(&rest, '\n'), b))
                        return true;
        return false;
}
