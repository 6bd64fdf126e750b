/* SPDX-License-Identifier: MIT */
/* base/host/cgroup.c - finds the mounted control-group hierarchies, and our own group in each. Never:
 * allocates (the janitor of limit/ may call it after a fork), follows a path, trusts a length.
 *
 *     mountinfo: ID PARENT MAJ:MIN ROOT MOUNT OPTIONS [TAG...] - TYPE SOURCE SUPER-OPTIONS
 *                (blanks in paths as \040)
 *     cgroup:    ID:CONTROLLER[,CONTROLLER...]:PATH, and 0::PATH for v2; PATH is not escaped
 */
#include "base/fd.h"
#include "base/host/internal.h"
#include "base/span.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { V2 = CONTROLLER__COUNT, LINE_MAX_BYTES = 8192 };

static const char *const controller_names[] = {
        [CONTROLLER_MEMORY] = "memory",
        [CONTROLLER_PIDS] = "pids",
        [CONTROLLER_CPUACCT] = "cpuacct",
        [CONTROLLER_FREEZER] = "freezer",
};
_Static_assert(sizeof controller_names / sizeof *controller_names == CONTROLLER__COUNT, "a name for each");

/* The results so far; `root` is the part of the hierarchy that is mounted. */
struct scan {
        struct host_cgroups *h;
        char root[CONTROLLER__COUNT + 1][1024];
};

typedef int line_fn(struct scan *s, struct span line);

static struct host_hierarchy *read_hierarchy(struct scan *s, unsigned i)
{
        return i == V2 ? &s->h->v2 : &s->h->v1[i];
}

static int octal_digit(const uint8_t *p, size_t n)
{
        if (n < 4 || p[1] < '0' || p[1] > '3' || p[2] < '0' || p[2] > '7' || p[3] < '0' || p[3] > '7')
                return -1;
        return (p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0');
}

int host_mount_path(struct span in, char *out, size_t cap)
{
        size_t n = 0;
        if (in.n == 0 || in.p[0] != '/')
                return -1;

        for (size_t i = 0; i < in.n; i++) {
                int c = in.p[i];
                if (c == '\\') {
                        c = octal_digit(in.p + i, in.n - i);
                        i += 3;
                }
                if (c <= 0 || n + 1 >= cap)
                        return -1;
                out[n++] = (char) c;
        }

        out[n] = '\0';
        return 0;
}

/* Keeps the first mount of a hierarchy, unless a later one shows more of it. */
static int note_mount(struct scan *s, unsigned i, struct span root, struct span mount)
{
        struct host_hierarchy *y = read_hierarchy(s, i);
        if (y->present && (strcmp(s->root[i], "/") == 0 || !span_is(root, "/")))
                return 0;

        if (host_mount_path(root, s->root[i], sizeof s->root[i]) < 0 ||
            host_mount_path(mount, y->mount, sizeof y->mount) < 0)
                return -1;

        y->present = true;
        return 0;
}

/* The last blank-separated word: the source before it may be empty, which leaves two blanks. */
static struct span last_word(struct span s)
{
        size_t at = s.n;
        while (at > 0 && s.p[at - 1] != ' ')
                at--;
        return span_of(s.p + at, s.n - at);
}

static int mount_line(struct scan *s, struct span line)
{
        struct span rest = line, root = { 0 }, mount = { 0 };
        for (int i = 0; i < 5; i++) {
                root = mount;
                mount = span_cut(&rest, ' ');
        }

        if (rest.n == 0)
                return -1;

        while (rest.n > 0 && !span_is(span_cut(&rest, ' '), "-"))
                ;

        struct span type = span_cut(&rest, ' ');
        if (type.n == 0)
                return -1;

        if (span_is(type, "cgroup2"))
                return note_mount(s, V2, root, mount);

        if (!span_is(type, "cgroup"))
                return 0;

        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                if (host_list_has(last_word(rest), ',', controller_names[i]) &&
                    note_mount(s, i, root, mount) < 0)
                        return -1;

        return 0;
}

static bool has_dotdot(struct span path)
{
        while (path.n > 0)
                if (span_is(span_cut(&path, '/'), ".."))
                        return true;
        return false;
}

/* Our group relative to the mount. "" if it is outside the mount, or was removed: it cannot be opened then.
 */
static int note_own(struct scan *s, unsigned i, struct span path)
{
        struct host_hierarchy *y = read_hierarchy(s, i);
        if (path.n == 0 || path.p[0] != '/' || memchr(path.p, '\0', path.n))
                return -1;

        if (!y->present || has_dotdot(path) || span_ends(path, " (deleted)"))
                return 0;

        size_t skip = strcmp(s->root[i], "/") == 0 ? 0 : strlen(s->root[i]);
        if (skip > 0 && (!span_starts(path, s->root[i]) || (path.n > skip && path.p[skip] != '/')))
                return 0;

        if (path.n == skip)
                return (void) memcpy(y->own, "/", 2), 0;

        if (path.n - skip >= sizeof y->own)
                return -1;

        memcpy(y->own, path.p + skip, path.n - skip);
        y->own[path.n - skip] = '\0';
        return 0;
}

/* Splits "ID:LIST:PATH". */
static int split_group(struct span line, struct span *ret_list, struct span *ret_path)
{
        struct span rest = line;
        struct span id = span_cut(&rest, ':');
        if (id.n == 0 || id.n > 10)
                return -1;

        for (size_t i = 0; i < id.n; i++)
                if (id.p[i] < '0' || id.p[i] > '9')
                        return -1;

        *ret_list = span_cut(&rest, ':');
        *ret_path = rest;
        return rest.n > 0 ? 0 : -1;
}

static int group_line(struct scan *s, struct span line)
{
        struct span list, path;
        if (split_group(line, &list, &path) < 0)
                return -1;

        if (list.n == 0)
                return note_own(s, V2, path);

        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                if (host_list_has(list, ',', controller_names[i]) && note_own(s, i, path) < 0)
                        return -1;

        return 0;
}

static int each_line(struct span text, line_fn *fn, struct scan *s)
{
        while (text.n > 0)
                if (fn(s, span_cut(&text, '\n')) < 0)
                        return -1;
        return 0;
}

int host_cgroups_parse(const char *mountinfo, const char *cgroup, struct host_cgroups *ret)
{
        struct host_cgroups h = { 0 };
        struct scan s = { .h = &h };
        if (each_line(span_str(mountinfo), mount_line, &s) < 0 ||
            each_line(span_str(cgroup), group_line, &s) < 0)
                return -1;

        *ret = h;
        return 0;
}

int host_cgroup_find(const char *cgroup, const char *controller, char *ret_path, size_t cap)
{
        struct span text = span_str(cgroup), list, path;
        while (text.n > 0) {
                if (split_group(span_cut(&text, '\n'), &list, &path) < 0)
                        return -1;
                if (controller[0] ? !host_list_has(list, ',', controller) : list.n > 0)
                        continue;
                if (path.n >= cap || path.p[0] != '/' || has_dotdot(path))
                        return -1;
                memcpy(ret_path, path.p, path.n);
                ret_path[path.n] = '\0';
                return 0;
        }

        return -1;
}

/* Reads line by line, so that a host with ten thousand mounts needs no more memory than one with ten. Skips
 * a line too long for the buffer: it cannot be a mount of interest (their paths are capped well below it). */
static int each_line_of(const char *path, line_fn *fn, struct scan *s)
{
        char buf[LINE_MAX_BYTES];
        size_t have = 0;
        bool skipping = false;
        AUTO_FD(fd, open(path, O_RDONLY | O_CLOEXEC));
        if (fd < 0)
                return -1;

        for (;;) {
                ssize_t n = fd_read_all(fd, buf + have, sizeof buf - have);
                if (n < 0)
                        return -1;
                have += (size_t) n;
                struct span all = span_of(buf, have);
                for (; all.n > 0 && memchr(all.p, '\n', all.n); skipping = false) {
                        struct span line = span_cut(&all, '\n');
                        if (!skipping && fn(s, line) < 0)
                                return errno = EINVAL, -1;
                }
                if (n == 0)
                        return 0;
                skipping = skipping || all.n == sizeof buf;
                have = skipping ? 0 : all.n;
                memmove(buf, all.p, have);
        }
}

static void read_v2_controllers(struct host_cgroups *h)
{
        char text[512];
        AUTO_FD(top, host_cgroup_top(&h->v2, HOST_CGROUP_V2));
        if (top < 0 || fd_get(top, "cgroup.controllers", text, sizeof text) < 0)
                return;
        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                h->v2_has[i] = host_lists(text, controller_names[i]);
}

/* ---- the usual mount points, so that a start need not read a mount table of any length ---- */

#define USUAL_TOP "/sys/fs/cgroup"

static bool is_there(const struct host_hierarchy *y, enum host_cgroup_fs fs)
{
        AUTO_FD(own, y->own[0] ? host_cgroup_at(y, y->own, fs) : -1);
        return own >= 0;
}

/* A mount of only a part of its hierarchy does not have our group at the path that the kernel reports. */
static int try_place(struct scan *s, unsigned i, const char *mount, struct span own)
{
        struct host_hierarchy *y = read_hierarchy(s, i);
        *y = (struct host_hierarchy){ .present = true };
        (void) stpcpy(s->root[i], "/");
        (void) snprintf(y->mount, sizeof y->mount, "%s", mount);
        if (note_own(s, i, own) == 0 && is_there(y, i == V2 ? HOST_CGROUP_V2 : HOST_CGROUP_V1))
                return 0;

        *y = (struct host_hierarchy){ 0 };
        return -1;
}

/* A v1 hierarchy is mounted under the names of its controllers. Returns -1 if it does not exist. */
static int usual_line(struct scan *s, struct span line)
{
        struct span list, path;
        char mount[256];
        if (split_group(line, &list, &path) < 0)
                return -1;

        if (list.n == 0)
                return try_place(s, V2, USUAL_TOP, path) == 0 ? 0
                                                              : try_place(s, V2, USUAL_TOP "/unified", path);

        int n = snprintf(mount, sizeof mount, USUAL_TOP "/%.*s", (int) list.n, (const char *) list.p);
        for (unsigned i = 0; i < CONTROLLER__COUNT; i++)
                if (host_list_has(list, ',', controller_names[i]) &&
                    (n >= (int) sizeof mount || try_place(s, i, mount, path) < 0))
                        return -1;

        return 0;
}

static bool read_usual(struct scan *s)
{
        if (each_line_of("/proc/self/cgroup", usual_line, s) == 0)
                return true;
        *s->h = (struct host_cgroups){ 0 };
        return false;
}

int host_cgroups_read(struct host_cgroups *ret, struct err *e)
{
        struct host_cgroups h = { 0 };
        struct scan s = { .h = &h };
        bool usual = read_usual(&s);
        if (!usual && each_line_of("/proc/self/mountinfo", mount_line, &s) < 0)
                return err_set(e, ERR_HOST, errno, "cannot read /proc/self/mountinfo");

        /* ENOENT: a kernel without control groups. */
        if (!usual && each_line_of("/proc/self/cgroup", group_line, &s) < 0 && errno != ENOENT)
                return err_set(e, ERR_HOST, errno, "cannot read /proc/self/cgroup");

        if (h.v2.present)
                read_v2_controllers(&h);

        *ret = h;
        return 0;
}
