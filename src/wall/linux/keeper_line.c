/* SPDX-License-Identifier: MIT */
/* wall/linux/keeper_line.c - init's end of the socket pair to the keeper. A program that forks passes the
 * keeper's end to its children, so EOF does not show that the keeper is gone: its pidfd is watched as well.
 */
#include "base/wire/wire.h"
#include "wall/internal.h"

#include <errno.h>
#include <poll.h>

enum { OFFER_MS = 100 }; /* nothing may wait for the keeper for long: it may wait for init */

/* Waits for the line; false: the keeper is gone. */
static bool await_line(const struct wall_init *w, short events)
{
        struct pollfd p[] = { { .fd = w->control, .events = events }, { .fd = w->keeper, .events = POLLIN } };
        while (poll(p, 2, -1) < 0)
                if (errno != EINTR)
                        return false;
        return !p[1].revents;
}

int wall_hear(const struct wall_init *w, struct wall_order *ret, int *ret_fd)
{
        if (w->keeper >= 0 && !await_line(w, POLLIN))
                return 0;
        return wire_take(w->control, &wall_order_form, ret, ret_fd);
}

int wall_say(const struct wall_init *w, const struct wall_message *m)
{
        if (w->keeper < 0)
                return wall_put(w->control, m, -1);
        while (wall_put_now(w->control, m) < 0)
                if (errno != EINTR && (errno != EAGAIN || !await_line(w, POLLOUT)))
                        return -1;
        return 0;
}

bool wall_offer(int control, const struct wall_message *m)
{
        struct pollfd p = { .fd = control, .events = POLLOUT };
        if (wall_put_now(control, m) == 0)
                return true;

        if (errno == EAGAIN)
                (void) poll(&p, 1, OFFER_MS);
        else if (errno != EINTR)
                return false;

        return wall_put_now(control, m) == 0;
}

bool wall_names_secret(const struct wall_message *m)
{
        return effect_kind_has_path((enum effect_kind) m->denial.kind) &&
               policy_holds_secrets(m->denial.path);
}

void wall_offer_denial(int control, const struct wall_message *m, enum wall_report news,
                       struct wall_untold *u)
{
        if (news == REPORT_KNOWN || (news == REPORT_NEW && wall_offer(control, m)))
                return;

        uint32_t k = m->word == WALL_SAYS_SAW ? WALL_LOST_SEEN
                     : wall_names_secret(m)   ? WALL_LOST_SECRET
                                              : m->denial.kind;
        struct wall_message lost = { .word = WALL_SAYS_LOST, .run = m->run };
        if (++u->lost[k] < 2 * u->said[k])
                return;

        lost.lost.kind = k;
        lost.lost.count = u->lost[k] - u->said[k];
        if (wall_offer(control, &lost))
                u->said[k] = u->lost[k];
}
