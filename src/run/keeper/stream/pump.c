/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/pump.c - standard streams: always pipes or a terminal of ours inside, never the caller's
 * own descriptors. The keeper copies, counts and cuts; it never blocks on a slow reader, because limits must
 * be enforced meanwhile. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { FILTER_MS = 20 };

/* A description of our own for pipes and terminals, so that O_NONBLOCK stays ours: the caller shares its. */
static int open_outlet(struct pump *p, int fd, struct err *e)
{
        struct stat st;
        p->to = fd;
        if (fd < 0)
                return 0;

        if (fstat(fd, &st) <
            0) /* a descriptor that the caller closed is none; output to another is not dropped */
                return errno == EBADF ? 0
                                      : err_set(e, ERR_IO, errno, "looking where the output goes: %s",
                                                strerror(errno));

        p->outlet = S_ISSOCK(st.st_mode) ? OUTLET_SOCKET : OUTLET_FILE;
        if (S_ISREG(st.st_mode))
                return 0;

        int own = p->outlet == OUTLET_SOCKET ? -1 : fd_reopen(fd, O_WRONLY | O_NONBLOCK | O_NOCTTY);
        if (p->outlet != OUTLET_SOCKET)
                p->outlet = own >= 0 ? OUTLET_NONBLOCK : OUTLET_POLITE;

        /* A descriptor of its own: the caller's may also be that of the input, which is polled there. */
        if (own < 0)
                own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

        if (own >= 0) {
                p->to = own;
                p->own_to = true;
        }

        return 0;
}

/* A box has no power over the caller's terminal: without a terminal of its own its output keeps its colours,
 * with one also the sequences of full-screen programs. */
static int open_neutral(struct pump *p, bool tty, struct err *e)
{
        if (p->to < 0 || !isatty(p->to))
                return 0;

        p->neutral = malloc(sizeof *p->neutral);
        if (!p->neutral)
                return err_set(e, ERR_MEMORY, ENOMEM, "out of memory");

        neutral_init(p->neutral, tty ? NEUTRAL_SCREEN : NEUTRAL_COLOUR);
        return 0;
}

/* If the caller's two outputs are the same file, the payload's are one pipe: else lines would change places.
 */
static bool outputs_are_one(const struct run *run)
{
        struct stat out, err;
        return run->c->io.out[0] >= 0 && run->c->io.out[1] >= 0 && fstat(run->c->io.out[0], &out) == 0 &&
               fstat(run->c->io.out[1], &err) == 0 && out.st_dev == err.st_dev && out.st_ino == err.st_ino &&
               !run->c->io.sink;
}

static const struct door *stream_door(const struct run *run, int stream)
{
        return filter_door(run, DOOR_OUT, stream == 1 ? "stdout" : "stderr");
}

/* cordon-output takes the payload's end of the pipe, and hands what passes to a second one. */
static int open_filter(struct run *run, struct pump *p, const struct door *d, struct err *e)
{
        int ends[2];
        AUTO_FD(from, p->from);
        if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
                return err_set(e, ERR_IO, errno, "making a pipe: %s", strerror(errno));

        AUTO_FD(to, ends[1]);
        p->from = ends[0];
        (void) fcntl(from, F_SETFL, 0);
        return filter_start(run, d, from, to, &p->filter, e);
}

static int open_output(struct run *run, int stream, struct err *e)
{
        struct pump *p = &run->out[stream - 1];
        const struct door *form = stream_door(run, stream);
        int ends[2];
        if (form && run->c->plan->order->tty) {
                (void) err_set(e, ERR_USAGE, 0, "a terminal cannot be checked as the policy asks: `%s as`",
                               form->name);
                return err_hint(e, "run it without a terminal of its own: -T");
        }

        bool formed = form || stream_door(run, 1);
        run->one_output = !run->c->plan->order->tty && stream == 2 && !formed && outputs_are_one(run);
        if (run->one_output && run->ahead[2] < 0) {
                run->inside.stdio[2] = fcntl(run->inside.stdio[1], F_DUPFD_CLOEXEC, 0);
                return run->inside.stdio[2] < 0
                               ? err_set(e, ERR_IO, errno, "making a pipe: %s", strerror(errno))
                               : 0;
        }

        if (open_outlet(p, run->c->io.out[stream - 1], e) < 0 ||
            open_neutral(p, run->c->plan->order->tty, e) < 0 ||
            (!form && tripwire_watch(run, &p->watch, e) < 0))
                return -1;

        if (run->c->plan->order->tty)
                return 0; /* the terminal comes from init */

        if (pump_pipe(run, stream, ends, e) < 0)
                return -1;

        p->from = ends[0];
        p->own_from = true;
        run->inside.stdio[stream] = ends[1];
        return form ? open_filter(run, p, form, e) : 0;
}

int pump_open(struct run *run, struct err *e)
{
        struct pump *all[] = { &run->in, &run->out[0], &run->out[1] };
        for (size_t i = 0; i < 3; i++) {
                *all[i] = (struct pump){ .from = -1, .to = -1 };
                run->inside.stdio[i] = -1;
        }
        return input_open(run, e) < 0 || open_output(run, 1, e) < 0 || open_output(run, 2, e) < 0 ? -1 : 0;
}

int pump_make_ahead(struct run *run, struct err *e)
{
        for (int i = 0; i < 3; i++) {
                int ends[2];
                if (pump_pipe(run, i, ends, e) < 0)
                        return -1;
                run->ahead[i] = ends[i == 0];
                run->inside.stdio[i] = ends[i != 0];
        }

        return 0;
}

void pump_own(struct run *run, uid_t uid, gid_t gid)
{
        for (int i = 0; i < 3; i++)
                if (run->inside.stdio[i] >= 0)
                        (void) !fchown(run->inside.stdio[i], uid, gid);
}

void pump_use_tty(struct run *run, int master)
{
        (void) fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK);
        run->tty = run->in.to = master;
        run->in.outlet = OUTLET_NONBLOCK;
        run->out[0].from = fcntl(master, F_DUPFD_CLOEXEC, 0); /* one number for each thing to wait for */
        run->out[0].own_from = run->out[0].from >= 0;
        if (run->out[0].from < 0)
                run->out[0].from = master;
}

/* Ends the box whose output is refused while it runs: nobody reads on. */
int pump_filters(struct run *run)
{
        int over = 1;
        for (int i = 0; i < 2; i++) {
                struct pump *p = &run->out[i];
                struct err e;
                if (!filter_runs(&p->filter))
                        continue;
                if (p->from < 0)
                        (void) fd_await(p->filter.process.pidfd, POLLIN, FILTER_MS); /* it ends at once */
                int r = filter_finish(run, &p->filter, &e);
                over = r == 0 ? 0 : over;
                if (r < 0 && run->refused.code == ERR_NONE)
                        run->refused = e;
        }
        return over;
}

void pump_filters_kill(struct run *run)
{
        for (int i = 0; i < 2; i++)
                if (filter_runs(&run->out[i].filter))
                        child_kill(&run->out[i].filter.process);
}

static void close_pump(struct pump *p)
{
        filter_close(&p->filter);
        known_free(p->watch);
        if (p->own_from)
                fd_close(&p->from);

        if (p->own_to)
                fd_close(&p->to);

        p->from = p->to = -1;
        free(p->buffer);
        p->buffer = NULL;
        free(p->neutral);
        p->neutral = NULL;
        buf_done(&p->inert);
        p->have = p->sent = 0;
}

void pump_close(struct run *run)
{
        input_settle(run);
        close_pump(&run->in);
        close_pump(&run->out[0]);
        close_pump(&run->out[1]);
        fd_close(&run->tty);
        for (int i = 0; i < 3; i++) {
                fd_close(&run->inside.stdio[i]);
                fd_close(&run->ahead[i]);
        }
}

bool pump_outputs_open(const struct run *run) { return run->out[0].from >= 0 || run->out[1].from >= 0; }

bool pump_is_blocked(const struct run *run) { return run->out[0].blocked || run->out[1].blocked; }

/* Two names of one terminal are two files, but one to the reader. */
bool pump_is_mid_line(const struct run *run)
{
        const int *out = run->c->io.out;
        bool one = outputs_are_one(run) || (isatty(out[0]) && isatty(out[1]));
        return run->out[1].mid_line || (one && run->out[0].mid_line);
}

bool pump_outputs_idle(const struct run *run)
{
        struct pollfd p[] = { { .fd = run->out[0].from, .events = POLLIN },
                              { .fd = run->out[1].from, .events = POLLIN } };
        return !pump_is_blocked(run) && poll(p, 2, 0) == 0;
}

static void end_output(struct pump *p)
{
        if (p->own_from)
                fd_close(&p->from);
        p->from = -1;
}

/* No writer exists any more, and nothing is left. poll() alone does not show that: it checks both one after
 * the other, and the last bytes may come between. */
static bool is_empty(const struct pump *p, short events)
{
        int left = 1;
        return events & POLLHUP && !(events & POLLIN) && ioctl(p->from, FIONREAD, &left) == 0 && left == 0;
}

/* The reader is gone: the payload gets SIGPIPE as it would unboxed. */
static void hand_on(struct run *run, struct pump *p)
{
        if (pump_flush(p))
                return;
        if (errno != EPIPE && run->output_error == 0)
                run->output_error = errno;
        end_output(p);
        p->have = p->sent = 0;
}

/* The next bytes for the terminal. Without memory the output ends: nothing passes as it is. */
static void neutralise_output(struct run *run, struct pump *p, struct span said)
{
        p->inert.n = 0;
        neutral_feed(p->neutral, said, &p->inert);
        run->r.out.terminal_asked |= p->neutral->asked; /* even if its end is not seen */
        p->have = p->inert.failed ? 0 : p->inert.n;
        if (p->inert.failed && run->output_error == 0)
                run->output_error = ENOMEM;
}

/* EOF from the box: an incomplete sequence or character is marked, colours are reset. */
static void finish_output(struct run *run, struct pump *p)
{
        if (p->neutral && p->from >= 0 && !p->blocked) {
                p->inert.n = 0;
                neutral_end(p->neutral, &p->inert);
                run->r.terminal_cuts += neutral_cuts(p->neutral);
                p->have = p->inert.failed ? 0 : p->inert.n;
                p->sent = 0;
                (void) pump_flush(p);
        }

        end_output(p);
}

/* The payload's output: counted, cut at the limit, handed on. */
static void serve_output(struct run *run, int stream, short events)
{
        struct pump *p = &run->out[stream - 1];
        if (is_empty(p, events)) { /* no buffer is needed for that */
                finish_output(run, p);
                return;
        }

        uint64_t cap = run->c->plan->order->limits.value[LIMIT_OUTPUT];
        uint64_t room = cap - run->r.out.output_bytes;
        if (!pump_has_room(p))
                return;

        ssize_t n = read(p->from, p->buffer, PUMP_BUFFER);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        if (n <= 0) { /* a terminal whose other end is closed returns EIO */
                finish_output(run, p);
                return;
        }

        run->late_bytes += run->box->init_gone ? (uint64_t) n : 0;
        if ((uint64_t) n > room) {
                n = (ssize_t) room;
                run->r.out.output_truncated = true;
        }

        run->r.out.output_bytes += (uint64_t) n;
        tripwire_see(run, p->watch, stream == 1 ? "stdout" : "stderr", span_of(p->buffer, (size_t) n));
        record_bytes(run, stream, p->buffer, (size_t) n);
        if (run->log_on)
                logs_add(run, p->buffer, (size_t) n);

        if (run->c->io.sink)
                run->c->io.sink(run->c->io.sink_ctx, stream, p->buffer, (size_t) n);

        p->have = p->outlet == OUTLET_NONE ? 0 : (size_t) n;
        if (p->neutral)
                neutralise_output(run, p, span_of(p->buffer, (size_t) n));

        p->sent = 0;
        hand_on(run, p);
        if (run->r.out.output_truncated)
                keeper_limit_fired(run->box, LIMIT_OUTPUT);
}

/* One entry per pump, in this order: in, out, err. A closed or idle one has -1. */
void pump_poll(struct run *run, struct pollfd *p)
{
        struct pump *all[] = { &run->in, &run->out[0], &run->out[1] };

        /* The payload can write before init has reported that it runs. Then its output waits: a callback that
         * kills the box because of it would otherwise make a start that succeeded look like one that failed.
         */
        bool may_speak = run->up || run->box->init_gone || run->box->child.control < 0;
        for (unsigned i = 0; i < 3; i++) {
                /* Input is not touched before the payload runs: a start that fails must not have eaten it. */
                bool live = all[i]->from >= 0 && (i > 0 ? may_speak : all[i]->to >= 0 && run->up);
                p[i] = (struct pollfd){ .fd = -1 };
                if (all[i]->blocked)
                        p[i] = (struct pollfd){ .fd = all[i]->to, .events = POLLOUT };
                else if (live)
                        p[i] = (struct pollfd){ .fd = all[i]->from, .events = POLLIN };
        }
}

void pump_serve(struct run *run, const struct pollfd *p, unsigned n)
{
        struct pump *all[] = { &run->in, &run->out[0], &run->out[1] };
        for (unsigned i = 0; i < n; i++) {
                if (!p[i].revents)
                        continue;
                bool waited = all[i]->blocked;
                all[i]->blocked = false;
                if (i == 0 && waited)
                        input_feed(run);
                else if (i == 0)
                        input_serve(run);
                else if (waited)
                        hand_on(run, all[i]);
                else
                        serve_output(run, (int) i, p[i].revents);
        }
}
