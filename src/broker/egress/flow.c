/* SPDX-License-Identifier: MIT */
/* broker/egress/flow.c - the life of one connection of the box, as a table of states and events at the end of
 * this file. The files around it move bytes, dial and resolve; each returns an event, and only this file
 * decides the next state. An effect that a door covers may still be stopped before it leaves: departure.c. */
#include "broker/egress/broker_labels.h"
#include "broker/egress/departure.h"
#include "broker/egress/held.h"
#include "broker/egress/http/http2.h"
#include "broker/egress/internal.h"
#include "broker/egress/requests.h"
#include "broker/egress/streams.h"
#include "broker/egress/write_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ACCEPT_ROUND = 16, GIVE_UP_S = 30, FAILS_IN_A_ROW = 8, REST_S = 5 };

/* Closing resets every new connection: if the broker is killed, no peer takes a truncated stream for whole.
 * Only EOF from both sides takes that back. */
static void reset_on_close(int fd, bool reset)
{
        const struct linger how = { reset, 0 };
        if (fd >= 0)
                (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &how, sizeof how);
}

/* ---- birth ---- */

static struct flow *flow_new(struct broker *b, int client)
{
        struct flow *f = calloc(1, sizeof *f);
        if (!f)
                return NULL;

        f->b = b;
        f->group = b->group;
        f->client = (struct source){ SOURCE_CLIENT, client, f };
        f->server.fd = f->check.fd = -1;
        if (client >= 0 && broker_watch(b, &f->client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) < 0) {
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

/* ---- ends ---- */

static void half_open(struct flow *f, bool is)
{
        if (f->counted_half_open == is)
                return;
        f->counted_half_open = is;
        f->b->half_open += is ? 1 : -1u;
        f->give_up_ns = is ? f->b->now_ns + GIVE_UP_S * UINT64_C(1000000000) : 0;
}

static void close_whole(const struct flow *f)
{
        reset_on_close(f->client.fd, false);
        reset_on_close(f->server.fd, false);
}

static void leave_server(struct flow *f)
{
        dial_stop(f);
        half_open(f, false);
        broker_forget(&f->server);
}

static void end_flow(struct flow *f, bool reset);

/* The connection of these streams is over: none of them has a client. */
static void streams_over(struct flow *f)
{
        while (f->streams) {
                struct flow *c = f->streams;
                http_flow_client_left(c->http);
                end_flow(c, true);
        }
}

/* Closes both ends. It is freed after this round: events of it may still point here. */
static void end_flow(struct flow *f, bool reset)
{
        struct broker *b = f->b;
        b->lingering -= f->state == FLOW_LINGERING;
        f->state = FLOW_OVER;
        streams_over(f);
        (void) ahead_over(f, reset ? LEDGER_END_CUT : LEDGER_END_DONE, reset ? "cut off" : "done", NULL);
        if (!reset)
                close_whole(f);

        held_withdraw(f);
        leave_server(f);
        broker_forget(&f->client);
        relay_done(f);
        if (f->parent)
                streams_leave(f);
        requests_done(f);

        *(f->prev ? &f->prev->next : &b->flows) = f->next;
        if (f->next)
                f->next->prev = f->prev;

        b->flow_count--;
        f->next_dead = b->dead;
        b->dead = f;
}

static enum flow_event cut_flow(struct flow *f)
{
        end_flow(f, true);
        return EVENT_NONE;
}

static enum flow_event finish_flow(struct flow *f)
{
        end_flow(f, false);
        return EVENT_NONE;
}

static enum flow_event linger_flow(struct flow *f)
{
        if (f->parent) /* no socket */
                return finish_flow(f);

        streams_over(f);
        (void) ahead_over(f, LEDGER_END_DONE, "done", NULL);
        close_whole(f);
        held_withdraw(f);
        leave_server(f);
        requests_done(f);
        f->door = NULL; /* whether it is still open does not matter */
        f->state = FLOW_LINGERING;
        f->b->lingering++;
        return linger_begin(f);
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

/* ---- before it leaves ---- */

/* Bytes: a connection is one effect. */
static enum flow_event record_flow(struct flow *f)
{
        enum effect_reason why;
        const char *detail = "";
        enum http_leave r = departure_connect(f, &why, &detail);
        if (r == HTTP_WAITS)
                return EVENT_NONE;

        f->recorded = r == HTTP_LEAVES;
        f->record_why = why;
        if (!f->recorded)
                (void) snprintf(f->record_detail, sizeof f->record_detail, "%s", detail);

        return EVENT_RECORDED;
}

static enum flow_event connect_server(struct flow *f);

static enum flow_event after_record(struct flow *f)
{
        if (departure_again(f))
                return connect_server(f);

        accounting_deny_flow(f, f->record_why, f->record_detail);
        return EVENT_CUT;
}

/* Requests: the waiting request goes out, or is denied. */
static enum flow_event request_recorded(struct flow *f)
{
        bool leaves = departure_again(f);
        requests_leave(f, leaves, f->record_why, f->record_detail);
        return requests_drive(f);
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

static enum flow_event fail_flow(struct flow *f, enum effect_reason why)
{
        f->why = why;
        return EVENT_FAILED;
}

static enum flow_event dial_flow(struct flow *f, const struct egress_address *list, unsigned n)
{
        f->state = FLOW_DIALING;
        return dial_start(f, list, n);
}

static enum flow_event connect_server(struct flow *f)
{
        struct broker *b = f->b;
        half_open(f, true);
        f->state = FLOW_RESOLVING;
        f->dial.count = 0;
        f->dial.refused[0] = f->address[0] = '\0';
        f->name = NULL;
        if (b->stage == POLICY_STAGE_MOCK) /* for every caller: this is the only place that connects */
                return fail_flow(f, REASON_MOCK_NOTHING);

        if (f->to_is_address)
                return dial_flow(f, &f->literal, 1);

        f->name = names_get(&b->names, f->to_host);
        if (!f->name)
                return fail_flow(f, REASON_TOO_MANY_NAMES);

        bool fresh = f->name->state != NAME_UNKNOWN && b->now_ns < f->name->good_until_ns;
        if (fresh && f->name->state != NAME_ASKED)
                return EVENT_RESOLVED;

        if (!fresh)
                resolver_ask(b, f->name, f->door);

        return EVENT_NONE; /* flow_resolved() reports it, also if the result is known at once */
}

static enum flow_event after_resolve(struct flow *f)
{
        if (is_resting(f))
                return fail_flow(f, REASON_BACK_OFF);

        if (f->name->state == NAME_FAILED || f->name->count == 0)
                return fail_flow(f, resolver_why(f->b, f->name));

        return dial_flow(f, f->name->address, f->name->count);
}

/* The request that needs the server goes on while the connection is pending. */
static enum flow_event connect_request(struct flow *f)
{
        enum flow_event e = connect_server(f);
        return e ? e : requests_drive(f);
}

static bool watch_server(struct flow *f)
{
        half_open(f, false);
        note_try(f, true);
        reset_on_close(f->server.fd, true);
        f->state = FLOW_OPEN;
        return broker_watch(f->b, &f->server, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) == 0;
}

static enum flow_event relay_flow(struct flow *f)
{
        labels_raise(f->b, f->door);
        return watch_server(f) ? relay_init(f) : EVENT_CUT;
}

static enum flow_event request_connected(struct flow *f)
{
        if (!watch_server(f))
                return EVENT_CUT;

        requests_connected(f);
        return requests_drive(f);
}

/* An address that the guard turned away is a refusal, with the line that would permit the first. */
struct guarded {
        char detail[96], permit[128];
};

static bool is_guarded(const struct flow *f, struct guarded *ret)
{
        char to[96];
        const struct dial *d = &f->dial;
        if (!d->refused[0] || d->count > 0)
                return false;

        (void) snprintf(ret->detail, sizeof ret->detail, "%s, %s", egress_reach_name(d->refused_reach),
                        d->refused);
        decide_to_text(d->refused, true, f->to_port, to, sizeof to);
        (void) snprintf(ret->permit, sizeof ret->permit, "net %s", to);
        return true;
}

static enum flow_event after_failure(struct flow *f)
{
        struct guarded g;
        if (is_guarded(f, &g)) {
                accounting_deny(f->b, &(struct accounting_entry){ .to = f->row_to,
                                                                  .reason = REASON_GUARDED_ADDRESS,
                                                                  .detail = g.detail,
                                                                  .permit = g.permit });
                (void) ahead_over(f, LEDGER_END_REFUSED, effect_reason_text(REASON_GUARDED_ADDRESS), NULL);
                return EVENT_CUT;
        }

        if (f->dial.count)
                note_try(f, false);

        accounting_fail_flow(f, f->why, NULL,
                             ahead_over(f, LEDGER_END_FAILED, effect_reason_text(f->why), NULL));
        return EVENT_CUT;
}

/* The client gets an answer, and may send another request. */
static enum flow_event request_failed(struct flow *f)
{
        struct guarded g;
        half_open(f, false);
        f->state = FLOW_OPEN;
        if (is_guarded(f, &g)) {
                requests_not_allowed(f, g.detail, g.permit);
                return requests_drive(f);
        }

        if (f->dial.count)
                note_try(f, false);

        requests_not_connected(f, f->why);
        return requests_drive(f);
}

/* ---- sockets ---- */

/* Nothing is read before there is somewhere to send it to. */
static enum flow_event wait_io(struct flow *f)
{
        return f->io_events & (EPOLLHUP | EPOLLERR) ? EVENT_CUT : EVENT_NONE;
}

static enum flow_event relay_io(struct flow *f) { return relay_event(f, f->io, f->io_events); }

/* ---- time ---- */

static enum flow_event tick_flow(struct flow *f)
{
        if (f->door && decide_closed(f->b, f->door)) { /* also cuts a request in the middle */
                accounting_deny_flow(f, REASON_EXPIRED, NULL);
                accounting_cut(f);
                return EVENT_CUT;
        }

        if (f->give_up_ns && f->b->now_ns >= f->give_up_ns) {
                dial_stop(f);
                return fail_flow(f, REASON_NO_ANSWER_IN_TIME);
        }

        return f->state == FLOW_DIALING ? dial_tick(f) : EVENT_NONE;
}

/* ---- the table ---- */

typedef enum flow_event (*flow_step)(struct flow *f);

/* The steps that are the same in each state of an opaque connection, and of one whose requests are decided
 * one by one, each with its own door and server: that is open while they are pending. An empty entry does
 * nothing. */
static const flow_step always[2][EVENT__COUNT] = {
        { [EVENT_IO] = wait_io, [EVENT_TICK] = tick_flow, [EVENT_CUT] = cut_flow },
        { [EVENT_RECORDED] = request_recorded,
          [EVENT_IO] = requests_drive,
          [EVENT_WANTS_SERVER] = connect_request,
          [EVENT_TICK] = tick_flow,
          [EVENT_ANSWERED] = linger_flow,
          [EVENT_CUT] = cut_flow },
};

/* The steps that are particular to a state. */
static const flow_step steps[2][FLOW_STATE__COUNT][EVENT__COUNT] = {
        { [FLOW_RECORDING] = { [EVENT_ACCEPTED] = record_flow, [EVENT_RECORDED] = after_record },
          [FLOW_RESOLVING] = { [EVENT_RESOLVED] = after_resolve, [EVENT_FAILED] = after_failure },
          [FLOW_DIALING] = { [EVENT_CONNECTED] = relay_flow, [EVENT_FAILED] = after_failure },
          [FLOW_OPEN] = { [EVENT_IO] = relay_io, [EVENT_DONE] = finish_flow } },
        { [FLOW_RESOLVING] = { [EVENT_RESOLVED] = after_resolve, [EVENT_FAILED] = request_failed },
          [FLOW_DIALING] = { [EVENT_CONNECTED] = request_connected, [EVENT_FAILED] = request_failed },
          [FLOW_OPEN] = { [EVENT_ACCEPTED] = requests_drive } },
};

/* Either, when its last answer is out. */
static const flow_step lingering[EVENT__COUNT] = { [EVENT_IO] = linger_event,
                                                   [EVENT_TICK] = linger_tick,
                                                   [EVENT_DONE] = finish_flow,
                                                   [EVENT_CUT] = cut_flow };

/* The run has read labelled data since the last event: what is under way must be fit for it. */
static enum flow_event after_rise(struct flow *f, enum flow_event e)
{
        enum effect_reason why = labels_stop(f);
        if (!why)
                return e;

        if (f->http) {
                http_flow_cut(f->http, why);
                return e;
        }

        accounting_deny_flow(f, why, labels_detail(f->b));
        accounting_cut(f);
        return EVENT_CUT;
}

/* ---- streams of HTTP/2 ---- */

static struct flow *idle_flow(const struct flow *connection)
{
        struct flow *c = connection->streams;
        while (c && (c->stream || !http_flow_is_idle(c->http)))
                c = c->next_stream;
        return c;
}

/* The flow of a stream is like its connection's, and has no socket. */
static struct flow *stream_flow(struct flow *connection)
{
        struct broker *b = connection->b;
        struct flow *f = b->flow_count < FLOWS_MAX ? flow_new(b, -1) : NULL;
        if (!f)
                return NULL;

        memcpy(f->host, connection->host, sizeof f->host);
        memcpy(f->row_to, connection->row_to, sizeof f->row_to);
        f->is_address = connection->is_address;
        f->port = connection->port;
        f->row = connection->row;
        f->state = FLOW_OPEN;
        f->parent = connection;
        f->next_stream = connection->streams;
        connection->streams = f;
        if (requests_begin(f) == 0)
                return f;

        end_flow(f, true);
        return NULL;
}

/* A stream becomes the next request of a flow that is idle, or a flow. */
static void accept_stream(struct flow *connection, struct http2_stream *s)
{
        struct flow *f = idle_flow(connection);
        if (!f)
                f = stream_flow(connection);

        if (!f) {
                accounting_deny_flow(connection, REASON_TOO_MANY_FLOWS, NULL);
                http2_stream_refuse(s);
                return;
        }

        f->stream = s;
        broker_again(f);
}

static void accept_streams(struct flow *f)
{
        struct http2_front *front = f->http && f->state != FLOW_OVER ? http_flow_front(f->http) : NULL;
        struct http2_stream *s;
        while (front && (s = http2_front_accept(front)))
                accept_stream(f, s);
}

static void flow_happens(struct flow *f, enum flow_event e)
{
        uint64_t before = f->b->group;
        f->b->group = f->group;
        e = after_rise(f, e);
        while (e != EVENT_NONE && f->state != FLOW_OVER) {
                bool http = f->http;
                flow_step step = f->state == FLOW_LINGERING ? lingering[e]
                                 : steps[http][f->state][e] ? steps[http][f->state][e]
                                                            : always[http][e];
                e = step ? step(f) : EVENT_NONE;
        }

        accept_streams(f);
        f->b->group = before;
}

/* ---- events ---- */

void flow_io(struct flow *f, struct source *s, uint32_t events)
{
        if (f->state == FLOW_OVER)
                return;

        if (s->kind == SOURCE_TRY) {
                flow_happens(f, dial_event(f, s, events));
                return;
        }

        f->io = s;
        f->io_events = events;
        if (f->http)
                requests_note(f, s, events);

        flow_happens(f, EVENT_IO);
}

void flow_resolved(struct broker *b, const struct name *n)
{
        for (struct flow *f = b->flows, *next; f; f = next) {
                next = f->next;
                if (f->state == FLOW_RESOLVING && f->name == n)
                        flow_happens(f, EVENT_RESOLVED);
        }
}

void flow_recorded(struct broker *b)
{
        while (b->recorded_flows) {
                struct flow *f = b->recorded_flows;
                b->recorded_flows = f->next_recorded;
                flow_happens(f, EVENT_RECORDED);
        }
}

void flow_tick(struct broker *b)
{
        for (struct flow *f = b->flows, *next; f; f = next) {
                next = f->next;
                flow_happens(f, EVENT_TICK);
        }
}

/* ---- the box connects ---- */

/* `door` NULL: each request has its own. */
static void begin_flow(struct broker *b, int fd, const struct listen_asked *q, const struct door *door)
{
        struct flow *f = flow_new(b, fd);
        if (!f) {
                listen_refuse(b, fd, q, REASON_NO_MEMORY, "");
                return;
        }

        (void) snprintf(f->host, sizeof f->host, "%s", q->host);
        (void) snprintf(f->to_host, sizeof f->to_host, "%s", q->host);
        (void) snprintf(f->row_to, sizeof f->row_to, "%s", q->to);
        f->is_address = f->to_is_address = q->net.is_address;
        f->port = f->to_port = q->net.port;
        f->literal = q->literal;
        f->door = door;
        f->row = accounting_connected(b, names_find(&b->names, &q->literal), q->to);
        if (f->row)
                f->row->requests += door != NULL;

        f->state = door ? FLOW_RECORDING : FLOW_OPEN;
        flow_happens(f, door || requests_begin(f) == 0 ? EVENT_ACCEPTED : EVENT_CUT);
}

/* An answered flow is closed in favour of one that is not. */
static bool give_way(struct broker *b)
{
        struct flow *oldest = NULL;
        for (struct flow *f = b->lingering ? b->flows : NULL; f; f = f->next) /* the newest first */
                oldest = f->state == FLOW_LINGERING ? f : oldest;

        if (oldest)
                flow_happens(oldest, EVENT_DONE);

        return oldest != NULL;
}

static void decide_flow(struct broker *b, int fd)
{
        struct listen_asked q;
        enum effect_reason why = REASON_NONE;
        if (listen_read(b, fd, &q) < 0) {
                (void) close(fd);
                return;
        }

        struct decision d = policy_decide(b->policy, &q.effect);
        bool allowed = d.answer == ANSWER_ALLOW, open = allowed && !decide_closed(b, d.door);
        if (b->flow_count >= FLOWS_MAX && !give_way(b))
                listen_refuse(b, fd, &q, REASON_TOO_MANY_FLOWS, "");
        else if (decide_sees_requests(b, q.host, q.net.port, open))
                begin_flow(b, fd, &q, NULL);
        else if (!open)
                listen_refuse(b, fd, &q, allowed ? REASON_EXPIRED : d.reason, q.permit);
        else if (b->stage == POLICY_STAGE_MOCK)
                listen_refuse(b, fd, &q, REASON_MOCK_BYTES, "");
        else if (accounting_enter(b, d.door, false, &why) < 0)
                listen_refuse(b, fd, &q, why, "");
        else
                begin_flow(b, fd, &q, d.door);
}

void flow_accept(struct broker *b, struct source *s)
{
        for (unsigned i = 0; i < ACCEPT_ROUND; i++) {
                if (b->half_open >= HALF_OPEN_MAX) { /* the rest wait in the kernel's queue */
                        listen_pause(b, true);
                        return;
                }
                int fd = listen_accept(b, s);
                if (fd < 0)
                        return;
                b->group = whose_connection(b, fd);
                decide_flow(b, fd);
                b->group = 0;
        }
}
