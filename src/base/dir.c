/* SPDX-License-Identifier: MIT */
/* base/dir.c - see base/dir.h. Never: allocates. */
#include "base/dir.h"

#include <sys/syscall.h>
#include <unistd.h>

int dir_more(struct dir_list *l, int fd)
{
        long n = syscall(SYS_getdents64, fd, l->bytes, l->cap);
        l->at = 0;
        l->n = n > 0 ? (size_t) n : 0;
        return n > 0 ? 1 : (int) n;
}

const struct dir_entry *dir_next(struct dir_list *l)
{
        if (l->at >= l->n)
                return NULL;
        const struct dir_entry *d = (const void *) (l->bytes + l->at);
        l->at += d->len;
        return d;
}
