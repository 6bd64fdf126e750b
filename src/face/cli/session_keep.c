/* SPDX-License-Identifier: MIT */
/* face/cli/session_keep.c - the process of a session: starts it, and drives it to its end. */
#include "base/end_signals.h"
#include "base/fd.h"
#include "face/cli/run_job.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

int cli_session_up(cordon_box *session, cordon_error *e)
{
        if (cordon_session_start(session, e) < 0)
                return -1;

        while (!cordon_box_is_up(session))
                if (cordon_box_wait(session, -1) != 0) {
                        const cordon_result *r = cordon_box_result(session);
                        *e = r->error ? *r->error : (cordon_error){ .what = "the session was killed" };
                        return -1;
                }

        return 0;
}

void cli_session_keep(cordon_box *session)
{
        AUTO_FD(signals, end_signals_open());
        do {
                struct pollfd w[] = { { .fd = cordon_box_fd(session), .events = POLLIN },
                                      { .fd = signals, .events = POLLIN } };
                struct signalfd_siginfo which;
                (void) poll(w, 2, cordon_box_next_ms(session));
                if (read(signals, &which, sizeof which) == (ssize_t) sizeof which)
                        cordon_session_end(session);
        } while (cordon_box_step(session) == 0);
}
