/* SPDX-License-Identifier: MIT */
/* run/keeper/init_table.c - hears init, one message at a time. A message is parsed as if the payload had sent
 * it, and must be one that init has in this phase of the box: any other ends the box. */
#include "base/fd.h"
#include "run/keeper/init_messages.h"

#define IN(phase) (1u << INIT_##phase)

enum { BORN = IN(WARMING) | IN(PARKED) | IN(SERVING) | IN(RUNNING), ALWAYS = (1u << INIT_PHASE__COUNT) - 1 };
enum fd_rule { FD_NO, FD_MAY, FD_MUST };

/* Reports (DENIED, SAW, LOST, TOUCHED) and CONNECTED are sent by processes beside init, which may be sending
 * when it sends END. A word without a row comes from no sender. */
static const struct init_row {
        const char *name;
        unsigned phases;
        enum fd_rule fd;
        bool of_run; /* of a session: about one of its runs */
        bool (*hear)(struct box *b, const struct wall_message *m, int *fd);
} rows[] = {
        [WALL_SAYS_ERROR] = { "ERROR", IN(RAISING) | IN(PARKED) | IN(SERVING) | IN(JOINED), FD_NO, true,
                              heard_error },
        [WALL_SAYS_TTY] = { "TTY", IN(RAISING) | IN(PARKED) | IN(SERVING) | IN(JOINED), FD_MUST, true,
                            heard_tty },
        [WALL_SAYS_UP] = { "UP", IN(RAISING), FD_MAY, false, heard_up },
        [WALL_SAYS_DENIED] = { "DENIED", ALWAYS, FD_NO, true, heard_denial },
        [WALL_SAYS_SAW] = { "SAW", ALWAYS, FD_NO, true, heard_denial },
        [WALL_SAYS_END] = { "END", BORN | IN(JOINED), FD_NO, false, heard_end },
        [WALL_SAYS_LISTENER] = { "LISTENER", IN(RAISING), FD_MUST, false, heard_listener },
        [WALL_SAYS_COPY] = { "COPY", IN(RAISING), FD_MUST, false, keeper_copy_made },
        [WALL_SAYS_CONNECTED] = { "CONNECTED", BORN | IN(ENDING), FD_MAY, false, heard_connected },
        [WALL_SAYS_LOST] = { "LOST", ALWAYS, FD_NO, true, heard_lost },
        [WALL_SAYS_READY] = { "READY", IN(JOINED), FD_NO, false, heard_passed_on },
        [WALL_SAYS_TOUCHED] = { "TOUCHED", BORN | IN(ENDING), FD_NO, false, heard_touched },
        [WALL_SAYS_LABEL] = { "LABEL", IN(JOINED), FD_NO, false, heard_news },
        [WALL_SAYS_HELD] = { "HELD", IN(JOINED), FD_NO, false, heard_news },
        [WALL_SAYS_BLOCKED] = { "BLOCKED", IN(JOINED), FD_NO, false, heard_news },
        [WALL_SAYS_RAN] = { "RAN", IN(SERVING), FD_NO, true, NULL }, /* its run may have left since */
        [WALL_SAYS_RISES] = { "RISES", IN(JOINED), FD_NO, false, heard_news },
};
_Static_assert(sizeof rows / sizeof *rows == (size_t) WALL_SAYS_RISES + 1, "a row for each word");

static const char *const phases[] = {
        "raises the walls", "starts an interpreter", "is parked", "serves", "runs",
        "has ended",        "serves the run"
};
_Static_assert(sizeof phases / sizeof *phases == INIT_PHASE__COUNT, "a name for each");

bool init_may_say(uint32_t word, enum init_phase phase, bool with_fd)
{
        const struct init_row *r = word < sizeof rows / sizeof *rows ? &rows[word] : NULL;
        if (!r || !(r->phases & 1u << phase))
                return false;
        return r->fd == FD_MAY || with_fd == (r->fd == FD_MUST);
}

enum init_phase init_phase_of(const struct box *b)
{
        if (b->run.r.in_session)
                return INIT_JOINED;
        if (!b->init_up)
                return INIT_RAISING;
        if (b->init_ended)
                return INIT_ENDING;
        if (b->c.session)
                return INIT_SERVING;
        if (!b->c.park || b->run.up)
                return INIT_RUNNING;
        return b->ready ? INIT_PARKED : INIT_WARMING;
}

/* Whatever made init or the session send it: what stands behind the walls is not known any more. */
static void distrust_init(struct box *b, uint32_t word, enum init_phase phase)
{
        const char *name = word < sizeof rows / sizeof *rows && rows[word].name ? rows[word].name : "none";
        struct effect_row n = keeper_row(&b->run, EFFECT_CALL);
        struct err e;
        n.effect.reason = REASON_INIT_MESSAGE;
        n.layer = "keeper";
        n.what = keeper_text(&b->run, "the message %s while the box %s", name, phases[phase]);
        keeper_count_denial(&b->run, &n);
        if (phase == INIT_ENDING)
                return;

        (void) err_set(&e, ERR_WALL, 0, "%s sent %s while the box %s: the box was ended",
                       phase == INIT_JOINED ? "the session" : "cordon-init", name, phases[phase]);
        keeper_note_error(b, &e);
        box_kill(b);
        fd_close(&b->child.control);
        if (phase == INIT_JOINED)
                keeper_note_left(b);
}

static void note_hangup(struct box *b)
{
        fd_close(&b->child.control);
        if (b->run.r.in_session) { /* its keeper was killed */
                b->run.r.out.session_over = b->run.r.out.end == CORDON_RUNNING && !b->killed;
                keeper_note_left(b);
        }
}

/* In a box that raises its walls there are no runs yet. */
static bool pass_on(struct box *b, const struct init_row *r, const struct wall_message *m, int fd)
{
        return b->c.session && b->init_up && r->of_run && session_forward(b, m, fd);
}

void keeper_hear(struct box *b)
{
        struct wall_message m;
        int fd = -1;
        int r = wall_listen(&b->child, &m, &fd);
        if (r <= 0) {
                note_hangup(b);
                return;
        }

        enum init_phase phase = init_phase_of(b);
        bool good = init_may_say(m.word, phase, fd >= 0);
        if (good && !pass_on(b, &rows[m.word], &m, fd))
                good = !rows[m.word].hear || rows[m.word].hear(b, &m, &fd);
        if (!good)
                distrust_init(b, m.word, phase);
        fd_close(&fd);
}
