/* SPDX-License-Identifier: MIT */
/* keeper/keeper.c - one run: start, watch, end, result.
 *
 * Order of an end: the payload ends (or a limit fires, or somebody stops it) -> init says END and exits ->
 * the kernel ends everything else in the pid namespace -> pipes reach their end -> groups are read and
 * removed -> result. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "host/host.h"
#include "keeper/internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- start ---- */

static void fill_start(struct box *b, bool joins_late)
{
        const struct box_config *c = &b->c;
        b->start = (struct wall_start){ .plan = c->plan,
                                        .order = c->plan->order,
                                        .edits = b->edits,
                                        .copies = b->copy_fds,
                                        .io = &b->inside,
                                        .trust_fd = b->broker.trust,
                                        .bundle_bytes = b->broker.bundle_bytes,
                                        .cgroup_fd = b->group.v2,
                                        .groups_late = joins_late,
                                        .sampled = !joins_late && keeper_groups_hold(b) & WALL_SAMPLES,
                                        .die_with_thread = c->single_thread,
                                        .tell = c->observe != BOX_OBSERVE_OFF,
                                        .watch = c->observe == BOX_OBSERVE_DENIALS ||
                                                 c->observe == BOX_OBSERVE_ALL,
                                        .watch_all = c->observe == BOX_OBSERVE_ALL,
                                        .front = c->signals_stay_in,
                                        .rows = c->rows,
                                        .columns = c->columns,
                                        .caller_uid = c->uid,
                                        .caller_gid = c->gid,
                                        .host_uid = c->uid,
                                        .host_gid = c->gid };
        if (c->root)
                b->start.host_uid = b->start.host_gid = wall_host_id();
}

static int start_all(struct box *b, struct err *e)
{
        bool groups_first = keeper_groups_come_first(b);

        /* The broker first: it gets ready while the rest is made. A box that trusts an authority of its own
         * needs it before its root is built. */
        if (inbound_open(b, e) < 0 || broker_start(b, e) < 0 || pump_open(b, e) < 0 ||
            handles_open(b, e) < 0 || keeper_copies_open(b, e) < 0 || keeper_work_begin(b, e) < 0 ||
            (groups_first && keeper_groups_make(b, false, e) < 0) ||
            (b->c.plan->authority && broker_await(b, e) < 0))
                return -1;

        bool groups_late = !groups_first && !(b->c.plan->without & WITHOUT_CGROUP);
        fill_start(b, groups_late || keeper_groups_are_joined(b));
        if (b->c.root)
                pump_own(b, b->start.host_uid, b->start.host_gid);

        if (wall_ops(b->c.plan->wall)->start(&b->start, &b->child, e) < 0)
                return -1;

        (void) keeper_run(b);
        if ((groups_late && keeper_groups_make(b, true, e) < 0) || keeper_groups_enter(b, e) < 0 ||
            (!b->c.plan->authority && broker_await(b, e) < 0) ||
            wall_release(&b->child, keeper_groups_hold(b), e) < 0)
                return -1;

        for (int i = 0; i < 3; i++)
                fd_close(&b->inside.stdio[i]);

        fd_close(&b->broker.trust);
        return 0;
}

static struct box *box_new(const struct box_config *c)
{
        struct box *b = calloc(1, sizeof *b);
        if (!b)
                return NULL;

        b->c = *c;
        b->child = (struct wall_child){ .pid = -1, .pidfd = -1, .control = -1 };
        b->janitor = (struct limit_janitor){ -1, -1 };
        b->tty = b->registry = b->held = b->name_lock = -1;
        b->broker = (struct broker_line){ .pid = -1, .control = -1, .ledger = -1, .writer = -1, .trust = -1 };
        for (unsigned i = 0; i < HANDLES_MAX; i++)
                b->memfd[i] = -1;

        for (unsigned i = 0; i < 3; i++)
                b->inside.stdio[i] = -1;

        limit_group_init(&b->group);
        b->in = b->out[0] = b->out[1] = (struct pump){ .from = -1, .to = -1 };
        b->began_ns = clock_mono_ns();
        b->r.wall = c->plan->wall;
        b->r.recording = c->recording.name != NULL;
        (void) snprintf(b->r.name, sizeof b->r.name, "%s", c->name ? c->name : c->plan->box);
        b->log_on = c->io.out[0] < 0 && !c->io.sink;
        return b;
}

/* A reader that is gone, and a file that may not grow (RLIMIT_FSIZE: the ledger, an `out` handle, a layer),
 * must not end the program that uses us: their signals are blocked for this thread, which gets the call's
 * error, and what we caused of them is taken away again. */
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

static void note_error(struct box *b, const struct err *error)
{
        if (b->r.end != BOX_RUNNING)
                return;
        b->r.error = *error;
        b->r.end = error->code == ERR_EXEC ? BOX_NO_EXEC : BOX_FAILED;
}

struct box *box_start(const struct box_config *c, struct err *e)
{
        struct box *b = box_new(c);
        if (!b) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for a box");
                return NULL;
        }

        struct calm calm = calm_begin();
        if (names_claim(b, e) < 0 || record_new(b, e) < 0 || start_all(b, e) < 0) {
                note_error(b, e);
                box_free(b);
                b = NULL;
        }

        calm_end(&calm);
        return b;
}

/* ---- messages from init ---- */

enum { SAMPLER_LATE_MS = 100 };

static void note_up(struct box *b, const struct wall_message *m)
{
        uint64_t now = clock_mono_ns();
        if (keeper_oom_drain(b)) /* a file of v2 tells of changes since it was last read */
                keeper_oom_noted(b);

        b->up = true;
        registry_open(b);     /* not before: until here every microsecond of ours is the start's */
        b->r.attested = true; /* init says UP only after the probe from inside passed */
        b->r.layers = m->layers;
        if (b->r.memory_by_group || b->r.procs_by_group)
                b->r.layers |= 1u << LAYER_CGROUP;

        b->r.start_ns = now - b->began_ns;

        /* init is first where it samples, unless it is held up: it can tell what was used until then. */
        b->sampled = keeper_groups_hold(b) & WALL_SAMPLES;
        uint64_t late_ms = b->sampled ? SAMPLER_LATE_MS : 0;
        b->deadline_ns = now + (b->c.plan->order->limits.value[LIMIT_TIME] + late_ms) * 1000000u;
        b->next_look_ns = now;
        for (int sig = 1; box_signal_bit(sig); sig++)
                if (b->early_signals & box_signal_bit(sig))
                        (void) wall_signal(&b->child, sig);

        record_up(b);
}

static void note_end(struct box *b, const struct wall_end *end)
{
        if (b->r.cpu_ns < end->cpu_ns)
                b->r.cpu_ns = end->cpu_ns;

        if (b->r.memory_peak < end->max_rss)
                b->r.memory_peak = end->max_rss;

        b->one_program = end->one_program;
        b->r.blind = end->blind;
        b->r.left = end->left;
        (void) str_inert(span_of(end->left_name, strnlen(end->left_name, sizeof end->left_name)),
                         b->r.left_name, sizeof b->r.left_name);
        if (end->disk_full)
                b->r.limits_hit |= 1u << LIMIT_DISK;

        if (end->memory_passed)
                b->r.limits_hit |= 1u << LIMIT_MEMORY;

        if (end->procs_full)
                b->r.limits_hit |= 1u << LIMIT_PROCS;

        if (end->files_full)
                b->r.limits_hit |= 1u << LIMIT_FILES;

        if (end->time_over)
                keeper_limit_fired(b, LIMIT_TIME);

        if (end->disk_over)
                keeper_limit_fired(b, LIMIT_DISK);

        if (end->cpu_over || end->memory_over)
                keeper_limit_fired(b, end->cpu_over ? LIMIT_CPU : LIMIT_MEMORY);

        if (b->r.end != BOX_RUNNING)
                return;

        if (WIFSIGNALED(end->status)) {
                b->r.end = BOX_SIGNALED;
                b->r.code = WTERMSIG(end->status);
        } else {
                b->r.end = BOX_EXITED;
                b->r.code = WEXITSTATUS(end->status);
        }
}

static void hear(struct box *b)
{
        struct wall_message m;
        int fd = -1;
        int r = wall_listen(&b->child, &m, &fd);
        if (r <= 0) {
                fd_close(&b->child.control);
                return;
        }

        switch ((enum wall_word) m.word) {
        case WALL_SAYS_TTY:
                if (fd >= 0 && b->tty < 0)
                        pump_use_tty(b, TAKE_FD(fd));
                break;
        case WALL_SAYS_UP:
                if (b->up)
                        break; /* once */
                b->held = TAKE_FD(fd);
                note_up(b, &m);
                break;
        case WALL_SAYS_DENIED:
                keeper_note_denial(b, &m.denial);
                break;
        case WALL_SAYS_SAW:
                keeper_note_effect(b, &m.denial);
                break;
        case WALL_SAYS_END:
                note_end(b, &m.end);
                break;
        case WALL_SAYS_ERROR:
                note_error(b, &m.error);
                break;
        case WALL_SAYS_COPY:
                keeper_copy_made(b, &m, &fd);
                break;
        case WALL_SAYS_LISTENER:
                broker_give(b, &m, fd);
                break;
        case WALL_SAYS_CONNECTED:
                inbound_connected(b, m.connected.id, &fd);
                break;
        case WALL_SAYS_LOST:
                b->r.denials_lost++;
                break;
        case WALL_SAYS_NOTHING:
                break;
        }
        fd_close(&fd);
}

/* ---- end ---- */

/* Killed from outside: init went without a word. */
static void judge_silence(struct box *b)
{
        if (b->r.end != BOX_RUNNING)
                return;

        if (b->r.limits_hit & (1u << LIMIT_MEMORY)) {
                b->r.end = BOX_LIMIT;
                b->r.limit = LIMIT_MEMORY;
        } else if (b->up) {
                b->r.end = BOX_SIGNALED;
                b->r.code = SIGKILL;
        } else {
                b->r.end = BOX_FAILED;
                (void) err_set(&b->r.error, ERR_WALL, 0, "the box ended while its walls went up");
        }
}

/* The rlimit is of seconds, and the kernel's count of ticks. */
static bool cpu_is_used_up(const struct box *b)
{
        const uint64_t tick_ns = 10000000;
        return b->r.cpu_ns + tick_ns >= b->c.plan->order->limits.value[LIMIT_CPU] * 1000000u;
}

/* A payload that the kernel killed for memory, or that died of its CPU or file rlimit, did not just "get a
 * signal". One that sent itself such a signal did. */
static void judge_signal(struct box *b)
{
        if (b->r.end != BOX_SIGNALED && b->r.end != BOX_EXITED)
                return;

        if (b->r.limits_hit & (1u << LIMIT_MEMORY)) {
                b->r.end = BOX_LIMIT;
                b->r.limit = LIMIT_MEMORY;
        } else if (b->r.end == BOX_SIGNALED && b->r.code == SIGXCPU && cpu_is_used_up(b)) {
                b->r.end = BOX_LIMIT;
                b->r.limit = LIMIT_CPU;
                b->r.limits_hit |= 1u << LIMIT_CPU;
        } else if (b->r.end == BOX_SIGNALED && b->r.code == SIGXFSZ && b->c.plan->writes_host) {
                b->r.end = BOX_LIMIT;
                b->r.limit = LIMIT_DISK;
                b->r.limits_hit |= 1u << LIMIT_DISK;
        }
}

/* Behind the process wall, of a box that was killed before it could tell what it used, the kernel does: init
 * waits for all of it. Of memory only what is more than our own: init began as a copy of us. */
static void note_usage(struct box *b)
{
        struct rusage own = { 0 };
        if (b->child.own_pids)
                return;

        (void) getrusage(RUSAGE_SELF, &own);
        if (b->r.cpu_ns == 0)
                b->r.cpu_ns = b->child.cpu_ns;

        if (b->r.memory_peak == 0 && b->child.max_rss > (uint64_t) own.ru_maxrss * 1024)
                b->r.memory_peak = b->child.max_rss;
}

/* A command that took half of its input for all of it, and was content, did not do what was asked. */
static void judge_streams(struct box *b)
{
        const char *what = b->output_error                            ? "the output could not be written"
                           : b->r.end == BOX_EXITED && b->r.code == 0 ? "the input could not be read"
                                                                      : NULL;
        int sys = b->output_error ? b->output_error : b->input_error;
        if (!what || !sys || b->r.end == BOX_FAILED)
                return;

        b->r.end = BOX_FAILED;
        (void) err_set(&b->r.error, ERR_IO, sys, "%s: %s", what, strerror(sys));
}

static void finish(struct box *b)
{
        wall_kill(&b->child);
        note_usage(b);
        fd_close(&b->held);
        if (b->c.keep_output && b->log_on) /* first: who asks from here on finds it there */
                logs_keep(b);

        inbound_close(b);
        broker_finish(b);
        keeper_groups_end(b);
        judge_silence(b);
        judge_signal(b);
        b->r.wall_ns = clock_mono_ns() - b->began_ns;
        b->r.mid_line = pump_is_mid_line(b);
        keeper_work_end(b);
        keeper_copies_publish(b);
        keeper_note_limits(b);
        judge_streams(b);
        if (b->r.end == BOX_EXITED && b->r.code == 0 && handles_finish(b, &b->r.error) < 0)
                b->r.end = BOX_FAILED;

        if (recording_finish(b, &b->r.error) < 0)
                b->r.end = BOX_FAILED;

        names_release(b); /* before the box cannot be found: who waited for that may take the name */
        fd_close(&b->registry);
        record_finish(b);
        keeper_note_named(b);
        limit_janitor_dismiss(&b->janitor); /* it went meanwhile */
}

/* ---- the loop ---- */

enum { FLUSH_NS = 50000000, LATE_MAX = 4 << 20 };
enum {
        SLOT_CONTROL,
        SLOT_PIDFD,
        SLOT_OOM,
        SLOT_REGISTRY,
        SLOT_BROKER,
        SLOT_LEDGER,
        SLOT_INBOUND,
        SLOT_PUMPS,
        SLOT__COUNT = SLOT_PUMPS + 3
};

static int wait_ms(struct box *b, int asked)
{
        const int flush_ms = FLUSH_NS / 1000000 + 1;
        if (b->killed || (b->init_gone && !pump_is_blocked(b)))
                return asked >= 0 && asked < flush_ms ? asked : flush_ms;

        int ms = keeper_next_look_ms(b), soon = record_tick(b);
        if (soon >= 0 && (ms < 0 || soon < ms))
                ms = soon;

        if (ms < 0 || (asked >= 0 && asked < ms))
                return asked;

        return ms;
}

/* A box that was ended by force does not wait for a reader that takes nothing. And none waits for an end of
 * its output that nobody in it can bring about: it may have handed a copy of the descriptor to a program
 * behind a `sock` door. What it wrote is there by then; only a terminal takes a moment to pass it on. */
static bool is_over(const struct box *b)
{
        uint64_t now = clock_mono_ns();
        if (!b->init_gone || b->child.control >= 0)
                return false;

        bool waited = b->killed && now - b->killed_ns > FLUSH_NS;
        bool flushed = now - b->gone_ns > FLUSH_NS && pump_outputs_idle(b);
        bool enough = b->late_bytes > LATE_MAX; /* more than pipes hold: somebody else goes on writing */
        return waited || flushed || enough || !pump_outputs_open(b);
}

static void serve(struct box *b, const struct pollfd *p)
{
        if (p[SLOT_OOM].revents)
                (void) keeper_oom_drain(b);

        if (p[SLOT_OOM].revents || p[SLOT_CONTROL].revents == 0)
                keeper_limits_look(b, p[SLOT_OOM].revents);

        if (p[SLOT_CONTROL].revents)
                hear(b);

        if (p[SLOT_REGISTRY].revents)
                registry_serve(b);

        if (p[SLOT_LEDGER].revents)
                broker_record(b);

        if (p[SLOT_BROKER].revents)
                broker_hear(b);

        if (p[SLOT_INBOUND].revents)
                inbound_serve(b);

        pump_serve(b, p + SLOT_PUMPS, 3);
        if (p[SLOT_PIDFD].revents && !b->init_gone) {
                b->init_gone = true;
                b->gone_ns = clock_mono_ns();
        }

        if (b->init_gone && b->killed && !p[SLOT_CONTROL].revents) /* its last words are heard */
                fd_close(&b->child.control);
}

static int step(struct box *b, int timeout_ms)
{
        if (b->child.pid <= 0)
                return 1;

        struct pollfd p[SLOT__COUNT] = {
                [SLOT_CONTROL] = { .fd = b->child.control, .events = POLLIN },
                [SLOT_PIDFD] = { .fd = b->init_gone ? -1 : b->child.pidfd, .events = POLLIN },
                [SLOT_OOM] = { .fd = b->group.oom_event, .events = keeper_oom_events(b) },
                [SLOT_REGISTRY] = { .fd = b->registry, .events = POLLIN },
                [SLOT_BROKER] = { .fd = b->broker.control, .events = POLLIN },
                [SLOT_LEDGER] = { .fd = b->up ? b->broker.ledger : -1,
                                  .events = POLLIN }, /* the start is first */
                [SLOT_INBOUND] = { .fd = inbound_fd(b), .events = POLLIN },
        };

        (void) pump_poll(b, p + SLOT_PUMPS);
        int n = poll(p, SLOT__COUNT, wait_ms(b, timeout_ms));
        if (n < 0 && errno == EINTR)
                return 0;

        if (n < 0) { /* a keeper that cannot watch its box ends it */
                (void) err_set(&b->r.error, ERR_IO, errno, "waiting for the box: %s", strerror(errno));
                b->r.end = BOX_FAILED;
        } else {
                serve(b, p);
                if (!is_over(b))
                        return 0;
        }

        finish(b);
        return 1;
}

int box_step(struct box *b, int timeout_ms)
{
        struct calm calm = calm_begin();
        int over = step(b, timeout_ms);
        calm_end(&calm);
        return over;
}

const struct box_result *box_result(const struct box *b) { return &b->r; }
void box_explain(struct box *b, const char *hint) { (void) err_hint(&b->r.error, "%s", hint); }

const struct box_result *box_result_full(struct box *b)
{
        b->r.digest = policy_digest(b->c.policy);
        return &b->r;
}
bool box_is_up(const struct box *b) { return b->up; }
const char *box_run_id(const struct box *b) { return b->r.run; }

/* A run whose start is in the ledger has an end there, also one that is given up: by its caller, or in the
 * middle of its start. What it was about to hand over stays with it: those descriptors are the caller's, who
 * may have closed them. */
static void end_given_up(struct box *b)
{
        if (!record_is_open(b))
                return;

        note_usage(b);
        if (b->r.end == BOX_RUNNING || b->r.end == BOX_EXITED) {
                b->r.end = BOX_SIGNALED;
                b->r.code = SIGKILL;
        }

        b->r.wall_ns = clock_mono_ns() - b->began_ns;
        record_finish(b);
}

void box_free(struct box *b)
{
        if (!b)
                return;

        struct calm calm = calm_begin();
        wall_kill(&b->child);
        fd_close(&b->held);
        inbound_close(b);
        free(b->inbound);
        broker_finish(b);
        keeper_groups_end(b);
        limit_janitor_dismiss(&b->janitor);
        keeper_work_end(b);
        keeper_copies_publish(b);
        end_given_up(b);
        free(b->broker.rows);
        free(b->edits);
        keeper_copies_close(b);
        host_slow_free(b->slow);
        pump_close(b);
        handles_close(b);
        record_free(b);
        names_release(b);
        fd_close(&b->registry);
        buf_done(&b->log);
        free(b->r.effects);
        free(b);
        calm_end(&calm);
}
