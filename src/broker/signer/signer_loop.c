/* SPDX-License-Identifier: MIT */
/* broker/signer/signer_loop.c - the loop: the keeper, listeners in the box, agents outside, clients. */
#include "base/fd.h"
#include "broker/signer/signer_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OUT_MAX = 1 << 20, PART = 16384 };
enum {
        AT_CONTROL = 0,
        AT_LISTENERS,
        AT_AGENTS = AT_LISTENERS + SIGNER_AGENT__COUNT,
        AT_CLIENTS = AT_AGENTS + SIGNER_AGENT__COUNT,
        AT_END = AT_CLIENTS + CLIENTS_MAX
};

/* ---- bytes ---- */

/* As much as it takes. Returns false if the peer is gone. */
static bool flush_out(int fd, struct buf *out)
{
        while (out->n > 0) {
                ssize_t n = send(fd, out->p, out->n, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EAGAIN;
                memmove(out->p, out->p + n, out->n - (size_t) n);
                out->n -= (size_t) n;
        }
        return true;
}

/* Returns false at its end. */
static bool fill_in(int fd, struct buf *in)
{
        char part[PART];
        ssize_t n = recv(fd, part, sizeof part, MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR;
        buf_add(in, part, (size_t) n);
        return n > 0 && !in->failed;
}

/* ---- clients ---- */

static void client_free(struct signer *s, unsigned i)
{
        struct client *c = s->clients[i];
        if (c->fd >= 0)
                (void) close(c->fd);
        buf_done(&c->in);
        buf_done(&c->out);
        buf_done(&c->job);
        buf_done(&c->data);
        assuan_client_done(&c->gpg);
        free(c);
        s->clients[i] = NULL;
}

/* The agent or the keeper may still be busy with it. */
static void client_left(struct client *c)
{
        (void) close(c->fd);
        c->fd = -1;
        c->in.n = c->out.n = 0;
}

static void accept_client(struct signer *s, enum signer_agent agent)
{
        unsigned i = 0;
        while (i < CLIENTS_MAX && s->clients[i])
                i++;
        AUTO_FD(fd, i < CLIENTS_MAX
                            ? accept4(s->agents[agent].listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)
                            : -1);
        struct client *c = fd >= 0 ? calloc(1, sizeof *c) : NULL;
        if (!c)
                return;

        c->fd = TAKE_FD(fd);
        c->agent = agent;
        s->clients[i] = c;
        if (agent == SIGNER_GPG)
                buf_puts(&c->out, "OK Pleased to meet you\n");
}

static void tend_client(struct signer *s, unsigned i, const struct pollfd *p)
{
        struct client *c = s->clients[i];
        if (c->fd >= 0 && p->fd == c->fd && c->state == CLIENT_READS &&
            p->revents & (POLLIN | POLLHUP | POLLERR)) {
                if (fill_in(c->fd, &c->in))
                        client_serve(s, c);
                else
                        client_left(c);
        } else if (c->fd >= 0 && p->fd == c->fd && p->revents & (POLLHUP | POLLERR)) {
                client_left(c);
        }

        if (c->fd >= 0 &&
            (!flush_out(c->fd, &c->out) || c->out.n > OUT_MAX || c->out.failed || (c->ends && c->out.n == 0)))
                client_left(c);
        if (c->fd < 0 && c->state == CLIENT_READS)
                client_free(s, i);
}

/* ---- the keeper ---- */

static bool hear_keeper(struct signer *s)
{
        struct signer_order o;
        AUTO_FD(fd, -1);
        if (wire_take(s->control, &signer_order_form, &o, &fd) != 1)
                return errno == EINTR;

        if (o.command == SIGNER_ANSWER)
                client_answer(s, o.number, o.yes);

        if (o.command == SIGNER_LISTENER && o.agent < SIGNER_AGENT__COUNT && fd >= 0 &&
            s->agents[o.agent].listener < 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
                s->agents[o.agent].listener = TAKE_FD(fd);
        return true;
}

/* ---- the loop ---- */

static bool has_room(const struct signer *s)
{
        for (unsigned i = 0; i < CLIENTS_MAX; i++)
                if (!s->clients[i])
                        return true;
        return false;
}

static void fill_wants(const struct signer *s, struct pollfd p[static AT_END])
{
        p[AT_CONTROL] = (struct pollfd){ .fd = s->control, .events = POLLIN };
        for (unsigned i = 0; i < SIGNER_AGENT__COUNT; i++) {
                const struct agent *a = &s->agents[i];
                p[AT_LISTENERS + i] =
                        (struct pollfd){ .fd = has_room(s) ? a->listener : -1, .events = POLLIN };
                p[AT_AGENTS + i] =
                        (struct pollfd){ .fd = a->fd, .events = (short) (POLLIN | (a->out.n ? POLLOUT : 0)) };
        }

        for (unsigned i = 0; i < CLIENTS_MAX; i++) {
                const struct client *c = s->clients[i];
                int events = c && c->state == CLIENT_READS && c->out.n == 0 ? POLLIN : 0;
                p[AT_CLIENTS + i] =
                        (struct pollfd){ .fd = c ? c->fd : -1,
                                         .events = (short) (events | (c && c->out.n ? POLLOUT : 0)) };
        }
}

static void tend_agent(struct signer *s, enum signer_agent which, const struct pollfd *p)
{
        struct agent *a = &s->agents[which];
        if (a->fd < 0)
                return;
        bool there = !(p->revents & (POLLIN | POLLHUP | POLLERR)) || fill_in(a->fd, &a->in);
        if (there)
                agent_heard(s, which);
        if (a->fd >= 0 && (!there || !flush_out(a->fd, &a->out)))
                agent_lost(s, which);
}

void signer_run(struct signer *s)
{
        struct pollfd p[AT_END];
        for (;;) {
                agents_begin(s);
                for (unsigned i = 0; i < SIGNER_AGENT__COUNT; i++)
                        if (s->agents[i].fd >= 0 && !flush_out(s->agents[i].fd, &s->agents[i].out))
                                agent_lost(s, i);

                fill_wants(s, p);
                if (poll(p, AT_END, -1) < 0)
                        continue;
                if (p[AT_CONTROL].revents && !hear_keeper(s))
                        return;

                for (unsigned i = 0; i < SIGNER_AGENT__COUNT; i++) {
                        tend_agent(s, i, &p[AT_AGENTS + i]);
                        if (p[AT_LISTENERS + i].revents & POLLIN)
                                accept_client(s, i);
                }

                for (unsigned i = 0; i < CLIENTS_MAX; i++)
                        if (s->clients[i])
                                tend_client(s, i, &p[AT_CLIENTS + i]);
        }
}
