/* SPDX-License-Identifier: MIT */
/* broker/egress/listen.c - accepts a connection of the box to an address of the gateway, which identifies the
 * name. flow.c decides whether it is allowed. */
#include "base/fd.h"
#include "base/str.h"
#include "broker/egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

/* The destination of the box's connection. An IPv4-mapped IPv6 address is an IPv4 address: one socket takes
 * both. */
static int original_destination(int fd, struct egress_address *ret, uint16_t *ret_port)
{
        union endpoint at = { .v6 = { 0 } };
        socklen_t n = sizeof at;
        if (getsockname(fd, &at.any, &n) < 0)
                return -1;

        *ret = (struct egress_address){ .v6 = at.any.sa_family == AF_INET6 };
        *ret_port = ntohs(ret->v6 ? at.v6.sin6_port : at.v4.sin_port);
        if (ret->v6 && IN6_IS_ADDR_V4MAPPED(&at.v6.sin6_addr)) {
                ret->v6 = false;
                memcpy(ret->bytes, at.v6.sin6_addr.s6_addr + 12, 4);
        } else {
                memcpy(ret->bytes, ret->v6 ? (const void *) &at.v6.sin6_addr : (const void *) &at.v4.sin_addr,
                       ret->v6 ? 16 : 4);
        }

        return 0;
}

int listen_read(const struct broker *b, int fd, struct listen_asked *q)
{
        uint16_t port;
        if (original_destination(fd, &q->literal, &port) < 0)
                return -1;

        const struct name *n = names_find(&b->names, &q->literal);
        if (n)
                (void) snprintf(q->host, sizeof q->host, "%s", n->host);
        else
                (void) egress_address_text(&q->literal, q->host, sizeof q->host);

        q->net = (struct net_dest){ .form = NET_HOST_PORT, .port = port, .host = q->host, .is_address = !n };
        q->effect = (struct effect){ .kind = EFFECT_NET, .net = &q->net };

        decide_to_text(q->host, !n, port, q->to, sizeof q->to);
        (void) snprintf(q->permit, sizeof q->permit, "net %s", q->to);
        return 0;
}

void listen_refuse(struct broker *b, int fd, const struct listen_asked *q, enum effect_reason why,
                   const char *permit)
{
        accounting_deny(b, &(struct accounting_entry){ .to = q->to, .reason = why, .permit = permit });
        (void) close(fd); /* resets */
}

/* On EMFILE a connection could not even be rejected, and epoll would report it for ever: one descriptor is
 * kept in reserve for that. */
static void refuse_one(struct broker *b, const struct source *s)
{
        struct listen_asked q;
        fd_close(&b->spare);
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && s->kind == SOURCE_LISTENER && listen_read(b, fd, &q) == 0)
                listen_refuse(b, fd, &q, REASON_NO_ROOM, "");
        else if (fd >= 0)
                (void) close(fd);

        listen_spare(b);
}

void listen_spare(struct broker *b) { b->spare = fcntl(b->epoll, F_DUPFD_CLOEXEC, EGRESS_CONTROL + 1); }

int listen_accept(struct broker *b, const struct source *s)
{
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE))
                refuse_one(b, s);
        return fd;
}

void listen_pause(struct broker *b, bool pause)
{
        if (b->paused == pause)
                return;

        b->paused = pause;
        for (unsigned i = 0; i < b->listener_count; i++) {
                struct epoll_event e = { .events = pause ? 0 : EPOLLIN, .data.ptr = b->listeners[i] };
                (void) epoll_ctl(b->epoll, EPOLL_CTL_MOD, b->listeners[i]->fd, &e);
        }
}
