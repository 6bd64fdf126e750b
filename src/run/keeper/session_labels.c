/* SPDX-License-Identifier: MIT */
/* run/keeper/session_labels.c - the label of a session is that of each run in it: a run reads what others
 * left there. What a run is handed raises the session's label before it begins. Its result and `out` handles
 * have the session's label of the moment from which nothing of the run can come any more. If its keeper is
 * another process, that one requests the label over its line; without an answer it is the worst label. */
#include "base/fd.h"
#include "run/keeper/internal.h"

enum { ANSWER_MS = 30000 };

/* All that there is to say of a run that has ended is heard. */
static void settle_effects(struct box *session)
{
        broker_settle(session);
        keys_catch_up(session);
}

/* ---- the session's side ---- */

/* The broker's messages about what this run got are heard first. False: it must not go on. */
static bool answer_label(struct box *b)
{
        struct box *session = b->session;
        b->asks_label = false;
        if (session->c.plan->net && !label_within(&b->c.label, &session->run.r.label))
                return false;

        keeper_label_rises(session, &b->c.label);
        if (b->begun) {
                settle_effects(session);
                keeper_label_written(session);
        } else {
                broker_catch_up(session);
        }
        return session_send_label(b) == 0 && !b->begun; /* the second is the last */
}

static void answer_all(struct box *first)
{
        for (struct box *b = first, *next; b; b = next) {
                next = b->sibling;
                if (b->asks_label && !answer_label(b))
                        session_drop_peer(b);
        }
}

void session_answer_labels(struct box *session)
{
        answer_all(session->runs);
        answer_all(session->ended);
}

/* ---- the run's side ---- */

/* What it wrote does not leave without its label: `out` handles are copied after this, if it succeeded. */
static int end_with(struct box *b, struct label l)
{
        struct err e;
        label_join(&b->run.r.label, &l);
        if (!label_is_empty(&b->run.r.label) && keeper_label_streams(b, &e) < 0) {
                b->run.r.error = e;
                b->run.r.out.end = CORDON_FAILED;
        }

        if (b->run.r.out.end == CORDON_EXITED && b->run.r.out.code == 0 && keeper_label_out(b, &e) < 0) {
                b->run.r.error = e;
                b->run.r.out.end = CORDON_FAILED;
        }
        return 1;
}

/* 1: it came, 0: not yet, -1: it never will. */
static int hear_label(struct box *b, struct label *ret)
{
        const struct wall_child *line = &b->session->child;
        struct wall_message m = { 0 };
        while (fd_await(line->control, POLLIN, 0)) {
                int fd = -1, r = wall_listen(line, &m, &fd);
                fd_close(&fd);
                if (r != 1)
                        return -1;

                if (m.word == WALL_SAYS_LABEL) {
                        *ret = label_of(m.label);
                        return 1;
                }
                if (m.word == WALL_SAYS_BLOCKED)
                        session_told(b, &m);
        }
        return 0;
}

int session_last_label(struct box *b)
{
        struct box *session = b->session;
        struct label l;
        if (!session || !session->remote) {
                if (session)
                        settle_effects(session);
                return 1;
        }

        if (keeper_is_new_phase(b)) {
                if (!b->handed_over)
                        return 1; /* nothing ran */
                if (!handles_seal(&b->run))
                        return end_with(b, label_worst());
                (void) wall_label(&session->child, &(struct label){ 0 }); /* gone: it has sent its last */
        }

        int r = hear_label(b, &l);
        if (r == 0 && !keeper_waits_too_long(b, ANSWER_MS)) {
                keeper_wait_for(b, session->child.control, POLLIN);
                return 0;
        }

        return end_with(b, r == 1 ? l : label_worst());
}
