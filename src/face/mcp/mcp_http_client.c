/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http_client.c - connections over HTTP. Nothing of a body is read before the token is right;
 * what a page of another site sends is refused whatever its token is. */
#include "base/clock.h"
#include "face/mcp/mcp_http.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t SECOND_NS = 1000000000u;

/* ---- connections ---- */

static struct http_conn *conn_at(void *ctx, size_t i)
{
        struct mcp_server *s = ctx;
        return s->links[i] ? &s->links[i]->c : NULL;
}

struct mcp_link *mcp_http_new(struct mcp_server *s, int fd)
{
        size_t at = http_conn_place(conn_at, MCP_LINKS_MAX, s);
        struct mcp_link *quiet = at < MCP_LINKS_MAX ? s->links[at] : NULL;
        if (quiet && quiet->c.busy) { /* its calls end first */
                quiet->c.gone = true;
                return NULL;
        }

        if (quiet) {
                s->links[at] = NULL;
                mcp_link_free(quiet);
        }
        struct mcp_link *l = mcp_link_new(s, fd, fd);
        if (l) {
                http_conn_begin(&l->c, fd, s->http_port);
                l->http = true;
        }
        return l;
}

/* ---- sessions of 2025-11-25 ---- */

static bool is_used(const struct mcp_server *s, const struct mcp_http_session *x)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i] && s->links[i]->c.busy && s->links[i]->session == x)
                        return true;
        return false;
}

/* Its requests under way end, and their runs with them. */
static void session_end(struct mcp_server *s, size_t at)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                if (!l || l->session != s->http_sessions[at])
                        continue;
                l->c.gone |= l->c.busy;
                l->session = NULL;
                l->peer = &l->own;
        }
        free(s->http_sessions[at]);
        s->http_sessions[at] = NULL;
}

/* A place, if need be that of the one that was not used for the longest time. */
static size_t session_place(struct mcp_server *s)
{
        size_t oldest = HTTP_SESSIONS_MAX;
        for (size_t i = 0; i < HTTP_SESSIONS_MAX; i++) {
                const struct mcp_http_session *x = s->http_sessions[i];
                if (!x)
                        return i;
                if (!is_used(s, x) &&
                    (oldest == HTTP_SESSIONS_MAX || x->used_ns < s->http_sessions[oldest]->used_ns))
                        oldest = i;
        }
        if (oldest < HTTP_SESSIONS_MAX)
                session_end(s, oldest);
        return oldest;
}

static struct mcp_http_session *session_new(struct mcp_server *s)
{
        size_t at = session_place(s);
        struct mcp_http_session *x = at < HTTP_SESSIONS_MAX ? calloc(1, sizeof *x) : NULL;
        if (x && random_name("cs", x->id) < 0) {
                free(x);
                return NULL;
        }
        if (x)
                s->http_sessions[at] = x;
        return x;
}

static size_t session_find(const struct mcp_server *s, const char *id)
{
        size_t found = HTTP_SESSIONS_MAX;
        for (size_t i = 0; i < HTTP_SESSIONS_MAX; i++)
                if (s->http_sessions[i] && random_is(s->http_sessions[i]->id, id))
                        found = i;
        return found;
}

void mcp_http_free_sessions(struct mcp_server *s)
{
        for (size_t i = 0; i < HTTP_SESSIONS_MAX; i++)
                free(s->http_sessions[i]);
}

/* ---- the head ---- */

static bool is_too_often(struct mcp_server *s)
{
        uint64_t now = clock_mono_ns();
        if (now - s->http_window_ns >= SECOND_NS) {
                s->http_window_ns = now;
                s->http_requests = 0;
        }
        return ++s->http_requests > HTTP_PER_S;
}

static void refuse_link(struct mcp_link *l, unsigned status, const char *why)
{
        mcp_http_error(l, status, RPC_INVALID_REQUEST, why, NULL);
}

static void take_head(void *ctx, struct http_conn *c)
{
        static const char *const none[] = { NULL };
        struct mcp_server *s = ctx;
        struct mcp_link *l = (struct mcp_link *) c;
        const struct http_request *r = &c->in.r;
        bool post = r->method == METHOD_POST;
        l->session = NULL;
        l->peer = &l->own;
        if (!host_is_ours(r->host, c->port, none) || !origin_is_ours(r->origin, r->host))
                refuse_link(l, 403, "the request is not for this server, or from a page of another site");
        else if (!random_is(s->http_token, r->token))
                mcp_http_unauthorized(l);
        else if (is_too_often(s))
                mcp_http_reply(l, 429, "Retry-After: 1\r\n");
        else if (strcmp(r->path, "/mcp") != 0)
                refuse_link(l, 404, "the endpoint is /mcp");
        else if (!post && r->method != METHOD_GET && r->method != METHOD_DELETE)
                mcp_http_reply(l, 405, "Allow: POST, GET, DELETE\r\n");
        else if (post && !r->json)
                refuse_link(l, 415, "a message is application/json");
        else if (r->length != UINT64_MAX && r->length > (post ? RPC_LINE_MAX : 0))
                refuse_link(l, 413, "the message is too long");
        else
                http_conn_take(c, post ? RPC_LINE_MAX : 0);
}

/* ---- the body ---- */

/* Only the older era has these methods, and only in a session. */
static void take_other(struct mcp_server *s, struct mcp_link *l)
{
        size_t at = session_find(s, l->c.in.r.mcp_session);
        if (!l->c.in.r.mcp_session[0]) {
                mcp_http_reply(l, 405, "Allow: POST\r\n");
                return;
        }
        if (at == HTTP_SESSIONS_MAX) {
                mcp_http_error(l, 404, RPC_INVALID_REQUEST, "no such session", NULL);
                return;
        }
        if (l->c.in.r.method == METHOD_DELETE) {
                l->session = NULL;
                session_end(s, at);
                mcp_http_reply(l, 200, "");
                return;
        }

        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i] && s->links[i]->listens && s->links[i]->session == s->http_sessions[at]) {
                        mcp_http_error(l, 409, RPC_INVALID_REQUEST, "the session has a stream already", NULL);
                        return;
                }
        if (!l->c.in.r.events) {
                mcp_http_reply(l, 405, "Allow: POST\r\n");
                return;
        }
        l->session = s->http_sessions[at];
        l->listens = true;
        mcp_http_begin_stream(l);
}

/* False: it has its answer. */
static bool take_session(struct mcp_server *s, struct mcp_link *l, const struct mcp_http_verdict *v)
{
        size_t at = HTTP_SESSIONS_MAX;
        l->own = (struct mcp_peer){ 0 };
        if (v->need == HTTP_NO_SESSION)
                return true;

        if (v->need == HTTP_NEW_SESSION) {
                l->session = session_new(s);
                l->fresh = true;
        } else if ((at = session_find(s, l->c.in.r.mcp_session)) < HTTP_SESSIONS_MAX)
                l->session = s->http_sessions[at];

        if (!l->session) {
                l->fresh = false;
                mcp_http_error(l, v->need == HTTP_A_SESSION ? 404 : 429, RPC_INVALID_REQUEST,
                               v->need == HTTP_A_SESSION ? "no such session" : "too many sessions", NULL);
                return false;
        }
        l->session->used_ns = clock_mono_ns();
        l->peer = &l->session->peer;
        return true;
}

static void take_post(struct mcp_server *s, struct mcp_link *l)
{
        struct mcp_http_verdict v;
        struct rpc m;
        rpc_read(span_of(buf_str(&l->c.in.body), l->c.in.body.n), &m);
        mcp_http_judge(&l->c.in.r, &m, &v);
        l->modern = v.modern;
        if (v.status)
                mcp_http_error(l, v.status, v.code, v.why, m.id);
        else if (take_session(s, l, &v)) {
                s->take(s, l, &m);
                if (m.kind != RPC_REQUEST && !l->c.gone)
                        mcp_http_reply(l, 202, "");
        }
        rpc_done(&m);
}

static void take_whole(void *ctx, struct http_conn *c)
{
        if (c->in.r.method == METHOD_POST)
                take_post(ctx, (struct mcp_link *) c);
        else
                take_other(ctx, (struct mcp_link *) c);
}

static void take_bad(void *ctx, struct http_conn *c)
{
        (void) ctx;
        refuse_link((struct mcp_link *) c, c->in.status, c->in.why);
}

/* ---- time ---- */

/* A stream without a word for some time sends a comment: proxies keep it, and a dead client is noticed. */
static bool is_quiet(const struct mcp_link *l) { return l->streams && l->c.busy && l->c.out.n == 0; }

static void check_time(struct mcp_link *l, uint64_t now)
{
        if (is_quiet(l) && now >= l->alive_ns) {
                buf_puts(&l->c.out, ":\n\n");
                l->alive_ns = now + HTTP_ALIVE_S * SECOND_NS;
        }
        l->c.gone |= now >= http_conn_until(&l->c);
}

void mcp_http_step(struct mcp_server *s)
{
        static const struct http_handler handler = { take_head, take_whole, take_bad };
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                if (!l || !l->http || l->c.gone)
                        continue;

                http_conn_parse(&l->c, &handler, s);
                check_time(l, clock_mono_ns());
                mcp_link_flush(l);
        }
}

int mcp_http_next_ms(const struct mcp_server *s)
{
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                const struct mcp_link *l = s->links[i];
                uint64_t next = !l || !l->http ? UINT64_MAX
                                : is_quiet(l)  ? l->alive_ns
                                               : http_conn_until(&l->c);
                least = next < least ? next : least;
        }
        return least == UINT64_MAX ? -1 : clock_left_ms(least);
}
