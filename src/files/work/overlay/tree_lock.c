/* SPDX-License-Identifier: MIT */
/* files/work/overlay/tree_lock.c - serialises applies and undos of one tree. */
#include "base/fd.h"
#include "base/store/store.h"
#include "files/work/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

void turns_end(struct turns *t)
{
        while (t->n > 0) {
                (void) flock(t->lock[--t->n], LOCK_UN); /* see layer_free() */
                fd_close(&t->lock[t->n]);
        }
}

static int by_place(const void *a, const void *b)
{
        const struct place *x = a, *y = b;
        return x->dev != y->dev ? (x->dev < y->dev ? -1 : 1) : (x->ino > y->ino) - (x->ino < y->ino);
}

int take_turns(const struct cordon_context *cx, struct turns *t, struct err *e)
{
        AUTO_FD(state, store_open(cx, e));
        AUTO_FD(dir, state < 0 ? -1 : store_dir(state, "locks", e));
        if (dir < 0)
                return -1;

        if (t->places > 1)
                qsort(t->place, t->places, sizeof *t->place, by_place);

        for (size_t i = 0; i < t->places; i++) {
                char name[64];
                if (i > 0 && by_place(&t->place[i - 1], &t->place[i]) == 0)
                        continue;
                (void) snprintf(name, sizeof name, "apply-%" PRIx64 "-%" PRIx64, t->place[i].dev,
                                t->place[i].ino);
                int fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
                if (fd >= 0)
                        t->lock[t->n++] = fd;
                if (fd < 0 || flock(fd, LOCK_EX) < 0)
                        return err_set(e, ERR_IO, errno, "waiting for another apply: %s", strerror(errno));
        }

        return 0;
}
