/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/interfaces.c - a box's sockets for NETLINK_ROUTE: as programs use them, and as an
 * attacker does. One line for each trial: its name and what came of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

struct request {
        struct nlmsghdr head;
        unsigned char body[48];
};

static struct request make(unsigned type, unsigned flags, size_t body)
{
        struct request r = { .head = { .nlmsg_len = (unsigned) NLMSG_LENGTH(body),
                                       .nlmsg_type = (unsigned short) type,
                                       .nlmsg_flags = (unsigned short) (NLM_F_REQUEST | flags),
                                       .nlmsg_seq = 7 } };
        return r;
}

static int open_route(int more) { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | more, NETLINK_ROUTE); }

/* The answer to a request that was sent: "TYPE" of messages, "error N" or "silence". */
static const char *answer(int fd)
{
        static char said[64];
        char packet[8192];
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, 1000) <= 0)
                return "silence";
        ssize_t n = recv(fd, packet, sizeof packet, 0);
        const struct nlmsghdr *h = (const void *) packet;
        if (n < (ssize_t) sizeof *h)
                return "nothing";
        if (h->nlmsg_type == NLMSG_ERROR)
                snprintf(said, sizeof said, "error %d", -((const struct nlmsgerr *) NLMSG_DATA(h))->error);
        else
                snprintf(said, sizeof said, "type %d", h->nlmsg_type);
        return said;
}

static void families(void)
{
        struct ifaddrs *all, *a;
        int v4 = 0, links = 0;
        if (getifaddrs(&all) < 0) {
                printf("getifaddrs errno %d\n", errno);
                return;
        }
        for (a = all; a; a = a->ifa_next) {
                v4 += a->ifa_addr && a->ifa_addr->sa_family == AF_INET;
                links += a->ifa_addr && a->ifa_addr->sa_family == AF_PACKET;
        }
        printf("getifaddrs links %d v4 %d\n", links, v4);
        freeifaddrs(all);
}

/* As Go does: the address of the socket, and the same in each answer. */
static void like_go(void)
{
        int fd = open_route(0);
        struct sockaddr_nl own = kernel, from;
        socklen_t len = sizeof own;
        char packet[4096];
        struct request r = make(RTM_GETADDR, NLM_F_DUMP, 1);
        int bound = bind(fd, (const void *) &kernel, sizeof kernel);
        ssize_t sent = sendto(fd, &r, r.head.nlmsg_len, 0, (const void *) &kernel, sizeof kernel);
        ssize_t got = recv(fd, packet, sizeof packet, MSG_DONTWAIT);
        int named = getsockname(fd, (void *) &own, &len);
        const struct nlmsghdr *h = (const void *) packet;
        struct iovec v = { packet, sizeof packet };
        struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1 };
        printf("go bind %d sent %d name %d family %d length %u same %d\n", bound, sent == r.head.nlmsg_len,
               named, own.nl_family, len, got > 0 && h->nlmsg_pid == own.nl_pid && h->nlmsg_seq == 7);
        memset(&from, 0xff, sizeof from);
        got = recvmsg(fd, &m, 0);
        printf("sender length %u pid %u\n", m.msg_namelen, from.nl_pid);
        close(fd);
}

/* Every type, as a dump and as a question: only three dumps have an answer. */
static void every_type(void)
{
        int served = 0, refused = 0, other = 0;
        for (unsigned type = RTM_BASE; type < RTM_BASE + 128; type++)
                for (int dump = 0; dump < 2; dump++) {
                        int fd = open_route(0);
                        struct request r = make(type, dump ? NLM_F_DUMP : 0, 20);
                        sendto(fd, &r, r.head.nlmsg_len, 0, (const void *) &kernel, sizeof kernel);
                        const char *said = answer(fd);
                        bool lists =
                                dump && (type == RTM_GETLINK || type == RTM_GETADDR || type == RTM_GETROUTE);
                        if (lists && strncmp(said, "error", 5) != 0)
                                served++;
                        else if (!lists && (strcmp(said, "error 1") == 0 || strcmp(said, "error 95") == 0))
                                refused++;
                        else
                                other++;
                        close(fd);
                }
        printf("types served %d refused %d other %d\n", served, refused, other);
}

/* Every way to send: whichever it is, our server has it, or nobody. */
static void every_way(void)
{
        struct request r = make(RTM_GETNEIGH, NLM_F_DUMP, 12);
        struct iovec v = { &r, r.head.nlmsg_len };
        struct msghdr bare = { .msg_iov = &v, .msg_iovlen = 1 };
        struct msghdr named = {
                .msg_name = (void *) &kernel, .msg_namelen = sizeof kernel, .msg_iov = &v, .msg_iovlen = 1
        };
        struct mmsghdr many = { .msg_hdr = named };
        int bad = 0;
        for (int way = 0; way < 6; way++) {
                int fd = open_route(0);
                if (way == 0)
                        (void) !write(fd, &r, r.head.nlmsg_len);
                else if (way == 1)
                        (void) !writev(fd, &v, 1);
                else if (way == 2)
                        sendmsg(fd, &bare, 0);
                else if (way == 3)
                        sendmsg(fd, &named, 0);
                else if (way == 4)
                        sendmmsg(fd, &many, 1, 0);
                else
                        send(fd, &r, r.head.nlmsg_len, 0);
                bad += strcmp(answer(fd), "error 95") != 0;
                close(fd);
        }
        printf("ways that were answered otherwise: %d\n", bad);
}

static void groups(void)
{
        int fd = open_route(0), group = RTNLGRP_LINK;
        struct sockaddr_nl all = { .nl_family = AF_NETLINK, .nl_groups = 0xffffffff };
        bind(fd, (const void *) &all, sizeof all);
        printf("groups %d connect %d\n", setsockopt(fd, 270, NETLINK_ADD_MEMBERSHIP, &group, sizeof group),
               connect(fd, (const void *) &kernel, sizeof kernel));
        close(fd);
}

static void protocols(void)
{
        int open = 0;
        for (int protocol = 1; protocol < 40; protocol++)
                for (int type = 1; type < 6; type++)
                        open += socket(AF_NETLINK, type, protocol) >= 0;
        printf("other protocols %d\n", open);
}

static void malformed(void)
{
        static const unsigned lengths[] = { 0, 1, 15, 16, 17, 0xffffffff, 0x7fffffff };
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                int fd = open_route(0);
                struct request r = make(RTM_GETADDR, NLM_F_DUMP, 48);
                r.head.nlmsg_len = lengths[i];
                for (size_t n = 0; n <= sizeof r; n += 3)
                        sendto(fd, &r, n, 0, (const void *) &kernel, sizeof kernel);
                sendto(fd, (void *) 1, 64, 0, (const void *) &kernel, sizeof kernel);
                sendto(fd, &r, 1u << 30, 0, (const void *) &kernel, sizeof kernel);
                getsockname(fd, (void *) 1, (void *) 1);
                bind(fd, (void *) 1, sizeof kernel);
                close(fd);
        }
        families();
}

/* More than there is room for, none of them read, each with requests; some with descriptors on the way. */
static void exhaust(void)
{
        int fds[200], open = 0;
        struct request r = make(RTM_GETLINK, NLM_F_DUMP, 1);
        for (int i = 0; i < 200; i++)
                if ((fds[i] = open_route(0)) >= 0)
                        open++;
        for (int i = 0; i < 200; i++)
                for (int k = 0; k < 200 && fds[i] >= 0; k++)
                        if (sendto(fds[i], &r, r.head.nlmsg_len, MSG_DONTWAIT, (const void *) &kernel,
                                   sizeof kernel) < 0)
                                break;
        for (int i = 0; i < 200; i++) {
                char room[CMSG_SPACE(sizeof(int))] = { 0 };
                struct iovec v = { &r, r.head.nlmsg_len };
                struct msghdr m = {
                        .msg_iov = &v, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room
                };
                struct cmsghdr *c = CMSG_FIRSTHDR(&m);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(c), &fds[0], sizeof(int));
                if (fds[i] >= 0)
                        sendmsg(fds[i], &m, MSG_DONTWAIT);
        }
        for (int i = 0; i < 200; i++)
                if (fds[i] >= 0)
                        close(fds[i]);
        printf("at a time %s\n", open > 0 && open <= 64 ? "bounded" : "not bounded");
        families();
}

/* A child that is killed while its calls are served, again and again. */
static void killed(void)
{
        for (int i = 0; i < 50; i++) {
                pid_t pid = fork();
                if (pid == 0)
                        for (;;) {
                                int fd = open_route(0);
                                struct request r = make(RTM_GETLINK, NLM_F_DUMP, 1);
                                sendto(fd, &r, 20, 0, NULL, 0);
                                close(fd);
                        }
                usleep(1000);
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
        }
        families();
}

static volatile int over;
static int flipped;
static void *flip(void *own)
{
        for (int other = *(int *) own; !over;) {
                dup2(other, flipped);
                dup2(2, flipped);
        }
        return NULL;
}

/* The descriptor that a call names becomes another while the call is served. */
static void races(void)
{
        pthread_t t;
        struct sockaddr_nl a;
        socklen_t len = sizeof a;
        struct request r = make(RTM_GETNEIGH, NLM_F_DUMP, 1);
        int own = open_route(0), pair[2], leaked = 0;
        char got[256];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
                return;
        flipped = dup(pair[0]);
        pthread_create(&t, NULL, flip, &own);
        for (int i = 0; i < 300; i++) {
                bind(flipped, (const void *) &kernel, sizeof kernel);
                getsockname(flipped, (void *) &a, &len);
                sendto(flipped, &r, 20, MSG_DONTWAIT, (const void *) &kernel, sizeof kernel);
                while (recv(own, got, sizeof got, MSG_DONTWAIT) > 0)
                        leaked += ((const struct nlmsghdr *) (const void *) got)->nlmsg_type != NLMSG_ERROR;
        }
        over = 1;
        pthread_join(t, NULL);
        printf("races leaked %d\n", leaked);
        families();
}

int main(void)
{
        setvbuf(stdout, NULL, _IOLBF, 0);
        families();
        like_go();
        every_type();
        every_way();
        groups();
        protocols();
        malformed();
        exhaust();
        killed();
        races();
        return 0;
}
