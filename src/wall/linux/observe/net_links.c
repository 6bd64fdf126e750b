/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/net_links.c - the sockets by which a box asks for its interfaces: see net_links.h.
 *
 * Each end of ours has an abstract name that reads like the address of the kernel's server: after the family
 * come a padding that no program reads, which tells our ends apart, and zeros. Programs drop answers from any
 * other sender. Never: takes a descriptor that a box sends along, waits for a box. */
#include "wall/linux/observe/net_links.h"

#include "base/fd.h"
#include "wall/linux/observe/watched_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif
enum { QUEUE_BYTES = 64 << 10 };

static uint64_t cookie_of(int sock)
{
        uint64_t cookie = 0;
        socklen_t len = sizeof cookie;
        return getsockopt(sock, SOL_SOCKET, SO_COOKIE, &cookie, &len) < 0 ? 0 : cookie;
}

static struct link *find_link(struct links *l, uint64_t cookie)
{
        for (unsigned i = 0; i < LINKS_MAX; i++)
                if (l->at[i].cookie == cookie)
                        return &l->at[i];
        return NULL;
}

static void let_go(struct link *at)
{
        fd_close(&at->end);
        at->cookie = 0;
}

/* The box's ends that are closed by now: their room is needed. */
static void drop_closed(struct links *l)
{
        for (unsigned i = 0; i < LINKS_MAX; i++) {
                struct pollfd p = { .fd = l->at[i].end, .events = POLLIN };
                if (l->at[i].cookie && poll(&p, 1, 0) > 0 && p.revents & POLLHUP)
                        let_go(&l->at[i]);
        }
}

static int name_end(int end, unsigned which)
{
        const int most = QUEUE_BYTES;
        struct sockaddr_un at = { .sun_family = AF_UNIX };
        at.sun_path[1] = (char) which;
        (void) setsockopt(end, SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
        return bind(end, (const struct sockaddr *) &at, sizeof(struct sockaddr_nl));
}

/* Returns 0, or the error to answer with. */
static int make_link(struct links *l, int listener, const struct seccomp_notif *n)
{
        int pair[2];
        struct link *at = find_link(l, 0);
        if (!at || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return ENOBUFS;

        AUTO_FD(end, pair[0]);
        AUTO_FD(given, pair[1]);
        uint64_t cookie = cookie_of(given);
        if (!cookie || name_end(end, (unsigned) (at - l->at)) < 0 ||
            (n->data.args[1] & SOCK_NONBLOCK && fcntl(given, F_SETFL, O_NONBLOCK) < 0))
                return ENOBUFS;

        if (watched_give(listener, n->id, given, n->data.args[1] & SOCK_CLOEXEC) < 0)
                return errno == EMFILE ? EMFILE : EOPNOTSUPP;

        *at = (struct link){ .cookie = cookie, .end = TAKE_FD(end), .port = n->pid };
        return 0;
}

void links_make(struct links *l, int listener, const struct seccomp_notif *n)
{
        drop_closed(l);
        int error = make_link(l, listener, n);
        if (error)
                watched_answer(listener, n->id, error, 0);
}

/* The two below copy from and to the task that waits in this call. */
static bool get_argument(const struct seccomp_notif *n, unsigned arg, void *ret, size_t len)
{
        const struct iovec to = { ret, len }, from = { (void *) (uintptr_t) n->data.args[arg], len };
        return process_vm_readv((pid_t) n->pid, &to, 1, &from, 1, 0) == (ssize_t) len;
}

static bool put_argument(const struct seccomp_notif *n, unsigned arg, void *p, size_t len)
{
        const struct iovec from = { p, len }, to = { (void *) (uintptr_t) n->data.args[arg], len };
        return process_vm_writev((pid_t) n->pid, &from, 1, &to, 1, 0) == (ssize_t) len;
}

/* A program may choose its address. It may also ask for news of its network, which does not change. */
static int serve_bind(struct link *at, const struct seccomp_notif *n)
{
        struct sockaddr_nl a;
        if (!get_argument(n, 1, &a, sizeof a))
                return EFAULT;

        if (a.nl_family != AF_NETLINK)
                return EINVAL;

        if (a.nl_pid)
                at->port = a.nl_pid;

        return 0;
}

static int serve_name(const struct link *at, const struct seccomp_notif *n)
{
        struct sockaddr_nl a = { .nl_family = AF_NETLINK, .nl_pid = at->port };
        uint32_t room, len = sizeof a;
        if (!get_argument(n, 2, &room, sizeof room))
                return EFAULT;

        if ((int32_t) room < 0)
                return EINVAL;

        return put_argument(n, 1, &a, room < len ? room : len) && put_argument(n, 2, &len, sizeof len)
                       ? 0
                       : EFAULT;
}

static int serve_send(const struct link *at, const struct seccomp_notif *n, __s64 *ret_sent)
{
        char request[LINK_REQUEST_MAX];
        size_t len = (size_t) n->data.args[2];
        if (len > sizeof request)
                return EMSGSIZE;

        if (!get_argument(n, 1, request, len))
                return EFAULT;

        link_answer(at, request, len);
        *ret_sent = (__s64) len;
        return 0;
}

/* A call of this table is answered by us for our sockets only. It continues for all others, whatever they are
 * by then: the filter lets it through for any socket. */
void links_serve(struct links *l, int listener, const struct seccomp_notif *n, int sock)
{
        struct seccomp_notif_resp r = { .id = n->id };
        uint64_t cookie = sock < 0 ? 0 : cookie_of(sock);
        struct link *at = cookie ? find_link(l, cookie) : NULL;
        if (!at) {
                watched_answer(listener, n->id, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
                return;
        }

        if (!watched_is_waiting(listener, n->id))
                return;

        switch (seccomp_link(&n->data)) {
        case LINK_BINDS:
                r.error = -serve_bind(at, n);
                break;
        case LINK_NAMES:
                r.error = -serve_name(at, n);
                break;
        case LINK_SENDS:
                r.error = -serve_send(at, n, &r.val);
                break;
        case LINK_NOT:
        case LINK_MAKES:
                r.error = -EOPNOTSUPP;
                break;
        }

        (void) syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

unsigned links_watch(const struct links *l, struct pollfd p[LINKS_MAX])
{
        unsigned count = 0;
        for (unsigned i = 0; i < LINKS_MAX; i++)
                if (l->at[i].cookie)
                        p[count++] = (struct pollfd){ .fd = l->at[i].end, .events = POLLIN };
        return count;
}

/* Descriptors that come along are closed by the kernel: there is no room for them. */
static void hear_link(struct link *at, short events)
{
        char request[LINK_REQUEST_MAX];
        ssize_t n = events & POLLIN ? recv(at->end, request, sizeof request, MSG_DONTWAIT) : -1;
        if (n > 0)
                link_answer(at, request, (size_t) n);
        else if (events & (POLLHUP | POLLERR))
                let_go(at);
}

void links_hear(struct links *l, const struct pollfd *p, unsigned count)
{
        for (unsigned i = 0; i < LINKS_MAX; i++)
                for (unsigned k = 0; l->at[i].cookie && k < count; k++)
                        if (p[k].fd == l->at[i].end && p[k].revents)
                                hear_link(&l->at[i], p[k].revents);
}
