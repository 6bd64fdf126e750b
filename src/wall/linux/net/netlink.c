/* SPDX-License-Identifier: MIT */
/* wall/linux/net/netlink.c - builds, sends and awaits single requests to rtnetlink. */
#include "wall/linux/net/netlink.h"
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { LOOPBACK_INDEX = 1 };

/* As large as a packet can be, as on lo: both ends are one machine, so nothing is lost by it, and bulk comes
 * in fewer segments. */
static const uint32_t mtu = 65535;

/* The ends do not resolve each other (IFF_NOARP): the neighbour tables are shared by the whole machine, and a
 * box that sent to many addresses of its link filled them with requests. Without ARP and ND the kernel sends
 * to the address of its own end, so both ends have the same. */
static const uint8_t both_ends[] = { 2, 0, 0, 0, 0, 1 };

struct request {
        union {
                struct nlmsghdr head;
                char room[512];
        };
};

static void *start_request(struct request *r, uint16_t type, uint16_t flags, size_t body)
{
        memset(r, 0, sizeof *r);
        r->head.nlmsg_len = NLMSG_LENGTH(body);
        r->head.nlmsg_type = type;
        r->head.nlmsg_flags = (uint16_t) (NLM_F_REQUEST | NLM_F_ACK | flags);
        return NLMSG_DATA(&r->head);
}

/* Room is for all requests of this file; nothing that varies in length goes in but interface names. */
static struct rtattr *add_attribute(struct request *r, uint16_t type, const void *p, size_t n)
{
        struct rtattr *a = (struct rtattr *) (void *) (r->room + NLMSG_ALIGN(r->head.nlmsg_len));
        a->rta_type = type;
        a->rta_len = (uint16_t) RTA_LENGTH(n);
        if (n > 0)
                memcpy(RTA_DATA(a), p, n);

        r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + (uint32_t) RTA_ALIGN(a->rta_len);
        return a;
}

static void close_nest(struct request *r, struct rtattr *a)
{
        a->rta_len = (uint16_t) (r->room + r->head.nlmsg_len - (char *) a);
}

static int ask_kernel(int nl, const struct request *r)
{
        struct {
                struct nlmsghdr head;
                struct nlmsgerr error;
                char rest[512];
        } answer;

        if (send(nl, r, r->head.nlmsg_len, 0) < 0)
                return -1;

        ssize_t n;
        do
                n = recv(nl, &answer, sizeof answer, 0);

        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -1;

        if (n < (ssize_t) NLMSG_LENGTH(sizeof answer.error) || answer.head.nlmsg_type != NLMSG_ERROR) {
                errno = EPROTO;
                return -1;
        }

        errno = -answer.error.error;
        return answer.error.error == 0 ? 0 : -1;
}

int netlink_open(void) { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }

int netlink_veth(int nl, const char *name, const char *peer, int peer_ns)
{
        struct request r;
        struct ifinfomsg *link = start_request(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof *link);
        const struct ifinfomsg other = { .ifi_flags = IFF_NOARP, .ifi_change = IFF_NOARP };

        link->ifi_flags = link->ifi_change = IFF_NOARP;
        (void) add_attribute(&r, IFLA_IFNAME, name, strlen(name) + 1);
        (void) add_attribute(&r, IFLA_MTU, &mtu, sizeof mtu);
        (void) add_attribute(&r, IFLA_ADDRESS, both_ends, sizeof both_ends);
        struct rtattr *info = add_attribute(&r, IFLA_LINKINFO, NULL, 0);
        (void) add_attribute(&r, IFLA_INFO_KIND, "veth", 4);
        struct rtattr *data = add_attribute(&r, IFLA_INFO_DATA, NULL, 0);
        struct rtattr *end = add_attribute(&r, VETH_INFO_PEER, &other, sizeof other);
        (void) add_attribute(&r, IFLA_IFNAME, peer, strlen(peer) + 1);
        (void) add_attribute(&r, IFLA_MTU, &mtu, sizeof mtu);
        (void) add_attribute(&r, IFLA_ADDRESS, both_ends, sizeof both_ends);
        (void) add_attribute(&r, IFLA_NET_NS_FD, &peer_ns, sizeof peer_ns);
        close_nest(&r, end);
        close_nest(&r, data);
        close_nest(&r, info);
        return ask_kernel(nl, &r);
}

int netlink_index(const char *name)
{
        unsigned index = if_nametoindex(name);
        return index > 0 ? (int) index : -1;
}

int netlink_up(int nl, int index)
{
        struct request r;
        struct ifinfomsg *link = start_request(&r, RTM_NEWLINK, 0, sizeof *link);
        link->ifi_index = index;
        link->ifi_flags = link->ifi_change = IFF_UP;
        return ask_kernel(nl, &r);
}

int netlink_address(int nl, int index, const struct netlink_address *a)
{
        struct request r;
        struct ifaddrmsg *m = start_request(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof *m);
        size_t n = a->v6 ? 16 : 4;

        m->ifa_family = a->v6 ? AF_INET6 : AF_INET;
        m->ifa_prefixlen = a->bits;
        m->ifa_flags =
                a->v6 ? IFA_F_NODAD
                      : 0; /* no other host can be there, and duplicate address detection takes a second */
        m->ifa_index = (uint32_t) index;
        (void) add_attribute(&r, IFA_LOCAL, a->bytes, n);
        (void) add_attribute(&r, IFA_ADDRESS, a->bytes, n);
        return ask_kernel(nl, &r);
}

static struct rtmsg *start_route(struct request *r, bool v6, unsigned char type, unsigned char scope)
{
        struct rtmsg *m = start_request(r, RTM_NEWROUTE, NLM_F_CREATE, sizeof *m);
        m->rtm_family = v6 ? AF_INET6 : AF_INET;
        m->rtm_table = RT_TABLE_MAIN;
        m->rtm_protocol = RTPROT_STATIC;
        m->rtm_scope = scope;
        m->rtm_type = type;
        return m;
}

int netlink_default(int nl, int index, const struct netlink_address *gateway)
{
        struct request r;
        (void) start_route(&r, gateway->v6, RTN_UNICAST, RT_SCOPE_UNIVERSE);
        (void) add_attribute(&r, RTA_GATEWAY, gateway->bytes, gateway->v6 ? 16 : 4);
        (void) add_attribute(&r, RTA_OIF, &index, sizeof index);
        return ask_kernel(nl, &r);
}

int netlink_all_local(int nl, bool v6)
{
        struct request r;
        int index = LOOPBACK_INDEX;
        (void) start_route(&r, v6, RTN_LOCAL, RT_SCOPE_HOST);
        (void) add_attribute(&r, RTA_OIF, &index, sizeof index);
        return ask_kernel(nl, &r);
}

/* The process that created the network namespace of a box owns it, and raises its loopback interface. */

/* The ports below 1024 are the box's own, like all of its namespace, and the payload has no capability for
 * them. Buffers of TCP are bounded for each socket: their memory is one pool of the whole host. If /proc/sys
 * cannot be written, the ports stay closed and the bounds the host's. */
void wall_net_settings(const struct wall_init *w)
{
        static const char *const rows[][2] = {
                { "sys/net/ipv4/ip_unprivileged_port_start", "0" },
                { "sys/net/ipv4/tcp_rmem", "4096 131072 524288" },
                { "sys/net/ipv4/tcp_wmem", "4096 16384 524288" },
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                (void) fd_put(w->host_proc, rows[i][0], rows[i][1]);
}

/* IPv6 follows by itself, unless this host has it switched off for new interfaces. */
int wall_net_loopback(const struct wall_init *w, struct err *e)
{
        if (!(w->plan->local & LOCAL_LOOPBACK))
                return 0;

        wall_net_settings(w);
        AUTO_FD(s, socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
        return s < 0 || ioctl(s, SIOCSIFFLAGS, &lo) < 0
                       ? wall_fail(e, STAGE_NET, "raising the box's loopback")
                       : 0;
}
