/* SPDX-License-Identifier: MIT */
/* face/serve/run_files.c - the files of runs and sessions. tenants/NAME/runs has one for each: a line of JSON
 * with what lists show, a line with the members of the result (of a run that waits: its order), and the
 * events. A stream's whole output stands beside it as ID.1 and ID.2. A file is replaced as a whole. */
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = RANDOM_NAME + 16, RECORD_MAX = 16 << 20 };

static void name_of(char ret[NAME_BYTES], const char *id, const char *ending)
{
        (void) snprintf(ret, NAME_BYTES, "runs/%s%s", id, ending);
}

int store_put(const struct tenant *t, const char *id, struct span text, bool sync)
{
        char name[NAME_BYTES], fresh[NAME_BYTES];
        int dir = tenant_dir(t);
        name_of(name, id, "");
        name_of(fresh, id, ".new");
        AUTO_FD(fd, openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        int r = fd < 0 || fd_write_all(fd, text.p, text.n) < 0 || (sync && fdatasync(fd) < 0)
                        ? -1
                        : renameat(dir, fresh, dir, name);
        int why = errno;
        if (r < 0 && fd >= 0)
                (void) unlinkat(dir, fresh, 0);
        if (r == 0 && sync) {
                AUTO_FD(list, openat(dir, "runs", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
                r = list < 0 ? -1 : fsync(list);
        }
        errno = why;
        return r;
}

void store_drop(const struct tenant *t, const char *id)
{
        static const char *const endings[] = { "", ".1", ".2" };
        char name[NAME_BYTES];
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
                name_of(name, id, endings[i]);
                (void) unlinkat(tenant_dir(t), name, 0);
        }
}

int store_open_output(const struct job *j, unsigned stream, bool write)
{
        char name[NAME_BYTES];
        name_of(name, j->id, stream == 1 ? ".1" : ".2");
        return openat(tenant_dir(j->tenant), name,
                      (write ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool store_read(const struct tenant *t, const char *id, struct buf *text, struct span ret[3])
{
        char name[NAME_BYTES];
        struct stat st;
        name_of(name, id, "");
        AUTO_FD(fd, openat(tenant_dir(t), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > RECORD_MAX)
                return false;

        char *room = buf_room(text, (size_t) st.st_size);
        ssize_t n = room ? fd_read_all(fd, room, (size_t) st.st_size) : -1;
        text->n = n < 0 ? 0 : (size_t) n;
        struct span left = buf_span(text);
        for (size_t i = 0; i < 3; i++) {
                const uint8_t *end = i < 2 && left.n ? memchr(left.p, '\n', left.n) : NULL;
                size_t len = end ? (size_t) (end - left.p) : left.n;
                ret[i] = span_of(left.p, len);
                left = end ? span_of(end + 1, left.n - len - 1) : (struct span){ 0 };
        }
        return ret[0].n > 0;
}
