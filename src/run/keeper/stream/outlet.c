/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/outlet.c - the pipes of streams, and writing to them: one write that does not block,
 * whatever the descriptor is. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int pump_pipe(struct run *run, int stream, int ret[2], struct err *e)
{
        bool to_payload = stream == 0;
        if (run->ahead[stream] >= 0) {
                ret[to_payload] = TAKE_FD(run->ahead[stream]);
                ret[!to_payload] = -1; /* the payload has it */
                return 0;
        }

        if (pipe2(ret, O_CLOEXEC) < 0 || fcntl(ret[to_payload], F_SETFL, O_NONBLOCK) < 0)
                return err_set(e, ERR_IO, errno, "making a pipe: %s", strerror(errno));
        return 0;
}

/* One write that does not block, whatever the caller's descriptor is. A pipe that is ready takes PIPE_BUF at
 * once. */
static ssize_t write_output(const struct pump *p, const char *at, size_t n)
{
        if (p->outlet == OUTLET_SOCKET)
                return send(p->to, at, n, MSG_DONTWAIT | MSG_NOSIGNAL);

        struct pollfd ready = { .fd = p->to, .events = POLLOUT };
        if (p->outlet == OUTLET_POLITE && poll(&ready, 1, 0) != 1) {
                errno = EAGAIN;
                return -1;
        }

        return write(p->to, at, p->outlet == OUTLET_POLITE && n > PIPE_BUF ? PIPE_BUF : n);
}

/* Writes the held bytes. Returns false with errno set if they cannot be written. */
bool pump_flush(struct pump *p)
{
        const char *text = p->neutral ? p->inert.p : p->buffer;
        while (p->sent < p->have) {
                const char *at = text + p->sent;
                size_t n = p->have - p->sent;
                ssize_t k = write_output(p, at, n);
                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0 && errno == EAGAIN) {
                        p->blocked = true;
                        return true;
                }
                if (k < 0)
                        return false;
                p->sent += (size_t) k;
                p->mid_line = k > 0 ? text[p->sent - 1] != '\n' : p->mid_line;
        }

        p->have = p->sent = 0;
        p->blocked = false;
        return true;
}

bool pump_has_room(struct pump *p)
{
        if (!p->buffer)
                p->buffer = malloc(PUMP_BUFFER);
        return p->buffer != NULL;
}
