/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/touch_serve.c - cordon-touch: takes covers off, and answers what is looked up in them
 * until then: see toucher.h.
 *
 * Of a request only the head is read, which is the kernel's; names are the payload's bytes, and are not. No
 * answer is ever anything but an error: a cover has no content. */
#include "base/fd.h"
#include "base/mountapi.h"
#include "wall/linux/observe/toucher.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUFFER = 8192 /* the least that the kernel takes */, HELD_MAX = 1024, INIT_PID = 1 };

struct toucher {
        const struct wall_init *w;
        int line;
        bool able;
        uint32_t open; /* a bit for each cover that is off */
        int fuse[SHUT_MAX];
        struct held { /* a request that waits; 0: none */
                uint64_t unique;
                unsigned which;
        } held[HELD_MAX];
        char in[BUFFER] __attribute__((aligned(8))); /* its head is read in place */
};

/* ---- answers ---- */

/* ENOENT: the task was killed meanwhile. A task that waits for any other lost answer could not even be ended
 * by SIGKILL: when we end, the covers end, and the wait with them. */
static void answer_fuse(int fuse, uint64_t unique, int error, const void *p, size_t n)
{
        char out[sizeof(struct fuse_out_header) + sizeof(struct fuse_init_out)];
        const struct fuse_out_header head = { .len = (uint32_t) (sizeof head + n),
                                              .error = -error,
                                              .unique = unique };
        memcpy(out, &head, sizeof head);
        if (n)
                memcpy(out + sizeof head, p, n);
        if (write(fuse, out, head.len) < 0 && errno != ENOENT)
                _exit(1);
}

static void begin_answer(int fuse, uint64_t unique)
{
        const struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
                                           .minor = FUSE_KERNEL_MINOR_VERSION,
                                           .max_background = 16,
                                           .congestion_threshold = 12,
                                           .max_write = 4096,
                                           .time_gran = 1 };
        answer_fuse(fuse, unique, 0, &out, sizeof out);
}

static void tell_keeper(const struct toucher *t, enum touch_what what, unsigned which)
{
        const struct touch_word word = { (uint8_t) what, (uint8_t) which };
        if (send(t->line, &word, sizeof word, MSG_NOSIGNAL) != sizeof word)
                _exit(0);
}

/* ---- requests ---- */

static void hold_open(struct toucher *t, unsigned which, uint64_t unique)
{
        for (unsigned i = 0; i < HELD_MAX; i++)
                if (t->held[i].unique == 0) {
                        t->held[i] = (struct held){ unique, which };
                        tell_keeper(t, TOUCH_ASK, which);
                        return;
                }
        answer_fuse(t->fuse[which], unique, EAGAIN, NULL, 0);
}

static void answer_held(struct toucher *t, unsigned which, int error)
{
        for (unsigned i = 0; i < HELD_MAX; i++)
                if (t->held[i].unique && t->held[i].which == which) {
                        answer_fuse(t->fuse[which], t->held[i].unique, error, NULL, 0);
                        t->held[i].unique = 0;
                }
}

/* SAFETY: init must not wait for us, because we wait for it. */
static void judge_open(struct toucher *t, unsigned which, const struct fuse_in_header *head)
{
        switch (head->opcode) {
        case FUSE_INIT:
                begin_answer(t->fuse[which], head->unique);
                break;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
                break;
        default:
                if (t->open & 1u << which)
                        answer_fuse(t->fuse[which], head->unique, ESTALE, NULL, 0);
                else if (head->pid == INIT_PID)
                        answer_fuse(t->fuse[which], head->unique, EACCES, NULL, 0);
                else
                        hold_open(t, which, head->unique);
        }
}

static void hear_cover(struct toucher *t, unsigned which)
{
        ssize_t n = read(t->fuse[which], t->in, sizeof t->in);
        if (n >= (ssize_t) sizeof(struct fuse_in_header))
                judge_open(t, which, (const void *) t->in);
        else if (n >= 0 || (errno != EINTR && errno != ENOENT && errno != EAGAIN))
                fd_close(&t->fuse[which]); /* it is gone, and nobody is left in it */
}

/* ---- init's words ---- */

/* The mount's own descriptor is used: a name could lead to another one by now. What was kept behind it comes
 * below it first, never on it: a lookup that waits for us holds the lock of its directory. */
static bool take_off(const struct toucher *t, unsigned which)
{
        const struct wall_init *w = t->w;
        char name[32];
        if (!t->able || w->shut[which] < 0)
                return false;

        (void) snprintf(name, sizeof name, "self/fd/%d", w->shut[which]);
        if (w->behind[which] < 0 || mount_move_below(w->behind[which], w->shut[which]) == 0)
                return mount_detach(name) == 0;

        /* Before Linux 6.5 another lookup sees the empty entry for a moment. */
        return errno == EINVAL && mount_detach(name) == 0 &&
               mount_move(w->behind[which], w->under[which]) == 0;
}

static void obey_keeper(struct toucher *t)
{
        struct touch_word word;
        if (recv(t->line, &word, sizeof word, 0) != sizeof word || word.which >= SHUT_MAX)
                _exit(0);

        if (word.what != TOUCH_OPEN) {
                answer_held(t, word.which, EAGAIN);
                return;
        }

        bool off = take_off(t, word.which);
        if (off)
                t->open |= 1u << word.which;

        answer_held(t, word.which, off ? ESTALE : EIO);
        tell_keeper(t, off ? TOUCH_OPEN : TOUCH_FAILED, word.which);
}

/* ---- life ---- */

_Noreturn void touch_serve(struct wall_init *w, int line)
{
        static struct toucher t;
        struct pollfd p[SHUT_MAX + 1];
        (void) prctl(PR_SET_NAME, "cordon-touch", 0, 0, 0);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        t.w = w;
        t.line = line;
        memcpy(t.fuse, w->shut_asks, sizeof t.fuse);
        /* SAFETY: CAP_SYS_ADMIN over the box's own mounts. */
        t.able = fchdir(w->tasks) == 0 && wall_powers_keep(1u << CAP_SYS_ADMIN) == 0;

        for (;;) {
                for (unsigned i = 0; i < SHUT_MAX; i++)
                        p[i] = (struct pollfd){ .fd = t.fuse[i], .events = POLLIN };
                p[SHUT_MAX] = (struct pollfd){ .fd = line, .events = POLLIN };
                if (poll(p, SHUT_MAX + 1, -1) < 0 && errno != EINTR)
                        _exit(1);

                for (unsigned i = 0; i < SHUT_MAX; i++)
                        if (p[i].revents)
                                hear_cover(&t, i);
                if (p[SHUT_MAX].revents)
                        obey_keeper(&t);
        }
}
