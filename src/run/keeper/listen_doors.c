/* SPDX-License-Identifier: MIT */
/* run/keeper/listen_doors.c - `listen` doors: ports of the host's loopback that lead to a server in the box.
 *
 *   client on the host ──accept──▶ keeper ──relay──▶ socket made by init inside the box's network namespace
 *
 * The keeper moves bytes and reads none of them. One epoll descriptor stands for all sockets, so that the
 * keeper's loop has one more to wait for. Bytes out of the box count as `egress`, bytes into it as `ingress`:
 * never more than the limit, and a byte beyond it closes every port and connection. Each connection is
 * counted for the record. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "effect/gate/gate.h"
#include "run/keeper/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

enum { LISTENERS_MAX = 64, LINKS_MAX = 256, ASKED_MAX = 64, BUFFER = 16384, BACKLOG = 64, EVENTS = 32 };
enum { HELD_MAX = 16 }; /* connections that wait for an approval */
enum { PAUSE_NS = 100000000, KEY_PAUSE = LISTENERS_MAX + 2 * LINKS_MAX };

struct listener {
        int fd;
        unsigned door; /* in inbound_door */
};

struct half { /* one direction */
        size_t have, sent;
        bool ended; /* its source is at its end */
        char bytes[BUFFER];
};

struct link {
        int outer, inner;
        unsigned door;
        struct half in, out; /* into the box, and out of it */
};

struct inbound {
        int epoll, pause; /* pause: a timer after accept() failed */
        struct listener listeners[LISTENERS_MAX];
        unsigned listener_count;
        struct link *links[LINKS_MAX];
        struct {
                int fd;
                unsigned door;
                uint32_t id;
        } asked[ASKED_MAX]; /* accepted, and waiting for init's answer, oldest first */
        unsigned asked_count;
        uint32_t last_id;
        struct inbound_door doors[LISTENERS_MAX];
        unsigned door_count;
        uint64_t sent, received;
        struct {
                int fd;
                unsigned door;
                uint32_t number;
        } held[HELD_MAX]; /* `ask`; fd 0: free */
        uint32_t held_number;
};

/* A socket that is waited for with no event at all still reports its errors and its end, again and again: it
 * is taken out instead. */
static int wait_for(const struct inbound *n, int fd, uint64_t key, uint32_t events)
{
        struct epoll_event ev = { .events = events, .data.u64 = key };
        if (events == 0)
                return epoll_ctl(n->epoll, EPOLL_CTL_DEL, fd, NULL);
        int r = epoll_ctl(n->epoll, EPOLL_CTL_MOD, fd, &ev);
        return r < 0 && errno == ENOENT ? epoll_ctl(n->epoll, EPOLL_CTL_ADD, fd, &ev) : r;
}

/* ---- start ---- */

static int add_listener(struct inbound *n, const struct sockaddr *at, socklen_t len)
{
        static const int on = 1;
        AUTO_FD(fd, socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 || bind(fd, at, len) < 0 ||
            listen(fd, BACKLOG) < 0 || wait_for(n, fd, n->listener_count, EPOLLIN) < 0)
                return -1;

        n->listeners[n->listener_count++] = (struct listener){ TAKE_FD(fd), n->door_count };
        return 0;
}

static uint16_t port_of(const char *text) { return (uint16_t) strtoul(text, NULL, 10); }

static int hint_port(const struct door *d, uint16_t port, int sys, struct err *e)
{
        const char *inner = d->value ? d->value : d->name;

        if (sys == EADDRINUSE)
                return err_hint(e, "another program has this port; for example: listen %u:%s", port + 1u,
                                inner);

        if (sys == EACCES)
                return err_hint(
                        e, "only root may listen at the host's ports below 1024; for example: --listen %u:%s",
                        port + 8000u, inner);

        return -1;
}

static int open_door(struct inbound *n, const struct door *d, struct err *e)
{
        uint16_t port = port_of(d->name);
        struct sockaddr_in v4 = { .sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                                   .sin6_port = htons(port),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT };

        if (n->listener_count + 2 > LISTENERS_MAX)
                return err_set(e, ERR_POLICY, 0, "more than %d ports to listen at", LISTENERS_MAX / 2);

        if (add_listener(n, (struct sockaddr *) &v4, sizeof v4) < 0) {
                int sys = errno;
                (void) err_set(e, ERR_IO, sys, "listen %u: %s", port, strerror(sys));
                return hint_port(d, port, sys, e);
        }

        (void) add_listener(n, (struct sockaddr *) &v6, sizeof v6); /* a host without IPv6 has the other */
        n->doors[n->door_count++] = (struct inbound_door){
                .door = d,
                .port = port,
                .inner = d->value ? port_of(d->value) : port,
        };

        return 0;
}

static int make_inbound(struct box *b, struct err *e)
{
        struct inbound *n = b->inbound = calloc(1, sizeof *n);
        if (!n)
                return err_set(e, ERR_MEMORY, 0, "out of memory");

        n->epoll = epoll_create1(EPOLL_CLOEXEC);
        n->pause = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (n->epoll < 0 || n->pause < 0 || wait_for(n, n->pause, KEY_PAUSE, EPOLLIN) < 0)
                return err_set(e, ERR_IO, errno, "waiting for connections: %s", strerror(errno));

        return 0;
}

int inbound_open(struct box *b, struct err *e)
{
        size_t count;
        const struct door *d = policy_doors(b->c.policy, &count);

        for (size_t i = 0; i < count; i++) {
                if (d[i].kind != DOOR_LISTEN)
                        continue;
                if (!b->inbound && make_inbound(b, e) < 0)
                        return -1;
                if (open_door(b->inbound, &d[i], e) < 0)
                        return -1;
        }

        return 0;
}

int inbound_fd(const struct box *b) { return b->inbound && b->run.up ? b->inbound->epoll : -1; }

/* ---- connections ---- */

static uint64_t key_of(unsigned link, bool outer) { return LISTENERS_MAX + 2u * link + outer; }

static void watch_fd(const struct inbound *n, unsigned i)
{
        const struct link *l = n->links[i];
        uint32_t outer = (l->in.have == 0 && !l->in.ended ? EPOLLIN : 0u) | (l->out.have ? EPOLLOUT : 0u);
        uint32_t inner = (l->out.have == 0 && !l->out.ended ? EPOLLIN : 0u) | (l->in.have ? EPOLLOUT : 0u);

        (void) wait_for(n, l->outer, key_of(i, true), outer);
        (void) wait_for(n, l->inner, key_of(i, false), inner);
}

static void end_link(struct inbound *n, unsigned i)
{
        fd_close(&n->links[i]->outer);
        fd_close(&n->links[i]->inner);
        free(n->links[i]);
        n->links[i] = NULL;
}

static int free_slot(const struct inbound *n)
{
        for (unsigned i = 0; i < LINKS_MAX; i++)
                if (!n->links[i])
                        return (int) i;
        return -1;
}

static void set_listening(const struct inbound *n, bool on)
{
        for (unsigned i = 0; i < n->listener_count; i++)
                (void) wait_for(n, n->listeners[i].fd, i, on ? EPOLLIN : 0);
}

/* A connection that could not be accepted, as on EMFILE, stays in the queue: none is accepted for a moment.
 */
static void pause_listening(const struct inbound *n)
{
        const struct itimerspec once = { .it_value.tv_nsec = PAUSE_NS };
        set_listening(n, false);
        (void) timerfd_settime(n->pause, 0, &once, NULL);
}

static void end_pause(const struct inbound *n)
{
        uint64_t times;
        if (read(n->pause, &times, sizeof times) > 0)
                set_listening(n, true);
}

static void connect_inner(struct box *b, unsigned door, int *fd)
{
        struct inbound *n = b->inbound;
        if (n->asked_count == ASKED_MAX || wall_connect(&b->child, n->doors[door].inner, ++n->last_id) < 0)
                return; /* closed, as by a server that is busy */

        n->asked[n->asked_count].fd = TAKE_FD(*fd);
        n->asked[n->asked_count].id = n->last_id;
        n->asked[n->asked_count++].door = door;
}

/* ---- `ask` ---- */

static void ask_about(struct box *b, unsigned door, uint32_t number)
{
        AUTO_BUF(shown);
        const struct inbound_door *d = &b->inbound->doors[door];
        char place[32];
        (void) snprintf(place, sizeof place, "127.0.0.1:%u", d->port);
        buf_printf(&shown, "a connection to port %u of this host, for the box's port %u", d->port, d->inner);
        const struct desk_asked a = { DESK_LISTEN, number, d->door };
        const struct gate_envelope e = {
                .field = { [GATE_KIND] = "inbound", [GATE_PLACE] = place, [GATE_REACH] = "self" }
        };
        if (desk_hold(b, &a, &e, &shown) < 0)
                inbound_answered(b, number, false);
}

static void hold_connection(struct box *b, unsigned door, int *fd)
{
        struct inbound *n = b->inbound;
        for (unsigned i = 0; i < HELD_MAX; i++) {
                if (n->held[i].fd > 0)
                        continue;
                n->held[i].fd = TAKE_FD(*fd);
                n->held[i].door = door;
                n->held[i].number = ++n->held_number;
                ask_about(b, door, n->held[i].number);
                return;
        }
}

void inbound_answered(struct box *b, uint32_t number, bool yes)
{
        struct inbound *n = b->inbound;
        for (unsigned i = 0; n && i < HELD_MAX; i++) {
                if (n->held[i].fd <= 0 || n->held[i].number != number)
                        continue;
                AUTO_FD(fd, n->held[i].fd);
                n->held[i].fd = 0;
                if (yes && n->epoll >= 0)
                        connect_inner(b, n->held[i].door, &fd);
                else
                        n->doors[n->held[i].door].failed++;
                return;
        }
}

static void accept_from(struct box *b, const struct listener *from)
{
        struct inbound *n = b->inbound;
        AUTO_FD(fd, accept4(from->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));

        if (fd < 0) {
                if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                        pause_listening(n);
                return;
        }

        n->doors[from->door].connections++;
        if (n->doors[from->door].door->ask.on)
                hold_connection(b, from->door, &fd);
        else
                connect_inner(b, from->door, &fd);
}

/* Answers come in the order of the requests, and one may be missing: then earlier requests get none. */
static bool forget_unanswered(struct inbound *n, uint32_t id)
{
        unsigned k = 0;
        while (k < n->asked_count && n->asked[k].id != id)
                k++;

        if (k == n->asked_count)
                return false;

        for (unsigned i = 0; i < k; i++) {
                fd_close(&n->asked[i].fd);
                n->doors[n->asked[i].door].failed++;
        }

        n->asked_count -= k;
        memmove(n->asked, n->asked + k, n->asked_count * sizeof *n->asked);
        return true;
}

void inbound_connected(struct box *b, uint32_t id, int *fd)
{
        struct inbound *n = b->inbound;
        if (!n || !forget_unanswered(n, id))
                return;

        AUTO_FD(outer, n->asked[0].fd);
        unsigned door = n->asked[0].door;
        memmove(n->asked, n->asked + 1, --n->asked_count * sizeof *n->asked);

        int slot = free_slot(n);
        struct link *l = *fd >= 0 && slot >= 0 ? calloc(1, sizeof *l) : NULL;
        if (!l) {
                n->doors[door].failed++;
                return;
        }

        n->links[slot] = l;
        l->outer = TAKE_FD(outer);
        l->inner = TAKE_FD(*fd);
        l->door = door;
        watch_fd(n, (unsigned) slot);
}

/* Moves bytes from one socket to the other, within the limit. Returns the bytes passed on, or -1: the link is
 * over. */
static ssize_t move_bytes(struct half *h, int from, int to, uint64_t room)
{
        if (h->have == 0 && !h->ended) {
                ssize_t r = recv(from, h->bytes, sizeof h->bytes, MSG_DONTWAIT);
                if (r < 0 && errno != EAGAIN && errno != EINTR)
                        return -1;
                h->ended = r == 0;
                h->have = r > 0 ? (size_t) r : 0;
                h->sent = 0;
                if (r == 0)
                        (void) shutdown(to, SHUT_WR);
        }

        size_t now = h->have < room ? h->have : (size_t) room;
        if (now == 0)
                return 0;

        ssize_t w = send(to, h->bytes + h->sent, now, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (w < 0)
                return errno == EAGAIN || errno == EINTR || errno == ENOTCONN ? 0 : -1;

        h->sent += (size_t) w;
        h->have -= (size_t) w;
        return w;
}

static uint64_t room_of(const struct box *b, enum limit_key key)
{
        uint64_t most = b->c.plan->order->limits.value[key];
        uint64_t moved = key == LIMIT_EGRESS ? b->inbound->sent : b->inbound->received;
        return moved < most ? most - moved : 0;
}

/* A byte waits that exceeds the limit. */
static bool is_used_up(struct box *b, enum limit_key key, const struct half *h)
{
        if (h->have == 0 || room_of(b, key) > 0)
                return false;
        b->run.r.limits_hit |= 1u << key;
        return true;
}

static void relay_bytes(struct box *b, unsigned i)
{
        struct inbound *n = b->inbound;
        struct link *l = n->links[i];
        ssize_t in = move_bytes(&l->in, l->outer, l->inner, room_of(b, LIMIT_INGRESS)),
                out = in < 0 ? -1 : move_bytes(&l->out, l->inner, l->outer, room_of(b, LIMIT_EGRESS));

        n->received += in > 0 ? (uint64_t) in : 0;
        n->sent += out > 0 ? (uint64_t) out : 0;
        n->doors[l->door].received += in > 0 ? (uint64_t) in : 0;
        n->doors[l->door].sent += out > 0 ? (uint64_t) out : 0;
        bool over = l->in.ended && l->out.ended && l->in.have == 0 && l->out.have == 0;
        if (is_used_up(b, LIMIT_INGRESS, &l->in) || is_used_up(b, LIMIT_EGRESS, &l->out))
                inbound_close(b);
        else if (in < 0 || out < 0 || over)
                end_link(n, i);
        else
                watch_fd(n, i);
}

void inbound_serve(struct box *b)
{
        struct epoll_event ev[EVENTS];
        struct inbound *n = b->inbound;
        int count = epoll_wait(n->epoll, ev, EVENTS, 0);

        for (int k = 0; k < count && n->epoll >= 0; k++) {
                uint64_t key = ev[k].data.u64;
                unsigned link = key < LISTENERS_MAX ? 0 : (unsigned) (key - LISTENERS_MAX) / 2;
                if (key < LISTENERS_MAX)
                        accept_from(b, &n->listeners[key]);
                else if (key == KEY_PAUSE)
                        end_pause(n);
                else if (link < LINKS_MAX && n->links[link])
                        relay_bytes(b, link);
        }
}

const struct inbound_door *inbound_doors(const struct box *b, unsigned *ret_count)
{
        *ret_count = b->inbound ? b->inbound->door_count : 0;
        return b->inbound ? b->inbound->doors : NULL;
}

void inbound_close(struct box *b)
{
        struct inbound *n = b->inbound;
        if (!n)
                return;

        for (unsigned i = 0; i < LINKS_MAX; i++)
                if (n->links[i])
                        end_link(n, i);

        for (unsigned i = 0; i < n->asked_count; i++)
                fd_close(&n->asked[i].fd);

        for (unsigned i = 0; i < HELD_MAX; i++) {
                if (n->held[i].fd > 0)
                        (void) close(n->held[i].fd);
                n->held[i].fd = 0;
        }

        for (unsigned i = 0; i < n->listener_count; i++)
                fd_close(&n->listeners[i].fd);

        fd_close(&n->pause);
        fd_close(&n->epoll);
        n->asked_count = n->listener_count = 0;
}
