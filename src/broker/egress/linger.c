/* SPDX-License-Identifier: MIT */
/* broker/egress/linger.c - lingering close of a connection whose last answer is sent. Closing a socket that
 * has unread bytes resets it, and the reset takes the answer from a client that was still sending. So the
 * broker shuts down its side and drops incoming bytes until the client's EOF: for a limited time, and charged
 * to no budget, because the bytes go nowhere. */
#include "broker/egress/internal.h"

#include <errno.h>

enum { ROUNDS = 16, SILENT_S = 5, AT_MOST_S = 30 };

static uint64_t in_seconds(const struct flow *f, unsigned s)
{
        return f->b->now_ns + s * UINT64_C(1000000000);
}

enum flow_event linger_begin(struct flow *f)
{
        f->give_up_ns = in_seconds(f, SILENT_S);
        f->linger_until_ns = in_seconds(f, AT_MOST_S);
        return shutdown(f->client.fd, SHUT_WR) < 0 ? EVENT_DONE : linger_event(f);
}

enum flow_event linger_event(struct flow *f)
{
        ssize_t n = 1;
        for (unsigned i = 0; n > 0 && i < ROUNDS; i++)
                n = recv(f->client.fd, f->b->buffer, sizeof f->b->buffer, 0);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                return EVENT_DONE;

        f->give_up_ns = in_seconds(f, SILENT_S);
        if (n > 0)
                broker_again(f);

        return EVENT_NONE;
}

enum flow_event linger_tick(struct flow *f)
{
        return f->b->now_ns >= f->give_up_ns || f->b->now_ns >= f->linger_until_ns ? EVENT_DONE : EVENT_NONE;
}
