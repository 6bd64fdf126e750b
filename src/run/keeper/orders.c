/* SPDX-License-Identifier: MIT */
/* run/keeper/orders.c - orders to a running box: end, a signal, another size of its terminal. All watchers
 * (limits, output, the registry, the caller) give them here. */
#include "base/clock.h"
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <signal.h>
#include <sys/ioctl.h>

enum { LAST_WORD_MS = 20 };

void keeper_kill_now(struct box *b)
{
        b->kill_ns = 0;
        child_kill(&(struct child){ .pid = b->child.pid, .pidfd = b->child.pidfd });
}

/* If only init counts, the resource use is lost with it: it may report first. */
static bool may_tell(const struct box *b)
{
        return b->run.up && b->sampled && !b->init_gone && wall_ask_to_end(&b->child) >= 0;
}

void box_kill(struct box *b)
{
        if (b->killed)
                return;

        b->killed = true;
        b->killed_ns = clock_mono_ns();
        if (!b->run.up && b->run.r.out.end == CORDON_RUNNING) {
                b->run.r.out.end = CORDON_SIGNALED;
                b->run.r.out.code = SIGKILL;
        }

        if (b->session)
                session_kill(b);

        if (b->child.pid <= 0)
                return;

        limit_thaw(b->child.pid);
        if (!b->child.own_pids)
                fd_close(&b->child.control); /* init then ends its stragglers itself */
        else if (may_tell(b))
                b->kill_ns = b->killed_ns + LAST_WORD_MS * UINT64_C(1000000);
        else
                keeper_kill_now(b);
}

void keeper_signal(struct box *b, int sig)
{
        if (b->session && b->session->child.control >= 0)
                (void) wall_signal_run(&b->session->child, b->id, sig);
        else if (b->child.pid > 0 && b->child.control >= 0)
                (void) wall_signal(&b->child, sig);
}

void box_signal(struct box *b, int sig)
{
        if (!b->run.up)
                b->run.early_signals |= box_signal_bit(sig); /* init takes no such order yet */
        else
                keeper_signal(b, sig);
}

void box_resize(struct box *b, unsigned rows, unsigned columns)
{
        struct winsize size = { .ws_row = (unsigned short) rows, .ws_col = (unsigned short) columns };
        if (b->run.tty >= 0)
                (void) ioctl(b->run.tty, TIOCSWINSZ, &size);
}

void box_finish(struct box *b)
{
        if (b->run.r.out.end == CORDON_RUNNING && b->run.up)
                b->run.r.out.end =
                        CORDON_EXITED; /* in order: by word of its caller, or because nobody needs it */

        box_kill(b);
}

void keeper_limit_fired(struct box *b, enum limit_key k)
{
        b->run.r.limits_hit |= 1u << k;
        if (b->run.r.out.end != CORDON_RUNNING)
                return;
        b->run.r.out.end = CORDON_LIMIT;
        b->run.r.limit = k;
        box_kill(b);
}
