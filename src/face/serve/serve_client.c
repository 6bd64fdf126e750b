/* SPDX-License-Identifier: MIT */
/* face/serve/serve_client.c - one connection: requests in, answers out. */
#include "base/clock.h"
#include "base/fd.h"
#include "face/serve/internal.h"
#include "face/serve/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

void client_free(struct server *s, struct client *c)
{
        job_unwatch(s, c);
        aside_drop(s, c);
        question_drop(s, c);
        approvals_stream_free(c);
        http_conn_done(&c->h);
        free(c);
}

static struct http_conn *conn_at(void *ctx, size_t i)
{
        struct server *s = ctx;
        return s->clients[i] ? &s->clients[i]->h : NULL;
}

size_t clients_place(struct server *s) { return http_conn_place(conn_at, CLIENTS_MAX, s); }

void client_accept(struct server *s, size_t listener)
{
        client_add(s, accept4(s->listeners[listener], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), listener);
}

void client_add(struct server *s, int from, size_t listener)
{
        AUTO_FD(fd, from);
        size_t at = fd < 0 ? CLIENTS_MAX : clients_place(s);
        if (fd >= 0)
                (void) fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
        if (at == CLIENTS_MAX || (s->own && !own_peer(fd)))
                return;

        if (s->clients[at])
                client_free(s, s->clients[at]);
        s->clients[at] = calloc(1, sizeof *s->clients[at]);
        if (s->clients[at])
                s->clients[at]->s = s;
        if (s->clients[at])
                http_conn_begin(&s->clients[at]->h, TAKE_FD(fd), s->ports[listener]);
}

/* ---- in ---- */

static void name_request(struct client *c)
{
        char id[RANDOM_NAME] = "";
        if (request_is_word(c->h.in.r.id, sizeof c->id - 1))
                (void) snprintf(c->id, sizeof c->id, "%.71s", c->h.in.r.id);
        else
                (void) snprintf(c->id, sizeof c->id, "%s", random_name("q", id) < 0 ? "unknown" : id);
}

static void take_head(void *ctx, struct http_conn *h)
{
        struct server *s = ctx;
        struct client *c = (struct client *) h;
        struct reply r = { 0 };
        s->requests++;
        c->begun_ns = clock_mono_ns();
        name_request(c);
        if (admit(s, c, &c->admitted, &r))
                http_conn_take(h, route_body_max(c->admitted.route));
        else
                client_answer(c, &r);
}

static void take_whole(void *ctx, struct http_conn *h)
{
        struct client *c = (struct client *) h;
        struct reply r = { 0 };
        struct serve_call call = client_call(ctx, c);
        if (c->admitted.route->time == ROUTE_ASIDE)
                aside_begin(&call, &r);
        else
                serve_handle(&call, &r);
        if (r.status)
                client_answer(c, &r);
}

static void take_bad(void *ctx, struct http_conn *h)
{
        struct client *c = (struct client *) h;
        c->begun_ns = clock_mono_ns();
        c->admitted = (struct admitted){ 0 };
        struct reply r = { 0 };
        (void) ctx;
        name_request(c);
        reply_problem(&r, h->in.status, "request", h->in.why, NULL);
        client_answer(c, &r);
}

void client_parse(struct server *s, struct client *c)
{
        static const struct http_handler handler = { take_head, take_whole, take_bad };
        http_conn_parse(&c->h, &handler, s);
        http_conn_flush(&c->h);
}

void client_read(struct server *s, struct client *c)
{
        http_conn_read(&c->h);
        client_parse(s, c);
}
