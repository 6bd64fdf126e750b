/* SPDX-License-Identifier: MIT */
/* wall/linux/root/file_copy.c - a single file behind a `write` door, copied into its private directory.
 *
 * The keeper opened the file on the host and publishes the copy at the end (run/keeper/publish.c). Never:
 * opens a path of the host. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static int copy_bytes(int from, int to, const struct stat *st)
{
        off_t at = 0;
        while (at < st->st_size) {
                ssize_t n = sendfile(to, from, &at, (size_t) (st->st_size - at));
                if (n == 0)
                        break; /* it became shorter: a conflict, if the box changes it */
                if (n < 0 && errno != EINTR)
                        return -1;
        }

        const struct timespec times[] = { st->st_atim, st->st_mtim };
        return fchmod(to, st->st_mode & 0777) < 0 ? -1 : futimens(to, times);
}

int wall_do_copy(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        struct stat st;
        const char *last;
        AUTO_FD(from, wall_receive_mount(w, s, e));
        if (from < 0)
                return -1;

        int dir = place_open_parent(w, s->path, &last);
        if (dir < 0 || !place_is_ours(w, dir))
                return wall_fail(e, STAGE_DOORS, "%s has no place in the box", s->path);

        AUTO_FD(to, openat(dir, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (to < 0 || fstat(from, &st) < 0 || copy_bytes(from, to, &st) < 0 || fstat(to, &st) < 0)
                return wall_fail(e, STAGE_DOORS, "copying %s", s->text);

        struct wall_message m = { .word = WALL_SAYS_COPY, .copy = { .ino = st.st_ino, .which = s->layer } };
        if (wall_put(w->control, &m, dir) < 0)
                return wall_fail(e, STAGE_DOORS, "handing over %s", s->path);

        return 0;
}
