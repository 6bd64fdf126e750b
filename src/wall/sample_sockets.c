/* SPDX-License-Identifier: MIT */
/* wall/sample_sockets.c - memory that lies in the box's sockets: sent, and not taken yet. It is in no
 * process's account, and the kernel bounds it for each socket only. Asked of the kernel for the box's own
 * network namespace, in which every socket of the box is, also one that is in flight. A kernel without
 * sock_diag tells nothing, and then nothing is counted. Never: allocates. */
#include "base/fd.h"
#include "wall/internal.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_MS = 1000 };

/* Which sockets there can be: without `net` doors the filter refuses all but the first. */
static const struct kind {
        uint8_t family, protocol;
} kinds[] = { { AF_UNIX, 0 },
              { AF_INET, IPPROTO_TCP },
              { AF_INET6, IPPROTO_TCP },
              { AF_INET, IPPROTO_UDP },
              { AF_INET6, IPPROTO_UDP } };

union question {
        struct unix_diag_req local;
        struct inet_diag_req_v2 inet;
};

static int ask(int fd, const struct kind *k)
{
        struct {
                struct nlmsghdr head;
                union question q;
        } m = { .head = { .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
        if (k->family == AF_UNIX)
                m.q.local = (struct unix_diag_req){ .sdiag_family = AF_UNIX,
                                                    .udiag_states = ~0u,
                                                    .udiag_show = UDIAG_SHOW_MEMINFO };
        else
                m.q.inet = (struct inet_diag_req_v2){ .sdiag_family = k->family,
                                                      .sdiag_protocol = k->protocol,
                                                      .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
                                                      .idiag_states = ~0u };
        m.head.nlmsg_len = NLMSG_LENGTH(k->family == AF_UNIX ? sizeof(struct unix_diag_req)
                                                             : sizeof(struct inet_diag_req_v2));
        return send(fd, &m, m.head.nlmsg_len, MSG_NOSIGNAL) == (ssize_t) m.head.nlmsg_len ? 0 : -1;
}

/* Of a pair of our own family, who sends pays; of others, both do. */
static uint64_t bytes_of(struct rtattr *a)
{
        uint32_t v[SK_MEMINFO_VARS] = { 0 };
        memcpy(v, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof v ? RTA_PAYLOAD(a) : sizeof v);
        uint64_t sent = v[SK_MEMINFO_WMEM_ALLOC];
        if (v[SK_MEMINFO_WMEM_QUEUED] > sent)
                sent = v[SK_MEMINFO_WMEM_QUEUED];
        return sent + v[SK_MEMINFO_RMEM_ALLOC];
}

static uint64_t read_socket(struct nlmsghdr *h, const struct kind *k)
{
        size_t own = k->family == AF_UNIX ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg);
        unsigned short want = k->family == AF_UNIX ? UNIX_DIAG_MEMINFO : INET_DIAG_SKMEMINFO;
        if (h->nlmsg_len < NLMSG_LENGTH(own))
                return 0;
        struct rtattr *a = (void *) ((char *) NLMSG_DATA(h) + NLMSG_ALIGN(own));
        size_t left = h->nlmsg_len - NLMSG_LENGTH(own);
        for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
                if (a->rta_type == want)
                        return bytes_of(a);
        return 0;
}

static uint64_t sum_kind(int fd, const struct kind *k)
{
        char buf[8192] __attribute__((aligned(8)));
        uint64_t sum = 0;
        if (ask(fd, k) < 0)
                return 0;
        for (;;) {
                struct pollfd p = { .fd = fd, .events = POLLIN };
                ssize_t n = poll(&p, 1, ANSWER_MS) == 1 ? recv(fd, buf, sizeof buf, MSG_DONTWAIT) : -1;
                if (n <= 0)
                        return sum;
                struct nlmsghdr *h = (void *) buf;
                for (size_t left = (size_t) n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
                        if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
                                return sum; /* all were told, or the kernel cannot */
                        sum += read_socket(h, k);
                }
        }
}

uint64_t wall_sample_sockets(const struct wall_init *w)
{
        if (w->plan->wall != WALL_NAMESPACE)
                return 0; /* they are among the host's */
        AUTO_FD(fd, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
        uint64_t sum = 0;
        for (size_t i = 0; fd >= 0 && i < (w->plan->net ? sizeof kinds / sizeof *kinds : 1); i++)
                sum += sum_kind(fd, &kinds[i]);
        return sum;
}
