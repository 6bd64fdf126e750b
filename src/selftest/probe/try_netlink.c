/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_netlink.c - netlink: a box may list its own links, addresses and routes. Everything else
 * that a socket for rtnetlink can be asked for or sent must not reach the kernel's server or another process.
 * Nothing that a probe asks for changes a network, also if the kernel answers. */
#include "selftest/probe/probe_internal.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif
enum { TYPES = 128, KINDS = 4, KIND_GET = 2, FAMILIES = 32, ANSWERS = 64 };

struct question {
        struct nlmsghdr head;
        char body[32];
};
struct packet {
        struct nlmsghdr head;
        char rest[64 << 10];
};

static const struct sockaddr_nl server = { .nl_family = AF_NETLINK };

static int open_route(void) { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }

/* With an address the answer is there when the call returns. */
static ssize_t send_to(int fd, const void *m, size_t len, const struct sockaddr_nl *to)
{
        return sendto(fd, m, len, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *) to, sizeof *to);
}

static struct question make_request(unsigned type, unsigned flags)
{
        const int first_link = 1;
        struct question q = { .head = { .nlmsg_len = sizeof q,
                                        .nlmsg_type = (uint16_t) type,
                                        .nlmsg_flags = (uint16_t) (NLM_F_REQUEST | flags) } };
        memcpy(q.body + sizeof(int), &first_link, sizeof first_link);
        return q;
}

static bool is_list(unsigned type)
{
        return type == RTM_GETLINK || type == RTM_GETADDR || type == RTM_GETROUTE;
}

static bool is_error(const struct packet *p, ssize_t n)
{
        int error = 0;
        if (p->head.nlmsg_type != NLMSG_ERROR || n < (ssize_t) (sizeof p->head + sizeof error))
                return false;

        memcpy(&error, p->rest, sizeof error);
        return error != 0;
}

/* Is there an answer that is no error? */
static bool is_served(const struct question *m)
{
        static struct packet got;
        AUTO_FD(fd, open_route());
        if (fd < 0 || send_to(fd, m, m->head.nlmsg_len, &server) < 0)
                return false;

        ssize_t n = recv(fd, &got, sizeof got, MSG_DONTWAIT);
        return n >= (ssize_t) sizeof got.head && !is_error(&got, n);
}

static int refused_socket(struct probe_result *r)
{
        AUTO_FD(fd, open_route());
        return fd < 0 ? refused(r, "socket(AF_NETLINK)") : PROBE_CANNOT_TELL;
}

/* Three dumps have an answer, and no other request that begins with "get". */
static int other_requests(struct probe_result *r)
{
        if (refused_socket(r) == PROBE_HELD)
                return PROBE_HELD;

        for (unsigned type = RTM_BASE; type < RTM_BASE + TYPES; type++) {
                const struct question dump = make_request(type, NLM_F_DUMP), question = make_request(type, 0);
                if (type % KINDS != KIND_GET)
                        continue;
                if (is_served(&question) || (!is_list(type) && is_served(&dump)))
                        return escaped(r, "netlink answered a request of type %u", type);
        }

        return held(r, "netlink answers what it does not list with an error");
}

/* A change that changes nothing: the kernel would confirm it to one who may. */
static int change_link(struct probe_result *r)
{
        const struct question m = make_request(RTM_SETLINK, NLM_F_ACK);
        static struct packet got;
        AUTO_FD(fd, open_route());
        if (fd < 0)
                return refused(r, "socket(AF_NETLINK)");
        if (send_to(fd, &m, m.head.nlmsg_len, &server) < 0)
                return refused(r, "a change by netlink");

        ssize_t n = recv(fd, &got, sizeof got, MSG_DONTWAIT);
        return n > 0 && !is_error(&got, n) ? escaped(r, "netlink confirmed a change of a link")
                                           : held(r, "netlink answers a change with an error");
}

/* Sends `len` bytes whose first message says that it has `said`. The answers must be errors, or the list. */
static int send_broken(struct probe_result *r, uint32_t said, size_t len)
{
        static struct packet m, got;
        AUTO_FD(fd, open_route());
        if (fd < 0)
                return refused(r, "socket(AF_NETLINK)");

        const struct question list = make_request(RTM_GETLINK, NLM_F_DUMP);
        memcpy(&m, &list, sizeof list);
        m.head.nlmsg_len = said;
        (void) send_to(fd, &m, len, &server);
        for (int i = 0; i < ANSWERS; i++) {
                ssize_t n = recv(fd, &got, sizeof got, MSG_DONTWAIT);
                uint16_t type = got.head.nlmsg_type;
                if (n < (ssize_t) sizeof got.head)
                        break;
                if (type != RTM_NEWLINK && type != NLMSG_DONE && type != NLMSG_ERROR)
                        return escaped(r, "a broken request had an answer of type %u", type);
        }

        return held(r, "broken requests are answered by errors or by nothing");
}

/* Afterwards the server must still be there. */
static int send_broken_sizes(struct probe_result *r)
{
        static const struct {
                uint32_t said;
                size_t len;
        } sizes[] = { { 0, 0 },           { 16, 1 },    { 16, 15 },    { 0, 16 },          { 15, 48 },
                      { 16, 16 },         { 17, 17 },   { 64, 48 },    { 0x7fffffff, 48 }, { 0xffffffff, 48 },
                      { 0xfffffff1, 48 }, { 48, 4097 }, { 48, 65536 }, { 65536, 65536 } };
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                if (send_broken(r, sizes[i].said, sizes[i].len) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;

        const struct question whole = make_request(RTM_GETLINK, NLM_F_DUMP);
        if (refused_socket(r) != PROBE_HELD && !is_served(&whole))
                return escaped(r, "a broken request ended the server of the box's interfaces");

        return (int) r->outcome;
}

/* A list goes first, and what is not listed hides behind it. */
static int hidden_request(struct probe_result *r)
{
        static struct packet got;
        const struct question both[] = { make_request(RTM_GETLINK, NLM_F_DUMP),
                                         make_request(RTM_GETNEIGH, NLM_F_DUMP) };
        AUTO_FD(fd, open_route());
        if (fd < 0)
                return refused(r, "socket(AF_NETLINK)");

        (void) send_to(fd, both, sizeof both, &server);
        for (int i = 0; i < ANSWERS; i++) {
                ssize_t n = recv(fd, &got, sizeof got, MSG_DONTWAIT);
                if (n < (ssize_t) sizeof got.head)
                        break;
                if (got.head.nlmsg_type == RTM_NEWNEIGH)
                        return escaped(r, "neighbours are listed behind a list of links");
        }

        return held(r, "only the list was answered");
}

/* The kernel's server sends news to groups, also of other networks. */
static int join_groups(struct probe_result *r)
{
        static const int options[] = { NETLINK_ADD_MEMBERSHIP, NETLINK_LISTEN_ALL_NSID, NETLINK_PKTINFO };
        AUTO_FD(fd, open_route());
        if (fd < 0)
                return refused(r, "socket(AF_NETLINK)");

        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
                const int group = RTNLGRP_LINK;
                if (setsockopt(fd, SOL_NETLINK, options[i], &group, sizeof group) == 0)
                        return escaped(r, "option %d of netlink was set", options[i]);
        }

        return refused(r, "the options of netlink");
}

/* To another socket of the box, to processes outside, and to all groups. */
static int other_ports(struct probe_result *r)
{
        static struct packet got;
        const struct question m = make_request(RTM_GETNEIGH, NLM_F_DUMP);
        const struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_pid = 0x40000001 };
        const struct sockaddr_nl to[] = {
                own,
                { .nl_family = AF_NETLINK, .nl_pid = (uint32_t) r->world->keeper },
                { .nl_family = AF_NETLINK, .nl_pid = (uint32_t) r->world->bystander },
                { .nl_family = AF_NETLINK, .nl_groups = ~0u },
        };
        AUTO_FD(from, open_route());
        AUTO_FD(other, open_route());
        if (from < 0 || other < 0)
                return refused(r, "socket(AF_NETLINK)");

        (void) bind(other, (const struct sockaddr *) &own, sizeof own);
        for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
                (void) send_to(from, &m, m.head.nlmsg_len, &to[i]);
                if (recv(other, &got, sizeof got, MSG_DONTWAIT) > 0)
                        return escaped(r, "a message went to another socket of netlink");
                ssize_t n = recv(from, &got, sizeof got, MSG_DONTWAIT);
                if (n >= (ssize_t) sizeof got.head && !is_error(&got, n))
                        return escaped(r, "netlink answered what was sent to another port");
        }

        return held(r, "nothing arrived at another port");
}

/* Tries every family of netlink but that of routes, also by numbers with a high bit, and as a pair. */
static int other_kinds(struct probe_result *r)
{
        static const int types[] = { SOCK_RAW, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM };
        const long high = 1L << 32;
        int pair[2];
        for (int family = 1; family < FAMILIES; family++)
                for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
                        AUTO_FD(plain, socket(AF_NETLINK, types[i] | SOCK_CLOEXEC, family));
                        AUTO_FD(wide,
                                (int) syscall(SYS_socket, AF_NETLINK | high, types[i] | high, family | high));
                        if (plain >= 0 || wide >= 0)
                                return escaped(r, "netlink's family %d gave a socket", family);
                }

        if (socketpair(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE, pair) == 0)
                return escaped(r, "a pair of sockets for netlink");

        return refused(r, "netlink's other families");
}

/* 0: the box's own, or none. */
static in_addr_t foreign_address(struct nlmsghdr *h)
{
        const in_addr_t own = inet_addr("198.19.255.2"); /* of a box with `net` doors */
        int len = (int) IFA_PAYLOAD(h);
        for (struct rtattr *a = IFA_RTA((struct ifaddrmsg *) NLMSG_DATA(h)); RTA_OK(a, len);
             a = RTA_NEXT(a, len)) {
                in_addr_t address;
                if (a->rta_type != IFA_ADDRESS || RTA_PAYLOAD(a) != sizeof address)
                        continue;
                memcpy(&address, RTA_DATA(a), sizeof address);
                if (address != own && ntohl(address) >> 24 != IN_LOOPBACKNET)
                        return address;
        }

        return 0;
}

static int own_addresses(struct probe_result *r)
{
        static struct packet got;
        struct question m = make_request(RTM_GETADDR, NLM_F_DUMP);
        m.body[0] = AF_INET;
        AUTO_FD(fd, open_route());
        if (fd < 0)
                return refused(r, "socket(AF_NETLINK)");
        if (send_to(fd, &m, m.head.nlmsg_len, &server) < 0)
                return refused(r, "a request by netlink");

        for (int i = 0; i < ANSWERS; i++) {
                ssize_t n = recv(fd, &got, sizeof got, MSG_DONTWAIT);
                for (struct nlmsghdr *h = &got.head; n > 0 && NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
                        struct in_addr seen = { h->nlmsg_type == RTM_NEWADDR ? foreign_address(h) : 0 };
                        if (seen.s_addr)
                                return escaped(r, "the host's address %s is listed", inet_ntoa(seen));
                }
                if (n <= 0)
                        break;
        }

        return held(r, "the addresses that are listed are the box's own");
}

static const struct probe rows[] = {
#define CLASS PROBE_SOCKETS
        ROW("no netlink but lists of its own network", "the kernel's server of networks is reached",
            "seccomp", other_requests),
        ROW("no change by netlink", "the kernel's server of networks is reached", "seccomp", change_link),
        ROW("a broken request by netlink breaks nothing", "the server of the box's interfaces is misled",
            "seccomp", send_broken_sizes),
        ROW("no request hides behind another", "the kernel's server of networks is reached", "seccomp",
            hidden_request),
        ROW("no news of networks by netlink's groups", "what happens to the host's network is observed",
            "seccomp", join_groups),
        ROW("no netlink message to another port", "programs of the host read the box's messages", "seccomp",
            other_ports),
        ROW("no netlink of another family", "audit, netfilter, generic netlink", "seccomp", other_kinds),
        ROW("no address of the host is listed", "the host's networks are known", "seccomp,net",
            own_addresses),
};
const struct probe_list probes_netlink = PROBE_LIST(rows);
