/* SPDX-License-Identifier: MIT */
/* run/keeper/stream/handle_files.c - `in` and `out` handles. The host opens the file; the box gets a memfd of
 * its own: a sealed copy of the input, or an empty one for the output, which is copied out after a successful
 * end, within its cap and if it has the declared type. So a handle gives no access to the file's directory,
 * its path, its other bytes, or a later write. */
#include "base/fd.h"
#include "base/str.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_memfd(const char *name)
{
        int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | 8u /* MFD_NOEXEC_SEAL, Linux 6.3 */);
        if (fd < 0 && errno == EINVAL)
                fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        return fd;
}

/* No process can change it from here on. The box may have sealed it already. */
static int seal_handle(int fd)
{
        const int held = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
        int now = fcntl(fd, F_GET_SEALS);
        return now >= 0 && (now & held) == held ? 0 : fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | held);
}

int handles_outside(const struct run *run, const char *name)
{
        for (unsigned i = 0; i < run->c->handle_count; i++)
                if (strcmp(run->c->handles[i].name, name) == 0)
                        return run->c->handles[i].fd;
        return -1;
}

static int cannot_copy(const struct plan_handle *h, const char *doing, struct err *e)
{
        return err_set(e, ERR_IO, errno, "%s the handle %s: %s", doing, h->name, strerror(errno));
}

static mode_t kind_of(int fd)
{
        struct stat st;
        return fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

/* A regular file never keeps us waiting. */
static bool would_wait(int fd, short events)
{
        struct pollfd p = { .fd = fd, .events = events };
        return kind_of(fd) != S_IFREG && poll(&p, 1, 0) == 0;
}

/* poll() does not report EOF of a FIFO that had no writer when it was opened; a non-blocking read does, and
 * needs an open file description of its own. */
static ssize_t read_end(int fd, void *p, size_t n)
{
        AUTO_FD(own, kind_of(fd) == S_IFIFO ? fd_reopen(fd, O_RDONLY | O_NONBLOCK) : -1);
        errno = EAGAIN;
        return own < 0 ? -1 : read(own, p, n);
}

static int too_large(const struct plan_handle *h, struct err *e)
{
        char size[32];
        (void) err_set(e, ERR_DOOR, 0, "the handle %s is larger than its %s", h->name,
                       str_from_size(h->max, size));
        return err_hint(e, "raise it: `in %s max SIZE`", h->name);
}

/* 1: all of it; 0: it is to be waited for; -1. */
static int copy_in(struct run *run, const struct plan_handle *h, int from, int to, struct err *e)
{
        char chunk[65536];
        for (;;) {
                ssize_t n = would_wait(from, POLLIN) ? read_end(from, chunk, sizeof chunk)
                                                     : read(from, chunk, sizeof chunk);
                if (n == 0)
                        return 1;
                if (n < 0 && errno == EAGAIN) {
                        keeper_wait_for(run->box, from, POLLIN);
                        return 0;
                }
                if (n < 0 && errno != EINTR)
                        return cannot_copy(h, "reading", e);
                if (n > 0 && (uint64_t) n > h->max - run->handle.done)
                        return too_large(h, e);
                if (n > 0 && fd_write_all(to, chunk, (size_t) n) < 0)
                        return cannot_copy(h, "reading", e);
                run->handle.done += n > 0 ? (uint64_t) n : 0;
        }
}

/* A pipe that is ready takes PIPE_BUF at once. */
static int copy_out(struct run *run, const struct plan_handle *h, int from, int to, uint64_t size,
                    struct err *e)
{
        char chunk[65536];
        const size_t most = kind_of(to) == S_IFREG ? sizeof chunk : PIPE_BUF;
        while (run->handle.done < size) {
                bool waits = would_wait(to, POLLOUT);
                ssize_t n = waits ? 0 : pread(from, chunk, most, (off_t) run->handle.done);
                ssize_t k = n <= 0 ? n : write(to, chunk, (size_t) n);
                if (waits || (k < 0 && errno == EAGAIN)) {
                        keeper_wait_for(run->box, to, POLLOUT);
                        return 0;
                }
                if (k == 0 || (k < 0 && errno != EINTR))
                        return cannot_copy(h, "writing", e);
                run->handle.done += k > 0 ? (uint64_t) k : 0;
        }

        return 1;
}

/* ---- handles with a form: cordon-output stands between ---- */

/* Starts the check of `from`; what passes goes to `to`. */
static int check_begin(struct run *run, const struct plan_handle *h, int from, int to, struct err *e)
{
        AUTO_FD(own, fd_reopen(from, O_RDONLY)); /* a position of its own: another process may hold `from` */
        const struct door *d = filter_door(run, h->out ? DOOR_OUT : DOOR_IN, h->name);
        if (own < 0 || !d)
                return cannot_copy(h, "checking", e);
        return filter_start(run, d, own, to, &run->handle_filter, e);
}

static int check_end(struct run *run, struct err *e)
{
        int r = filter_finish(run, &run->handle_filter, e);
        if (r == 0)
                keeper_wait_child(run->box, &run->handle_filter.process);
        return r;
}

/* Copies an input aside, and what passes the check into the box's file. */
static int fill_checked(struct run *run, const struct plan_handle *h, int from, int to, struct err *e)
{
        if (!run->handle.copied) {
                if (run->staged < 0 && (run->staged = make_memfd("staged")) < 0)
                        return cannot_copy(h, "reading", e);
                int r = copy_in(run, h, from, run->staged, e);
                if (r != 1)
                        return r;
                run->handle.copied = true;
                if (check_begin(run, h, run->staged, to, e) < 0)
                        return -1;
        }

        int r = check_end(run, e);
        if (r == 1)
                fd_close(&run->staged);
        return r;
}

static int fill_input(struct run *run, const struct plan_handle *h, int from, int to, struct err *e)
{
        struct stat st;
        if (fstat(from, &st) < 0)
                return cannot_copy(h, "reading", e);

        if (S_ISDIR(st.st_mode))
                return err_set(e, ERR_DOOR, 0, "the handle %s is a directory: a box could climb out of it",
                               h->name);

        int r = h->type == HANDLE_BINARY ? copy_in(run, h, from, to, e) : fill_checked(run, h, from, to, e);
        if (r != 1)
                return r;

        if (lseek(to, 0, SEEK_SET) < 0)
                return cannot_copy(h, "reading", e);

        return seal_handle(to) < 0 ? cannot_copy(h, "sealing", e) : 1;
}

int handles_given(const struct run *run, struct err *e)
{
        const struct plan *p = run->c->plan;
        for (size_t i = 0; i < p->handle_count; i++) {
                const struct plan_handle *h = &p->handles[i];
                if (h->calls || handles_outside(run, h->name) >= 0)
                        continue;
                (void) err_set(e, ERR_USAGE, 0,
                               "the policy has a handle `%s %s`, but nothing was given for it",
                               h->out ? "out" : "in", h->name);
                return err_hint(e, "add --handle %s=FILE", h->name);
        }

        return 0;
}

int handles_open(struct run *run, struct err *e)
{
        const struct plan *p = run->c->plan;
        for (size_t i = 0; i < p->handle_count; i++) {
                const struct plan_handle *h = &p->handles[i];
                int fd = run->memfd[i] = h->calls ? -1 : make_memfd(h->name);
                if (h->calls && calls_open(run, &run->memfd[i]) == 0)
                        fd = run->memfd[i];
                if (fd < 0)
                        return err_set(e, ERR_IO, errno, "making the handle %s: %s", h->name,
                                       strerror(errno));
                run->inside.handles[i] = fd;
                run->inside.handle_count = (unsigned) i + 1;
        }

        return 0;
}

/* Each handle of one direction, from where the last call stopped. */
static int copy_handles(struct run *run, bool out,
                        int (*copy)(struct run *, const struct plan_handle *, int, int, struct err *),
                        struct err *e)
{
        const struct plan *p = run->c->plan;
        for (; run->handle.at < p->handle_count;
             run->handle = (struct handle_copy){ .at = run->handle.at + 1 }) {
                const struct plan_handle *h = &p->handles[run->handle.at];
                int outside = handles_outside(run, h->name), inside = run->memfd[run->handle.at];
                int r = h->out != out || h->calls
                                ? 1
                                : copy(run, h, out ? inside : outside, out ? outside : inside, e);
                if (r != 1)
                        return r;
        }

        run->handle.at = 0;
        return 1;
}

int handles_fill(struct run *run, struct err *e) { return copy_handles(run, false, fill_input, e); }

/* A program behind a `sock` door may still hold it. The checked bytes are the written ones. */
static int check_output(const struct plan_handle *h, int from, uint64_t *ret_size, struct err *e)
{
        struct stat st;
        if (seal_handle(from) < 0)
                return err_set(e, ERR_IO, errno, "the handle %s %s; nothing was written", h->name,
                               errno == EBUSY ? "is in use outside the box" : "cannot be sealed");

        if (fstat(from, &st) < 0)
                return cannot_copy(h, "reading", e);

        *ret_size = (uint64_t) st.st_size;
        if (*ret_size > h->max) {
                char size[32];
                return err_set(e, ERR_LIMIT, 0, "the handle %s is larger than its %s; nothing was written",
                               h->name, str_from_size(h->max, size));
        }

        return 0;
}

/* What passed the check of an output, in run->staged. 1, 0: not yet, -1. */
static int stage_output(struct run *run, const struct plan_handle *h, int from, struct err *e)
{
        if (run->staged < 0) {
                run->staged = make_memfd("staged");
                if (run->staged < 0)
                        return cannot_copy(h, "checking", e);
                if (check_begin(run, h, from, run->staged, e) < 0)
                        return -1;
        }

        int r = check_end(run, e);
        return r < 0 ? err_in(e, "nothing was written") : r;
}

static int publish_handle(struct run *run, const struct plan_handle *h, int from, int to, struct err *e)
{
        uint64_t size = 0;
        if (check_output(h, from, &size, e) < 0)
                return -1;

        if (h->type != HANDLE_BINARY) {
                struct stat st;
                int staged = stage_output(run, h, from, e);
                if (staged != 1)
                        return staged;
                from = run->staged;
                if (!run->handle.judged && handles_endorse(run, h->name, to, e) < 0)
                        return -1;

                run->handle.judged = true;
                if (fstat(from, &st) < 0)
                        return cannot_copy(h, "reading", e);
                size = (uint64_t) st.st_size;
        }

        int r = copy_out(run, h, from, to, size, e);
        if (r == 1 && run->staged >= 0) {
                filter_passed(run, h->name, run->staged);
                fd_close(&run->staged);
        }

        return r == 0 && run->box->killed
                       ? err_set(e, ERR_IO, 0, "the reader of the handle %s is gone", h->name)
                       : r;
}

bool handles_seal(const struct run *run)
{
        const struct plan *p = run->c->plan;
        bool sealed = true;
        for (size_t i = 0; i < p->handle_count; i++)
                if (!p->handles[i].calls && run->memfd[i] >= 0)
                        sealed &= seal_handle(run->memfd[i]) == 0;
        return sealed;
}

int handles_publish(struct run *run, struct err *e) { return copy_handles(run, true, publish_handle, e); }

void handles_close(struct run *run)
{
        filter_close(&run->handle_filter);
        fd_close(&run->staged);
        fd_close(&run->calls);
        for (unsigned i = 0; i < HANDLES_MAX; i++)
                fd_close(&run->memfd[i]);
}
