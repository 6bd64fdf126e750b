/* SPDX-License-Identifier: MIT */
/* wall/linux/net/gateway.c - the closed network of a box with `net` doors: one link to a namespace of its own
 * in which every address is local and which has no other link. Its listeners go to the keeper, which passes
 * them to the broker; no socket of the host ever comes near the box.
 *
 * Runs in the helper's process, which owns both namespaces; the payload, in a nested user namespace, owns
 * neither. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "wall/internal.h"
#include "wall/linux/net/netlink.h"
#include "wall/linux/net/packet_watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

enum { BACKLOG = 512, DNS_PORT = 53 };
#define PEER_LINK "box"

struct gateway {
        struct wall_init *w;
        int own_ns, box_ns;
        bool v6; /* this kernel has it */
        struct err *e;
};

static int fail(const struct gateway *g, const char *what) { return wall_fail(g->e, STAGE_NET, "%s", what); }

/* If /proc/sys cannot be written, these keep the host's values: a second link still does not exist. */
static void close_knobs(const struct gateway *g)
{
        static const char *const off[] = {
                "sys/net/ipv4/conf/all/forwarding",       "sys/net/ipv4/ip_forward",
                "sys/net/ipv6/conf/all/forwarding",       "sys/net/ipv6/conf/all/disable_ipv6",
                "sys/net/ipv6/conf/default/disable_ipv6", "sys/net/ipv4/conf/all/rp_filter",
                "sys/net/ipv4/conf/default/rp_filter",
        };

        static const char *const on[] = { "sys/net/ipv4/icmp_echo_ignore_all",
                                          "sys/net/ipv6/icmp/echo_ignore_all" };
        for (size_t i = 0; i < sizeof off / sizeof *off; i++)
                (void) fd_put(g->w->host_proc, off[i], "0");

        for (size_t i = 0; i < sizeof on / sizeof *on; i++)
                (void) fd_put(g->w->host_proc, on[i], "1");
}

static int new_namespace(const struct gateway *g, int *ret)
{
        if (unshare(CLONE_NEWNET) < 0 ||
            (*ret = openat(g->w->host_proc, "self/ns/net", O_RDONLY | O_CLOEXEC)) < 0)
                return fail(g, "making a network namespace");
        close_knobs(g);
        wall_net_settings(g->w);
        return 0;
}

static struct netlink_address bind_address(bool v6, const char *text, uint8_t bits)
{
        struct netlink_address a = { .v6 = v6, .bits = bits };
        (void) inet_pton(v6 ? AF_INET6 : AF_INET, text, a.bytes);
        return a;
}

/* Loopback and link up, with an address of each family. A host that has IPv6 switched off for new links
 * leaves the box with IPv4: names still lead everywhere, because the broker connects. */
static int raise_link(struct gateway *g, int nl, int index, bool gateway)
{
        const struct netlink_address a4 = bind_address(false, gateway ? BOX_GATEWAY4 : BOX_ADDRESS4, 30);
        const struct netlink_address a6 = bind_address(true, gateway ? BOX_GATEWAY6 : BOX_ADDRESS6, 64);
        if (index < 0 || netlink_up(nl, 1) < 0 || netlink_up(nl, index) < 0)
                return fail(g, "raising the box's link");

        if (netlink_address(nl, index, &a4) < 0)
                return fail(g, "giving the box's link an address");

        if (g->v6 && netlink_address(nl, index, &a6) < 0) {
                if (gateway)
                        return fail(g, "giving the box's link an IPv6 address");
                g->v6 = false;
        }

        return 0;
}

static int make_pair(const struct gateway *g, int nl)
{
        if (netlink_veth(nl, BOX_LINK, PEER_LINK, g->own_ns) == 0)
                return 0;

        bool absent = errno == EOPNOTSUPP;
        (void) fail(g, "making the box's link");
        if (!absent)
                return -1;

        g->e->code = ERR_HOST;
        return err_hint(g->e, "this kernel has no veth links: `modprobe veth` as root");
}

static int route_box(const struct gateway *g, int nl, int index)
{
        const struct netlink_address g4 = bind_address(false, BOX_GATEWAY4, 0),
                                     g6 = bind_address(true, BOX_GATEWAY6, 0);
        if (netlink_default(nl, index, &g4) < 0 || (g->v6 && netlink_default(nl, index, &g6) < 0))
                return fail(g, "giving the box a way to its gateway");
        return 0;
}

static int hand_over(const struct gateway *g, enum plan_listener kind, uint16_t port, int fd)
{
        struct wall_message m = { .word = WALL_SAYS_LISTENER, .listener = { kind, port } };
        if (wall_put(g->w->control, &m, fd) < 0)
                return fail(g, "handing a listener to the keeper");
        return 0;
}

union where {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
};

static int open_socket(const union where *at, int type)
{
        static const int on = 1, off = 0;
        bool v6 = at->any.sa_family == AF_INET6;
        AUTO_FD(fd, socket(at->any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
            (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0))
                return -1;

        if (type == SOCK_DGRAM && (setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                                              v6 ? IPV6_RECVPKTINFO : IP_PKTINFO, &on, sizeof on) < 0))
                return -1;

        /* An answer leaves from the address that was queried. For IPv4 the kernel allows each local address,
         * for IPv6 only those of a link, unless IPV6_FREEBIND is set. */
        if (type == SOCK_DGRAM && v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on) < 0)
                return -1;

        if (bind(fd, &at->any, v6 ? sizeof at->v6 : sizeof at->v4) < 0 ||
            (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
                return -1;

        return TAKE_FD(fd);
}

/* Both families on one socket, if both exist. */
static union where bind_wildcard(const struct gateway *g, uint16_t port)
{
        union where at = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
        if (g->v6)
                at.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
        return at;
}

static int listen_all(const struct gateway *g, enum plan_listener kind, uint16_t port)
{
        union where at = bind_wildcard(g, port);
        AUTO_FD(fd, open_socket(&at, kind == LISTENER_DNS_UDP ? SOCK_DGRAM : SOCK_STREAM));
        return fd < 0 ? fail(g, "listening in the gateway") : hand_over(g, kind, port, fd);
}

static int listen_gateway(const struct gateway *g, int index)
{
        const struct plan *p = g->w->plan;
        if (listen_all(g, LISTENER_DNS_UDP, DNS_PORT) < 0)
                return -1;

        bool dns_taken = false; /* a door to port 53: then connections there are the door's */
        for (size_t i = 0; i < p->port_count; i++) {
                dns_taken |= p->ports[i] == DNS_PORT;
                if (listen_all(g, LISTENER_TCP, p->ports[i]) < 0)
                        return -1;
        }

        if (!dns_taken && listen_all(g, LISTENER_DNS_TCP, DNS_PORT) < 0)
                return -1;

        AUTO_FD(watch, wall_watch_open(p, index));
        if (watch < 0)
                return fail(g, "watching the gateway's link");

        return hand_over(g, LISTENER_WATCH, 0, watch);
}

/* In the box's own namespace: a program there that connects to its loopback means the door's address. */
static int listen_locals(const struct gateway *g)
{
        for (size_t i = 0; i < g->w->plan->local_count; i++) {
                const struct plan_local *l = &g->w->plan->locals[i];
                union where at = { .v4 = { .sin_family = AF_INET, .sin_port = htons(l->port) } };
                if (l->v6 && !g->v6)
                        continue;
                if (l->v6)
                        at.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(l->port) };
                memcpy(l->v6 ? (void *) &at.v6.sin6_addr : (void *) &at.v4.sin_addr, l->address,
                       l->v6 ? 16 : 4);
                AUTO_FD(fd, open_socket(&at, SOCK_STREAM));
                if (fd < 0)
                        return fail(g, "listening on the box's loopback");
                if (hand_over(g, LISTENER_TCP, l->port, fd) < 0)
                        return -1;
        }

        return 0;
}

/* For the broker of a session. A kernel without it answers nothing: then it is not known. */
static int hand_over_whose(const struct gateway *g)
{
        AUTO_FD(fd, socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
        return fd < 0 || g->w->s->spare != WALL_SPARE_MANY ? 0 : hand_over(g, LISTENER_WHOSE, 0, fd);
}

static int raise_box(struct gateway *g)
{
        if (new_namespace(g, &g->box_ns) < 0)
                return -1;

        AUTO_FD(nl, netlink_open());
        if (nl < 0)
                return fail(g, "opening netlink");

        if (make_pair(g, nl) < 0)
                return -1;

        int index = netlink_index(BOX_LINK);
        if (raise_link(g, nl, index, false) < 0 || route_box(g, nl, index) < 0)
                return -1;

        return listen_locals(g) < 0 ? -1 : hand_over_whose(g);
}

static int raise_gateway(struct gateway *g)
{
        if (setns(g->own_ns, CLONE_NEWNET) < 0)
                return fail(g, "entering the gateway");

        AUTO_FD(nl, netlink_open());
        int index = netlink_index(PEER_LINK);
        if (nl < 0)
                return fail(g, "opening netlink");

        if (raise_link(g, nl, index, true) < 0)
                return -1;

        if (netlink_all_local(nl, false) < 0 || (g->v6 && netlink_all_local(nl, true) < 0))
                return fail(g, "making every address the gateway's own");

        return listen_gateway(g, index);
}

int wall_gateway_raise(struct wall_init *w, int *ret_box_ns, struct err *e)
{
        struct gateway g = { .w = w, .own_ns = -1, .box_ns = -1, .e = e };
        AUTO_FD(six, socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        g.v6 = six >= 0;
        int r = new_namespace(&g, &g.own_ns);
        if (r == 0)
                r = raise_box(&g);

        if (r == 0)
                r = raise_gateway(&g);

        if (r < 0) {
                fd_close(&g.own_ns);
                fd_close(&g.box_ns);
                return r;
        }

        /* The gateway stays open in init: it outlives a broker that dies, and refuses. If it went away with
         * the broker's sockets, a connection begun just then would wait for an answer from nowhere. */
        *ret_box_ns = g.box_ns;
        return 0;
}
