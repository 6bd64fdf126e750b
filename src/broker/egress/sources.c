/* SPDX-License-Identifier: MIT */
/* broker/egress/sources.c - the event sources of the broker: descriptors in one epoll, flows that go on next
 * round, and the clock. The lowest file of the broker: it calls none of the others. */
#include "base/clock.h"
#include "base/fd.h"
#include "broker/egress/http/http.h"
#include "broker/egress/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>

int broker_watch(struct broker *b, struct source *s, uint32_t events)
{
        struct epoll_event e = { .events = events, .data.ptr = s };
        return epoll_ctl(b->epoll, EPOLL_CTL_ADD, s->fd, &e);
}

int broker_keep_line(struct source *s, enum source_kind kind, int fd)
{
        *s = (struct source){ kind, fcntl(fd, F_DUPFD_CLOEXEC, EGRESS_CONTROL + 1), NULL };
        return s->fd < 0 ? -1 : 0;
}

int broker_watch_line(struct broker *b, struct source *s, uint32_t events)
{
        if (s->fd < 0)
                return 0;
        return fcntl(s->fd, F_SETFL, O_NONBLOCK) < 0 ? -1 : broker_watch(b, s, events);
}

/* Ours is the only descriptor of each socket, so closing it takes it out of epoll too. */
void broker_forget(struct source *s) { fd_close(&s->fd); }

void broker_clock(struct broker *b)
{
        b->now_ns = clock_mono_ns();
        b->now_s = clock_wall_s();
        if (b->rules)
                http_rules_clock(b->rules, b->now_s);
}

void broker_again(struct flow *f)
{
        if (f->again)
                return;
        f->again = true;
        f->next_again = f->b->again;
        f->b->again = f;
}

void broker_recorded(struct flow *f, bool leaves, enum effect_reason why, const char *detail)
{
        f->recorded = leaves;
        f->record_why = why;
        (void) snprintf(f->record_detail, sizeof f->record_detail, "%s", detail);
        f->next_recorded = f->b->recorded_flows;
        f->b->recorded_flows = f;
}
