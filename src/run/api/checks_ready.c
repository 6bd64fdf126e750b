/* SPDX-License-Identifier: MIT */
/* run/api/checks_ready.c - hands bytes to a waiting process of cordon-output. Decides nothing. */
#include "run/api/checks_ready.h"
#include "base/clock.h"
#include "base/fd.h"
#include "output/output.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { LINE_MS = 5000, CHECK_MS = 70000 };

struct api_checks {
        struct api_check_what what;
        int line; /* -1: the service is gone */
        uint32_t number;
        bool asked; /* an answer is on its way, or has come */
};

struct api_checks *api_checks_new(int line, const struct api_check_what *what)
{
        AUTO_FD(its, line);
        struct api_checks *a = calloc(1, sizeof *a);
        if (a)
                *a = (struct api_checks){ .what = *what, .line = TAKE_FD(its) };
        return a;
}

void api_checks_free(struct api_checks *a)
{
        if (a)
                fd_close(&a->line);
        free(a);
}

bool api_checks_alive(const struct api_checks *a) { return a->line >= 0; }

void api_checks_ask(struct api_checks *a)
{
        struct output_ask m = { .number = a->number + 1 };
        if (a->asked || a->line < 0)
                return;

        output_form_key(a->what.form, a->what.max, NULL, m.key);
        if (wire_put(a->line, &output_ask_form, &m, -1) < 0) {
                fd_close(&a->line);
                return;
        }
        a->number = m.number;
        a->asked = true;
}

/* The socket of the process that waits, or -1. */
static int take_process(struct api_checks *a)
{
        struct output_line m;
        int fd = -1;
        if (!a->asked)
                return -1;

        a->asked = false;
        if (!fd_await(a->line, POLLIN, LINE_MS) || wire_take(a->line, &output_line_form, &m, &fd) != 1 ||
            m.number != a->number || fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
                fd_close(&fd);
                fd_close(&a->line);
        }
        return fd;
}

/* ---- one check ---- */

static bool is_later(void) { return errno == EAGAIN || errno == EINTR || errno == ENOBUFS; }

/* What is left of `in`; its end is told once. A process that reads no more has its verdict on the way. */
static void give_input(int fd, struct span *in, bool *told)
{
        enum { MOST = OUTPUT_PACKET - 1 };
        while (in->n) {
                ssize_t n = send(fd, in->p, in->n < MOST ? in->n : MOST, MSG_NOSIGNAL);
                if (n < 0 && is_later())
                        return;
                size_t taken = n < 0 ? in->n : (size_t) n;
                *in = span_of(in->p + taken, in->n - taken);
        }
        if (!*told)
                (void) shutdown(fd, SHUT_WR);
        *told = true;
}

/* False: nothing more comes. */
static bool take_output(int fd, struct buf *passed, struct buf *report)
{
        char packet[OUTPUT_PACKET];
        for (;;) {
                ssize_t n = recv(fd, packet, sizeof packet, 0);
                if (n < 0 && is_later())
                        return true;
                if (n <= 1)
                        return false;
                buf_add(packet[0] == OUTPUT_VERDICT ? report : passed, packet + 1, (size_t) n - 1);
                if (packet[0] == OUTPUT_VERDICT)
                        return report->n % (sizeof packet - 1) == 0; /* else it was the last */
        }
}

static bool is_same(const struct api_check_what *a, const struct api_check_what *b)
{
        return a->form == b->form && a->max == b->max && a->verbatim == b->verbatim && a->links == b->links;
}

bool api_checks_run(struct api_checks *a, const struct api_check_what *what, struct span in,
                    struct buf *passed, struct buf *report)
{
        AUTO_FD(fd, is_same(&a->what, what) ? take_process(a) : -1);
        uint64_t until = clock_mono_ns() + CHECK_MS * 1000000ull;
        bool told = false, more = fd >= 0;
        if (fd < 0)
                return false;

        while (more && clock_mono_ns() < until) {
                give_input(fd, &in, &told);
                (void) fd_await(fd, (short) (POLLIN | (told ? 0 : POLLOUT)), 1000);
                more = take_output(fd, passed, report) && passed->n / 8 <= what->max;
        }
        if (more)
                report->n = 0; /* it is not whole */
        return true;
}
