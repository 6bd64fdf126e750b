/* SPDX-License-Identifier: MIT */
/* broker/egress/dial.c - connects to the first of several addresses that answers, families in turn, the next
 * a quarter of a second after the last (RFC 8305). Every address is checked first: a name leads only to
 * public addresses, or to those that the policy names. */
#include "base/fd.h"
#include "broker/egress/internal.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>

enum { STAGGER_NS = 250000000 };

static bool may_reach(struct flow *f, const struct egress_address *a)
{
        enum egress_reach r = egress_judge(a);
        if (r == REACH_PUBLIC || f->to_is_address || decide_names_address(f->b, a, f->to_port))
                return true;

        if (!f->dial.refused[0]) {
                (void) egress_address_text(a, f->dial.refused, sizeof f->dial.refused);
                f->dial.refused_reach = r;
        }

        return false;
}

/* Families in turn, beginning with IPv6, else in the resolver's order. */
static void order_addresses(struct dial *d, const struct egress_address *list, const bool *use, unsigned n)
{
        unsigned at[2] = { 0, 0 };
        bool six = true;
        for (;;) {
                unsigned *i = &at[six];
                while (*i < n && (!use[*i] || list[*i].v6 != six))
                        (*i)++;
                unsigned *other = &at[!six];
                while (*other < n && (!use[*other] || list[*other].v6 == six))
                        (*other)++;
                if (*i == n && *other == n)
                        return;
                if (*i < n)
                        d->list[d->count++] = list[(*i)++];
                six = !six;
        }
}

static void took_source(struct flow *f, struct source *s, const struct egress_address *a)
{
        static const int on = 1;
        f->server = (struct source){ SOURCE_SERVER, s->fd, f };
        if (s->kind == SOURCE_TRY && f->dial.open > 0)
                (void) epoll_ctl(f->b->epoll, EPOLL_CTL_DEL, s->fd, NULL);

        s->fd = -1;
        (void) setsockopt(f->server.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void) egress_address_text(a, f->address, sizeof f->address);
        if (f->row) {
                f->row->reached++;
                f->row->reach = (uint8_t) egress_judge(a);
                memcpy(f->row->address, f->address, sizeof f->row->address);
                accounting_touch(f->b, f->row);
        }

        dial_stop(f);
}

static union endpoint endpoint_of(const struct egress_address *a, uint16_t port)
{
        union endpoint at = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
        if (a->v6)
                at.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
        memcpy(a->v6 ? (void *) &at.v6.sin6_addr : (void *) &at.v4.sin_addr, a->bytes, a->v6 ? 16 : 4);
        return at;
}

/* Chooses the reason of a failure: a host that was never contacted is not reported as silent. */
static enum effect_reason failure_reason(int error)
{
        switch (error) {
        case EADDRNOTAVAIL:
                return REASON_NO_PORTS;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
                return REASON_NO_ROOM;
        case ENETUNREACH:
                return REASON_NO_ROUTE;
        default:
                return REASON_NO_ANSWER;
        }
}

/* One attempt. 1: connected, and the dial is over; 0: under way; -1: failed at once. */
static int attempt_dial(struct flow *f)
{
        struct dial *d = &f->dial;
        const struct egress_address *a = &d->list[d->next];
        struct source *s = &d->attempt[d->next++];

        union endpoint at = endpoint_of(a, f->to_port);
        *s = (struct source){ SOURCE_TRY, -1, f };
        s->fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
        if (s->fd < 0) {
                d->error = errno;
                return -1;
        }

        int r = connect(s->fd, &at.any, a->v6 ? sizeof at.v6 : sizeof at.v4);
        if (r < 0 && errno != EINPROGRESS) {
                d->error = errno;
                fd_close(&s->fd);
                return -1;
        }

        if (r < 0) {
                d->open++;
                if (broker_watch(f->b, s, EPOLLOUT) == 0)
                        return 0;
                d->open--;
                fd_close(&s->fd);
                return -1;
        }

        took_source(f, s, a);
        return 1;
}

/* Goes on until one is under way or none is left. */
static enum flow_event go_on(struct flow *f)
{
        struct dial *d = &f->dial;
        int r = -1;
        while (r < 0 && d->next < d->count)
                r = attempt_dial(f);

        d->next_ns = f->b->now_ns + STAGGER_NS;
        if (r > 0)
                return EVENT_CONNECTED;

        if (r == 0 || d->open > 0)
                return EVENT_NONE;

        dial_stop(f);
        f->why = d->count ? failure_reason(d->error) : REASON_NONE;
        return EVENT_FAILED;
}

enum flow_event dial_start(struct flow *f, const struct egress_address *list, unsigned n)
{
        struct dial *d = &f->dial;
        bool use[ADDRESSES_MAX] = { false };
        d->count = d->next = d->open = 0;
        d->error = 0;
        d->refused[0] = '\0';
        for (unsigned i = 0; i < n; i++)
                use[i] = may_reach(f, &list[i]);

        order_addresses(d, list, use, n);
        d->active = true;
        return go_on(f);
}

enum flow_event dial_event(struct flow *f, struct source *s, uint32_t events)
{
        struct dial *d = &f->dial;
        int error = 0;
        socklen_t n = sizeof error;
        if (s->fd < 0 || !(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
                return EVENT_NONE;

        if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0) {
                took_source(f, s, &d->list[s - d->attempt]);
                return EVENT_CONNECTED;
        }

        d->error = error;
        broker_forget(s);
        d->open--;
        return go_on(f);
}

enum flow_event dial_tick(struct flow *f)
{
        const struct dial *d = &f->dial;
        return d->active && d->next < d->count && f->b->now_ns >= d->next_ns ? go_on(f) : EVENT_NONE;
}

void dial_stop(struct flow *f)
{
        for (unsigned i = 0; i < f->dial.next; i++)
                broker_forget(&f->dial.attempt[i]);
        f->dial.active = false;
}
