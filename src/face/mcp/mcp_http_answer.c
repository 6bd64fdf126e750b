/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http_answer.c - a message to a client over HTTP: the JSON body of its answer, or an event. */
#include "base/clock.h"
#include "face/mcp/mcp_http.h"

static void put_session(const struct mcp_link *l, struct buf *out)
{
        if (l->fresh && l->session)
                buf_printf(out, "Mcp-Session-Id: %s\r\n", l->session->id);
}

static void put_body(struct mcp_link *l, unsigned status, const char *extra, struct span body)
{
        AUTO_BUF(lines);
        put_session(l, &lines);
        buf_puts(&lines, extra);
        l->fresh = false;
        http_conn_answer(&l->c, status, body.n ? "application/json" : "", buf_str(&lines), body);
}

void mcp_http_reply(struct mcp_link *l, unsigned status, const char *extra)
{
        put_body(l, status, extra, span_str(""));
}

void mcp_http_error(struct mcp_link *l, unsigned status, int code, const char *why, const struct json *id)
{
        AUTO_BUF(line);
        mcp_put_error(&line, id, code, why, NULL);
        put_body(l, status, "", buf_span(&line));
}

void mcp_http_unauthorized(struct mcp_link *l)
{
        AUTO_BUF(line);
        mcp_put_error(&line, NULL, RPC_INVALID_REQUEST,
                      "a bearer token is needed: Authorization: Bearer TOKEN, from the server's token file",
                      NULL);
        put_body(l, 401, "WWW-Authenticate: Bearer realm=\"cordon\"\r\n", buf_span(&line));
}

/* ---- events ---- */

void mcp_http_begin_stream(struct mcp_link *l)
{
        AUTO_BUF(lines);
        put_session(l, &lines);
        l->streams = true;
        l->alive_ns = clock_mono_ns() + HTTP_ALIVE_S * 1000000000ull;
        http_conn_stream(&l->c, buf_str(&lines));
}

static void put_event(struct mcp_link *l, const struct buf *line)
{
        buf_puts(&l->c.out, "event: message\ndata: ");
        buf_add(&l->c.out, line->p, line->n);
        buf_puts(&l->c.out, "\n\n");
        l->alive_ns = clock_mono_ns() + HTTP_ALIVE_S * 1000000000ull;
}

/* ---- messages ---- */

static unsigned status_of(const struct mcp_link *l, const struct rpc *m)
{
        const struct json *code = m->error ? json_of(m->error, "code", JSON_INT) : NULL;
        return l->modern && code ? mcp_http_status((int) code->integer) : 200;
}

void mcp_http_put(struct mcp_link *l, const struct buf *line)
{
        struct rpc m;
        rpc_read(buf_span(line), &m);
        bool more = m.kind == RPC_REQUEST || m.kind == RPC_NOTIFICATION;
        if (more && l->c.busy && l->c.in.r.events) {
                if (!l->streams)
                        mcp_http_begin_stream(l);
                put_event(l, line);
        } else if (!more && l->c.busy && l->streams) {
                put_event(l, line);
                l->c.busy = false;
        } else if (!more && l->c.busy)
                put_body(l, status_of(l, &m), "", buf_span(line));
        rpc_done(&m);
}
