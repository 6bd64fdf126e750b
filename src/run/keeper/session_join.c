/* SPDX-License-Identifier: MIT */
/* run/keeper/session_join.c - the keeper of a run in a session of another process (session_peers.c). A struct
 * box stands for that session: its control socket is the line to the session's keeper, which passes orders on
 * to init and init's messages back. */
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* Its part of the session that another process keeps. */
static struct box *stand_in(const struct box_config *c, int line)
{
        struct box *session = keeper_new(c);
        if (!session)
                return NULL;

        session->remote = true;
        session->child.control = fcntl(line, F_DUPFD_CLOEXEC, 3);
        if (session->child.control >= 0)
                return session;

        free(session);
        return NULL;
}

struct box *box_join(const char *which, const struct box_config *c, struct err *e)
{
        AUTO_FD(line, registry_join(which, e));
        if (line < 0)
                return NULL;

        struct box *session = stand_in(c, line), *b = session ? keeper_new(c) : NULL;
        if (!b) {
                if (session)
                        fd_close(&session->child.control);
                free(session);
                (void) err_set(e, ERR_MEMORY, errno, "no memory for a run");
                return NULL;
        }

        b->child.control = TAKE_FD(line);
        b->session = session;
        session->runs = b;
        b->c.park = b->ordered = b->joining = true;
        b->run.r.in_session = true;
        (void) snprintf(b->run.r.session, sizeof b->run.r.session, "%s", which);
        b->phase = PHASE_PARK;
        keeper_begin(b);
        return b;
}
