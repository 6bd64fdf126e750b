/* SPDX-License-Identifier: MIT */
/* broker/egress/refused_packets.c - reports packets that the gateway's kernel rejected by itself: connections
 * to ports that no door names, and anything that is neither TCP nor a DNS query. Only headers are read. */
#include "broker/egress/internal.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

enum { ROUND = 32 };

struct seen {
        struct egress_address to;
        uint8_t protocol;
        uint16_t port;
};

static bool read_packet(const uint8_t *p, size_t n, struct seen *ret)
{
        bool v6 = n > 0 && p[0] >> 4 == 6;
        size_t header = v6 ? 40 : n > 0 ? (size_t) (p[0] & 15) * 4 : 0;
        *ret = (struct seen){ .to = { .v6 = v6 } };
        if (n < header || header < 20)
                return false;

        ret->protocol = p[v6 ? 6 : 9];
        memcpy(ret->to.bytes, p + (v6 ? 24 : 16), v6 ? 16 : 4);
        if ((ret->protocol == IPPROTO_TCP || ret->protocol == IPPROTO_UDP) && n >= header + 4)
                ret->port = (uint16_t) (p[header + 2] << 8 | p[header + 3]);

        return true;
}

static bool is_tcp_port(const struct broker *b, uint16_t port)
{
        for (size_t i = 0; i < b->door_count; i++)
                if (b->doors[i].kind == DOOR_NET && b->doors[i].net.port == port)
                        return true;
        return false;
}

static void report_packet(struct broker *b, const struct seen *s)
{
        char host[256], to[300], protocol[24], permit[336] = "";
        const struct name *n = names_find(&b->names, &s->to);
        if (n)
                memcpy(host, n->host, sizeof host);
        else
                (void) egress_address_text(&s->to, host, sizeof host);

        decide_to_text(host, !n, s->port, to, sizeof to);
        struct accounting_entry e = { .to = to,
                                      .reason = n ? REASON_PORT : REASON_NO_DOOR,
                                      .permit = permit };
        if (s->protocol == IPPROTO_TCP) {
                (void) snprintf(permit, sizeof permit, "net %s", to);
                if (!is_tcp_port(b, s->port))
                        accounting_deny(b, &e);
                return;
        }

        bool udp = s->protocol == IPPROTO_UDP;
        bool multicast = s->to.v6 ? s->to.bytes[0] == 0xff : s->to.bytes[0] >= 224;
        if (!udp && multicast)
                return;

        (void) snprintf(protocol, sizeof protocol, "IP protocol %u", s->protocol);
        e = (struct accounting_entry){ .form = EGRESS_PACKET,
                                       .method = udp ? "UDP" : protocol,
                                       .to = udp ? to : host,
                                       .reason = REASON_PROTOCOL };
        accounting_deny(b, &e);
}

void watch_pause(struct broker *b, bool pause)
{
        b->watched = pause ? b->watched : 0;
        if (b->watch_paused == pause)
                return;

        b->watch_paused = pause;
        for (unsigned i = 0; i < 2; i++) {
                struct epoll_event e = { .events = pause ? 0 : EPOLLIN, .data.ptr = b->watchers[i] };
                if (b->watchers[i])
                        (void) epoll_ctl(b->epoll, EPOLL_CTL_MOD, b->watchers[i]->fd, &e);
        }
}

void watch_serve(struct broker *b, struct source *s)
{
        if (b->watched >= WATCH_BURST) { /* a flood is the kernel's to drop until the next tick */
                watch_pause(b, true);
                return;
        }

        for (unsigned i = 0; i < ROUND; i++, b->watched++) {
                uint8_t p[128];
                struct seen seen;
                ssize_t n = recv(s->fd, p, sizeof p, MSG_DONTWAIT);
                if (n < 0)
                        return;
                if (read_packet(p, (size_t) n, &seen))
                        report_packet(b, &seen);
        }
}
