/* SPDX-License-Identifier: MIT */
/* wall/watch.c - a socket that hears of what nobody takes: first packets to ports without a listener, and
 * everything that is neither TCP nor a question to the name server. The kernel refuses those by itself; this
 * is how the refusal becomes known. It sees nothing of connections that are taken. */
#include "wall/watch.h"
#include "base/fd.h"
#include "wall/internal.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { WATCH_INSNS = 48 + 2 * NET_PORTS_MAX, DNS_PORT = 53, SNAP_BYTES = 64 };

struct program {
        struct sock_filter at[WATCH_INSNS];
        unsigned short n;
};

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
        if (p->n < WATCH_INSNS)
                p->at[p->n++] = (struct sock_filter){ .code = code, .jt = yes, .jf = no, .k = k };
}

static void load(struct program *p, uint16_t size, uint32_t offset)
{
        add(p, BPF_LD | BPF_ABS | size, offset, 0, 0);
}
static void answer(struct program *p, uint32_t bytes) { add(p, BPF_RET | BPF_K, bytes, 0, 0); }
/* Returns `bytes` when the accumulator is `k`. */
static void answer_if(struct program *p, uint32_t k, uint32_t bytes)
{
        add(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
        answer(p, bytes);
}

/* One family, from the start of its header: `protocol` is where the next header's number stands, `header` its
 * length. Options and extension headers are not followed: such packets are told of as they are. */
static void family(struct program *p, const struct plan *plan, uint32_t protocol, uint32_t header)
{
        load(p, BPF_B, protocol);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 1); /* neighbours find each other with it */
        answer(p, 0);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4);
        load(p, BPF_H, header + 2);
        answer_if(p, DNS_PORT, 0);
        answer(p, SNAP_BYTES);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 1, 0);
        answer(p, SNAP_BYTES);
        load(p, BPF_B, header + 13); /* flags: SYN without ACK */
        add(p, BPF_ALU | BPF_AND | BPF_K, 0x12, 0, 0);
        add(p, BPF_JMP | BPF_JEQ | BPF_K, 0x02, 1, 0);
        answer(p, 0);
        load(p, BPF_H, header + 2);
        answer_if(p, DNS_PORT, 0);
        for (size_t i = 0; i < plan->port_count; i++)
                answer_if(p, plan->ports[i], 0);
        answer(p, SNAP_BYTES);
}

static int attach(int fd, const struct plan *plan, bool v6)
{
        struct program p = { .n = 0 };
        family(&p, plan, v6 ? 6 : 9, v6 ? 40 : 20);
        struct sock_fprog prog = { .len = p.n, .filter = p.at };
        return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof prog);
}

/* Datagram mode: the filter and the reader begin at the network header. */
int wall_watch_open(const struct plan *plan, int index, bool v6)
{
        AUTO_FD(fd, socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        struct sockaddr_ll at = { .sll_family = AF_PACKET,
                                  .sll_protocol = htons(v6 ? ETH_P_IPV6 : ETH_P_IP),
                                  .sll_ifindex = index };
        int room = 65536;
        if (fd < 0 || attach(fd, plan, v6) < 0)
                return -1;
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        if (bind(fd, (const struct sockaddr *) &at, sizeof at) < 0)
                return -1;
        return TAKE_FD(fd);
}
