/* SPDX-License-Identifier: MIT */
/* base/host/slow.c - mounts of this host whose I/O depends on a network or another process, and may hang.
 * Looking up a path below one can block forever, so code that must not block checks here first. Reads only
 * the text of the mount table. */
#include "base/arena.h"
#include "base/fd.h"
#include "base/host/internal.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdlib.h>

enum { TABLE_MAX = 4 << 20 };

struct host_slow {
        struct arena mem;
        const char **mounts; /* mount points */
        size_t count;
};

static bool is_slow(struct span type)
{
        static const char *const types[] = { "nfs",   "nfs4",     "cifs",   "smb3",    "smbfs",  "ncpfs",
                                             "afs",   "ceph",     "9p",     "coda",    "lustre", "gfs2",
                                             "ocfs2", "orangefs", "autofs", "virtiofs" };
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                if (span_is(type, types[i]))
                        return true;

        return span_starts(type, "fuse"); /* also matches fuseblk and fuse.NAME */
}

/* ID PARENT MAJ:MIN ROOT MOUNT OPTIONS [TAG...] - TYPE SOURCE SUPER-OPTIONS */
static bool add_line(struct host_slow *s, struct span line)
{
        for (int i = 0; i < 4; i++)
                (void) span_cut(&line, ' ');

        struct span mount = span_cut(&line, ' ');
        while (line.n > 0 && !span_is(span_cut(&line, ' '), "-"))
                ;

        if (!is_slow(span_cut(&line, ' ')))
                return true;

        char *path = arena_alloc(&s->mem, mount.n + 1);
        if (!path || host_mount_path(mount, path, mount.n + 1) < 0)
                return false;

        s->mounts[s->count++] = path;
        return true;
}

struct host_slow *host_slow_parse(struct span table)
{
        size_t lines = 1;
        for (size_t i = 0; i < table.n; i++)
                lines += table.p[i] == '\n';

        struct host_slow *s = calloc(1, sizeof *s);
        bool whole = s && (s->mounts = arena_alloc(&s->mem, lines * sizeof *s->mounts));
        while (whole && table.n > 0)
                whole = add_line(s, span_cut(&table, '\n'));

        if (whole)
                return s;

        host_slow_free(s);
        return NULL;
}

struct host_slow *host_slow_read(void)
{
        AUTO_FD(fd, open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
        char *text = malloc(TABLE_MAX);
        ssize_t n = fd < 0 || !text ? -1 : fd_read_all(fd, text, TABLE_MAX);
        struct host_slow *s = n < 0 || n == TABLE_MAX ? NULL : host_slow_parse(span_of(text, (size_t) n));
        free(text);
        return s;
}

bool host_slow_any(const struct host_slow *s) { return s->count > 0; }

bool host_slow_covers(const struct host_slow *s, const char *path)
{
        for (size_t i = 0; i < s->count; i++)
                if (path_under(path, s->mounts[i]))
                        return true;
        return false;
}

void host_slow_free(struct host_slow *s)
{
        if (s)
                arena_done(&s->mem);
        free(s);
}
