/* SPDX-License-Identifier: MIT */
/* wall/linux/root/listen_socket.c - sockets that the connector may reach, and a Unix socket in the box on
 * which cordon listens: the inode lies on the private files, out of the box's reach but for one mount of it,
 * and the keeper gets the descriptor. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 16 };

/* Sockets that the connector may reach besides the box's own: opened now, whatever their names lead to later.
 */
int wall_keep_sock(struct wall_init *w, int tree, struct err *e)
{
        if (w->sock_count < SOCKS_MAX)
                w->socks[w->sock_count] = fcntl(tree, F_DUPFD_CLOEXEC, 0);
        else
                errno = E2BIG;

        if (w->sock_count == SOCKS_MAX || w->socks[w->sock_count] < 0)
                return wall_fail(e, STAGE_DOORS, "keeping more than %d sockets", SOCKS_MAX);

        w->sock_count++;
        return 0;
}

/* The name is relative: an address is short, and no path of the host is walked. */
static int bind_here(const struct wall_init *w, int fd, const char *name)
{
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        memcpy(at.sun_path, name, strlen(name) + 1);
        if (fchdir(w->scratch) < 0)
                return -1;
        int r = bind(fd, (const struct sockaddr *) &at, sizeof at);
        return chdir("/") < 0 ? -1 : r;
}

int wall_do_listen(struct wall_init *w, const struct plan_step *s, struct err *e)
{
        char name[32];
        struct wall_message m = { .word = WALL_SAYS_LISTENER, .listener = { .kind = s->layer } };
        AUTO_FD(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        (void) snprintf(name, sizeof name, "listen-%u", s->layer);
        if (w->scratch < 0 || fd < 0 || bind_here(w, fd, name) < 0 ||
            fchmodat(w->scratch, name, 0666, 0) < 0 || listen(fd, BACKLOG) < 0)
                return wall_fail(e, STAGE_ROOT, "listening at %s", s->path);

        AUTO_FD(tree, mount_clone(w->scratch, name, 0));
        if (tree < 0 || wall_set_attr(tree, 0, MOUNT_PLAIN | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC, 0) < 0)
                return wall_fail(e, STAGE_ROOT, "making %s", s->path);

        if (wall_keep_sock(w, tree, e) < 0 || wall_attach(w, tree, s->path, false, e) < 0)
                return -1;

        return wall_put(w->control, &m, fd) < 0
                       ? wall_fail(e, STAGE_ROOT, "handing %s to the keeper", s->path)
                       : 0;
}
