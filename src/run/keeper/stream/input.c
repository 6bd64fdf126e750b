/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/input.c - the payload's standard input. Of a pipe or a file the payload is first passed a
 * copy of up to one page, and it becomes the caller's loss only when the payload has read it: a command that
 * reads nothing leaves all of it to the caller's next command, as without a box (`while read` loops). After
 * that page input is pumped as it comes. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* One buffer of a pipe: the pipe is full until the payload has read all of it. */
enum { FIRST_MOST = PIPE_BUF, PIPE_LEAST = PIPE_BUF, PIPE_USUAL = 65536 };

/* ---- the first bytes ---- */

/* A copy of what a pipe holds, which stays in it. Through a second pipe: the payload gets no page of the
 * caller's. */
static ssize_t look_at_pipe(int from, char *to)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -1;

        AUTO_FD(out, ends[0]);
        AUTO_FD(in, ends[1]);
        ssize_t n = tee(from, in, FIRST_MOST, SPLICE_F_NONBLOCK);
        return n <= 0 ? n : read(out, to, (size_t) n);
}

/* Returns their number, 0 at the end of the input, or -1 with errno. */
static ssize_t look_at_input(const struct pump *p)
{
        if (p->first == INPUT_PIPE)
                return look_at_pipe(p->from, p->buffer);

        off_t at = lseek(p->from, 0, SEEK_CUR);
        return at < 0 ? -1 : pread(p->from, p->buffer, FIRST_MOST, at);
}

/* Takes `n` of them from the caller. If another process took them first, what comes now is new: it is put
 * into the buffer. Returns its length, else 0. */
static size_t take_input(struct pump *p, size_t n)
{
        char now[FIRST_MOST];
        struct pollfd ready = { .fd = p->from, .events = POLLIN };
        if (p->first == INPUT_FILE) {
                (void) lseek(p->from, (off_t) n, SEEK_CUR);
                return 0;
        }

        ssize_t k = poll(&ready, 1, 0) == 1 ? read(p->from, now, n) : 0;
        if (k <= 0 || ((size_t) k == n && memcmp(now, p->buffer, n) == 0))
                return 0;

        (void) memcpy(p->buffer, now, (size_t) k);
        return (size_t) k;
}

void input_settle(struct run *run)
{
        struct pump *p = &run->in;
        int left = 0;
        if (p->shown == 0)
                return;

        if (p->to < 0 || ioctl(p->to, FIONREAD, &left) < 0 || left < 0)
                left = 0;

        size_t unread = (size_t) left + p->have - p->sent; /* a payload can write into its own pipe */
        if (unread < p->shown)
                (void) take_input(p, p->shown - unread);

        p->shown = 0;
        p->first = INPUT_TAKEN;
}

/* The payload has closed its input. */
static void give_up(struct run *run)
{
        struct pump *p = &run->in;
        input_settle(run);
        if (p->own_to)
                fd_close(&p->to);
        p->from = -1;
        p->have = p->sent = 0;
}

static bool has_reader(const struct pump *p)
{
        struct pollfd to = { .fd = p->to, .events = POLLOUT };
        return poll(&to, 1, 0) >= 0 && !(to.revents & POLLERR);
}

/* All that was shown is read: it is taken, and the rest is pumped. */
static void go_on(struct run *run)
{
        struct pump *p = &run->in;
        (void) fcntl(p->to, F_SETPIPE_SZ, PIPE_USUAL);
        p->have = take_input(p, p->shown);
        p->sent = p->shown = 0;
        p->first = INPUT_TAKEN;
        if (p->have > 0)
                record_bytes(run, 0, p->buffer, p->have);
}

/* ---- the pump ---- */

static bool is_null_device(int fd)
{
        struct stat st;
        return fd < 0 || (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

int input_open(struct run *run, struct err *e)
{
        struct stat st;
        run->in.from = run->c->io.in;
        if (run->c->plan->order->tty)
                return 0;

        int ends[2];
        if (pump_pipe(run, 0, ends, e) < 0)
                return -1;

        run->inside.stdio[0] = ends[0];
        run->in.to = ends[1];
        run->in.own_to = true;
        run->in.outlet = OUTLET_NONBLOCK;
        if (is_null_device(run->c->io.in)) {
                fd_close(&run->in.to);
                run->in.from = -1;
        } else if (fstat(run->in.from, &st) == 0)
                run->in.first = S_ISFIFO(st.st_mode)  ? INPUT_PIPE
                                : S_ISREG(st.st_mode) ? INPUT_FILE
                                                      : INPUT_TAKEN;

        return 0;
}

static void end_input(struct run *run)
{
        static const char eot = 4; /* a terminal has no end but this */
        if (run->tty >= 0)
                (void) !write(run->tty, &eot, 1);
        else
                fd_close(&run->in.to);

        run->in.from = -1;
        run->in.have = 0;
}

void input_feed(struct run *run)
{
        struct pump *p = &run->in;
        bool waited = p->shown > 0 && p->have == 0, closed = waited && !has_reader(p);
        if (waited && !closed)
                go_on(run);

        if (closed || !pump_flush(p))
                give_up(run);
        else if (p->shown > 0)
                p->blocked = true; /* until the payload has read it */
}

/* By errno: did the caller provide no input at all? A descriptor that is not open for reading; a terminal
 * that belongs to another process group by now. */
static bool is_no_input(int from)
{
        int sys = errno;
        bool none = sys == EBADF || (sys == EIO && isatty(from));
        errno = sys;
        return none;
}

/* The first bytes are shown, all others taken. */
static ssize_t next_bytes(struct pump *p)
{
        if (p->first != INPUT_TAKEN && fcntl(p->to, F_SETPIPE_SZ, PIPE_LEAST) >= 0) {
                ssize_t n = look_at_input(p);
                if (n >= 0 || errno == EAGAIN || errno == EINTR) {
                        p->shown = n > 0 ? (size_t) n : 0;
                        return n;
                }
        }

        p->first = INPUT_TAKEN;
        return read(p->from, p->buffer, PUMP_BUFFER);
}

/* The payload cannot see that a read failed: it gets EOF. */
void input_serve(struct run *run)
{
        struct pump *p = &run->in;
        if (!pump_has_room(p))
                return;

        ssize_t n = next_bytes(p);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return;

        if (n < 0 && !is_no_input(p->from))
                run->input_error = errno;

        if (n <= 0) {
                end_input(run);
                return;
        }

        record_bytes(run, 0, p->buffer, (size_t) n);
        p->have = (size_t) n;
        p->sent = 0;
        input_feed(run);
}
