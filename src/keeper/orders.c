/* SPDX-License-Identifier: MIT */
/* keeper/orders.c - what a box that runs is told: to end, a signal, another size of its terminal. Whoever
 * watches over it (limits, output, the registry, the caller) gives them here. */
#include "base/clock.h"
#include "base/fd.h"
#include "keeper/internal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LAST_WORD_MS = 20 };

/* Where init is the only one who counts, what was used is lost with it: it may tell first. */
static void let_init_tell(const struct box *b)
{
        if (b->up && b->sampled && wall_ask_to_end(&b->child) >= 0)
                (void) fd_await(b->child.pidfd, POLLIN, LAST_WORD_MS);
}

void box_kill(struct box *b)
{
        if (!b->killed)
                b->killed_ns = clock_mono_ns();

        b->killed = true;
        if (b->child.pid <= 0)
                return;

        limit_thaw(b->child.pid);
        if (!b->child.own_pids)
                fd_close(&b->child.control); /* init then ends its stragglers itself */
        else {
                let_init_tell(b);
                (void) syscall(SYS_pidfd_send_signal, b->child.pidfd, SIGKILL, NULL, 0);
        }
}

void box_signal(struct box *b, int sig)
{
        if (!b->up)
                b->early_signals |= box_signal_bit(sig); /* init takes no such order yet */
        else if (b->child.control >= 0)
                (void) wall_signal(&b->child, sig);
}

void box_resize(struct box *b, unsigned rows, unsigned columns)
{
        struct winsize size = { .ws_row = (unsigned short) rows, .ws_col = (unsigned short) columns };
        if (b->tty >= 0)
                (void) ioctl(b->tty, TIOCSWINSZ, &size);
}

void keeper_limit_fired(struct box *b, enum limit_key k)
{
        b->r.limits_hit |= 1u << k;
        if (b->r.end != BOX_RUNNING)
                return;
        b->r.end = BOX_LIMIT;
        b->r.limit = k;
        box_kill(b);
}
