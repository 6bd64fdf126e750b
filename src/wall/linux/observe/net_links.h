/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/net_links.h - the sockets by which a box asks for its interfaces, addresses and routes,
 * as getifaddrs() does.
 *
 * A filter cannot see a request to rtnetlink, and the kernel's own server also answers requests for filters,
 * neighbours and devices, and loads modules for some. So a box never gets such a socket. What it gets is one
 * end of a pair (AF_UNIX, SOCK_SEQPACKET) whose other end the connector holds. The connector answers dumps of
 * links, addresses and routes from a copy that it took of the box's own network once, and all else with an
 * error. Nothing that a box sends reaches the kernel's server.
 *
 * The end of a pair is no socket of AF_NETLINK: bind(), getsockname() and the two forms of sendto() that
 * programs use here are shown to the supervisor. For a socket of this kind the connector makes them; any
 * other goes on. A send that is not shown is answered as well, a moment later. */
#pragma once
#include "wall/internal.h"

#include <poll.h>

enum { LINKS_MAX = 32, LINK_REQUEST_MAX = 4096 };

struct links {
        struct link {
                uint64_t cookie; /* the kernel's number of the box's end; 0: free */
                int end;         /* ours */
                uint32_t port;   /* its address, as the box sees it */
        } at[LINKS_MAX];
};

/* Makes a socket, and answers the call with it. */
void links_make(struct links *l, int listener, const struct seccomp_notif *n);
/* One of the other calls; `sock` is the socket that it names, or -1. Answers the call. */
void links_serve(struct links *l, int listener, const struct seccomp_notif *n, int sock);
/* Fills `p` with what links_hear() is to be told of; returns how many. */
unsigned links_watch(const struct links *l, struct pollfd p[LINKS_MAX]);
void links_hear(struct links *l, const struct pollfd *p, unsigned count);

/* ---- link_dump.c ---- */

/* Answers a request at the end of a pair, whatever its bytes are. */
void link_answer(const struct link *l, const char *request, size_t len);
