/* SPDX-License-Identifier: MIT */
/* run/keeper/wakeup.c - one epoll descriptor that becomes readable when box_wait() has something to do, for a
 * caller with a loop of its own. It only wakes the caller: poll() reports the ready descriptors each time.
 *
 * Every entry reports once (EPOLLONESHOT) and is armed again after the step. A descriptor that was closed
 * while a copy of it lives on, as in a child of the caller's, stays in an epoll set and cannot be taken out:
 * so it wakes the caller once at most, not for ever. */
#include "run/keeper/internal.h"

#include <errno.h>
#include <sys/epoll.h>

void wakeup_reported(struct box *b)
{
        struct epoll_event ev[SLOT__COUNT];
        int n = b->epoll < 0 ? 0 : epoll_wait(b->epoll, ev, SLOT__COUNT, 0);
        for (int i = 0; i < n; i++)
                if (ev[i].data.u32 < SLOT__COUNT)
                        b->watched[ev[i].data.u32].armed = false;
}

static bool is_same(const struct watched *w, const struct pollfd *p)
{
        return w->fd == p->fd && w->events == p->events;
}

static void arm_entry(const struct box *b, struct watched *w, uint32_t slot)
{
        struct epoll_event ev = { .events = (uint32_t) w->events | EPOLLONESHOT, .data.u32 = slot };
        int r = epoll_ctl(b->epoll, EPOLL_CTL_ADD, w->fd, &ev);
        if (r < 0 && errno == EEXIST)
                r = epoll_ctl(b->epoll, EPOLL_CTL_MOD, w->fd, &ev);

        w->armed = r == 0;
        w->always = r < 0; /* a regular file (EPERM); of anything else too many steps are better than none */
}

void wakeup_arm(struct box *b, const struct pollfd wants[static SLOT__COUNT])
{
        if (b->epoll < 0)
                return;

        for (unsigned i = 0; i < SLOT__COUNT; i++) /* first: a number may belong to another slot by now */
                if (b->watched[i].fd >= 0 && b->watched[i].fd != wants[i].fd)
                        (void) epoll_ctl(b->epoll, EPOLL_CTL_DEL, b->watched[i].fd, NULL);

        for (unsigned i = 0; i < SLOT__COUNT; i++) {
                struct watched *w = &b->watched[i];
                if (is_same(w, &wants[i]) && (w->armed || w->always || w->fd < 0))
                        continue;

                *w = (struct watched){ .fd = wants[i].fd, .events = wants[i].events };
                if (w->fd >= 0)
                        arm_entry(b, w, i);
        }
}

bool wakeup_is_due(const struct box *b)
{
        for (unsigned i = 0; i < SLOT__COUNT; i++)
                if (b->watched[i].fd >= 0 && b->watched[i].always)
                        return true;
        return false;
}
