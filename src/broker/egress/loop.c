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

static void on_control(struct broker *b, struct source *s, uint32_t events)
{
        (void) s;
        (void) events;
        control_serve(b);
}
static void on_listener(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        flow_accept(b, s);
}
static void on_dns_udp(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        dns_serve_udp(b, s);
}
static void on_dns_tcp(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        dns_serve_tcp(b, s);
}
static void on_watch(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        watch_serve(b, s);
}
static void on_resolver(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        if (s->fd >= 0)
                resolver_serve(b);
}
static void on_ledger(struct broker *b, struct source *s, uint32_t events)
{
        if (s->fd >= 0)
                ahead_serve(b, events);
}
static void on_gate(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        if (s->fd >= 0)
                held_serve(b);
}
static void on_checks(struct broker *b, struct source *s, uint32_t events)
{
        (void) events;
        if (s->fd >= 0)
                checks_serve(b);
}
static void on_flow(struct broker *b, struct source *s, uint32_t events)
{
        (void) b;
        flow_io(s->owner, s, events);
}

static void (*const handlers[])(struct broker *, struct source *, uint32_t) = {
        [SOURCE_NONE] = NULL,
        [SOURCE_CONTROL] = on_control,
        [SOURCE_LISTENER] = on_listener,
        [SOURCE_DNS_UDP] = on_dns_udp,
        [SOURCE_DNS_TCP] = on_dns_tcp,
        [SOURCE_DNS_CLIENT] = dns_serve_client,
        [SOURCE_WATCH] = on_watch,
        [SOURCE_RESOLVER] = on_resolver,
        [SOURCE_LEDGER] = on_ledger,
        [SOURCE_GATE] = on_gate,
        [SOURCE_CHECKS] = on_checks,
        [SOURCE_CLIENT] = on_flow,
        [SOURCE_SERVER] = on_flow,
        [SOURCE_TRY] = on_flow,
        [SOURCE_CHECK] = on_flow,
};
_Static_assert(sizeof handlers / sizeof *handlers == SOURCE__COUNT, "a handler for each source");

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
                        struct source *s = e[i].data.ptr;
                        handlers[s->kind](b, s, e[i].events);
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
