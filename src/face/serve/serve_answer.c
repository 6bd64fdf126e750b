/* SPDX-License-Identifier: MIT */
/* face/serve/serve_answer.c - answers and events to a client. Never blocks the loop, which drives boxes. */
#include "face/serve/internal.h"

#include <stdio.h>
#include <string.h>

enum { RETRY_S = 10 };

struct serve_call client_call(struct server *s, struct client *c)
{
        return (struct serve_call){ .s = s,
                                    .client = c,
                                    .r = &c->h.in.r,
                                    .body = span_of(buf_str(&c->h.in.body), c->h.in.body.n),
                                    .tenant = c->admitted.tenant,
                                    .arg = c->admitted.arg };
}

void client_put(struct client *c, struct reply *r)
{
        if (r->body.failed)
                reply_problem(r, 503, "memory", "out of memory", NULL);

        AUTO_BUF(extra);
        buf_printf(&extra, "X-Request-Id: %s\r\n%s", c->id, r->extra);
        http_conn_put(&c->h, r->status, r->type ? r->type : "application/json", buf_str(&extra),
                      span_of(buf_str(&r->body), r->body.n));
        buf_done(&r->body);
}

void client_answer(struct client *c, struct reply *r)
{
        size_t bytes = r->body.n;
        client_put(c, r);
        log_request(c, r->status, bytes);
        http_conn_answered(&c->h);
}

/* ---- events ---- */

void client_begin_events(struct client *c)
{
        AUTO_BUF(extra);
        log_request(c, 200, 0);
        buf_printf(&extra, "X-Request-Id: %s\r\n", c->id);
        http_conn_stream(&c->h, buf_str(&extra));
}

static void follow_events(struct client *c)
{
        enum { AHEAD = 65536 };
        struct job *j = c->job;
        while (c->h.out.n - c->h.sent < AHEAD && c->event_at < j->events.n) {
                size_t n = j->events.n - c->event_at;
                n = n < AHEAD ? n : AHEAD;
                buf_add(&c->h.out, j->events.p + c->event_at, n);
                c->event_at += n;
                http_conn_flush(&c->h);
                if (c->h.gone || c->h.out.n > 0)
                        break;
        }

        if (j->state == JOB_ENDED && c->event_at >= j->events.n) {
                c->h.busy = false;
                c->job = NULL;
                j->watchers--;
                job_rest(j);
                http_conn_flush(&c->h);
        }
}

/* The server failed, not the command. */
static void reply_fault(const struct job *j, struct reply *r)
{
        struct err ignored;
        AUTO_BUF(members);
        buf_printf(&members, "{%s}", j->result.n ? buf_str(&j->result) + (*buf_str(&j->result) == ',') : "");
        struct json_doc *d = json_parse_data("result", buf_span(&members), &ignored);
        const struct json *error = d ? json_of(json_root(d), "error", JSON_OBJECT) : NULL;
        const char *what = error ? json_text(error, "message") : "";
        if (j->fault == 503)
                reply_later(r, 503, RETRY_S, what[0] ? what : "the server shut down before the run ended");
        else
                reply_problem(r, j->fault, error ? json_text(error, "code") : "internal",
                              what[0] ? what : "the box failed", error ? json_text(error, "hint") : NULL);
        size_t n = strlen(r->extra);
        (void) snprintf(r->extra + n, sizeof r->extra - n, "Location: /v1/runs/%s\r\n", j->id);
        json_free(d);
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
        if (!j->fault) {
                job_put(j, true, &r.body);
                reply_json(&r, 200);
        } else
                reply_fault(j, &r);
        c->job = NULL;
        j->watchers--;
        job_rest(j);
        client_answer(c, &r);
}

void job_watch(struct client *c, struct job *j, bool events, size_t from)
{
        c->job = j;
        c->events = events;
        c->event_at = from;
        c->h.busy = true;
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
