/* SPDX-License-Identifier: MIT */
/* face/front/conn.c - one connection: requests in, answers out. Neither direction ever blocks the loop. */
#include "base/clock.h"
#include "base/fd.h"
#include "face/front/front.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* Else it is late. */
static void set_due(struct http_conn *c, unsigned seconds)
{
        c->deadline_ns = clock_mono_ns() + seconds * 1000000000ull;
}

void http_conn_begin(struct http_conn *c, int fd, uint16_t port)
{
        *c = (struct http_conn){ .fd = fd, .port = port };
        if (port)
                (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        set_due(c, HTTP_READ_S);
}

void http_conn_done(struct http_conn *c)
{
        fd_close(&c->fd);
        request_done(&c->in);
        buf_done(&c->out);
}

uint64_t http_conn_until(const struct http_conn *c)
{
        bool answering = c->busy && c->in.stage == READ_DONE && c->out.n == 0;
        return answering ? UINT64_MAX : c->deadline_ns;
}

/* It says nothing, or has not read what waits for it. Longer than that only a full server asks for. */
static bool may_go(const struct http_conn *c, uint64_t now_ns)
{
        if (c->out.n == 0)
                return !c->busy;

        return c->unread_ns && now_ns - c->unread_ns >= HTTP_UNREAD_S * 1000000000ull;
}

/* A client that connects and sends or reads nothing must not keep others out: the one that is due first makes
 * room. */
size_t http_conn_place(struct http_conn *(*at)(void *ctx, size_t i), size_t n, void *ctx)
{
        size_t found = n;
        uint64_t now = clock_mono_ns();
        for (size_t i = 0; i < n; i++) {
                const struct http_conn *c = at(ctx, i);
                if (!c)
                        return i;
                if (may_go(c, now) && (found == n || c->deadline_ns < at(ctx, found)->deadline_ns))
                        found = i;
        }
        return found;
}

/* ---- in ---- */

void http_conn_read(struct http_conn *c)
{
        enum { CHUNK = 65536, AHEAD_MAX = 1 << 20 };
        char bytes[CHUNK];
        ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                c->gone = true;
        if (n <= 0 || c->lingers)
                return;

        if (c->in.in.n == 0 && !c->busy)
                set_due(c, HTTP_READ_S);
        request_add(&c->in, bytes, (size_t) n);
        c->gone |= c->in.stage == READ_DONE && c->in.in.n > AHEAD_MAX;
}

void http_conn_parse(struct http_conn *c, const struct http_handler *h, void *ctx)
{
        c->again = false;
        while (!c->gone && !c->lingers && c->in.stage != READ_DONE) {
                switch (request_step(&c->in)) {
                case REQUEST_MORE:
                        return;
                case REQUEST_HEADED:
                        c->last |= c->in.r.close;
                        c->busy = true;
                        h->head(ctx, c);
                        break;
                case REQUEST_WHOLE:
                        h->whole(ctx, c);
                        break;
                case REQUEST_BAD:
                        c->last = true;
                        h->bad(ctx, c);
                        return;
                }
                if (c->last && !c->busy)
                        return;
        }
}

void http_conn_take(struct http_conn *c, size_t body_max)
{
        if (c->in.expects)
                buf_puts(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
        request_accept(&c->in, body_max);
}

/* ---- out ---- */

static const struct {
        unsigned status;
        const char *text;
} texts[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 206, "Partial Content" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 416, "Range Not Satisfiable" },
        { 417, "Expectation Failed" },
        { 421, "Misdirected Request" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 503, "Service Unavailable" },
        { 505, "HTTP Version Not Supported" },
        { 507, "Insufficient Storage" },
};

const char *http_status_text(unsigned status)
{
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
                if (texts[i].status == status)
                        return texts[i].text;
        return "Error";
}

static void put_head(struct http_conn *c, unsigned status, const char *type, const char *extra)
{
        buf_printf(&c->out, "HTTP/1.1 %u %s\r\n", status, http_status_text(status));
        if (type[0])
                buf_printf(&c->out, "Content-Type: %s\r\n", type);
        buf_printf(&c->out, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s%s", extra,
                   c->last ? "Connection: close\r\n" : "");
}

/* A body that was not taken is not read: the connection ends. */
void http_conn_put(struct http_conn *c, unsigned status, const char *type, const char *extra,
                   struct span body)
{
        c->last |= c->in.stage == READ_ACCEPT && c->in.r.length != 0;
        put_head(c, status, type, extra);
        buf_printf(&c->out, "Content-Length: %zu\r\n\r\n", body.n);
        buf_add(&c->out, body.p, body.n);
}

void http_conn_answered(struct http_conn *c)
{
        c->gone |= c->out.failed;
        c->busy = false;
        c->again = !c->last && c->in.in.n > 0;
        if (!c->last)
                request_next(&c->in);
        http_conn_flush(c);
}

void http_conn_answer(struct http_conn *c, unsigned status, const char *type, const char *extra,
                      struct span body)
{
        http_conn_put(c, status, type, extra, body);
        http_conn_answered(c);
}

void http_conn_stream(struct http_conn *c, const char *extra)
{
        c->last = true;
        put_head(c, 200, "text/event-stream", extra);
        buf_puts(&c->out, "X-Accel-Buffering: no\r\n\r\n");
}

void http_conn_flush(struct http_conn *c)
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
                set_due(c, HTTP_WRITE_S);
        }

        bool said = c->out.n > 0;
        c->sent = c->out.n = c->unread_ns = 0;
        if (c->busy || c->lingers || (!said && !c->last))
                return;

        /* Bytes that the client still sends are read and dropped: a reset would take the answer with it. */
        c->lingers = c->last;
        set_due(c, c->last ? HTTP_LINGER_S : c->in.in.n ? HTTP_READ_S : HTTP_IDLE_S);
        if (c->last)
                (void) shutdown(c->fd, SHUT_WR);
}
