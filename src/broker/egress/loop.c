/* SPDX-License-Identifier: MIT */
/* broker/egress/loop.c - one epoll, one thread; every source has a row in the table. */
#include "base/clock.h"
#include "broker/egress/checks.h"
#include "broker/egress/held.h"
#include "broker/egress/internal.h"
#include "broker/egress/write_ahead.h"

#include <sys/epoll.h>

/* A turn of one flow is a megabyte or two; so many of them may keep the others and the keeper waiting. */
enum { EVENTS = 16, TICK_MS = 50, FLUSH_MS = 200 };

/* Sources that are not a flow's: what serves all of a kind, or one. */
static const struct {
        void (*all)(struct broker *b);
        void (*one)(struct broker *b, struct source *s);
} servers[SOURCE_CLIENT] = {
        [SOURCE_CONTROL] = { .all = control_serve },
        [SOURCE_LISTENER] = { .one = flow_accept },
        [SOURCE_DNS_UDP] = { .one = dns_serve_udp },
        [SOURCE_DNS_TCP] = { .one = dns_serve_tcp },
        [SOURCE_DNS_CLIENT] = { .one = dns_serve_client },
        [SOURCE_WATCH] = { .one = watch_serve },
        [SOURCE_RESOLVER] = { .all = resolver_serve },
        [SOURCE_LEDGER] = { .all = ahead_serve },
        [SOURCE_GATE] = { .all = held_serve },
        [SOURCE_CHECKS] = { .all = checks_serve },
};

/* A source may have been closed earlier in this round. */
static void serve_source(struct broker *b, struct source *s, uint32_t events)
{
        if (s->kind >= SOURCE_CLIENT)
                flow_io(s->owner, s, events);
        else if (s->fd >= 0 && servers[s->kind].all)
                servers[s->kind].all(b);
        else if (s->fd >= 0 && servers[s->kind].one)
                servers[s->kind].one(b, s);
}

static int wait_ms(const struct broker *b)
{
        if (b->again || b->turn)
                return 0;

        if (b->half_open > 0 || b->lingering > 0 || b->dns_clients > 0 || b->watch_paused ||
            b->aheads_waiting > 0)
                return TICK_MS;

        if (b->any_dirty)
                return FLUSH_MS;

        return b->flows && b->has_until ? 1000 : -1;
}

/* For a tick at most: the rest is first in the next round. */
static void serve_again(struct broker *b)
{
        uint64_t until = b->now_ns + TICK_MS * UINT64_C(1000000);
        if (!b->turn) {
                b->turn = b->again;
                b->again = NULL;
        }

        while (b->turn && clock_mono_ns() < until) {
                struct flow *f = b->turn;
                b->turn = f->next_again;
                f->again = false;
                if (f->state != FLOW_OVER)
                        flow_io(f, &f->client, 0);
        }
}

/* Passes results of name lookups and records to the flows that wait for them. */
static void deliver_events(struct broker *b)
{
        struct name *n;
        while ((n = resolver_settled(b))) {
                flow_resolved(b, n);
                dns_resolved(b, n);
        }

        flow_recorded(b);
}

_Noreturn void broker_run(struct broker *b)
{
        uint64_t ticked = 0;
        for (;;) {
                struct epoll_event e[EVENTS];
                int n = epoll_wait(b->epoll, e, EVENTS, wait_ms(b));
                broker_clock(b);
                serve_again(b);
                deliver_events(b);
                for (int i = 0; i < n; i++) {
                        serve_source(b, e[i].data.ptr, e[i].events);
                        deliver_events(b);
                }
                if (n == EVENTS || b->turn)
                        control_serve(b); /* the keeper does not stand in line */
                if (b->now_ns - ticked >= TICK_MS * UINT64_C(1000000)) {
                        ticked = b->now_ns;
                        flow_tick(b);
                        ahead_tick(b);
                        dns_tick(b, false);
                        watch_pause(b, false);
                        deliver_events(b);
                }
                if (b->paused && b->half_open < HALF_OPEN_MAX / 2)
                        listen_pause(b, false);
                if (b->any_dirty && b->now_ns - b->flush_ns >= FLUSH_MS * UINT64_C(1000000))
                        control_flush(b);
                flow_free_dead(b);
                dns_tick(b, true);
        }
}
