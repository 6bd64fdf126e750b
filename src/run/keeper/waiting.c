/* SPDX-License-Identifier: MIT */
/* run/keeper/waiting.c - the events that a blocked phase waits for: a descriptor, a time, the end of a child.
 */
#include "base/clock.h"
#include "run/keeper/internal.h"

bool keeper_waits_too_long(struct box *b, unsigned most_ms)
{
        uint64_t now = clock_mono_ns();
        if (b->wait.until_ns == 0)
                b->wait.until_ns = now + most_ms * UINT64_C(1000000);

        b->wait.wake_ns = b->wait.until_ns;
        return now >= b->wait.until_ns;
}

bool keeper_is_new_phase(struct box *b)
{
        bool is_new = !b->wait.begun;
        b->wait.begun = true;
        return is_new;
}

void keeper_wait_for(struct box *b, int fd, short events)
{
        b->wait.fd = fd;
        b->wait.events = events;
}

void keeper_wait_us(struct box *b, unsigned us) { b->wait.wake_ns = clock_mono_ns() + us * UINT64_C(1000); }

void keeper_wait_child(struct box *b, const struct child *c)
{
        keeper_wait_for(b, c->pidfd, POLLIN);
        if (c->pidfd < 0)
                keeper_wait_us(b, 1000);
}

bool box_is_parked(const struct box *b) { return b->phase == PHASE_PARK && b->ready && !b->ordered; }
