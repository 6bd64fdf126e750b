/* SPDX-License-Identifier: MIT */
/* egress/broker/flow.c - the life of one connection of the box: accepted, resolved, dialed, relayed, ended.
 */
#include "egress/broker/requests.h"
#include "egress/broker/write_ahead.h"
#include "egress/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { GIVE_UP_NS_S = 30, FAILS_IN_A_ROW = 8, REST_S = 5 };

/* Every connection is born so that closing it resets it: should the broker be killed, nobody takes what was
 * cut off for whole. Only an end that both sides have said takes that back. */
static void reset_on_close(int fd, bool reset)
{
        const struct linger how = { reset, 0 };
        if (fd >= 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &how, sizeof how);
}

struct flow *flow_new(struct broker *b, int client)
{
        struct flow *f = calloc(1, sizeof *f);
        if (!f)
                return NULL;

        f->b = b;
        f->client = (struct source){ SOURCE_CLIENT, client, f };
        f->server.fd = -1;
        if (broker_watch(b, &f->client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) < 0) {
                free(f);
                return NULL;
        }

        f->next = b->flows;
        if (b->flows)
                b->flows->prev = f;

        b->flows = f;
        b->flow_count++;
        return f;
}

static void half_open(struct flow *f, bool is)
{
        if (f->counted_half_open == is)
                return;
        f->counted_half_open = is;
        f->b->half_open += is ? 1 : -1u;
        f->give_up_ns = is ? f->b->now_ns + GIVE_UP_NS_S * UINT64_C(1000000000) : 0;
}

void flow_closes_whole(struct flow *f)
{
        reset_on_close(f->client.fd, false);
        reset_on_close(f->server.fd, false);
}

void flow_leave_server(struct flow *f)
{
        dial_stop(f);
        half_open(f, false);
        broker_forget(f->b, &f->server);
}

void flow_end(struct flow *f, bool reset)
{
        struct broker *b = f->b;
        if (f->state == FLOW_OVER)
                return;

        b->parting -= f->state == FLOW_PARTING;
        f->state = FLOW_OVER;
        (void) ahead_over(f, reset ? LEDGER_END_CUT : LEDGER_END_DONE, reset ? "cut off" : "done", NULL);
        if (!reset)
                flow_closes_whole(f);

        flow_leave_server(f);
        broker_forget(b, &f->client);
        relay_done(f);
        requests_done(f);
        *(f->prev ? &f->prev->next : &b->flows) = f->next;
        if (f->next)
                f->next->prev = f->prev;

        b->flow_count--;
        f->next_dead = b->dead; /* events of this round may still point here */
        b->dead = f;
}

/* None that is over may be visited again. */
static void leave_out_dead(struct flow **at)
{
        while (*at) {
                struct flow *f = *at;
                if (f->state == FLOW_OVER)
                        *at = f->next_again;
                else
                        at = &f->next_again;
        }
}

void flow_free_dead(struct broker *b)
{
        leave_out_dead(&b->again);
        leave_out_dead(&b->turn);
        while (b->dead) {
                struct flow *f = b->dead;
                b->dead = f->next_dead;
                free(f);
        }
}

void flow_again(struct flow *f)
{
        if (f->again)
                return;
        f->again = true;
        f->next_again = f->b->again;
        f->b->again = f;
}

void flow_event(struct flow *f, struct source *s, uint32_t events)
{
        if (f->state == FLOW_OVER)
                return;

        if (s->kind == SOURCE_TRY)
                dial_event(f, s, events);
        else if (f->http)
                requests_event(f, s, events);
        else if (f->state == FLOW_PARTING)
                part_event(f);
        else if (f->state == FLOW_RELAYING)
                relay_event(f, s, events);
        else if (events & (EPOLLHUP | EPOLLERR))
                flow_end(f, true); /* the box gave up before we were through */
}

/* ---- connecting outside ---- */

/* A host that fails is not hammered: after some vain tries in a row, one more every few seconds. */
static bool is_resting(const struct flow *f)
{
        return f->name && f->name->failed_port == f->to_port && f->b->now_ns < f->name->rest_ns;
}

static void note_try(const struct flow *f, bool good)
{
        struct name *n = f->name;
        if (!n || is_resting(f))
                return;
        n->fails = good || n->failed_port != f->to_port ? !good : n->fails + 1;
        n->failed_port = f->to_port;
        n->rest_ns = n->fails >= FAILS_IN_A_ROW ? f->b->now_ns + REST_S * UINT64_C(1000000000) : 0;
}

static void dial_name(struct flow *f)
{
        if (is_resting(f)) {
                f->dial.count = 0;
                f->dial.refused[0] = '\0';
                flow_not_dialed(f, REASON_BACK_OFF);
                return;
        }

        if (f->name->state == NAME_FAILED || f->name->count == 0)
                flow_not_dialed(f, resolver_why(f->b, f->name));
        else
                dial_start(f, f->name->address, f->name->count);
}

void flow_connect(struct flow *f)
{
        struct broker *b = f->b;
        half_open(f, true);
        f->state = FLOW_RESOLVING;
        if (b->stage == POLICY_STAGE_MOCK) { /* whoever asks for it: this is the one place where we connect */
                flow_not_dialed(f, REASON_MOCK_NOTHING);
                return;
        }

        if (f->to_is_address) {
                dial_start(f, &f->literal, 1);
                return;
        }

        f->name = names_get(&b->names, f->to_host);
        if (!f->name) {
                flow_not_dialed(f, REASON_TOO_MANY_NAMES);
                return;
        }

        bool fresh = f->name->state != NAME_UNKNOWN && b->now_ns < f->name->good_until_ns;
        if (fresh && f->name->state != NAME_ASKED)
                dial_name(f);
        else if (!fresh)
                resolver_ask(b, f->name);
}

void flow_resolved(struct broker *b, struct name *n)
{
        for (struct flow *f = b->flows, *next; f; f = next) {
                next = f->next;
                if (f->state == FLOW_RESOLVING && f->name == n)
                        dial_name(f);
        }
}

void flow_dialed(struct flow *f)
{
        half_open(f, false);
        note_try(f, true);
        reset_on_close(f->server.fd, true);
        if (broker_watch(f->b, &f->server, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) < 0) {
                flow_end(f, true);
                return;
        }

        if (f->http)
                requests_connected(f);
        else
                relay_init(f);
}

/* An address that the guard turned away is a refusal, with the line that would permit the first. */
static void not_allowed(struct flow *f)
{
        const struct dial *d = &f->dial;
        char to[96], detail[96], permit[128];
        (void) snprintf(detail, sizeof detail, "%s, %s", egress_reach_name(d->refused_reach), d->refused);
        decide_to_text(d->refused, true, f->to_port, to, sizeof to);
        (void) snprintf(permit, sizeof permit, "net %s", to);

        if (f->http) {
                half_open(f, false);
                requests_not_allowed(f, detail, permit);
                requests_drive(f);
                return;
        }

        books_deny(f->b, &(struct books_entry){ .to = f->row_to,
                                                .reason = REASON_GUARDED_ADDRESS,
                                                .detail = detail,
                                                .permit = permit });
        (void) ahead_over(f, LEDGER_END_REFUSED, effect_reason_text(REASON_GUARDED_ADDRESS), NULL);
        flow_end(f, true);
}

/* The outside's doing; a request tells of that itself. */
void flow_not_dialed(struct flow *f, enum effect_reason why)
{
        const struct dial *d = &f->dial;
        if (d->refused[0] && d->count == 0) {
                not_allowed(f);
                return;
        }

        if (d->count)
                note_try(f, false);

        if (!f->http) {
                books_fail_flow(f, why, NULL,
                                ahead_over(f, LEDGER_END_FAILED, effect_reason_text(why), NULL));
                flow_end(f, true);
                return;
        }

        half_open(f, false);
        requests_not_connected(f, why);
        requests_drive(f);
}

/* ---- time ---- */

static void tick(struct flow *f)
{
        if (f->state == FLOW_PARTING) {
                part_tick(f);
        } else if (f->door && decide_closed(f->b, f->door)) { /* a request in the middle is cut, too */
                books_deny(f->b, &(struct books_entry){ .to = f->row_to, .reason = REASON_EXPIRED });
                books_cut(f);
                flow_end(f, true);
        } else if (f->give_up_ns && f->b->now_ns >= f->give_up_ns) {
                dial_stop(f);
                flow_not_dialed(f, REASON_NO_ANSWER_IN_TIME);
        } else if (f->state == FLOW_DIALING) {
                dial_tick(f);
        }
}

void flow_tick(struct broker *b)
{
        for (struct flow *f = b->flows, *next; f; f = next) {
                next = f->next;
                tick(f);
        }
}
