/* SPDX-License-Identifier: MIT */
/* run/keeper/box_life.c - the life of a box as a state machine: a table of phases, with the events that each
 * turn waits for and its actions. A turn waits at most for the time that box_wait() is given, so that one
 * thread can drive many boxes.
 *
 * Order of an end: the payload ends (or a limit fires, or the box is stopped) -> init sends END and exits ->
 * the kernel ends everything else in the pid namespace -> pipes reach EOF -> the phases of ending.c. */
#include "base/clock.h"
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { FLUSH_NS = 50000000, LATE_MAX = 4 << 20 };
static const uint64_t CHECK_NS =
        UINT64_C(30000000000); /* for the rest of the output, after the payload's end */

/* ---- the phases ---- */

/* A box that was killed does not wait for a reader that takes nothing. And no box waits for an EOF of its
 * output that none of its processes can cause: it may have passed a copy of the descriptor to a program
 * behind a `sock` door. All its output has arrived by then; only a terminal takes a moment to pass it on. */
static bool is_over(struct box *b)
{
        uint64_t now = clock_mono_ns();
        bool checked = pump_filters(&b->run);
        if (b->run.refused.code != ERR_NONE && !b->killed)
                box_kill(b); /* nobody reads on */

        if (!b->init_gone || b->child.control >= 0)
                return false;

        if (!checked && now - b->gone_ns > CHECK_NS)
                pump_filters_kill(&b->run);
        if (!checked)
                return false;

        bool waited = b->killed && now - b->killed_ns > FLUSH_NS;
        bool flushed = now - b->gone_ns > FLUSH_NS && pump_outputs_idle(&b->run);
        bool enough =
                b->run.late_bytes > LATE_MAX; /* more than pipes hold: another process goes on writing */
        return waited || flushed || enough || !pump_outputs_open(&b->run);
}

/* Nothing is left to wait for but the phases of an end. */
static int run_payload(struct box *b, struct err *e)
{
        (void) e;
        return is_over(b);
}

static int (*const phases[])(struct box *, struct err *) = {
        [PHASE_RECORD] = starting_record, [PHASE_MAKE] = starting_make,   [PHASE_FILL] = starting_fill,
        [PHASE_ASK] = starting_ask,       [PHASE_TRUST] = starting_trust, [PHASE_CLONE] = starting_clone,
        [PHASE_BIRTH] = starting_birth,   [PHASE_TOLD] = starting_told,   [PHASE_RELEASE] = starting_release,
        [PHASE_PARK] = starting_park,     [PHASE_NAME] = starting_name,   [PHASE_STREAMS] = starting_streams,
        [PHASE_TOLD_RUN] = starting_told, [PHASE_ORDER] = starting_order, [PHASE_RUN] = run_payload,
        [PHASE_REAP] = ending_reap,       [PHASE_BROKER] = ending_broker, [PHASE_WRITER] = ending_writer,
        [PHASE_GROUPS] = ending_groups,   [PHASE_JUDGE] = ending_judge,   [PHASE_STAMP] = ending_stamp,
        [PHASE_PUBLISH] = ending_publish, [PHASE_RESULT] = ending_result, [PHASE_LEDGER] = ending_ledger,
        [PHASE_JANITOR] = ending_janitor,
};
_Static_assert(sizeof phases / sizeof *phases == PHASE_OVER, "each phase has its function");

static void enter_phase(struct box *b, enum phase p)
{
        b->phase = p;
        b->wait = (struct waiting){ .fd = -1 };
}

/* As many phases as can be gone through without waiting. A failure before the payload may run is the start's,
 * and ends the box as if it had been given up; later ones are noted in the result. */
static void go_on(struct box *b)
{
        struct err e;
        while (b->phase < PHASE_OVER) {
                b->wait.fd = -1;
                b->wait.wake_ns = 0;
                bool stopped = b->phase < PHASE_RUN && b->run.r.out.end != CORDON_RUNNING;
                int r = stopped ? -1 : phases[b->phase](b, &e);
                if (r == 0)
                        return;

                if (r < 0 && !stopped)
                        keeper_note_error(b, &e);

                if (r < 0)
                        b->given_up = true;

                enter_phase(b, r < 0 ? PHASE_REAP : b->phase + 1);
        }
}

/* ---- one turn ---- */

/* init has its release, and its messages are heard. */
static bool is_there(const struct box *b) { return b->phase >= PHASE_PARK && b->phase <= PHASE_RUN; }

static void fill_wants(struct box *b, struct pollfd p[static SLOT__COUNT])
{
        bool runs = is_there(b), orders = b->handed_over && b->phase == PHASE_RUN;
        bool warms = b->phase == PHASE_PARK && keeper_is_warm(b) && b->held >= 0 && !b->ready;
        bool asks = b->run.up && b->broker.ledger_ns == 0; /* the start is recorded first */
        const struct pollfd wants[SLOT_PUMPS] = {
                [SLOT_CONTROL] = { .fd = runs && !b->joining ? b->child.control : -1, .events = POLLIN },
                [SLOT_PIDFD] = { .fd = runs && !b->init_gone ? b->child.pidfd : -1, .events = POLLIN },
                [SLOT_OOM] = { .fd = runs ? b->group.oom_event : -1, .events = keeper_oom_events(b) },
                [SLOT_REGISTRY] = { .fd = runs && b->client < 0 ? b->registry : -1, .events = POLLIN },
                [SLOT_CLIENT] = { .fd = runs ? b->client : -1, .events = POLLIN },
                [SLOT_BROKER] = { .fd = b->broker.control, .events = POLLIN },
                [SLOT_LEDGER] = { .fd = runs && asks ? b->broker.ledger : -1, .events = POLLIN },
                [SLOT_INBOUND] = { .fd = runs ? inbound_fd(b) : -1, .events = POLLIN },
                [SLOT_SPARE] = { .fd = orders || warms ? b->child.spare : -1, .events = POLLIN },
                [SLOT_GATES] = { .fd = runs ? gates_fd(b) : -1, .events = POLLIN },
                [SLOT_KEYS] = { .fd = keys_fd(b), .events = POLLIN },
                [SLOT_PEERS] = { .fd = runs ? b->peers : -1, .events = POLLIN },
                [SLOT_CALLS] = { .fd = runs ? b->run.calls : -1, .events = POLLIN },
                [SLOT_REPLACED] = { .fd = b->killed ? -1 : b->replaced, .events = POLLIN },
                [SLOT_AWAITED] = { .fd = b->wait.fd, .events = b->wait.events },
        };

        memcpy(p, wants, sizeof wants);
        for (unsigned i = SLOT_PUMPS; i < SLOT__COUNT; i++)
                p[i] = (struct pollfd){ .fd = -1 };

        if (runs)
                pump_poll(&b->run, p + SLOT_PUMPS);
}

static void serve_run(struct box *b, const struct pollfd p[static SLOT__COUNT])
{
        uint64_t now = clock_mono_ns();
        if (p[SLOT_OOM].revents)
                (void) keeper_oom_drain(b);

        if (p[SLOT_OOM].revents || p[SLOT_CONTROL].revents == 0)
                keeper_limits_look(b, p[SLOT_OOM].revents);

        if (p[SLOT_SPARE].revents)
                keeper_hear_spare(b);

        if (p[SLOT_CONTROL].revents)
                keeper_hear(b);

        if (p[SLOT_CLIENT].revents)
                registry_answer(b);
        else if (b->client >= 0 && now >= b->client_until_ns)
                registry_drop(b);
        else if (p[SLOT_REGISTRY].revents)
                registry_accept(b);

        if (p[SLOT_LEDGER].revents || (b->broker.ledger_ns != 0 && now >= b->broker.ledger_ns))
                broker_record(b);

        if (p[SLOT_INBOUND].revents)
                inbound_serve(b);

        if (p[SLOT_GATES].revents || gates_next_ms(b) == 0)
                gates_serve(b);
        renew_settle(b);

        if (p[SLOT_CALLS].revents)
                calls_serve(b);

        if (p[SLOT_PEERS].revents) {
                session_serve_peers(b);
                session_answer_labels(b);
        }

        pump_serve(&b->run, p + SLOT_PUMPS, 3);
        if (p[SLOT_PIDFD].revents && !b->init_gone) {
                b->init_gone = true;
                b->gone_ns = clock_mono_ns();
        }

        bool gone = b->init_gone || b->child.control < 0;
        if (gone && keeper_is_warm(b) && !b->ready && b->child.spare >= 0) /* why it was not ready */
                keeper_hear_spare(b);

        if (b->init_gone && b->killed && !p[SLOT_CONTROL].revents) /* its last messages are read */
                fd_close(&b->child.control);

        if (b->kill_ns != 0 && now >= b->kill_ns)
                keeper_kill_now(b);
}

static void serve_box(struct box *b, const struct pollfd p[static SLOT__COUNT])
{
        if (p[SLOT_BROKER].revents)
                broker_hear(b);
        if (p[SLOT_KEYS].revents)
                keys_hear(b);
        touches_settle(b);
        if (p[SLOT_REPLACED].revents)
                replaced_serve(b);

        if (b->phase < PHASE_PARK)
                keeper_look_at_start(b, clock_mono_ns());
        else if (is_there(b))
                serve_run(b, p);

        go_on(b);
        if (b->c.session && session_tend(b))
                box_finish(b);

        b->turn_ns = clock_mono_ns();
        b->run.tick_ms = b->phase == PHASE_RUN && !b->killed ? record_tick(&b->run) : -1;
}

/* A keeper that cannot watch its box ends it. */
static void cannot_wait(struct box *b)
{
        if (b->phase <= PHASE_RUN && b->run.r.out.end != CORDON_FAILED) {
                (void) err_set(&b->run.r.error, ERR_IO, errno, "waiting for the box: %s", strerror(errno));
                b->run.r.out.end = CORDON_FAILED;
                enter_phase(b, PHASE_REAP);
        }

        go_on(b);
}

/* ---- when the next turn is due ---- */

static uint64_t sooner(uint64_t a, uint64_t b) { return a == 0 || (b != 0 && b < a) ? b : a; }

/* In ns on the monotonic clock; 0: never. */
static uint64_t next_turn(struct box *b)
{
        uint64_t now = clock_mono_ns(), next = b->wait.wake_ns;
        if (box_is_parked(b) || b->phase == PHASE_ASK)
                return next;

        if (b->phase < PHASE_RUN)
                return sooner(next, keeper_next_look(b, now));

        if (b->phase != PHASE_RUN)
                return next;

        next = sooner(next, b->kill_ns);
        next = sooner(next, b->c.session ? session_next(b) : 0);
        next = sooner(next, b->broker.ledger_ns);
        next = sooner(next, b->client >= 0 ? b->client_until_ns : 0);
        if (b->gates && gates_next_ms(b) >= 0)
                next = sooner(next, now + (uint64_t) gates_next_ms(b) * 1000000u + 1000000u);

        if (b->killed || (b->init_gone && !pump_is_blocked(&b->run)))
                return sooner(next, b->turn_ns + FLUSH_NS + 1000000u);

        if (b->run.tick_ms >= 0)
                next = sooner(next, b->turn_ns + (uint64_t) b->run.tick_ms * 1000000u);

        return sooner(next, keeper_next_look(b, now));
}

int box_next_ms(struct box *b)
{
        uint64_t next = next_turn(b), now = clock_mono_ns();
        if (b->phase == PHASE_OVER || wakeup_is_due(b) || (next != 0 && next <= now))
                return 0;

        if (next == 0)
                return -1;

        uint64_t ms = (next - now + 999999u) / 1000000u;
        return ms > 3600000u ? 3600000 : (int) ms;
}

/* NULL: without an end. */
static const struct timespec *time_left(struct box *b, int timeout_ms, struct timespec *ret)
{
        uint64_t now = clock_mono_ns(), next = timeout_ms == 0 ? now : next_turn(b);
        if (timeout_ms > 0)
                next = sooner(next, now + (uint64_t) timeout_ms * 1000000u);

        uint64_t left = next > now ? next - now : 0;
        *ret = (struct timespec){ .tv_sec = (time_t) (left / 1000000000u),
                                  .tv_nsec = (long) (left % 1000000000u) };
        return next == 0 ? NULL : ret;
}

static int take_turn(struct box *b, int timeout_ms)
{
        struct pollfd p[SLOT__COUNT];
        struct timespec left;
        if (b->phase == PHASE_OVER)
                return 1;

        wakeup_reported(b);
        fill_wants(b, p);
        int n = ppoll(p, SLOT__COUNT, time_left(b, timeout_ms, &left), NULL);
        if (n < 0 && errno != EINTR)
                cannot_wait(b);
        else if (n >= 0)
                serve_box(b, p);

        if (b->epoll >= 0) {
                fill_wants(b, p);
                wakeup_arm(b, p);
        }

        return b->phase == PHASE_OVER;
}

/* A closed reader, and a file that may not grow (RLIMIT_FSIZE: the ledger, an `out` handle, an overlay), must
 * not kill the program that uses us: SIGPIPE and SIGXFSZ are blocked for this thread, which gets the call's
 * error, and signals that we caused are discarded. */
struct calm {
        sigset_t before, caused;
};

static struct calm calm_begin(void)
{
        static const int ours[] = { SIGPIPE, SIGXFSZ };
        struct calm c;
        sigset_t pending, blocked;

        (void) sigemptyset(&blocked);
        (void) sigemptyset(&c.caused);
        (void) sigpending(&pending);
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
                (void) sigaddset(&blocked, ours[i]);
                if (!sigismember(&pending, ours[i]))
                        (void) sigaddset(&c.caused, ours[i]);
        }

        (void) sigprocmask(SIG_BLOCK, &blocked, &c.before);
        return c;
}

static void calm_end(const struct calm *c)
{
        const struct timespec now = { 0, 0 };
        while (sigtimedwait(&c->caused, NULL, &now) > 0)
                ;
        (void) sigprocmask(SIG_SETMASK, &c->before, NULL);
}

int box_wait(struct box *b, int timeout_ms)
{
        struct calm calm = calm_begin();
        int over = take_turn(b, timeout_ms);
        calm_end(&calm);
        return over;
}

void box_watch(struct box *b, int epoll)
{
        struct pollfd p[SLOT__COUNT];
        for (unsigned i = 0; i < SLOT__COUNT; i++)
                b->watched[i] = (struct watched){ .fd = -1 };

        b->epoll = epoll;
        fill_wants(b, p);
        wakeup_arm(b, p);
}

/* Its caller lets go of it: nothing more is read or written for him. */
static void give_up(struct box *b)
{
        b->given_up = b->killed = true;
        pump_close(&b->run);
        if (b->phase < PHASE_REAP)
                enter_phase(b, PHASE_REAP);

        go_on(b);
}

void keeper_begin(struct box *b)
{
        struct calm calm = calm_begin();
        go_on(b);
        calm_end(&calm);
}

static void reap_late(struct child *c)
{
        while (!child_reap(c, NULL)) {
                struct pollfd ended = { .fd = c->pidfd, .events = POLLIN };
                (void) poll(&ended, 1, c->pidfd >= 0 ? -1 : 1);
        }
}

void keeper_see_off(struct box *b)
{
        struct calm calm = calm_begin();
        if (b->phase < PHASE_OVER)
                give_up(b);

        b->epoll = -1;
        while (take_turn(b, -1) == 0)
                ;

        for (int i = 0; i < 2; i++)
                reap_late(&b->late[i]);

        calm_end(&calm);
}
