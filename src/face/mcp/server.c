/* SPDX-License-Identifier: MIT */
/* face/mcp/server.c - the loop of `cordon mcp`: clients, calls and sessions. */
#include "base/end_signals.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/listen_at.h"
#include "face/mcp/mcp_http.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHED_MAX = 2 * MCP_LINKS_MAX + 2 * MCP_CALLS_MAX + 2 };

struct watched {
        struct pollfd v[WATCHED_MAX];
        nfds_t n;
        int next_ms; /* -1: none */
};

static struct pollfd *watch_fd(struct watched *w, int fd, short events)
{
        w->v[w->n] = (struct pollfd){ .fd = fd, .events = events };
        return &w->v[w->n++];
}

static void wake_within(struct watched *w, int ms)
{
        if (ms >= 0 && (w->next_ms < 0 || ms < w->next_ms))
                w->next_ms = ms;
}

static void watch_box(struct watched *w, cordon_box *b)
{
        (void) watch_fd(w, cordon_box_fd(b), POLLIN);
        wake_within(w, cordon_box_next_ms(b));
}

static void watch_all(struct mcp_server *s, struct watched *w)
{
        *w = (struct watched){ .next_ms = mcp_calls_next_ms(s) };
        wake_within(w, mcp_http_next_ms(s));
        (void) watch_fd(w, s->signals, POLLIN);
        (void) watch_fd(w, s->listener, POLLIN);
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                (void) watch_fd(w, l && !l->c.gone ? l->in : -1, POLLIN);
                (void) watch_fd(w, l && l->c.out.n ? l->c.fd : -1, POLLOUT);
        }

        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                if (s->calls[i] && s->calls[i]->box && !s->calls[i]->over)
                        watch_box(w, s->calls[i]->box);
                if (s->sessions[i])
                        watch_box(w, s->sessions[i]->box);
        }
}

/* ---- messages ---- */

static void take_line(struct mcp_server *s, struct mcp_link *l, struct span text)
{
        struct rpc m;
        rpc_read(text, &m);
        mcp_take(s, l, &m);
        rpc_done(&m);
}

static void take_lines(struct mcp_server *s, struct mcp_link *l)
{
        AUTO_BUF(line);
        bool too_long;
        if (l->http) {
                http_conn_read(&l->c);
                return;
        }

        mcp_link_read(l);
        while (mcp_link_line(l, &line, &too_long)) {
                if (too_long)
                        take_line(s, l, span_str("too long"));
                else if (line.n > 0)
                        take_line(s, l, buf_span(&line));
        }
}

static void drop_gone(struct mcp_server *s)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i];
                if (!l || !l->c.gone)
                        continue;

                mcp_calls_drop(s, l);
                mcp_link_free(l);
                s->links[i] = NULL;
                s->stop |= s->listener < 0;
        }
}

void mcp_accept_all(struct mcp_server *s)
{
        int fd;
        while ((fd = mcp_link_accept(s->listener, s->http_port == 0)) >= 0)
                if (!(s->o->http ? mcp_http_new(s, fd) : mcp_link_new(s, fd, fd)))
                        (void) close(fd);
}

/* ---- the loop ---- */

static void turn_server(struct mcp_server *s)
{
        struct watched w;
        watch_all(s, &w);
        if (poll(w.v, w.n, w.next_ms) < 0 && errno != EINTR)
                s->stop = true;

        s->stop |= w.v[0].revents != 0;
        if (w.v[1].revents)
                mcp_accept_all(s);

        mcp_sessions_step(s);
        mcp_calls_step(s);
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                if (s->links[i] && w.v[2 + 2 * i].revents)
                        take_lines(s, s->links[i]);
                if (s->links[i])
                        mcp_link_flush(s->links[i]);
        }
        if (s->o->http)
                mcp_http_step(s);
        drop_gone(s);
}

static bool has_boxes(const struct mcp_server *s)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++)
                if (s->calls[i] || s->sessions[i])
                        return true;
        return false;
}

/* Runs are killed; sessions end in order, so that their overlays can be reviewed. */
static void end_boxes(struct mcp_server *s)
{
        enum { TURNS = 400, STEP_MS = 50 };
        mcp_calls_drop(s, NULL);
        for (size_t i = 0; i < MCP_CALLS_MAX; i++)
                if (s->sessions[i])
                        cordon_session_end(s->sessions[i]->box);

        for (unsigned i = 0; i < TURNS && has_boxes(s); i++) {
                struct watched w = { .next_ms = STEP_MS };
                watch_all(s, &w);
                wake_within(&w, STEP_MS);
                (void) poll(w.v + 2 + 2 * MCP_LINKS_MAX, w.n - 2 - 2 * MCP_LINKS_MAX, w.next_ms);
                mcp_calls_step(s);
                mcp_sessions_step(s);
        }
}

static void free_all(struct mcp_server *s)
{
        for (size_t i = 0; i < MCP_CALLS_MAX; i++) {
                if (s->calls[i])
                        mcp_call_free(s, s->calls[i]);
        }
        for (size_t i = 0; i < MCP_CALLS_MAX; i++)
                if (s->sessions[i]) {
                        cordon_box_free(s->sessions[i]->box);
                        free(s->sessions[i]);
                }
        for (size_t i = 0; i < MCP_LINKS_MAX; i++)
                if (s->links[i])
                        mcp_link_free(s->links[i]);
        mcp_http_free_sessions(s);
        cordon_checks_free(s->checks);
}

int mcp_http_open(struct mcp_server *s, cordon_error *e)
{
        AUTO_BUF(text);
        const char *at = s->o->http;
        if (mcp_token_load(s->o->token_file, s->http_token, e) < 0)
                return -1;

        s->listener = listen_at(at, &s->http_port, (struct err *) e);
        if (s->listener < 0)
                return -1;

        if (s->http_port)
                buf_printf(&text, "serving MCP at http://%.*s:%u/mcp", (int) (strrchr(at, ':') - at), at,
                           s->http_port);
        else
                buf_printf(&text, "serving MCP over HTTP at %s, path /mcp", at);
        buf_printf(&text, " with the bearer token in %s", s->o->token_file);
        s->o->say(buf_str(&text));
        return 0;
}

static int open_all(struct mcp_server *s, cordon_error *e)
{
        if (s->o->http)
                return mcp_http_open(s, e);

        if (s->o->socket) {
                s->listener = listen_unix("--socket", s->o->socket, s->o->socket, (struct err *) e);
                return s->listener < 0 ? -1 : 0;
        }

        return mcp_link_new(s, 0, 1) ? 0
                                     : err_set((struct err *) e, ERR_MEMORY, 0, "no memory for a connection");
}

int mcp_serve(const struct mcp_options *o, cordon_error *e)
{
        struct mcp_server s = { .o = o, .take = mcp_take, .listener = -1, .signals = end_signals_open() };
        (void) signal(SIGPIPE, SIG_IGN);
        if (cordon_policy_check(o->policy, e) < 0 || open_all(&s, e) < 0)
                return -1;

        s.checks = cordon_checks_new(); /* without it, each check starts its own */

        while (!s.stop)
                turn_server(&s);

        end_boxes(&s);
        free_all(&s);
        if (o->socket)
                (void) unlink(o->socket);
        if (o->http)
                listen_remove(o->http);
        fd_close(&s.listener);
        fd_close(&s.signals);
        return 0;
}
