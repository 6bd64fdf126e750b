/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/connector_target.c - which sockets with a name a box may connect to. Never: looks at a
 * name. */
#include "base/fd.h"
#include "wall/linux/observe/connector.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#ifndef SIOCUNIXFILE
#define SIOCUNIXFILE 0x89e0 /* opens the inode that a Unix socket is bound to: O_PATH */
#endif

static const struct target *find_target(const struct targets *t, const struct stat *st)
{
        for (unsigned i = 0; i < t->count; i++)
                if (t->at[i].ino == st->st_ino && t->at[i].dev == st->st_dev)
                        return &t->at[i];
        return NULL;
}

void targets_begin(struct targets *t, const struct wall_init *w)
{
        struct stat st;
        t->scratch_dev = w->scratch_dev;
        for (unsigned i = 0; i < w->sock_count; i++)
                if (fstat(w->socks[i], &st) == 0)
                        t->at[t->count++] = (struct target){ w->socks[i], st.st_dev, st.st_ino };
        t->fixed = t->next = t->count;
}

/* SAFETY: bind() always creates a new inode, so the inode that a socket is bound to belongs to no other
 * socket. The request needs CAP_NET_ADMIN over the socket's network namespace: a socket that a program of the
 * host passed in is denied. */
void targets_listen(struct targets *t, int sock)
{
        struct stat st;
        AUTO_FD(fd, ioctl(sock, SIOCUNIXFILE));
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev == t->scratch_dev || find_target(t, &st))
                return;

        if (t->next == TARGETS_MAX)
                t->next = t->fixed;

        struct target *at = &t->at[t->next++];
        if (t->count < t->next)
                t->count = t->next;
        else
                (void) close(at->fd);

        *at = (struct target){ TAKE_FD(fd), st.st_dev, st.st_ino };
}

/* Numbers are only the key: the way leads through the descriptor that was kept, so that on a filesystem whose
 * numbers are not unique another file gains nothing by having the same. */
int targets_judge(struct targets *t, int taken)
{
        struct stat st;
        AUTO_FD(fd, taken);
        if (fstat(fd, &st) < 0)
                return -1;

        if (!S_ISSOCK(st.st_mode)) {
                errno = ECONNREFUSED;
                return -1;
        }

        if (st.st_dev == t->scratch_dev)
                return TAKE_FD(fd);

        const struct target *own = find_target(t, &st);
        if (own)
                return fcntl(own->fd, F_DUPFD_CLOEXEC, 0);

        errno = EACCES;
        return -1;
}
