/* SPDX-License-Identifier: MIT */
/* egress/broker/listen.c - the decision point: somebody in the box connected to an address of the gateway.
 * The address says which name is meant; the policy says whether. */
#include "base/fd.h"
#include "base/str.h"
#include "egress/broker/requests.h"
#include "egress/broker/write_ahead.h"
#include "egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

enum { ACCEPT_ROUND = 16 };

/* Where the box connected to. An IPv4 address in IPv6 clothes is an IPv4 address: one socket takes both. */
static int destination(int fd, struct egress_address *ret, uint16_t *ret_port)
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

struct asked { /* what one connection is for */
        struct effect effect;
        struct net_dest net; /* its */
        char host[256];
        char to[320], permit[336];
        struct egress_address literal;
};

static int read_asked(const struct broker *b, int fd, struct asked *q)
{
        uint16_t port;
        if (destination(fd, &q->literal, &port) < 0)
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

static void refuse(struct broker *b, int fd, const struct asked *q, enum effect_reason why,
                   const char *permit)
{
        books_deny(b, &(struct books_entry){ .to = q->to, .reason = why, .permit = permit });
        (void) close(fd); /* resets */
}

/* `door` NULL: each request has its own. */
static void begin(struct broker *b, int fd, const struct asked *q, const struct door *door)
{
        struct flow *f = flow_new(b, fd);
        if (!f) {
                refuse(b, fd, q, REASON_NO_MEMORY, "");
                return;
        }

        (void) snprintf(f->host, sizeof f->host, "%s", q->host);
        (void) snprintf(f->to_host, sizeof f->to_host, "%s", q->host);
        (void) snprintf(f->row_to, sizeof f->row_to, "%s", q->to);
        f->is_address = f->to_is_address = q->net.is_address;
        f->port = f->to_port = q->net.port;
        f->literal = q->literal;
        f->door = door;
        f->row = books_connected(b, names_find(&b->names, &q->literal), q->to);
        if (f->row)
                f->row->requests += door != NULL;

        if (door)
                ahead_connect(f);
        else if (requests_begin(f) < 0)
                flow_end(f, true);
}

static void decide(struct broker *b, int fd)
{
        struct asked q;
        enum effect_reason why = REASON_NONE;
        if (read_asked(b, fd, &q) < 0) {
                (void) close(fd);
                return;
        }

        struct decision d = policy_decide(b->policy, &q.effect);
        bool open = d.answer == ANSWER_ALLOW && !decide_closed(b, d.door);
        if (b->flow_count >= FLOWS_MAX && !part_give_way(b))
                refuse(b, fd, &q, REASON_TOO_MANY_FLOWS, "");
        else if (requests_cover(b, q.host, q.net.port, open))
                begin(b, fd, &q, NULL);
        else if (!open)
                refuse(b, fd, &q, d.answer == ANSWER_ALLOW ? REASON_EXPIRED : d.reason, q.permit);
        else if (b->stage == POLICY_STAGE_MOCK)
                refuse(b, fd, &q, REASON_MOCK_BYTES, "");
        else if (books_enter(b, d.door, false, &why) < 0)
                refuse(b, fd, &q, why, "");
        else
                begin(b, fd, &q, d.door);
}

/* Without a descriptor for it a connection could not even be refused, and epoll would tell of it for ever:
 * one is kept for that. */
static void refuse_one(struct broker *b, const struct source *s)
{
        struct asked q;
        fd_close(&b->spare);
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0 && s->kind == SOURCE_LISTENER && read_asked(b, fd, &q) == 0)
                refuse(b, fd, &q, REASON_NO_ROOM, "");
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

void listen_serve(struct broker *b, struct source *s)
{
        for (unsigned i = 0; i < ACCEPT_ROUND; i++) {
                if (b->half_open >= HALF_OPEN_MAX) { /* the rest wait in the kernel's queue */
                        listen_pause(b, true);
                        return;
                }
                int fd = listen_accept(b, s);
                if (fd < 0)
                        return;
                decide(b, fd);
        }
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
