/* SPDX-License-Identifier: MIT */
/* run/keeper/host_calls.c - calls of the caller's functions by a module in the box. cordon-wasm sends one
 * message for a call and waits for its result. A message that is no call closes the line, and the module ends
 * with a trap. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "run/keeper/internal.h"
#include "wall/plan/plan.h"

#include <poll.h>

enum { AT_ONCE = 64 }; /* then other boxes have their turn */

int calls_open(struct run *run, int *ret_inside)
{
        int ends[2];
        if (wire_pair(ends) < 0)
                return -1;

        run->calls = ends[0];
        *ret_inside = ends[1];
        return 0;
}

static bool is_waiting(int fd)
{
        struct pollfd p = { .fd = fd, .events = POLLIN };
        return poll(&p, 1, 0) == 1;
}

/* Returns false if the line is of no more use. */
static bool serve_one(const struct box *b)
{
        struct host_call call;
        struct host_result result = { 0 };
        if (wire_take(b->run.calls, &host_call_form, &call, NULL) != 1 || !b->c.calls.call)
                return false;

        memcpy(result.slots, call.slots, sizeof result.slots);
        result.failed = b->c.calls.call(b->c.calls.ctx, call.index, result.slots) < 0;
        return wire_put_now(b->run.calls, &host_result_form, &result) == 0;
}

void calls_serve(struct box *b)
{
        for (unsigned i = 0; i < AT_ONCE && b->run.calls >= 0 && is_waiting(b->run.calls); i++)
                if (!serve_one(b))
                        fd_close(&b->run.calls);
}
