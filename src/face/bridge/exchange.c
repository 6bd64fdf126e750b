/* SPDX-License-Identifier: MIT */
/* face/bridge/exchange.c - a request and its answer, each in a thread of its own, which blocks. What ends
 * without an answer gets one of ours; redirects are not followed. */
#include "base/clock.h"
#include "base/fd.h"
#include "face/bridge/bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* One answer, while it is read. */
struct answer {
        struct bridge_exchange *x;
        struct bridge_link *l;
        struct buf in;       /* not parsed yet */
        struct http_head *h; /* points into `in` while it is used */
        struct bridge_events events;
        struct buf body;
        bool by_events, json, keep, whole;
        bool answered; /* the client has the answer */
        unsigned status;
        char session[BRIDGE_TEXT];
};

static void write_out(struct bridge *b, const struct buf *lines)
{
        (void) pthread_mutex_lock(&b->lock);
        (void) fd_write_all(1, lines->p, lines->n);
        (void) pthread_mutex_unlock(&b->lock);
}

/* ---- messages ---- */

/* The revision that the server chose; kept with its session before the client can answer. */
static void keep_session(const struct answer *a, struct span message)
{
        struct rpc m;
        struct bridge *b = a->x->b;
        rpc_read(message, &m);
        const char *version = m.result ? json_str(m.result, "protocolVersion") : NULL;
        (void) pthread_mutex_lock(&b->lock);
        if (version && bridge_is_session_id(span_str(version))) {
                (void) snprintf(b->session.version, sizeof b->session.version, "%.31s", version);
                (void) snprintf(b->session.id, sizeof b->session.id, "%s", a->session);
        }
        (void) pthread_mutex_unlock(&b->lock);
        rpc_done(&m);
}

static void take_message(void *ctx, struct span message)
{
        struct answer *a = ctx;
        AUTO_BUF(line);
        if (a->answered || a->x->given_up || !bridge_put_line(&line, message, a->x->id, &a->answered))
                return;

        if (a->answered && a->x->opens)
                keep_session(a, message);
        write_out(a->x->b, &line);
}

/* ---- the answer ---- */

static bool has_type(const struct http_head *h, const char *type)
{
        const struct http_field *f = http_field_find(h, "content-type", NULL);
        size_t n = strlen(type);
        return f && f->value.n >= n && strncasecmp((const char *) f->value.p, type, n) == 0 &&
               (f->value.n == n || f->value.p[n] == ';' || f->value.p[n] == ' ');
}

static bool read_more(struct answer *a)
{
        char bytes[16384];
        ssize_t n = bridge_link_read(a->l, bytes, sizeof bytes);
        if (n > 0)
                buf_add(&a->in, bytes, (size_t) n);
        return n > 0 && !a->in.failed;
}

/* Reads the head, without those of 1xx. Returns false if there is no head. */
static bool read_head(struct answer *a)
{
        for (;;) {
                enum http_read r = http_head_response(buf_span(&a->in), a->h);
                if (r == HTTP_BAD || a->in.n > HTTP_HEAD_MAX + 65536)
                        return false;
                if (r == HTTP_WHOLE && a->h->status >= 200)
                        return true;
                if (r == HTTP_WHOLE)
                        buf_drop(&a->in, a->h->bytes);
                else if (!read_more(a))
                        return false;
        }
}

static void judge_head(struct answer *a, struct http_body *body)
{
        const struct http_head *h = a->h;
        const struct http_field *id = http_field_find(h, "mcp-session-id", NULL);
        bool none = h->status == 204 || h->status == 304;
        a->status = h->status;
        a->by_events = h->status == 200 && has_type(h, "text/event-stream");
        a->json = has_type(h, "application/json");
        a->keep = !h->close && !h->http10;
        if (id && bridge_is_session_id(id->value))
                (void) snprintf(a->session, sizeof a->session, "%.*s", (int) id->value.n,
                                (const char *) id->value.p);
        http_body_init(body,
                       none            ? BODY_NONE
                       : h->chunked    ? BODY_CHUNKED
                       : h->has_length ? BODY_LENGTH
                                       : BODY_UNTIL_CLOSE,
                       h->length);
        body->extensions = true;
        a->keep &= body->kind != BODY_UNTIL_CLOSE;
        buf_drop(&a->in, h->bytes);
}

/* False: it is too long. */
static bool take_data(struct answer *a, struct span data)
{
        if (a->by_events)
                return bridge_events_add(&a->events, data, take_message, a);

        buf_add(&a->body, data.p, data.n);
        return a->body.n <= a->x->b->max && !a->body.failed;
}

static bool wants_more(const struct answer *a)
{
        return !a->whole && !a->x->given_up && !(a->by_events && a->answered);
}

static void read_body(struct answer *a, struct http_body *body)
{
        bool good = true;
        while (good && wants_more(a)) {
                size_t used = 0;
                struct span data = { 0 };
                enum body_state s = http_body_next(body, buf_span(&a->in), &used, &data);
                good = s != BODY_BAD && (s != BODY_DATA || take_data(a, data));
                buf_drop(&a->in, used);
                a->whole = s == BODY_END;
                if (good && s == BODY_MORE && !read_more(a)) {
                        a->whole = body->kind == BODY_UNTIL_CLOSE;
                        good = false;
                }
        }
}

static void read_answer(struct answer *a)
{
        struct http_body body;
        if (!read_head(a))
                return;

        judge_head(a, &body);
        read_body(a, &body);
        if (a->whole && a->json && a->body.n)
                take_message(a, buf_span(&a->body));
}

/* ---- connections that are kept ---- */

static struct bridge_link *take_idle(struct bridge *b)
{
        struct bridge_link *l = NULL;
        (void) pthread_mutex_lock(&b->lock);
        for (size_t i = 0; i < BRIDGE_IDLE && !l; i++) {
                l = b->idle[i];
                b->idle[i] = NULL;
                if (l && !bridge_link_is_quiet(l)) {
                        bridge_link_free(l);
                        l = NULL;
                }
        }
        (void) pthread_mutex_unlock(&b->lock);
        return l;
}

static void put_idle(struct bridge *b, struct bridge_link *l)
{
        (void) pthread_mutex_lock(&b->lock);
        for (size_t i = 0; i < BRIDGE_IDLE && l; i++)
                if (!b->idle[i]) {
                        b->idle[i] = l;
                        l = NULL;
                }
        (void) pthread_mutex_unlock(&b->lock);
        bridge_link_free(l);
}

/* From here on a cancellation shuts the connection down. */
static bool show_link(struct bridge_exchange *x, int fd)
{
        (void) pthread_mutex_lock(&x->b->lock);
        x->fd = fd;
        bool wanted = !x->given_up;
        (void) pthread_mutex_unlock(&x->b->lock);
        return wanted;
}

/* ---- one exchange ---- */

static void put_request(const struct bridge_exchange *x, struct buf *out)
{
        struct rpc m = { 0 };
        struct bridge *b = x->b;
        if (x->line)
                rpc_read(span_str(x->line), &m);
        (void) pthread_mutex_lock(&b->lock);
        struct bridge_session s = b->session;
        (void) pthread_mutex_unlock(&b->lock);
        bridge_put_head(out, &b->url, x->method, &s, x->line ? &m : NULL, x->line ? strlen(x->line) : 0);
        buf_puts(out, x->line ? x->line : "");
        rpc_done(&m);
}

/* Sends it. A kept connection may have ended meanwhile: then nothing came, and it is sent once more. */
static void send_and_read(struct answer *a, const char **ret_why)
{
        AUTO_BUF(request);
        struct bridge_exchange *x = a->x;
        put_request(x, &request);
        for (int fresh = 0; fresh < 2; fresh++) {
                a->l = fresh ? NULL : take_idle(x->b);
                if (!a->l && !fresh)
                        continue;
                if (!a->l && !(a->l = bridge_connect(&x->b->url, x->b->tls, ret_why)))
                        return;

                *ret_why = "the server's answer cannot be read";
                if (show_link(x, bridge_link_fd(a->l)) && bridge_link_write(a->l, buf_span(&request)))
                        read_answer(a);
                (void) show_link(x, -1);
                if (a->status || a->in.n || x->given_up || fresh)
                        return;
                bridge_link_free(a->l);
                a->l = NULL;
        }
}

static void put_status(const struct answer *a, struct buf *out)
{
        const struct bridge_url *u = &a->x->b->url;
        buf_printf(out, "the server answered with the status %u", a->status);
        if (a->status >= 300 && a->status < 400)
                buf_puts(out, ", a redirect, which is not followed");
        else if (a->status == 401)
                buf_puts(out,
                         ": it wants a credential: `cordon vault add NAME`, then add `--net 'URL POST GET "
                         "DELETE with NAME'`");
        else if (a->status == 502)
                buf_printf(out, ": no connection to %s:%s, or one that broke", u->host, u->port);
}

static void tell_failure(const struct answer *a, const char *why)
{
        AUTO_BUF(line);
        AUTO_BUF(text);
        if (a->status && a->status != 200)
                put_status(a, &text);
        else if (a->status && !a->by_events && !a->json)
                buf_puts(&text, "the server's answer is neither JSON nor events");
        else
                buf_puts(&text, a->status ? "the server's answer is not one to this request" : why);
        bridge_put_failure(&line, a->x->id, buf_str(&text));
        write_out(a->x->b, &line);
}

static void exchange_done(struct bridge_exchange *x)
{
        struct bridge *b = x->b;
        (void) pthread_mutex_lock(&b->lock);
        free(x->line);
        buf_done(&x->id_text);
        *x = (struct bridge_exchange){ .fd = -1 };
        (void) pthread_cond_broadcast(&b->changed);
        (void) pthread_mutex_unlock(&b->lock);
}

static void *run_exchange(void *ctx)
{
        struct bridge_exchange *x = ctx;
        const char *why = "the server cannot be reached";
        struct answer a = { .x = x, .events = { .max = x->b->max }, .h = calloc(1, sizeof *a.h) };
        if (a.h)
                send_and_read(&a, &why);
        if (x->id && !a.answered && !x->given_up)
                tell_failure(&a, why);

        if (a.l && a.keep && a.whole && a.in.n == 0 && !x->given_up)
                put_idle(x->b, a.l);
        else
                bridge_link_free(a.l);
        bridge_events_done(&a.events);
        buf_done(&a.in);
        buf_done(&a.body);
        free(a.h);
        exchange_done(x);
        return NULL;
}

/* ---- all of them ---- */

static struct bridge_exchange *find_room(struct bridge *b)
{
        for (size_t i = 0; i < BRIDGE_EXCHANGES; i++)
                if (!b->exchanges[i].used)
                        return &b->exchanges[i];
        return NULL;
}

static void read_what(struct bridge_exchange *x)
{
        struct rpc m;
        rpc_read(span_str(x->line), &m);
        if (m.kind == RPC_REQUEST) {
                rpc_put_id(&x->id_text, m.id);
                x->id = buf_str(&x->id_text);
                x->opens = strcmp(m.method, "initialize") == 0;
        }
        rpc_done(&m);
}

void bridge_begin(struct bridge *b, const char *method, char *line)
{
        pthread_t thread;
        struct bridge_exchange *x;
        (void) pthread_mutex_lock(&b->lock);
        while (!(x = find_room(b)))
                (void) pthread_cond_wait(&b->changed, &b->lock);
        *x = (struct bridge_exchange){ .b = b, .line = line, .method = method, .used = true, .fd = -1 };
        if (line)
                read_what(x);
        (void) pthread_mutex_unlock(&b->lock);

        if (pthread_create(&thread, NULL, run_exchange, x) == 0)
                (void) pthread_detach(thread);
        else
                (void) run_exchange(x);
}

void bridge_cancel(struct bridge *b, const char *id)
{
        (void) pthread_mutex_lock(&b->lock);
        for (size_t i = 0; i < BRIDGE_EXCHANGES; i++) {
                struct bridge_exchange *x = &b->exchanges[i];
                if (!x->used || !x->id || strcmp(x->id, id) != 0)
                        continue;
                x->given_up = true;
                if (x->fd >= 0)
                        (void) shutdown(x->fd, SHUT_RDWR);
        }
        (void) pthread_mutex_unlock(&b->lock);
}

static bool is_busy(const struct bridge *b)
{
        for (size_t i = 0; i < BRIDGE_EXCHANGES; i++)
                if (b->exchanges[i].used && strcmp(b->exchanges[i].method, "GET") != 0)
                        return true;
        return false;
}

void bridge_wait(struct bridge *b, unsigned seconds)
{
        struct timespec until;
        (void) clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += seconds;
        (void) pthread_mutex_lock(&b->lock);
        while (is_busy(b) && pthread_cond_timedwait(&b->changed, &b->lock, &until) == 0)
                ;
        (void) pthread_mutex_unlock(&b->lock);
}
