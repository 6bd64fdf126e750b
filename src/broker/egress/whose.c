/* SPDX-License-Identifier: MIT */
/* broker/egress/whose.c - asks the kernel which run of a session made a socket: by the control group that it
 * keeps with each socket (INET_DIAG_CGROUP_ID, from 5.8 on), over a netlink socket of the box's own network
 * namespace. The answer is there when the question is sent. It is for reports, and never part of a decision.
 */
#include "broker/egress/internal.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <string.h>

enum { CGROUP_ID = 21 /* INET_DIAG_CGROUP_ID */ };

struct question {
        struct nlmsghdr head;
        struct inet_diag_req_v2 q;
};

/* One address as the kernel wants it; of IPv6 an IPv4-mapped one is IPv4. */
static bool take_end(const union endpoint *at, uint8_t *family, __be16 *port, __be32 address[4])
{
        bool v6 = at->any.sa_family == AF_INET6;
        bool mapped = v6 && IN6_IS_ADDR_V4MAPPED(&at->v6.sin6_addr);
        *family = v6 && !mapped ? AF_INET6 : AF_INET;
        *port = v6 ? at->v6.sin6_port : at->v4.sin_port;
        if (v6)
                memcpy(address, at->v6.sin6_addr.s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
        else
                memcpy(address, &at->v4.sin_addr, 4);
        return v6 || at->any.sa_family == AF_INET;
}

static uint64_t find_group(struct nlmsghdr *h, size_t n)
{
        uint64_t group = 0;
        if (n < sizeof *h || h->nlmsg_type != SOCK_DIAG_BY_FAMILY || h->nlmsg_len > n ||
            h->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
                return 0;

        size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(struct inet_diag_msg));
        struct rtattr *a = (void *) ((char *) h + NLMSG_SPACE(sizeof(struct inet_diag_msg)));
        for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
                if (a->rta_type == CGROUP_ID && RTA_PAYLOAD(a) == sizeof group)
                        memcpy(&group, RTA_DATA(a), sizeof group);
        return group;
}

uint64_t whose_socket(const struct broker *b, uint8_t protocol, const union endpoint *from,
                      const union endpoint *to)
{
        struct question q = {
                .head = { .nlmsg_len = sizeof q,
                          .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                          .nlmsg_flags = NLM_F_REQUEST },
                .q = { .sdiag_protocol = protocol, .idiag_states = ~0u, .id.idiag_cookie = { ~0u, ~0u } }
        };
        union {
                struct nlmsghdr head;
                char room[2048];
        } a;
        uint8_t other;
        int nl = b->whose;
        bool udp = protocol == IPPROTO_UDP; /* the kernel has its ends the other way round */
        struct inet_diag_sockid *id = &q.q.id;
        if (nl <= 0 || !take_end(udp ? to : from, &q.q.sdiag_family, &id->idiag_sport, id->idiag_src) ||
            !take_end(udp ? from : to, &other, &id->idiag_dport, id->idiag_dst) || other != q.q.sdiag_family)
                return 0;

        while (recv(nl, &a, sizeof a, MSG_DONTWAIT) > 0) /* of a question before, too late */
                ;

        if (send(nl, &q, sizeof q, MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof q)
                return 0;

        ssize_t n = recv(nl, &a, sizeof a, MSG_DONTWAIT);
        return n > 0 ? find_group(&a.head, (size_t) n) : 0;
}

uint64_t whose_connection(const struct broker *b, int fd)
{
        union endpoint from, to;
        socklen_t n = sizeof from, m = sizeof to;
        if (b->whose <= 0 || getpeername(fd, &from.any, &n) < 0 || getsockname(fd, &to.any, &m) < 0)
                return 0;

        return whose_socket(b, IPPROTO_TCP, &from, &to);
}
