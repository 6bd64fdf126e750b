/* SPDX-License-Identifier: MIT */
/* broker/egress/own_address.c - is an address this host's? Its interfaces have single addresses; the kernel's
 * routes also have whole local prefixes (`ip route add local ...`, a prefix on lo). Never: answers no when it
 * does not know. */
#include "base/fd.h"
#include "broker/egress/internal.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

struct route_question {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr to;
        uint8_t address[16];
};

static struct route_question question_of(const struct egress_address *a)
{
        unsigned n = a->v6 ? 16 : 4;
        struct route_question q = {
                .head = { .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                .route = { .rtm_family = a->v6 ? AF_INET6 : AF_INET, .rtm_dst_len = (unsigned char) (8 * n) },
                .to = { .rta_type = RTA_DST, .rta_len = (unsigned short) (sizeof q.to + n) }
        };

        q.head.nlmsg_len = (uint32_t) (sizeof q - sizeof q.address + n);
        memcpy(q.address, a->bytes, n);
        return q;
}
_Static_assert(sizeof(struct route_question) == NLMSG_LENGTH(sizeof(struct rtmsg)) + RTA_LENGTH(16),
               "as the kernel reads it");

/* The kernel answered that no route exists: not ENOMEM or EPERM of the query. */
static bool is_no_way(struct nlmsghdr *h, size_t n)
{
        static const int ways[] = { ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, EAFNOSUPPORT, EOPNOTSUPP };
        const struct nlmsgerr *said = NLMSG_DATA(h);
        if (h->nlmsg_type != NLMSG_ERROR || n < NLMSG_LENGTH(sizeof *said))
                return false;

        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
                if (said->error == -ways[i])
                        return true;

        return false;
}

bool own_by_route(const struct egress_address *a)
{
        union {
                struct nlmsghdr head;
                uint8_t bytes[4096];
        } r;

        struct route_question q = question_of(a);
        AUTO_FD(fd, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
        if (fd < 0 || send(fd, &q, q.head.nlmsg_len, 0) < 0)
                return true;

        ssize_t n = recv(fd, &r, sizeof r, 0);
        if (n < (ssize_t) NLMSG_LENGTH(sizeof(struct rtmsg)))
                return true;

        if (r.head.nlmsg_type != RTM_NEWROUTE)
                return !is_no_way(&r.head, (size_t) n);

        const struct rtmsg *route = NLMSG_DATA(&r.head);
        return route->rtm_type != RTN_UNICAST;
}
