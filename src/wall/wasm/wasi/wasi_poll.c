/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_poll.c - waits for clocks and descriptors. */
#include "wall/wasm/wasi/wasi_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

/* One subscription, as the guest wrote it. */
struct wanted {
        uint64_t userdata;
        uint8_t type;
        uint64_t due_ns; /* a clock: from now */
        enum wasi_errno wrong;
};

struct polling {
        uint32_t n;
        struct wanted *wanted;
        struct pollfd *fds; /* parallel; fd -1: a clock, or wrong */
        uint64_t soonest_ns;
        bool has_clock, ready; /* something is known already */
};

static uint64_t now_of(clockid_t id)
{
        struct timespec t = { 0 };
        (void) clock_gettime(id, &t);
        return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static void want_clock(struct polling *p, struct wanted *w, const uint8_t *s)
{
        uint32_t id = (uint32_t) wasi_get(s + 16, 4);
        uint64_t at = wasi_get(s + 24, 8);
        if (id > 1 || wasi_get(s + 40, 2) > WASI_CLOCK_ABSTIME) {
                w->wrong = WASI_INVAL;
                p->ready = true;
                return;
        }

        if (wasi_get(s + 40, 2) & WASI_CLOCK_ABSTIME) {
                uint64_t now = now_of(id == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
                at = at > now ? at - now : 0;
        }

        w->due_ns = at;
        if (!p->has_clock || at < p->soonest_ns)
                p->soonest_ns = at;
        p->has_clock = true;
}

static void want_fd(const struct wasi_call *c, struct polling *p, uint32_t i, const uint8_t *s)
{
        struct wanted *w = &p->wanted[i];
        const struct wasi_file *f = wasi_file(c->w, (uint32_t) wasi_get(s + 16, 4));
        if (!f || f->type == WASI_DIRECTORY)
                w->wrong = WASI_BADF;
        else if (!(f->rights & (WASI_RIGHT(POLL_FD_READWRITE))))
                w->wrong = WASI_NOTCAPABLE;

        p->ready |= w->wrong != WASI_SUCCESS;
        if (!w->wrong)
                p->fds[i] = (struct pollfd){ .fd = f->fd,
                                             .events = w->type == WASI_EVENT_READ ? POLLIN : POLLOUT };
}

static enum wasi_errno take_subscription(const struct wasi_call *c, struct polling *p, const uint8_t *s)
{
        for (uint32_t i = 0; i < p->n; i++, s += WASI_SUBSCRIPTION_SIZE) {
                struct wanted *w = &p->wanted[i];
                *w = (struct wanted){ .userdata = wasi_get(s, 8), .type = s[8] };
                p->fds[i] = (struct pollfd){ .fd = -1 };
                if (w->type > WASI_EVENT_WRITE)
                        return WASI_INVAL;
                if (w->type == WASI_EVENT_CLOCK)
                        want_clock(p, w, s);
                else
                        want_fd(c, p, i, s);
        }

        return WASI_SUCCESS;
}

static uint64_t bytes_ready(const struct pollfd *f, uint8_t type)
{
        int n = 0;
        return type == WASI_EVENT_READ && ioctl(f->fd, FIONREAD, &n) == 0 && n > 0 ? (uint64_t) n : 0;
}

static void put_event(uint8_t *p, const struct wanted *w, const struct pollfd *f)
{
        bool gone = f->revents & (POLLERR | POLLNVAL), hung = f->revents & POLLHUP;
        (void) memset(p, 0, WASI_EVENT_SIZE);
        wasi_put(p, 8, w->userdata);
        wasi_put(p + 8, 2, w->wrong ? w->wrong : gone ? WASI_IO : WASI_SUCCESS);
        wasi_put(p + 10, 1, w->type);
        if (w->wrong || w->type == WASI_EVENT_CLOCK)
                return;

        wasi_put(p + 16, 8, bytes_ready(f, w->type));
        wasi_put(p + 24, 2, hung ? WASI_EVENT_HANGUP : 0);
}

/* Returns how long it waited, so that a clock that is due is told by the time and not by who woke us. */
static enum wasi_errno await_events(struct polling *p, uint64_t *ret_waited)
{
        uint64_t ns = p->ready ? 0 : p->soonest_ns, began = now_of(CLOCK_MONOTONIC);
        if (ns > INT64_MAX)
                ns = INT64_MAX;

        for (;;) {
                uint64_t gone = now_of(CLOCK_MONOTONIC) - began, left = ns > gone ? ns - gone : 0;
                struct timespec t = { (time_t) (left / 1000000000), (long) (left % 1000000000) };
                int n = ppoll(p->fds, p->n, p->ready || p->has_clock ? &t : NULL, NULL);
                if (n < 0 && errno != EINTR)
                        return wasi_errno(errno);
                *ret_waited = now_of(CLOCK_MONOTONIC) - began;
                if (n > 0 || p->ready || (p->has_clock && *ret_waited >= ns))
                        return WASI_SUCCESS;
        }
}

static enum wasi_errno poll_all(const struct wasi_call *c, struct polling *p, const uint8_t *in, uint8_t *out)
{
        uint64_t waited = 0;
        enum wasi_errno r = take_subscription(c, p, in);
        if (!r)
                r = await_events(p, &waited);

        if (r)
                return r;

        uint32_t events = 0;
        for (uint32_t i = 0; i < p->n; i++) {
                const struct wanted *w = &p->wanted[i];
                bool due = w->type == WASI_EVENT_CLOCK && waited >= w->due_ns;
                if (w->wrong || due || p->fds[i].revents)
                        put_event(out + (size_t) events++ * WASI_EVENT_SIZE, w, &p->fds[i]);
        }

        return wasi_store(c, wasi_u32(c, 3), 4, events);
}

/* The guest may have its events written over its subscriptions: those are read first. */
WASI_CALL(poll_oneoff)
{
        struct polling p = { .n = wasi_u32(c, 2) };
        if (p.n == 0 || p.n > WASI_POLLS)
                return WASI_INVAL;

        const uint8_t *in = wasi_at(c, wasi_u32(c, 0), (uint64_t) p.n * WASI_SUBSCRIPTION_SIZE);
        uint8_t *out = wasi_at(c, wasi_u32(c, 1), (uint64_t) p.n * WASI_EVENT_SIZE);
        if (!in || !out)
                return WASI_FAULT;

        p.wanted = calloc(p.n, sizeof *p.wanted);
        p.fds = calloc(p.n, sizeof *p.fds);
        enum wasi_errno r = p.wanted && p.fds ? poll_all(c, &p, in, out) : WASI_NOMEM;
        free(p.wanted);
        free(p.fds);
        return r;
}
