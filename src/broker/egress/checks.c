/* SPDX-License-Identifier: MIT */
/* broker/egress/checks.c - moves answers that a door gives a form through cordon-output. Each answer has a
 * process of its own there; one that dies, or a service that is gone, denies the answer. Decides nothing. */
#include "broker/egress/checks.h"
#include "base/fd.h"
#include "base/json.h"
#include "broker/egress/http/http.h"
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

_Static_assert((int) OUTPUT_PACKET <= (int) RELAY_BUFFER, "a packet fits the buffer");

/* ---- the service ---- */

static void fail_check(struct flow *f)
{
        f->check_failed = true;
        broker_again(f);
}

static void take_line(struct broker *b, uint32_t number, int line)
{
        AUTO_FD(fd, line);
        struct flow *f = b->flows;
        while (f && (f->check_number != number || f->check.fd >= 0))
                f = f->next;
        if (!f)
                return; /* given up meanwhile */

        bool good = fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
        f->check = (struct source){ SOURCE_CHECK, good ? TAKE_FD(fd) : -1, f };
        if (!good || broker_watch(b, &f->check, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET) < 0) {
                broker_forget(&f->check);
                fail_check(f);
                return;
        }
        broker_again(f);
}

void checks_serve(struct broker *b)
{
        struct output_line m;
        int fd = -1, r = wire_take(b->checks_source.fd, &output_line_form, &m, &fd);
        if (r == 1) {
                take_line(b, m.number, fd);
                return;
        }
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        broker_forget(&b->checks_source);
        for (struct flow *f = b->flows; f; f = f->next)
                if (f->check_number && f->check.fd < 0)
                        fail_check(f);
}

/* ---- one answer ---- */

bool checks_begin(struct flow *f, const struct door *d)
{
        struct output_ask m = { .number = ++f->b->checks_asked };
        if (m.number == 0)
                m.number = ++f->b->checks_asked;
        output_form_key(d->type, d->max, d->value, m.key);
        if (f->b->checks_source.fd < 0 || wire_put(f->b->checks_source.fd, &output_ask_form, &m, -1) < 0)
                return false;

        f->check_number = m.number;
        return true;
}

void checks_end(struct flow *f)
{
        broker_forget(&f->check);
        f->check_number = 0;
        f->check_failed = f->check_shut = false;
}

static bool give_body(struct flow *f)
{
        bool end;
        struct span s = http_flow_to_check(f->http, &end);
        if (s.n == 0) {
                bool shuts = end && !f->check_shut;
                f->check_shut |= end;
                if (shuts)
                        (void) shutdown(f->check.fd, SHUT_WR);
                return shuts;
        }

        size_t most = s.n < OUTPUT_PACKET ? s.n : OUTPUT_PACKET;
        ssize_t n = send(f->check.fd, s.p, most, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
                return false;
        http_flow_check_took(f->http, n < 0 ? s.n : (size_t) n); /* it reads no more: its verdict is there */
        return true;
}

static void take_verdict(struct flow *f, struct span text)
{
        struct err ignored;
        struct json_doc *d = json_parse("report", text, &ignored);
        const struct json *ok = d ? json_get(json_root(d), "ok") : NULL,
                          *why = d ? json_get(json_root(d), "why") : NULL;
        http_flow_checked(f->http, ok && ok->type == JSON_TRUE,
                          why && why->type == JSON_STRING ? why->str : "the check was not finished");
        json_free(d);
}

static bool take_answer(struct flow *f)
{
        char *packet = f->b->buffer;
        if (!http_flow_check_room(f->http))
                return false;

        ssize_t n = recv(f->check.fd, packet, RELAY_BUFFER, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;

        if (n > 1 && packet[0] == OUTPUT_DATA)
                http_flow_from_check(f->http, span_of(packet + 1, (size_t) n - 1));
        else if (n > 1 && packet[0] == OUTPUT_VERDICT)
                take_verdict(f, span_of(packet + 1, (size_t) n - 1));
        else
                http_flow_checked(f->http, false, "the check was not finished");
        return true;
}

bool checks_move(struct flow *f)
{
        if (f->check_number == 0)
                return false;

        if (f->check_failed) {
                http_flow_checked(f->http, false, "the check could not begin");
                return true;
        }

        bool moved = f->check.fd >= 0 && give_body(f);
        return (f->check.fd >= 0 && take_answer(f)) || moved;
}
