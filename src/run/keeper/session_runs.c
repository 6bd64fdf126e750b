/* SPDX-License-Identifier: MIT */
/* run/keeper/session_runs.c - the life of the runs of a session, a box that stays; session_begin.c begins
 * them. init, control groups, broker and overlays are the session's; streams, limits of time and output,
 * refusals, record and result are the run's. Init's messages come to the session, which passes them on to the
 * run that they are about. */
#include "base/clock.h"
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* ---- may it begin ---- */

bool session_takes_runs(const struct box *session)
{
        return session->c.session && session->run.up && session->phase == PHASE_RUN && !session->killed &&
               !session->init_gone && session->run.r.out.end == CORDON_RUNNING;
}

/* A session that has begun a run prepares for the next. */
void session_request_ahead(struct box *session)
{
        struct err ignored; /* the next run requests its own, and hears why not */
        if (session->ahead < 0 && session_takes_runs(session))
                session->ahead = wall_spare_add(&session->child, &ignored);
}

/* ---- its spare ---- */

/* Without one the session does not know which run a connection is of. */
void session_enter_group(struct box *session, struct box *b, int spare)
{
        struct err ignored;
        AUTO_FD(procs, session->broker.parts ? limit_run_open(&session->group, b->id, &b->group_id) : -1);
        if (procs >= 0)
                (void) wall_spare_enter(spare, procs, &ignored);
}

int session_spare(struct box *b, struct err *e)
{
        struct wall_message m;
        struct box *session = b->session;
        if (session->remote)
                return session_joined(b, e);

        if (keeper_is_new_phase(b)) {
                b->child.spare =
                        session->ahead >= 0 ? TAKE_FD(session->ahead) : wall_spare_add(&session->child, e);
                if (b->child.spare < 0)
                        return -1;
        }

        int r = wall_spare_listen(b->child.spare, &m);
        if (r < 0 && errno == EAGAIN) {
                keeper_wait_for(b, b->child.spare, POLLIN);
                return 0;
        }

        if (r != 1 || m.word != WALL_SAYS_READY) {
                if (r == 1 && m.word == WALL_SAYS_ERROR)
                        *e = m.error;
                else
                        (void) err_set(e, ERR_WALL, 0, "the session makes no process for this run");
                return -1;
        }

        b->leader = m.run;
        b->ready = true;
        session_enter_group(session, b, b->child.spare);
        return 1;
}

/* ---- runs of other keepers ---- */

static void take_out(struct box **at, struct box *b)
{
        while (*at && *at != b)
                at = &(*at)->sibling;

        if (*at)
                *at = b->sibling;
}

static void unlink_run(struct box *b)
{
        take_out(&b->session->runs, b);
        take_out(&b->session->ended, b);
        limit_run_end(&b->session->group, b->id);
        b->session->idle_ns = clock_mono_ns();
        causes_changed(b->session);
}

/* Only what session_peers.c fills is in it: it is not a box that lives. */
void session_drop_peer(struct box *b)
{
        if (b->session && !b->init_gone && b->handed_over && b->session->child.control >= 0)
                (void) wall_signal_run(&b->session->child, b->id, SIGKILL);

        if (b->session)
                unlink_run(b);

        fd_close(&b->child.spare); /* without an order it ends by itself */
        fd_close(&b->session_line);
        free(b);
}

/* Its keeper has its end, and still reads what it has left: the last of it is the session's label. If many
 * do not request it, the one that ended first gets none, which is the worst. */
static void set_aside(struct box *b)
{
        unsigned n = 0;
        struct box *last = b;
        unlink_run(b);
        b->sibling = b->session->ended;
        b->session->ended = b;
        for (struct box *one = b; one; one = one->sibling, n++)
                last = one;

        if (n > WALL_RUNS_MAX)
                session_drop_peer(last);
}

/* ---- messages ---- */

/* The answer to a request for a terminal, which all of the machine may be in use. */
static bool is_about_tty(const struct wall_message *m)
{
        return m->word == WALL_SAYS_TTY || m->word == WALL_SAYS_ERROR;
}

static struct box *run_of(const struct box *session, const struct wall_message *m)
{
        struct box *one = session->runs;
        bool ran = m->word == WALL_SAYS_RAN, tty = is_about_tty(m);
        for (struct box *b = session->runs; b; b = b->sibling)
                if (ran ? b->id == m->run : tty ? b->wants_tty : b->leader == m->run && b->handed_over)
                        return b;

        return !ran && !tty && one && !one->sibling ? one : NULL; /* its processes may lead other sessions */
}

static void send_end(struct box *b)
{
        const struct wall_message m = { .word = WALL_SAYS_END, .end = b->last };
        b->ran = b->session_line >= 0 && wall_forward(b->session_line, &m, -1) < 0 && errno == EAGAIN;
        if (!b->ran && b->remote)
                set_aside(b);
        else if (!b->ran)
                fd_close(&b->session_line);
}

static void note_unsent(struct box_result *r, const struct wall_message *m)
{
        uint32_t kind = m->word == WALL_SAYS_LOST ? m->lost.kind : m->denial.kind;
        if (m->word == WALL_SAYS_SAW)
                r->effects_lost++;
        else if (m->word != WALL_SAYS_ERROR && kind < EFFECT_KIND__COUNT)
                r->lost[kind]++;
}

bool session_forward(struct box *session, const struct wall_message *m, int fd)
{
        struct box *b = run_of(session, m);
        if (!b)
                return m->word == WALL_SAYS_RAN || is_about_tty(m);

        if (m->word == WALL_SAYS_RAN) {
                b->last = m->end;
                b->init_gone = b->remote; /* of another keeper's run: it has ended */
                send_end(b);
        } else if (is_about_tty(m)) {
                b->wants_tty = false;
                (void) wall_forward(b->session_line, m, fd);
        } else if (b->session_line < 0 || wall_forward(b->session_line, m, -1) < 0) {
                note_unsent(&b->run.r, m);
        }

        return true;
}

/* ---- its life ---- */

uint64_t session_next(const struct box *session)
{
        uint64_t idle = session->c.idle_ms * UINT64_C(1000000);
        for (const struct box *b = session->runs; b; b = b->sibling)
                if (b->ran)
                        return clock_mono_ns() + 10000000u;

        return idle && !session->runs && session->run.up ? session->idle_ns + idle : 0;
}

/* The session has ended, and it is known by what: so has the run. */
static void end_with_session(const struct box *s, struct box *b)
{
        const struct box_result *session = &s->run.r;
        if (!b->ran)
                b->last = (struct wall_end){ .status = SIGKILL, .session_over = 1 };

        if (session->out.end == CORDON_LIMIT && !b->ran) {
                b->last.time_over = session->limit == LIMIT_TIME;
                b->last.cpu_over = session->limit == LIMIT_CPU;
                b->last.memory_over = session->limit == LIMIT_MEMORY;
                b->last.disk_over = session->limit == LIMIT_DISK;
        }

        b->last.replaced = !b->ran && s->run.outside;
        b->init_gone |= b->remote;
        send_end(b);
}

static int send_label(const struct box *b, enum wall_word word)
{
        struct wall_message m = { .word = word };
        (void) label_text(&b->session->run.r.label, m.label);
        return wall_forward(b->session_line, &m, -1);
}

int session_send_label(const struct box *b) { return send_label(b, WALL_SAYS_LABEL); }

void session_label_rises(const struct box *b)
{
        if (b->session_line >= 0 && b->begun)
                (void) send_label(b, WALL_SAYS_RISES); /* its last answer has it, too */
}

/* The session is over: its label rises no more. */
static void answer_ended(struct box *session)
{
        while (session->ended) {
                (void) session_send_label(session->ended);
                session_drop_peer(session->ended);
        }
}

bool session_tend(struct box *session)
{
        uint64_t next = session_next(session);
        bool over = session->phase > PHASE_JUDGE;
        for (struct box *b = session->runs, *following; b; b = following) {
                following = b->sibling;
                if (over && b->session_line >= 0)
                        end_with_session(session, b);
                else if (b->ran)
                        send_end(b);
        }

        if (over)
                answer_ended(session);

        return !session->runs && next != 0 && clock_mono_ns() >= next;
}

void session_kill(struct box *b)
{
        if (b->handed_over && b->session->child.control >= 0)
                (void) wall_signal_run(&b->session->child, b->id, SIGKILL);

        fd_close(&b->child.spare); /* without an order it ends by itself */
}

/* A session that is over: its runs hear of it by the end of their line. */
static void leave_all(struct box *session)
{
        for (struct box *r = session->runs, *next; r; r = next) {
                next = r->sibling;
                fd_close(&r->session_line);
                r->session = NULL;
                r->given_up = true;
                if (r->remote)
                        session_drop_peer(r);
        }

        answer_ended(session);
        fd_close(&session->ahead);
        fd_close(&session->peers);
        session->runs = NULL;
}

void session_leave(struct box *b)
{
        struct box *session = b->session;
        if (!session) {
                leave_all(b);
                return;
        }

        unlink_run(b);
        fd_close(&b->session_line);
        b->session = NULL;
        if (session->remote) { /* it only stood for the one of another process */
                fd_close(&session->child.control);
                free(session);
        }
}
