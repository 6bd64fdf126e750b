/* SPDX-License-Identifier: MIT */
/* wall/linux/net/inbound_connect.c - connections to a server in the box, made by init because it is in the
 * box's network namespace. The keeper requests one with wall_connect() and relays its bytes. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

enum { SEND_MS = 100 }; /* init does not wait longer for a keeper that takes nothing */

union loopback {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
};

/* Returns a socket that is connected or connecting; -1: no listener. On the loopback the answer has arrived
 * when connect() returns, and a non-blocking socket reports it afterwards. */
static int connect_to(const union loopback *at, socklen_t len)
{
        int sys = 0;
        socklen_t n = sizeof sys;
        AUTO_FD(fd, socket(at->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

        if (fd < 0 || (connect(fd, &at->any, len) < 0 && errno != EINPROGRESS) ||
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys, &n) < 0 || sys != 0)
                return -1;

        return TAKE_FD(fd);
}

static int connect_inside(uint16_t port)
{
        union loopback v4 = { .v4 = { .sin_family = AF_INET,
                                      .sin_port = htons(port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
        union loopback v6 = { .v6 = { .sin6_family = AF_INET6,
                                      .sin6_port = htons(port),
                                      .sin6_addr = IN6ADDR_LOOPBACK_INIT } };
        int fd = connect_to(&v4, sizeof v4.v4);
        return fd >= 0 ? fd : connect_to(&v6, sizeof v6.v6);
}

void wall_inbound_connect(const struct wall_init *w, int port, uint32_t id)
{
        struct wall_message m = { .word = WALL_SAYS_CONNECTED, .connected.id = id };
        struct pollfd p = { .fd = w->control, .events = POLLOUT };
        AUTO_FD(fd, port > 0 && port <= UINT16_MAX ? connect_inside((uint16_t) port) : -1);

        (void) poll(&p, 1, SEND_MS);
        if (p.revents & POLLOUT)
                (void) wall_put(w->control, &m, fd);
}
