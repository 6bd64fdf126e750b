/* SPDX-License-Identifier: MIT */
/* run/keeper/session_begin.c - begins a run in a session. */
#include "base/fd.h"
#include "base/wire/wire.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <stdio.h>

/* What a run has of its session. */
static void share_session(struct box *b, const struct box *session)
{
        b->start = session->start;
        b->layers = session->run.r.layers;
        b->run.r.memory_by_group = session->run.r.memory_by_group;
        b->run.r.procs_by_group = session->run.r.procs_by_group;
        b->run.r.cpu_by_group = session->run.r.cpu_by_group;
        b->run.r.in_session = true;
        (void) snprintf(b->run.r.session, sizeof b->run.r.session, "%s", session->run.r.run);
}

struct box *box_run_in(struct box *session, const struct box_config *c, struct err *e)
{
        int ends[2];
        struct box *b = NULL;
        if (!session_takes_runs(session)) {
                (void) err_set(e, ERR_GONE, 0,
                               session->phase < PHASE_RUN ? "the session has not started yet"
                                                          : "the session is over");
                return NULL;
        }

        if (session_fits(c, &session->run.r.label, e) < 0)
                return NULL;

        if (wire_pair(ends) == 0 && !(b = keeper_new(c))) {
                fd_close(&ends[0]);
                fd_close(&ends[1]);
        }

        if (!b) {
                (void) err_set(e, ERR_MEMORY, errno, "no memory for a run");
                return NULL;
        }

        keeper_label_rises(session, &c->label);
        label_join(&b->run.r.label, &session->run.r.label);
        b->child.control = ends[0];
        b->session_line = ends[1];
        b->session = session;
        b->id = ++session->id;
        b->sibling = session->runs;
        session->runs = b;
        b->c.park = b->ordered = true;
        b->phase = PHASE_PARK;
        share_session(b, session);
        keeper_begin(b);
        session_request_ahead(session);
        return b;
}
