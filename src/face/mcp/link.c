/* SPDX-License-Identifier: MIT */
/* face/mcp/link.c - one client: lines in, lines out. Neither direction ever blocks the loop, which drives
 * boxes.
 */
#include "base/fd.h"
#include "face/mcp/mcp_http.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct mcp_link *mcp_link_new(struct mcp_server *s, int in, int out)
{
        for (size_t i = 0; i < MCP_LINKS_MAX; i++) {
                struct mcp_link *l = s->links[i] ? NULL : calloc(1, sizeof *l);
                if (!l)
                        continue;

                l->peer = &l->own;
                l->in = in;
                l->c.fd = out;
                s->links[i] = l;
                return l;
        }

        return NULL;
}

void mcp_link_free(struct mcp_link *l)
{
        if (l->c.fd <= 2)
                l->c.fd = -1;
        http_conn_done(&l->c);
        buf_done(&l->got);
        free(l);
}

void mcp_link_read(struct mcp_link *l)
{
        enum { CHUNK = 65536 };
        char *room = buf_room(&l->got, CHUNK);
        ssize_t n = room ? read(l->in, room, CHUNK) : -1;
        if (room)
                l->got.n -= CHUNK - (size_t) (n > 0 ? n : 0);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
                l->c.gone = true;
}

bool mcp_link_line(struct mcp_link *l, struct buf *ret, bool *ret_too_long)
{
        char *end = l->got.n ? memchr(l->got.p, '\n', l->got.n) : NULL;
        if (!end && l->got.n > RPC_LINE_MAX) {
                l->too_long = true;
                l->got.n = 0;
        }
        if (!end)
                return false;

        size_t n = (size_t) (end - l->got.p);
        *ret_too_long = l->too_long;
        l->too_long = false;
        ret->n = 0;
        buf_add(ret, l->got.p, n > 0 && end[-1] == '\r' ? n - 1 : n);
        buf_drop(&l->got, n + 1);
        return true;
}

void mcp_link_send(struct mcp_link *l, const struct buf *line)
{
        if (l->c.out.n > MCP_QUEUE_MAX || line->failed)
                l->c.gone = true;
        if (l->c.gone)
                return;

        if (l->http)
                mcp_http_put(l, line);
        else {
                buf_add(&l->c.out, line->p, line->n);
                buf_putc(&l->c.out, '\n');
        }
        l->c.gone |= l->c.out.failed;
        mcp_link_flush(l);
}

void mcp_link_error(struct mcp_link *l, const struct json *id, int code, const char *why)
{
        AUTO_BUF(line);
        mcp_put_error(&line, id, code, why, NULL);
        mcp_link_send(l, &line);
}

/* As much as can be written at once: a pipe that polls writable takes PIPE_BUF bytes. */
void mcp_link_flush(struct mcp_link *l)
{
        if (l->http) {
                http_conn_flush(&l->c);
                return;
        }

        while (l->c.sent < l->c.out.n && !l->c.gone) {
                struct pollfd p = { .fd = l->c.fd, .events = POLLOUT };
                size_t left = l->c.out.n - l->c.sent;
                if (poll(&p, 1, 0) < 1)
                        return;

                ssize_t n = write(l->c.fd, l->c.out.p + l->c.sent, left < PIPE_BUF ? left : PIPE_BUF);
                if (n < 0 && errno != EINTR && errno != EAGAIN)
                        l->c.gone = true;
                if (n < 0)
                        return;
                l->c.sent += (size_t) n;
        }

        l->c.sent = l->c.out.n = 0;
}

/* ---- the socket ---- */

/* A connection of this user (`local`: of a Unix socket, which shows whose it is), or -1. */
int mcp_link_accept(int listener, bool local)
{
        struct ucred who;
        socklen_t len = sizeof who;
        AUTO_FD(fd, accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        bool ours = fd >= 0 && (!local || (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
                                           who.uid == geteuid()));
        return ours ? TAKE_FD(fd) : -1;
}
