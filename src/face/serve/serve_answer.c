/* SPDX-License-Identifier: MIT */
/* face/serve/serve_answer.c - answers and events to a client. Never blocks the loop, which drives boxes. */
#include "base/clock.h"
#include "face/serve/internal.h"

#include <errno.h>
#include <sys/socket.h>

void client_due(struct client *c, unsigned seconds)
{
        c->deadline_ns = clock_mono_ns() + seconds * 1000000000ull;
}

void client_flush(struct client *c)
{
        while (c->sent < c->out.n && !c->gone) {
                ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);
                if (n < 0 && errno != EINTR && errno != EAGAIN)
                        c->gone = true;
                if (n < 0) {
                        c->unread_ns = c->unread_ns ? c->unread_ns : clock_mono_ns();
                        return;
                }
                c->sent += (size_t) n;
                client_due(c, WRITE_S);
        }

        c->sent = c->out.n = c->unread_ns = 0;
        if (c->busy || c->lingers)
                return;

        /* What the client still sends is read and dropped: a reset would take the answer with it. */
        c->lingers = c->last;
        client_due(c, c->last ? LINGER_S : c->in.in.n ? READ_S : IDLE_S);
        if (c->last)
                (void) shutdown(c->fd, SHUT_WR);
}

static void put_head(struct client *c, const struct reply *r)
{
        buf_printf(&c->out, "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nX-Request-Id: %s\r\n", r->status,
                   status_text(r->status), r->type ? r->type : "application/json", c->id);
        buf_puts(&c->out, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
        buf_puts(&c->out, r->extra);
        if (c->last)
                buf_puts(&c->out, "Connection: close\r\n");
}

struct serve_call client_call(struct server *s, struct client *c)
{
        return (struct serve_call){ .s = s,
                                    .client = c,
                                    .r = &c->in.r,
                                    .body = span_of(c->in.body.p ? c->in.body.p : "", c->in.body.n),
                                    .tenant = c->admitted.tenant,
                                    .arg = c->admitted.arg };
}

void client_answer(struct client *c, struct reply *r)
{
        if (r->body.failed)
                reply_problem(r, 503, "memory", "out of memory", NULL);

        put_head(c, r);
        buf_printf(&c->out, "Content-Length: %zu\r\n\r\n", r->body.n);
        buf_add(&c->out, r->body.p ? r->body.p : "", r->body.n);
        buf_done(&r->body);
        c->gone |= c->out.failed;
        c->busy = false;
        c->again = !c->last && c->in.in.n > 0;
        if (!c->last)
                request_next(&c->in);
        client_flush(c);
}

/* ---- events ---- */

void client_begin_events(struct client *c)
{
        struct reply r = { .status = 200, .type = "text/event-stream" };
        c->last = true;
        put_head(c, &r);
        buf_puts(&c->out, "X-Accel-Buffering: no\r\n\r\n");
}

static void follow_events(struct client *c)
{
        enum { AHEAD = 65536 };
        struct job *j = c->job;
        while (c->out.n - c->sent < AHEAD && c->event_at < j->events.n) {
                size_t n = j->events.n - c->event_at;
                n = n < AHEAD ? n : AHEAD;
                buf_add(&c->out, j->events.p + c->event_at, n);
                c->event_at += n;
                client_flush(c);
                if (c->gone || c->out.n > 0)
                        break;
        }

        if (j->state == JOB_ENDED && c->event_at >= j->events.n) {
                c->busy = false;
                c->job = NULL;
                j->watchers--;
                client_flush(c);
        }
}

void client_follow(struct client *c)
{
        struct job *j = c->job;
        if (c->events) {
                follow_events(c);
                return;
        }

        if (j->state != JOB_ENDED)
                return;

        struct reply r = { 0 };
        job_put(j, true, &r.body);
        reply_json(&r, 200);
        c->job = NULL;
        j->watchers--;
        client_answer(c, &r);
}

void job_watch(struct client *c, struct job *j, bool events, size_t from)
{
        c->job = j;
        c->events = events;
        c->event_at = from;
        c->busy = true;
        j->watchers++;
        if (events)
                client_begin_events(c);
        client_follow(c);
}

/* ---- the body of a request ---- */

void serve_handle(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        const struct route *route = c->client->admitted.route;
        const struct body_form *f = route->body;
        if (!f || f->is == BODY_RAW || (f->is == BODY_RAW_OR_JSON && !c->r->json)) {
                route->handle(c, r);
                return;
        }

        if (f->is == BODY_TYPED && !c->r->json) {
                reply_problem(r, 415, "type", "the body is JSON", "Content-Type: application/json");
                return;
        }

        struct json_doc *d = c->body.n ? json_parse("body", c->body, (struct err *) &e) : NULL;
        c->json = d ? json_root(d) : NULL;
        if (c->body.n && !d && f->is == BODY_SECRET)
                reply_problem(r, 400, "usage", "the body is not JSON", NULL); /* without the place */
        else if (c->body.n && !d)
                reply_error(r, 400, &e);
        else if (body_check(c->json, f, (struct err *) &e) < 0)
                reply_error(r, 422, &e);
        else
                route->handle(c, r);
        c->json = NULL;
        json_free(d);
}
