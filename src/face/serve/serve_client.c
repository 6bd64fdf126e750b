/* SPDX-License-Identifier: MIT */
/* face/serve/serve_client.c - one connection: requests in, answers out. Neither direction ever blocks the
 * loop, which drives boxes. */
#include "base/clock.h"
#include "base/fd.h"
#include "face/serve/internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void client_free(struct server *s, struct client *c)
{
        job_unwatch(s, c);
        aside_drop(s, c);
        question_drop(s, c);
        approvals_stream_free(c);
        fd_close(&c->fd);
        request_done(&c->in);
        buf_done(&c->out);
        free(c);
}

/* It says nothing, or has not read what waits for it. Longer than that only a full server asks for. */
bool client_may_go(const struct client *c, uint64_t now_ns)
{
        if (c->out.n == 0)
                return !c->busy;

        return c->unread_ns && now_ns - c->unread_ns >= UNREAD_S * 1000000000ull;
}

/* Who connects and says or reads nothing must not keep others out: the one that is due first makes room. */
static size_t place_for(struct server *s)
{
        size_t found = CLIENTS_MAX;
        uint64_t now = clock_mono_ns();
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
                const struct client *c = s->clients[i];
                if (!c)
                        return i;
                if (client_may_go(c, now) &&
                    (found == CLIENTS_MAX || c->deadline_ns < s->clients[found]->deadline_ns))
                        found = i;
        }

        if (found < CLIENTS_MAX) {
                client_free(s, s->clients[found]);
                s->clients[found] = NULL;
        }
        return found;
}

void client_accept(struct server *s, size_t listener)
{
        AUTO_FD(fd, accept4(s->listeners[listener], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        size_t at = fd < 0 ? CLIENTS_MAX : place_for(s);
        struct client *c = at == CLIENTS_MAX ? NULL : calloc(1, sizeof *c);
        if (!c)
                return;

        int one = 1;
        if (s->ports[listener])
                (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c->fd = TAKE_FD(fd);
        c->port = s->ports[listener];
        client_due(c, READ_S);
        s->clients[at] = c;
}

/* ---- in ---- */

static void name_request(struct client *c)
{
        char id[ID_MAX] = "";
        if (request_is_word(c->in.r.id, sizeof c->id - 1))
                (void) snprintf(c->id, sizeof c->id, "%.71s", c->in.r.id);
        else
                (void) snprintf(c->id, sizeof c->id, "%s", random_id("q", id) < 0 ? "unknown" : id);
}

static void answer_whole(struct server *s, struct client *c)
{
        struct reply r = { 0 };
        struct serve_call call = client_call(s, c);
        if (c->admitted.route->time == ROUTE_ASIDE)
                aside_begin(&call, &r);
        else
                serve_handle(&call, &r);
        if (r.status)
                client_answer(c, &r);
}

/* Before a body is read: is the request to be answered at all? */
static void answer_head(struct server *s, struct client *c)
{
        struct reply r = { 0 };
        s->requests++;
        name_request(c);
        c->last |= c->in.r.close;
        c->busy = true;
        if (!admit(s, c, &c->admitted, &r)) {
                c->last |= c->in.r.length != 0;
                client_answer(c, &r);
                return;
        }

        if (c->in.expects)
                buf_puts(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        request_accept(&c->in, route_body_max(c->admitted.route));
}

static void fail(struct client *c)
{
        struct reply r = { 0 };
        name_request(c);
        c->last = true;
        reply_problem(&r, c->in.status, "request", c->in.why, NULL);
        client_answer(c, &r);
}

void client_parse(struct server *s, struct client *c)
{
        c->again = false;
        while (!c->gone && !c->lingers && c->in.stage != READ_DONE) {
                switch (request_step(&c->in)) {
                case REQUEST_MORE:
                        return;
                case REQUEST_HEADED:
                        answer_head(s, c);
                        break;
                case REQUEST_WHOLE:
                        answer_whole(s, c);
                        break;
                case REQUEST_BAD:
                        fail(c);
                        return;
                }
                if (c->last && !c->busy)
                        return;
        }
}

void client_read(struct server *s, struct client *c)
{
        enum { CHUNK = 65536, AHEAD_MAX = 1 << 20 };
        char bytes[CHUNK];
        ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                c->gone = true;
        if (n <= 0 || c->lingers)
                return;

        if (c->in.in.n == 0 && !c->busy)
                client_due(c, READ_S);
        request_add(&c->in, bytes, (size_t) n);
        if (c->in.stage != READ_DONE)
                client_parse(s, c);
        else
                c->gone |= c->in.in.n > AHEAD_MAX;
        client_flush(c);
}

/* Answering is not timed: a run takes as long as it may. */
bool client_is_late(const struct client *c, uint64_t now_ns)
{
        bool answering = c->busy && c->in.stage == READ_DONE && c->out.n == 0;
        return !answering && now_ns >= c->deadline_ns;
}
