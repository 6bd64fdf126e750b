/* SPDX-License-Identifier: MIT */
/* broker/egress/relay.c - moves bytes both ways between the box and the outside. Small messages are copied; a
 * direction that fills a whole buffer becomes a pipe and is spliced, so that bulk data never enters our
 * memory. Back-pressure: if one side does not read, the other is not read either. No direction ever holds
 * more than its one buffer or pipe. */
#include "base/fd.h"
#include "base/secret_words.h"
#include "broker/egress/http/sni_check.h"
#include "broker/egress/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>

enum { PIPE_BYTES = 256 * 1024, ROUNDS = 16 };

enum outcome { PUMP_IDLE = 0, PUMP_MORE, PUMP_EMPTY /* a budget */, PUMP_REFUSED, PUMP_BROKEN };

static enum outcome of_errno(void) { return errno == EAGAIN || errno == EINTR ? PUMP_IDLE : PUMP_BROKEN; }

/* The budget is used up: do bytes wait, or EOF? Not a byte is taken, not even of those that arrive meanwhile.
 */
static enum outcome look_only(struct half *h)
{
        char c;
        ssize_t n = recv(h->from->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n < 0)
                return of_errno();
        h->ended = n == 0;
        return n > 0 ? PUMP_EMPTY : PUMP_IDLE;
}

static void spend_bytes(struct flow *f, const struct half *h, size_t n)
{
        accounting_spend(f->b, f->door, h->is_out, n);
        *(h->is_out ? &f->sent : &f->received) += n;
        if (!f->row)
                return;
        *(h->is_out ? &f->row->sent : &f->row->received) += n;
        accounting_touch(f->b, f->row);
}

static enum outcome send_rest(struct half *h)
{
        while (h->held > 0) {
                ssize_t n = send(h->to->fd, h->rest.p + h->rest_at, h->held, MSG_NOSIGNAL);
                if (n < 0)
                        return of_errno();
                h->rest_at += (size_t) n;
                h->held -= (size_t) n;
        }

        return PUMP_MORE;
}

static enum outcome keep_rest(struct half *h, const char *p, size_t n)
{
        h->rest.n = 0;
        buf_add(&h->rest, p, n);
        if (h->rest.failed)
                return PUMP_BROKEN;

        h->held = n;
        h->rest_at = 0;
        return PUMP_IDLE;
}

static void become_bulk(struct broker *b, struct half *h)
{
        if (b->bulk_count >= BULK_MAX || (b->canaries && h->is_out))
                return; /* copying goes on */

        if (pipe2(h->pipe, O_NONBLOCK | O_CLOEXEC) < 0) {
                h->pipe[0] = h->pipe[1] = -1;
                return; /* copying goes on */
        }

        (void) fcntl(h->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
        h->bulk = true;
        b->bulk_count++;
}

/* A server may request a second ClientHello: the bytes after the first are checked as well. */
static void hello_left(struct flow *f, size_t n)
{
        if (!f->hello_left)
                return;
        f->hello_left -= n;
        f->greeted = f->hello_left > 0 || f->hello_last;
}

/* The server's first bytes. Everything after a ServerHello is encrypted. */
static void flow_answered(struct flow *f, struct span bytes)
{
        if (!f->hello_passed || f->received != bytes.n || greet_asks_again(bytes))
                return;
        f->hello_last = true;
        if (!f->greeted)
                broker_again(f);
        f->greeted = true;
}

/* The next bytes of the box; the last ones before them are looked at once more. */
static bool holds_canary(const struct broker *b, struct half *h, struct span bytes)
{
        enum { TAIL = 1024 };
        if (!b->canaries || !h->is_out)
                return false;

        buf_add(&h->seen, bytes.p, bytes.n);
        bool found = h->seen.failed || secret_words_find(b->canaries, buf_span(&h->seen)) != 0;
        if (h->seen.n > TAIL) {
                memmove(h->seen.p, h->seen.p + h->seen.n - TAIL, TAIL);
                h->seen.n = TAIL;
        }
        return found;
}

/* One read and its consequences. */
static enum outcome copy_once(struct flow *f, struct half *h, bool hup)
{
        char *p = f->b->buffer;
        enum outcome r = h->held ? send_rest(h) : PUMP_MORE;
        if (r != PUMP_MORE || h->ended)
                return h->ended && r == PUMP_MORE ? PUMP_IDLE : r;

        size_t most = h->is_out && f->hello_left ? f->hello_left : sizeof f->b->buffer;
        size_t room = accounting_room(f->b, f->door, h->is_out, most);
        if (room == 0)
                return look_only(h);

        ssize_t n = recv(h->from->fd, p, room, 0);
        if (n < 0)
                return of_errno();

        if (n == 0) {
                h->ended = true;
                return PUMP_IDLE;
        }

        spend_bytes(f, h, (size_t) n);
        if (holds_canary(f->b, h, span_of(p, (size_t) n))) {
                accounting_deny_flow(f, REASON_CANARY, NULL);
                return PUMP_REFUSED;
        }

        if (h->is_out)
                hello_left(f, (size_t) n);
        else
                flow_answered(f, span_of(p, (size_t) n));

        ssize_t k = send(h->to->fd, p, (size_t) n, MSG_NOSIGNAL);
        if (k < 0 && of_errno() == PUMP_BROKEN)
                return PUMP_BROKEN;

        if (k < n)
                return keep_rest(h, p + (k > 0 ? k : 0), (size_t) (n - (k > 0 ? k : 0)));

        if ((size_t) n == sizeof f->b->buffer)
                become_bulk(f->b, h);
        else if (!hup && (size_t) n < room)
                return PUMP_IDLE; /* edge-triggered: a short read has emptied it */

        return PUMP_MORE;
}

/* Into the pipe, as much as the budget lets. */
static enum outcome splice_in(struct flow *f, struct half *h)
{
        size_t room = accounting_room(f->b, f->door, h->is_out, PIPE_BYTES);
        if (room == 0) {
                enum outcome r = look_only(h);
                return r == PUMP_IDLE && h->ended ? PUMP_MORE : r;
        }

        ssize_t n = splice(h->from->fd, NULL, h->pipe[1], NULL, room, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
        if (n < 0)
                return of_errno();

        h->ended = n == 0;
        h->held += (size_t) n;
        if (n > 0)
                spend_bytes(f, h, (size_t) n);

        return PUMP_MORE;
}

static enum outcome splice_once(struct flow *f, struct half *h)
{
        enum outcome r = PUMP_IDLE;
        if (!h->ended && h->held < PIPE_BYTES / 2)
                r = splice_in(f, h);

        if (r > PUMP_MORE)
                return r;

        bool moved = r == PUMP_MORE;
        if (h->held > 0) {
                ssize_t n =
                        splice(h->pipe[0], NULL, h->to->fd, NULL, h->held, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
                if (n < 0 && of_errno() == PUMP_BROKEN)
                        return PUMP_BROKEN;
                h->held -= n > 0 ? (size_t) n : 0;
                moved |= n > 0;
        }

        return moved && !(h->ended && h->held == 0) ? PUMP_MORE : PUMP_IDLE;
}

static void tell_greeting(struct flow *f, const struct greeting *g)
{
        char permit[320] = "", named[300];
        decide_to_text(g->named, false, f->port, named, sizeof named);
        if (g->permit == PERMIT_NAMED)
                (void) snprintf(permit, sizeof permit, "net %.300s", named);
        else if (g->permit == PERMIT_REQUESTS)
                (void) snprintf(permit, sizeof permit, "net https://%.280s/**",
                                f->port == 443 ? f->host : f->row_to);

        accounting_deny(f->b,
                        &(struct accounting_entry){ .to = f->row_to, .reason = g->why, .permit = permit });
}

static struct greeting judge_greeting(const struct flow *f, struct span bytes, bool ended)
{
        return (f->hello_passed ? greet_again : greet_judge)(bytes, ended, f->host, f->port);
}

/* Nothing leaves before its first bytes are checked; it stays in the kernel's buffer until then. */
static enum outcome greet_flow(struct flow *f)
{
        enum outcome r = send_rest(&f->half[0]);
        if (r != PUMP_MORE)
                return r;

        ssize_t n = recv(f->client.fd, f->b->buffer, sizeof f->b->buffer, MSG_PEEK);
        if (n < 0)
                return of_errno();

        struct span bytes = span_of(f->b->buffer, (size_t) n);
        struct greeting g = judge_greeting(f, bytes, n == 0);
        struct pollfd end = { .fd = f->client.fd, .events = POLLRDHUP };
        if (g.verdict == GREETING_MORE && poll(&end, 1, 0) == 1)
                g = judge_greeting(f, bytes, true);

        f->greeted = g.verdict == GREETING_PASSES;
        if (f->greeted && n > 0 && !f->hello_passed) {
                accounting_seen(f, g.hello ? LOOKED_AT_HELLO : LOOKED_AT_BYTES);
                f->hello_left = g.bytes;
                f->hello_passed = g.bytes > 0;
        }

        if (g.verdict != GREETING_REFUSED)
                return f->greeted ? PUMP_MORE : PUMP_IDLE;

        tell_greeting(f, &g);
        return PUMP_REFUSED;
}

static enum outcome pump_half(struct flow *f, struct half *h, bool hup)
{
        enum outcome r = PUMP_MORE;
        for (unsigned i = 0; r == PUMP_MORE && i < ROUNDS; i++) {
                if (h->is_out && !f->greeted && (r = greet_flow(f)) != PUMP_MORE)
                        return r;
                r = h->bulk ? splice_once(f, h) : copy_once(f, h, hup);
        }

        if (r == PUMP_MORE)
                broker_again(f);

        if (h->ended && h->held == 0 && !h->shut) {
                (void) shutdown(h->to->fd, SHUT_WR);
                h->shut = true;
        }

        return r;
}

static enum flow_event pump_event(struct flow *f, const struct half *h, enum outcome r)
{
        if (r == PUMP_EMPTY)
                accounting_deny_flow(f, accounting_why(f->b, f->door, h->is_out), NULL);

        if (r == PUMP_EMPTY || r == PUMP_REFUSED)
                accounting_cut(f);

        if (r == PUMP_EMPTY || r == PUMP_REFUSED || r == PUMP_BROKEN)
                return EVENT_CUT;

        return f->half[0].shut && f->half[1].shut ? EVENT_DONE : EVENT_NONE;
}

static enum flow_event pump_and_judge(struct flow *f, struct half *h, bool hup)
{
        return pump_event(f, h, pump_half(f, h, hup));
}

enum flow_event relay_init(struct flow *f)
{
        f->half[0] =
                (struct half){ .from = &f->client, .to = &f->server, .pipe = { -1, -1 }, .is_out = true };
        f->half[1] = (struct half){ .from = &f->server, .to = &f->client, .pipe = { -1, -1 } };
        f->greeted = f->is_address; /* an address that a door names has no name to be held against */
        if (f->greeted)
                accounting_seen(f, LOOKED_AT_BYTES);

        /* Bytes that came before the watch are not reported again by epoll. */
        enum flow_event e = pump_and_judge(f, &f->half[0], true);
        return e ? e : pump_and_judge(f, &f->half[1], true);
}

enum flow_event relay_event(struct flow *f, const struct source *s, uint32_t events)
{
        bool client = s->kind == SOURCE_CLIENT, hup = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
        struct half *reads = &f->half[client ? 0 : 1], *writes = &f->half[client ? 1 : 0];
        enum flow_event e = EVENT_NONE;
        if (client && events & EPOLLHUP && f->half[0].shut)
                return EVENT_CUT; /* all its bytes are passed on, and the receiver of further bytes is gone */

        if (events == 0 || (events & EPOLLIN) || hup)
                e = pump_and_judge(f, reads, hup || events == 0);

        if (!e && (events == 0 || ((events & EPOLLOUT) && (writes->held || writes->bulk))))
                e = pump_and_judge(f, writes, events == 0);

        return e;
}

void relay_done(struct flow *f)
{
        for (unsigned i = 0; i < 2; i++) {
                buf_done(&f->half[i].rest);
                buf_done(&f->half[i].seen);
                if (!f->half[i].from)
                        continue;
                f->b->bulk_count -= f->half[i].bulk;
                f->half[i].bulk = false;
                fd_close(&f->half[i].pipe[0]);
                fd_close(&f->half[i].pipe[1]);
        }
}

/* A connection whose last answer is sent is closed slowly. Closing a socket that has unread bytes resets it,
 * and the reset takes the answer from a client that was still sending. So the broker shuts down its side and
 * drops incoming bytes until the client's EOF: for a limited time, and charged to no budget, because the
 * bytes go nowhere. */

enum { SILENT_S = 5, AT_MOST_S = 30 };

static uint64_t in_seconds(const struct flow *f, unsigned s)
{
        return f->b->now_ns + s * UINT64_C(1000000000);
}

enum flow_event linger_begin(struct flow *f)
{
        f->give_up_ns = in_seconds(f, SILENT_S);
        f->linger_until_ns = in_seconds(f, AT_MOST_S);
        return shutdown(f->client.fd, SHUT_WR) < 0 ? EVENT_DONE : linger_event(f);
}

enum flow_event linger_event(struct flow *f)
{
        ssize_t n = 1;
        for (unsigned i = 0; n > 0 && i < ROUNDS; i++)
                n = recv(f->client.fd, f->b->buffer, sizeof f->b->buffer, 0);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                return EVENT_DONE;

        f->give_up_ns = in_seconds(f, SILENT_S);
        if (n > 0)
                broker_again(f);

        return EVENT_NONE;
}

enum flow_event linger_tick(struct flow *f)
{
        return f->b->now_ns >= f->give_up_ns || f->b->now_ns >= f->linger_until_ns ? EVENT_DONE : EVENT_NONE;
}
