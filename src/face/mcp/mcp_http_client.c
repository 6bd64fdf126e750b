/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http_client.c - connections over HTTP. Nothing of a body is read before the token is right;
 * what a page of another site sends is refused whatever its token is. */
#include "base/clock.h"
#include "base/fd.h"
#include "face/mcp/mcp_http.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const uint64_t SECOND_NS = 1000000000u;

/* ---- connections ---- */

/* One that is owed nothing makes room: who connects and says nothing must not keep others out. */
static void make_room(struct mcp_server *s)
{
        struct mcp_link *quiet = NULL;
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                if (!l)
                        return;
                if (!l->http->busy && l->queue.n == 0 &&
                    (!quiet || l->http->deadline_ns < quiet->http->deadline_ns))
                        quiet = l;
        }

        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (quiet && s->links[i] == quiet) {
                        s->links[i] = NULL;
                        mcp_link_free(quiet);
                }
}

struct mcp_link *mcp_http_new(struct mcp_server *s, int fd)
{
        make_room(s);
        struct mcp_http *h = calloc(1, sizeof *h);
        struct mcp_link *l = h ? mcp_link_new(s, fd, fd) : NULL;
        if (!l) {
                free(h);
                return NULL;
        }

        if (s->http_port)
                (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        l->http = h;
        mcp_http_due(h, HTTP_READ_S);
        return l;
}

void mcp_http_read(struct mcp_link *l)
{
        enum { CHUNK = 65536, AHEAD_MAX = 1 << 20 };
        struct mcp_http *h = l->http;
        char bytes[CHUNK];
        ssize_t n = recv(l->in, bytes, sizeof bytes, 0);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                l->gone = true;
        if (n <= 0 || h->lingers)
                return;

        if (h->in.in.n == 0 && !h->busy)
                mcp_http_due(h, HTTP_READ_S);
        request_add(&h->in, bytes, (size_t) n);
        l->gone |= h->busy && h->in.in.n > AHEAD_MAX;
}

/* ---- sessions of 2025-11-25 ---- */

static bool is_used(const struct mcp_server *s, const struct mcp_http_session *x)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i] && s->links[i]->http->busy && s->links[i]->http->session == x)
                        return true;
        return false;
}

/* Its requests under way end, and their runs with them. */
static void session_end(struct mcp_server *s, size_t at)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                if (!l || l->http->session != s->http_sessions[at])
                        continue;
                l->gone |= l->http->busy;
                l->http->session = NULL;
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
        if (x && mcp_handle_new(x->id) < 0) {
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
                if (s->http_sessions[i] && mcp_handle_is(s->http_sessions[i]->id, id))
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

static void refuse(struct mcp_link *l, unsigned status, const char *extra)
{
        l->http->last = true; /* its body is not read */
        mcp_http_reply(l, status, extra);
}

static void refuse_why(struct mcp_link *l, unsigned status, const char *why)
{
        l->http->last = true;
        mcp_http_error(l, status, RPC_INVALID_REQUEST, why, NULL);
}

static void take_head(struct mcp_server *s, struct mcp_link *l)
{
        static const char *const none[] = { NULL };
        const struct http_request *r = &l->http->in.r;
        bool post = r->method == METHOD_POST;
        if (!host_is_ours(r->host, s->http_port, none) || !origin_is_ours(r->origin, r->host))
                refuse_why(l, 403, "the request is not for this server, or from a page of another site");
        else if (!mcp_token_is(s->http_token, r->token)) {
                l->http->last = true;
                mcp_http_unauthorized(l);
        } else if (is_too_often(s))
                refuse(l, 429, "Retry-After: 1\r\n");
        else if (strcmp(r->path, "/mcp") != 0)
                refuse_why(l, 404, "the endpoint is /mcp");
        else if (!post && r->method != METHOD_GET && r->method != METHOD_DELETE)
                refuse(l, 405, "Allow: POST, GET, DELETE\r\n");
        else if (post && !r->json)
                refuse_why(l, 415, "a message is application/json");
        else if (r->length != UINT64_MAX && r->length > (post ? RPC_LINE_MAX : 0))
                refuse_why(l, 413, "the message is too long");
        else {
                if (l->http->in.expects)
                        buf_puts(&l->queue, "HTTP/1.1 100 Continue\r\n\r\n");
                request_accept(&l->http->in, post ? RPC_LINE_MAX : 0);
        }
}

/* ---- the body ---- */

/* Only the older era has these methods, and only in a session. */
static void take_other(struct mcp_server *s, struct mcp_link *l)
{
        struct mcp_http *h = l->http;
        size_t at = session_find(s, h->in.r.mcp_session);
        if (!h->in.r.mcp_session[0]) {
                mcp_http_reply(l, 405, "Allow: POST\r\n");
                return;
        }
        if (at == HTTP_SESSIONS_MAX) {
                mcp_http_error(l, 404, RPC_INVALID_REQUEST, "no such session", NULL);
                return;
        }
        if (h->in.r.method == METHOD_DELETE) {
                h->session = NULL;
                session_end(s, at);
                mcp_http_reply(l, 200, "");
                return;
        }

        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i] && s->links[i]->http->listens &&
                    s->links[i]->http->session == s->http_sessions[at]) {
                        mcp_http_error(l, 409, RPC_INVALID_REQUEST, "the session has a stream already", NULL);
                        return;
                }
        if (!h->in.r.events) {
                mcp_http_reply(l, 405, "Allow: POST\r\n");
                return;
        }
        h->session = s->http_sessions[at];
        h->listens = h->busy = true;
        mcp_http_begin_stream(l);
}

/* False: it has its answer. */
static bool take_session(struct mcp_server *s, struct mcp_link *l, const struct mcp_http_verdict *v)
{
        struct mcp_http *h = l->http;
        size_t at = HTTP_SESSIONS_MAX;
        h->session = NULL;
        l->own = (struct mcp_peer){ 0 };
        l->peer = &l->own;
        if (v->need == HTTP_NO_SESSION)
                return true;

        if (v->need == HTTP_NEW_SESSION) {
                h->session = session_new(s);
                h->fresh = true;
        } else if ((at = session_find(s, h->in.r.mcp_session)) < HTTP_SESSIONS_MAX)
                h->session = s->http_sessions[at];

        if (!h->session) {
                h->fresh = false;
                mcp_http_error(l, v->need == HTTP_A_SESSION ? 404 : 429, RPC_INVALID_REQUEST,
                               v->need == HTTP_A_SESSION ? "no such session" : "too many sessions", NULL);
                return false;
        }
        h->session->used_ns = clock_mono_ns();
        l->peer = &h->session->peer;
        return true;
}

static void take_post(struct mcp_server *s, struct mcp_link *l)
{
        struct mcp_http *h = l->http;
        struct mcp_http_verdict v;
        struct rpc m;
        rpc_read(span_of(h->in.body.p ? h->in.body.p : "", h->in.body.n), &m);
        mcp_http_judge(&h->in.r, &m, &v);
        h->modern = v.modern;
        if (v.status)
                mcp_http_error(l, v.status, v.code, v.why, m.id);
        else if (take_session(s, l, &v)) {
                h->busy = true;
                s->take(s, l, &m);
                if (m.kind != RPC_REQUEST && !l->gone)
                        mcp_http_reply(l, 202, "");
        }
        rpc_done(&m);
}

static void take_requests(struct mcp_server *s, struct mcp_link *l)
{
        struct mcp_http *h = l->http;
        while (!l->gone && !h->busy && !h->last) {
                switch (request_step(&h->in)) {
                case REQUEST_MORE:
                        return;
                case REQUEST_HEADED:
                        take_head(s, l);
                        break;
                case REQUEST_WHOLE:
                        if (h->in.r.method == METHOD_POST)
                                take_post(s, l);
                        else
                                take_other(s, l);
                        break;
                case REQUEST_BAD:
                        refuse_why(l, h->in.status, h->in.why);
                        break;
                }
        }
}

/* ---- time ---- */

/* A stream without a word for some time sends a comment: proxies keep it, and a dead client is noticed. */
static void check_time(struct mcp_link *l, uint64_t now)
{
        struct mcp_http *h = l->http;
        bool waits = h->busy && l->queue.n == 0;
        if (now < h->deadline_ns)
                return;

        if (waits && h->streams)
                buf_puts(&l->queue, ":\n\n");
        else if (!waits)
                l->gone = true;
        mcp_http_due(h, HTTP_ALIVE_S);
}

void mcp_http_step(struct mcp_server *s)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                struct mcp_http *h = l ? l->http : NULL;
                if (!h || l->gone)
                        continue;

                size_t before = l->queue.n - l->sent;
                take_requests(s, l);
                check_time(l, clock_mono_ns());
                mcp_link_flush(l);
                if (l->queue.n > 0 && l->queue.n - l->sent != before)
                        mcp_http_due(h, HTTP_WRITE_S);
                if (h->last && !h->busy && l->queue.n == 0 && !h->lingers) {
                        h->lingers = true; /* a reset would take the answer with it */
                        (void) shutdown(l->out, SHUT_WR);
                        mcp_http_due(h, HTTP_LINGER_S);
                }
        }
}

int mcp_http_next_ms(const struct mcp_server *s)
{
        uint64_t now = clock_mono_ns(), least = UINT64_MAX;
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                const struct mcp_link *l = s->links[i];
                if (l && l->http && l->http->deadline_ns < least)
                        least = l->http->deadline_ns;
        }
        if (least == UINT64_MAX)
                return -1;
        return least <= now ? 0 : (int) ((least - now) / 1000000 + 1);
}
