/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/link_dump.c - answers requests for the box's interfaces, addresses and routes.
 *
 * A box cannot change its network, so each list is taken from the kernel once, when it is first asked for.
 * Never: sends the kernel a byte of a request, allocates, waits for the box. */
#include "base/fd.h"
#include "wall/linux/observe/net_links.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { LIST_BYTES = 32 << 10, PACKET_BYTES = 4096 /* programs read into a page */, REQUESTS = 4 };

struct list {
        uint16_t request, answer;
        uint8_t family;
        bool taken, failed;
        size_t len;
        _Alignas(struct nlmsghdr) char bytes[LIST_BYTES]; /* messages, without the one that ends them */
};

static struct list lists[] = {
        { .request = RTM_GETLINK, .answer = RTM_NEWLINK, .family = AF_UNSPEC },
        { .request = RTM_GETADDR, .answer = RTM_NEWADDR, .family = AF_UNSPEC },
        { .request = RTM_GETADDR, .answer = RTM_NEWADDR, .family = AF_INET },
        { .request = RTM_GETADDR, .answer = RTM_NEWADDR, .family = AF_INET6 },
        { .request = RTM_GETROUTE, .answer = RTM_NEWROUTE, .family = AF_UNSPEC },
        { .request = RTM_GETROUTE, .answer = RTM_NEWROUTE, .family = AF_INET },
        { .request = RTM_GETROUTE, .answer = RTM_NEWROUTE, .family = AF_INET6 },
};

/* Copies the messages of one packet. Returns 1 when the list is whole, 0 if more is to come, -1 on error. */
static int keep_packet(struct list *l, char *packet, size_t len)
{
        long left = (long) len; /* signed: the last message may be shorter than its alignment */
        for (struct nlmsghdr *h = (void *) packet; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
                size_t room = NLMSG_ALIGN(h->nlmsg_len);
                if (h->nlmsg_type == NLMSG_DONE)
                        return 1;

                if (h->nlmsg_type != l->answer || l->len + room > sizeof l->bytes)
                        return -1;

                memcpy(l->bytes + l->len, h, h->nlmsg_len);
                l->len += room;
        }

        return 0;
}

static int take_packet(struct list *l)
{
        struct {
                struct nlmsghdr head;
                struct rtgenmsg body;
        } r = { .head = { .nlmsg_len = NLMSG_LENGTH(sizeof r.body),
                          .nlmsg_type = l->request,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
                .body = { .rtgen_family = l->family } };

        _Alignas(struct nlmsghdr) char packet[PACKET_BYTES];
        const struct timeval patience = { 2, 0 };
        AUTO_FD(nl, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
        if (nl < 0 || setsockopt(nl, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
            send(nl, &r, r.head.nlmsg_len, 0) < 0)
                return -1;

        for (;;) {
                ssize_t n = recv(nl, packet, sizeof packet, MSG_TRUNC);
                int kept = n > 0 && (size_t) n <= sizeof packet ? keep_packet(l, packet, (size_t) n) : -1;
                if (kept != 0)
                        return kept < 0 ? -1 : 0;
        }
}

/* A list that is asked for and has no messages for this family is that of all families. */
static struct list *find_dump(uint16_t request, uint8_t family)
{
        uint8_t of = request != RTM_GETLINK && (family == AF_INET || family == AF_INET6) ? family : AF_UNSPEC;
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
                if (lists[i].request == request && lists[i].family == of)
                        return &lists[i];
        return NULL;
}

/* Messages that do not fit are lost, as it is with the kernel's server. */
static void put_bytes(const struct link *l, const void *p, size_t n)
{
        (void) send(l->end, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void put_error(const struct link *l, const struct nlmsghdr *request, int error)
{
        struct {
                struct nlmsghdr head;
                struct nlmsgerr body;
        } m = { .head = { .nlmsg_len = sizeof m,
                          .nlmsg_type = NLMSG_ERROR,
                          .nlmsg_seq = request->nlmsg_seq,
                          .nlmsg_pid = l->port },
                .body = { .error = -error, .msg = *request } };
        put_bytes(l, &m, sizeof m);
}

static void put_end(const struct link *l, uint32_t seq)
{
        struct {
                struct nlmsghdr head;
                int error;
        } m = { .head = { .nlmsg_len = sizeof m,
                          .nlmsg_type = NLMSG_DONE,
                          .nlmsg_flags = NLM_F_MULTI,
                          .nlmsg_seq = seq,
                          .nlmsg_pid = l->port } };
        put_bytes(l, &m, sizeof m);
}

static void put_list(const struct link *l, struct list *all, uint32_t seq)
{
        size_t first = 0, next;
        for (size_t at = 0; at < all->len; at = next) {
                struct nlmsghdr *h = (void *) (all->bytes + at);
                h->nlmsg_seq = seq;
                h->nlmsg_pid = l->port;
                next = at + NLMSG_ALIGN(h->nlmsg_len);
                if (next - first > PACKET_BYTES && at > first) {
                        put_bytes(l, all->bytes + first, at - first);
                        first = at;
                }
        }

        if (all->len > first)
                put_bytes(l, all->bytes + first, all->len - first);

        put_end(l, seq);
}

/* As the kernel answers a process without a capability, and one that asks for what the kernel does not have.
 */
static int refusal_of(uint16_t type)
{
        enum { KIND = 3, KIND_GET = 2 };
        return (type - RTM_BASE) % (KIND + 1) == KIND_GET ? EOPNOTSUPP : EPERM;
}

static void answer_one(const struct link *l, const struct nlmsghdr *h, uint8_t family)
{
        const uint16_t dump = NLM_F_REQUEST | NLM_F_DUMP;
        struct list *all = find_dump(h->nlmsg_type, family);
        if (!all || (h->nlmsg_flags & dump) != dump) {
                put_error(l, h, refusal_of(h->nlmsg_type));
                return;
        }

        if (!all->taken) {
                all->taken = true;
                all->failed = take_packet(all) < 0;
        }

        if (all->failed)
                put_error(l, h, EOPNOTSUPP);
        else
                put_list(l, all, h->nlmsg_seq);
}

void link_answer(const struct link *l, const char *request, size_t len)
{
        for (unsigned i = 0; i < REQUESTS && len >= sizeof(struct nlmsghdr); i++) {
                struct nlmsghdr h;
                memcpy(&h, request, sizeof h);
                if (h.nlmsg_len < sizeof h || h.nlmsg_len > len)
                        return;

                answer_one(l, &h, h.nlmsg_len > sizeof h ? (uint8_t) request[sizeof h] : AF_UNSPEC);
                size_t step = NLMSG_ALIGN(h.nlmsg_len);
                if (step >= len)
                        return;

                request += step;
                len -= step;
        }
}
