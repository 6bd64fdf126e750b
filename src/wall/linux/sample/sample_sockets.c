/* SPDX-License-Identifier: MIT */
/* wall/linux/sample/sample_sockets.c - memory that lies in the box's sockets: sent, and not taken yet. It is
 * in no process's account, and the kernel bounds it for each socket only. Asked of the kernel for the box's
 * own network namespace, in which every socket of the box is, also one that is in flight. A kernel without
 * sock_diag tells nothing, and then nothing is counted. Never: allocates. */
#include "base/fd.h"
#include "wall/internal.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_MS = 1000 };

/* Of local sockets who sends pays, and who sent and is gone is told of no more: what lies in the other's
 * queue is then nobody's. The kernel tells how long a queue is only of connected ones, and not how much room
 * that takes (a byte has a buffer of its own). So sockets in which senders that are gone may have left
 * something count as full, apart from as many as an honest box has. */
enum {
        SENT_MOST = 2 * 212992, /* what one socket can have sent, with the usual net.core.wmem_max */
        QUEUE_MOST = 11,        /* datagrams in one queue (net.unix.max_dgram_qlen, which is 10 in a new
                                   namespace) */
        HONEST = 64
};

struct sum {
        uint64_t bytes, senders; /* senders: that may be gone and have left something */
};

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
                                                    .udiag_show = UDIAG_SHOW_MEMINFO | UDIAG_SHOW_NAME |
                                                                  UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN };
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

static uint32_t first_u32(struct rtattr *a)
{
        uint32_t v = 0;
        if (a && RTA_PAYLOAD(a) >= sizeof v)
                memcpy(&v, RTA_DATA(a), sizeof v);
        return v;
}

/* Also a client that nobody has accepted yet has a peer without a number. */
static void add_left(struct sum *s, const struct unix_diag_msg *m, struct rtattr *const *at)
{
        uint32_t queue = first_u32(at[UNIX_DIAG_RQLEN]);
        bool gone = at[UNIX_DIAG_PEER] && first_u32(at[UNIX_DIAG_PEER]) == 0;
        if (m->udiag_state == TCP_LISTEN) {
                s->senders += queue; /* connections that wait */
        } else if (m->udiag_type == SOCK_DGRAM && at[UNIX_DIAG_NAME]) {
                s->senders += QUEUE_MOST;
        } else if (gone) {
                s->senders += m->udiag_type != SOCK_STREAM || queue > 0;
                s->bytes += queue;
        }
}

static void add_socket(struct sum *s, struct nlmsghdr *h, const struct kind *k)
{
        enum { ATTRIBUTES = 32 };
        _Static_assert((int) INET_DIAG_SKMEMINFO < ATTRIBUTES && (int) UNIX_DIAG_RQLEN < ATTRIBUTES, "");
        struct rtattr *at[ATTRIBUTES] = { 0 };
        bool local = k->family == AF_UNIX;
        size_t own = local ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg);
        struct rtattr *memory, *a = (void *) ((char *) NLMSG_DATA(h) + NLMSG_ALIGN(own));
        if (h->nlmsg_len < NLMSG_LENGTH(own))
                return;

        for (size_t left = h->nlmsg_len - NLMSG_LENGTH(own); RTA_OK(a, left); a = RTA_NEXT(a, left))
                if (a->rta_type < ATTRIBUTES)
                        at[a->rta_type] = a;

        memory = at[local ? (int) UNIX_DIAG_MEMINFO : (int) INET_DIAG_SKMEMINFO];
        s->bytes += memory ? bytes_of(memory) : 0;
        if (local)
                add_left(s, NLMSG_DATA(h), at);
}

static void add_kind(struct sum *s, int fd, const struct kind *k)
{
        char buf[8192] __attribute__((aligned(8)));
        if (ask(fd, k) < 0)
                return;

        for (;;) {
                struct pollfd p = { .fd = fd, .events = POLLIN };
                ssize_t n = poll(&p, 1, ANSWER_MS) == 1 ? recv(fd, buf, sizeof buf, MSG_DONTWAIT) : -1;
                if (n <= 0)
                        return;
                struct nlmsghdr *h = (void *) buf;
                for (size_t left = (size_t) n; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
                        if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
                                return; /* all were told, or the kernel cannot */
                        add_socket(s, h, k);
                }
        }
}

uint64_t wall_sample_sockets(const struct wall_init *w)
{
        if (w->plan->wall != WALL_NAMESPACE)
                return 0; /* they are among the host's */

        AUTO_FD(fd, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
        struct sum s = { 0 };
        for (size_t i = 0; fd >= 0 && i < (w->plan->net ? sizeof kinds / sizeof *kinds : 1); i++)
                add_kind(&s, fd, &kinds[i]);

        return s.bytes + (s.senders > HONEST ? (s.senders - HONEST) * SENT_MOST : 0);
}
