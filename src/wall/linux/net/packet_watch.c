/* SPDX-License-Identifier: MIT */
/* wall/linux/net/packet_watch.c - a packet socket for unwanted packets: first packets to ports without a
 * listener, and everything that is neither TCP nor a DNS query. The kernel rejects those by itself; this
 * socket makes it known. It sees nothing of accepted connections. */
#include "wall/linux/net/packet_watch.h"
#include "base/fd.h"
#include "wall/internal.h"

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

static void add_insn(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
        if (p->n < WATCH_INSNS)
                p->at[p->n++] = (struct sock_filter){ .code = code, .jt = yes, .jf = no, .k = k };
}

static void load_program(struct program *p, uint16_t mode, uint32_t offset)
{
        add_insn(p, BPF_LD | mode, offset, 0, 0);
}
static void answer(struct program *p, uint32_t bytes) { add_insn(p, BPF_RET | BPF_K, bytes, 0, 0); }
/* Returns `bytes` when the accumulator is `k`. */
static void answer_if(struct program *p, uint32_t k, uint32_t bytes)
{
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
        answer(p, bytes);
}

/* The index register gets the length of the header, the accumulator the number of the next protocol. Options
 * and extension headers are not followed: such packets are reported as they are. */
static void load_family(struct program *p)
{
        load_program(p, BPF_ABS | BPF_H, (uint32_t) SKF_AD_OFF + SKF_AD_PROTOCOL);
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 5, 0);
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 1, 0);
        answer(p, 0);
        add_insn(p, BPF_LDX | BPF_IMM, 20, 0, 0);
        load_program(p, BPF_ABS | BPF_B, 9);
        add_insn(p, BPF_JMP | BPF_JA, 2, 0, 0);
        add_insn(p, BPF_LDX | BPF_IMM, 40, 0, 0);
        load_program(p, BPF_ABS | BPF_B, 6);
}

static void emit_packet_rules(struct program *p, const struct plan *plan)
{
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_ICMPV6, 0, 1); /* neighbours find each other with it */
        answer(p, 0);
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4);
        load_program(p, BPF_IND | BPF_H, 2);
        answer_if(p, DNS_PORT, 0);
        answer(p, SNAP_BYTES);
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 1, 0);
        answer(p, SNAP_BYTES);
        load_program(p, BPF_IND | BPF_B, 13); /* flags: SYN without ACK */
        add_insn(p, BPF_ALU | BPF_AND | BPF_K, 0x12, 0, 0);
        add_insn(p, BPF_JMP | BPF_JEQ | BPF_K, 0x02, 1, 0);
        answer(p, 0);
        load_program(p, BPF_IND | BPF_H, 2);
        answer_if(p, DNS_PORT, 0);
        for (size_t i = 0; i < plan->port_count; i++)
                answer_if(p, plan->ports[i], 0);

        answer(p, SNAP_BYTES);
}

static int attach_filter(int fd, const struct plan *plan)
{
        struct program p = { .n = 0 };
        load_family(&p);
        emit_packet_rules(&p, plan);
        struct sock_fprog prog = { .len = p.n, .filter = p.at };
        return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof prog);
}

/* Datagram mode: the filter and the reader begin at the network header. One socket for both families: the
 * kernel takes some ten milliseconds to close one, and the caller waits for that at the end of the box. */
int wall_watch_open(const struct plan *plan, int index)
{
        AUTO_FD(fd, socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        struct sockaddr_ll at = { .sll_family = AF_PACKET,
                                  .sll_protocol = htons(ETH_P_ALL),
                                  .sll_ifindex = index };
        int room = 65536, on = 1;

        if (fd < 0 || attach_filter(fd, plan) < 0 ||
            setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) < 0)
                return -1;

        (void) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        if (bind(fd, (const struct sockaddr *) &at, sizeof at) < 0)
                return -1;

        return TAKE_FD(fd);
}
