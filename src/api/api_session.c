/* SPDX-License-Identifier: MIT */
/* api/api_session.c - sessions: a box that stays, and the runs in it. */
#include "api/internal.h"

#include <string.h>

enum { SESSION_MS = 24 * 3600 * 1000, IDLE_MS = 3600 * 1000 };

int cordon_session_start(cordon_box *b, cordon_error *pe)
{
        static const char *const none[] = { "session", NULL };
        b->is_session = true;
        b->session_ms = b->session_ms ? b->session_ms : SESSION_MS;
        b->idle_ms = b->idle_ms ? b->idle_ms : IDLE_MS;
        if (!b->argv && cordon_box_command(b, none) < 0)
                return err_set(to_err(pe), ERR_MEMORY, 0, "no memory for a session");

        return cordon_box_start_async(b, pe);
}

cordon_box *cordon_session_run(cordon_box *session)
{
        cordon_box *b = cordon_box_new(session->policy);
        if (!b)
                return NULL;

        b->session = session;
        b->told = session->told; /* the placeholders that the session's broker knows */
        b->told_count = session->told_count;
        b->trip = session->trip;
        memcpy(b->canaries, session->canaries, sizeof b->canaries);
        memcpy(b->canary_words, session->canary_words, sizeof b->canary_words);
        b->canary_count = session->canary_count;
        b->root_inside = session->root_inside;
        b->observe = session->observe;
        b->ledger = session->ledger;
        b->ledger_said = session->ledger_said;
        b->stage = session->stage;
        return b;
}

void cordon_session_end(cordon_box *session)
{
        if (session->box)
                box_finish(session->box);
}
