/* SPDX-License-Identifier: MIT */
/* face/mcp/mcp_http_answer.c - a message to a client over HTTP: the JSON body of its answer, or an event. */
#include "base/clock.h"
#include "face/mcp/mcp_http.h"

static const char *status_text(unsigned status)
{
        static const struct {
                unsigned status;
                const char *text;
        } texts[] = { { 200, "OK" },
                      { 202, "Accepted" },
                      { 400, "Bad Request" },
                      { 401, "Unauthorized" },
                      { 403, "Forbidden" },
                      { 404, "Not Found" },
                      { 405, "Method Not Allowed" },
                      { 409, "Conflict" },
                      { 413, "Content Too Large" },
                      { 415, "Unsupported Media Type" },
                      { 429, "Too Many Requests" } };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                if (texts[i].status == status)
                        return texts[i].text;
        return "Error";
}

static void put_head(struct mcp_link *l, unsigned status, const char *type, const char *extra)
{
        const struct mcp_http *h = l->http;
        buf_printf(&l->queue, "HTTP/1.1 %u %s\r\n", status, status_text(status));
        if (type[0])
                buf_printf(&l->queue, "Content-Type: %s\r\n", type);
        buf_puts(&l->queue, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
        if (h->fresh && h->session)
                buf_printf(&l->queue, "Mcp-Session-Id: %s\r\n", h->session->id);
        buf_puts(&l->queue, extra);
        if (h->last)
                buf_puts(&l->queue, "Connection: close\r\n");
}

void mcp_http_due(struct mcp_http *h, unsigned seconds)
{
        h->deadline_ns = clock_mono_ns() + seconds * 1000000000ull;
}

/* The request is answered; the next one can be read. */
static void answered(struct mcp_http *h)
{
        h->busy = h->fresh = false;
        mcp_http_due(h, HTTP_IDLE_S);
        if (!h->last)
                request_next(&h->in);
}

static void put_body(struct mcp_link *l, unsigned status, const char *type, const char *extra,
                     struct span body)
{
        l->http->last |= l->http->in.r.close;
        put_head(l, status, type, extra);
        buf_printf(&l->queue, "Content-Length: %zu\r\n\r\n", body.n);
        buf_add(&l->queue, body.p, body.n);
        l->gone |= l->queue.failed;
        answered(l->http);
}

void mcp_http_reply(struct mcp_link *l, unsigned status, const char *extra)
{
        put_body(l, status, "", extra, span_str(""));
}

void mcp_http_error(struct mcp_link *l, unsigned status, int code, const char *why, const struct json *id)
{
        AUTO_BUF(line);
        mcp_put_error(&line, id, code, why, NULL);
        put_body(l, status, "application/json", "", buf_span(&line));
}

void mcp_http_unauthorized(struct mcp_link *l)
{
        AUTO_BUF(line);
        mcp_put_error(&line, NULL, RPC_INVALID_REQUEST,
                      "a bearer token is needed: Authorization: Bearer TOKEN, from the server's token file",
                      NULL);
        put_body(l, 401, "application/json", "WWW-Authenticate: Bearer realm=\"cordon\"\r\n",
                 buf_span(&line));
}

/* ---- events ---- */

void mcp_http_begin_stream(struct mcp_link *l)
{
        struct mcp_http *h = l->http;
        h->streams = h->last = true;
        put_head(l, 200, "text/event-stream", "X-Accel-Buffering: no\r\n");
        buf_puts(&l->queue, "\r\n");
}

static void put_event(struct mcp_link *l, const struct buf *line)
{
        buf_puts(&l->queue, "event: message\ndata: ");
        buf_add(&l->queue, line->p, line->n);
        buf_puts(&l->queue, "\n\n");
        l->gone |= l->queue.failed;
        mcp_http_due(l->http, HTTP_ALIVE_S);
}

/* ---- messages ---- */

static unsigned status_of(const struct mcp_link *l, const struct rpc *m)
{
        const struct json *code = m->error ? rpc_member(m->error, "code", JSON_INT) : NULL;
        return l->http->modern && code ? mcp_http_status((int) code->integer) : 200;
}

void mcp_http_put(struct mcp_link *l, const struct buf *line)
{
        struct mcp_http *h = l->http;
        struct rpc m;
        rpc_read(buf_span(line), &m);
        bool more = m.kind == RPC_REQUEST || m.kind == RPC_NOTIFICATION;
        if (more && h->busy && h->in.r.events) {
                if (!h->streams)
                        mcp_http_begin_stream(l);
                put_event(l, line);
        } else if (!more && h->busy && h->streams) {
                put_event(l, line);
                answered(h);
        } else if (!more && h->busy)
                put_body(l, status_of(l, &m), "application/json", "", buf_span(line));
        rpc_done(&m);
}
