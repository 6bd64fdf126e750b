/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample_sockets.c - bytes in the buffers of a box's sockets, from the kernel's list of all
 * sockets of the box's own network namespace: also of those that no process holds, because they are in
 * flight, not accepted yet or closed with data left. Never: allocates. */
#include "base/clock.h"
#include "base/fd.h"
#include "wall/internal.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
        REST = 20,              /* times as long as a look took */
        SHARE = 8,              /* Internet sockets hold this part of the memory, at most, */
        LEAST = 64 << 20,       /* or so many bytes: the kernel has one pool of them for the whole host */
        SOCKET_MOST = 16 << 20, /* in one socket: fewer than can hold their share are not looked at */
        MESSAGES = 16384
};

static const struct kind {
        uint8_t family, protocol;
} kinds[] = {
        { AF_INET, IPPROTO_TCP }, { AF_INET6, IPPROTO_TCP },
        { AF_INET, IPPROTO_UDP }, { AF_INET6, IPPROTO_UDP },
        { AF_UNIX, 0 },
};

static int request_dump(int nl, const struct kind *k)
{
        struct {
                struct nlmsghdr head;
                union {
                        struct inet_diag_req_v2 inet;
                        struct unix_diag_req local;
                };
        } r = { .head = { .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

        if (k->family == AF_UNIX) {
                r.head.nlmsg_len = NLMSG_LENGTH(sizeof r.local);
                r.local = (struct unix_diag_req){ .sdiag_family = AF_UNIX,
                                                  .udiag_states = ~0u,
                                                  .udiag_show = UDIAG_SHOW_MEMINFO };
        } else {
                r.head.nlmsg_len = NLMSG_LENGTH(sizeof r.inet);
                r.inet = (struct inet_diag_req_v2){ .sdiag_family = k->family,
                                                    .sdiag_protocol = k->protocol,
                                                    .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
                                                    .idiag_states = ~0u };
        }

        return send(nl, &r, r.head.nlmsg_len, 0) < 0 ? -1 : 0;
}

/* A Unix socket accounts for what it has sent, the others for what they have queued and received. */
static uint64_t socket_bytes(struct nlmsghdr *h, bool local)
{
        size_t body = local ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg);
        const unsigned short wanted = local ? UNIX_DIAG_MEMINFO : INET_DIAG_SKMEMINFO;
        int left = (int) h->nlmsg_len - (int) NLMSG_SPACE(body);
        struct rtattr *a = (void *) ((char *) NLMSG_DATA(h) + NLMSG_ALIGN(body));

        for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
                uint32_t m[SK_MEMINFO_BACKLOG + 1] = { 0 };
                if (a->rta_type != wanted || RTA_PAYLOAD(a) < sizeof m)
                        continue;
                memcpy(m, RTA_DATA(a), sizeof m);
                return local ? m[SK_MEMINFO_WMEM_ALLOC]
                             : (uint64_t) m[SK_MEMINFO_RMEM_ALLOC] + m[SK_MEMINFO_WMEM_QUEUED] +
                                       m[SK_MEMINFO_FWD_ALLOC] + m[SK_MEMINFO_BACKLOG];
        }

        return 0;
}

/* A kernel without such a list answers with an error: then there is nothing to add. */
static uint64_t kind_bytes(int nl, const struct kind *k)
{
        static _Alignas(struct nlmsghdr) char room[MESSAGES]; /* too large for a stack; init has one thread */
        uint64_t sum = 0;
        if (request_dump(nl, k) < 0)
                return 0;

        for (ssize_t n; (n = recv(nl, room, sizeof room, 0)) > 0;) {
                long left = (long) n;
                for (struct nlmsghdr *h = (void *) room; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
                        if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
                                return sum;
                        sum += socket_bytes(h, k->family == AF_UNIX);
                }
        }

        return sum;
}

/* "sockets: used N" of the namespace that we are in. */
static uint64_t socket_count(const struct wall_init *w)
{
        static const char first[] = "sockets: used ";
        char text[512];
        if (fd_get(w->tasks, "self/net/sockstat", text, sizeof text) < 0 ||
            strncmp(text, first, sizeof first - 1) != 0)
                return 0;
        return strtoull(text + sizeof first - 1, NULL, 10);
}

static void look_sockets(struct wall_sockets *s)
{
        AUTO_FD(nl, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
        for (size_t i = 0; nl >= 0 && i < sizeof kinds / sizeof *kinds; i++)
                *(kinds[i].family == AF_UNIX ? &s->local : &s->inet) += kind_bytes(nl, &kinds[i]);
}

bool wall_watches_sockets(const struct wall_init *w)
{
        return !(w->held & WALL_GROUP_SOCKETS) && wall_has(w->plan->wall, WALL_OWN_ROOT);
}

bool wall_over_sockets(struct wall_init *w)
{
        struct wall_sockets *s = &w->sockets;
        uint64_t share = w->plan->limits.value[LIMIT_MEMORY] / SHARE, now = clock_mono_ns();
        if (!wall_watches_sockets(w))
                return false;

        if (now >= s->next_ns) {
                *s = (struct wall_sockets){ 0 };
                if (socket_count(w) > share / SOCKET_MOST)
                        look_sockets(s);
                s->next_ns = now + (clock_mono_ns() - now) * (1 + REST);
        }

        return s->inet > (share > LEAST ? share : LEAST);
}
