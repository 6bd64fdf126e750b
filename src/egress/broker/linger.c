/* SPDX-License-Identifier: MIT */
/* egress/broker/linger.c - the end of a connection whose last answer is out. Closing a socket that has
 * something unread resets it, and the reset takes the answer from a client that was still sending. So our end
 * is said, and what still comes is dropped until theirs: not for ever, and on nobody's account, because it
 * goes nowhere. */
#include "egress/broker/requests.h"
#include "egress/broker/write_ahead.h"
#include "egress/internal.h"

#include <errno.h>

enum { ROUNDS = 16, SILENT_S = 5, AT_MOST_S = 30 };

static uint64_t in_seconds(const struct flow *f, unsigned s)
{
        return f->b->now_ns + s * UINT64_C(1000000000);
}

void part_begin(struct flow *f)
{
        (void) ahead_over(f, LEDGER_END_DONE, "done", NULL);
        flow_closes_whole(f);
        flow_leave_server(f);
        requests_done(f);
        f->door = NULL; /* whether it is still open is no matter */
        if (shutdown(f->client.fd, SHUT_WR) < 0) {
                flow_end(f, false);
                return;
        }

        f->state = FLOW_PARTING;
        f->b->parting++;
        f->give_up_ns = in_seconds(f, SILENT_S);
        f->part_until_ns = in_seconds(f, AT_MOST_S);
        part_event(f);
}

void part_event(struct flow *f)
{
        ssize_t n = 1;
        for (unsigned i = 0; n > 0 && i < ROUNDS; i++)
                n = recv(f->client.fd, f->b->buffer, sizeof f->b->buffer, 0);

        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
                flow_end(f, false);
                return;
        }

        f->give_up_ns = in_seconds(f, SILENT_S);
        if (n > 0)
                flow_again(f);
}

bool part_give_way(struct broker *b)
{
        struct flow *oldest = NULL;
        for (struct flow *f = b->parting ? b->flows : NULL; f; f = f->next) /* the newest first */
                oldest = f->state == FLOW_PARTING ? f : oldest;
        if (oldest)
                flow_end(oldest, false);
        return oldest != NULL;
}

void part_tick(struct flow *f)
{
        if (f->b->now_ns >= f->give_up_ns || f->b->now_ns >= f->part_until_ns)
                flow_end(f, false);
}
