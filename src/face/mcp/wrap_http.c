/* SPDX-License-Identifier: MIT */
/* face/mcp/wrap_http.c - clients of a wrapped server over HTTP: all share it, and each has the answers to its
 * own requests alone. */
#include "base/end_signals.h"
#include "base/fd.h"
#include "base/listen_at.h"
#include "face/mcp/mcp_http.h"
#include "face/mcp/wrap.h"

#include <stdlib.h>

/* The header is lost on the way to the server, which takes its word for the era from the message. */
static bool lacks_version(const struct mcp_link *l, const struct rpc *m)
{
        return l->modern && m->kind == RPC_REQUEST && !mcp_version_of(m);
}

static void take_message(struct mcp_server *s, struct mcp_link *l, const struct rpc *m)
{
        struct wrap *w = s->wrap;
        bool long_one = l->c.in.body.n > w->o->max;
        if (!long_one && !lacks_version(l, m)) {
                wrap_take(w, l, m);
                return;
        }

        mcp_link_error(l, m->id, long_one ? RPC_INVALID_REQUEST : RPC_INVALID_PARAMS,
                       long_one ? "the message is too long" : "_meta has no protocolVersion");
}

int wrap_http_open(struct wrap *w, struct mcp_server *front, cordon_error *e)
{
        static struct mcp_options o;
        o = (struct mcp_options){
                .cx = w->o->cx, .http = w->o->http, .token_file = w->o->token_file, .say = w->o->say
        };
        *front = (struct mcp_server){
                .o = &o, .take = take_message, .wrap = w, .listener = -1, .signals = end_signals_open()
        };
        w->client.in = -1;
        if (mcp_http_open(front, e) < 0) {
                fd_close(&front->signals);
                return -1;
        }
        w->front = front;
        return 0;
}

/* Queued messages have a moment to leave. */
void wrap_http_done(struct wrap *w)
{
        enum { TURNS = 20, TURN_MS = 50 };
        struct mcp_server *s = w->front;
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                for (unsigned turn = 0; l && turn < TURNS && l->c.out.n && !l->c.gone; turn++) {
                        (void) fd_await(l->c.fd, POLLOUT, TURN_MS);
                        mcp_link_flush(l);
                }
                if (l)
                        mcp_link_free(l);
        }
        mcp_http_free_sessions(s);
        listen_remove(w->o->http);
        fd_close(&s->listener);
        fd_close(&s->signals);
}

void wrap_http_watch(const struct wrap *w, struct pollfd v[WRAP_HTTP_POLLED])
{
        const struct mcp_server *s = w->front;
        v[0] = (struct pollfd){ .fd = s->signals, .events = POLLIN };
        v[1] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                const struct mcp_link *l = s->links[i];
                v[2 + 2 * i] = (struct pollfd){ .fd = l && !l->c.gone ? l->in : -1, .events = POLLIN };
                v[3 + 2 * i] = (struct pollfd){ .fd = l && l->c.out.n ? l->c.fd : -1, .events = POLLOUT };
        }
}

/* A client that has gone wants no answers. */
static void drop_client(struct wrap *w, size_t at)
{
        struct mcp_link *l = w->front->links[at];
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++)
                if (w->pending[i].id && w->pending[i].link == l) {
                        wrap_cancel(w, &w->pending[i]);
                        wrap_forget(&w->pending[i]);
                }
        mcp_link_free(l);
        w->front->links[at] = NULL;
}

bool wrap_http_step(struct wrap *w, const struct pollfd v[WRAP_HTTP_POLLED])
{
        struct mcp_server *s = w->front;
        if (v[1].revents)
                mcp_accept_all(s);
        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i] && v[2 + 2 * i].fd == s->links[i]->in && v[2 + 2 * i].revents)
                        http_conn_read(&s->links[i]->c);

        mcp_http_step(s);
        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i] && s->links[i]->c.gone)
                        drop_client(w, i);
        return v[0].revents != 0;
}

/* The one request that is under way has it on its stream; otherwise the streams that clients opened for it
 * have. */
void wrap_http_tell(struct wrap *w, const struct buf *line)
{
        struct mcp_link *only = NULL;
        unsigned under_way = 0;
        for (size_t i = 0; i < WRAP_PENDING_MAX; i++)
                if (w->pending[i].id) {
                        only = w->pending[i].link;
                        under_way++;
                }
        if (under_way == 1 && only->c.in.r.events) {
                mcp_link_send(only, line);
                return;
        }

        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (w->front->links[i] && w->front->links[i]->listens)
                        mcp_link_send(w->front->links[i], line);
}
