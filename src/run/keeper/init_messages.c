/* SPDX-License-Identifier: MIT */
/* run/keeper/init_messages.c - what the keeper does with init's messages: the walls are up, an effect was
 * denied, the payload ended. init_table.c has decided that each may come now. */
#include "run/keeper/init_messages.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

void keeper_note_error(struct box *b, const struct err *error)
{
        if (b->run.r.out.end != CORDON_RUNNING)
                return;
        b->run.r.error = *error;
        b->run.r.out.end = error->code == ERR_EXEC ? CORDON_NOT_STARTED : CORDON_FAILED;
}

enum { SAMPLER_LATE_MS = 100 };

static void note_up(struct box *b, uint32_t layers)
{
        uint64_t now = clock_mono_ns();
        if (keeper_oom_drain(b)) /* a file of v2 reports changes since the last read */
                keeper_oom_noted(b);

        b->run.up = true;
        b->idle_ns = now;
        if (!b->session || b->session->remote)
                registry_open(b); /* not before: until here every microsecond of ours is the start's */
        keeper_label_began(b);

        b->run.r.out.attested = true; /* init sends UP only after attestation passed */
        b->run.r.layers = layers;
        if (b->run.r.memory_by_group || b->run.r.procs_by_group)
                b->run.r.layers |= 1u << LAYER_CGROUP;

        b->run.r.out.start_ns = now - b->run.began_ns;

        /* If init samples, it acts first, unless it is delayed: it can report the use until then. */
        b->sampled = !b->session && keeper_groups_hold(b) & WALL_SAMPLES;
        uint64_t late_ms = b->sampled ? SAMPLER_LATE_MS : 0;
        uint64_t time_ms = b->c.session ? b->c.session_ms : b->c.plan->order->limits.value[LIMIT_TIME];
        b->run.lease =
                lease_of(now, time_ms, late_ms * 1000000u, b->c.plan->order->limits.value[LIMIT_RENEW]);
        b->run.next_look_ns = now;
        keeper_tally_rest(&b->tally, now, now); /* zero would be never */
        for (int sig = 1; box_signal_bit(sig); sig++)
                if (b->run.early_signals & box_signal_bit(sig))
                        keeper_signal(b, sig);

        b->run.r.out.renewals = b->run.lease.most;
        record_up(&b->run);
}

/* Parked: what was used so far is not the run's. The janitor of a box that is given away is not waited for:
 * the mounts end with it, off the run's path. */
static void note_ready(struct box *b, uint32_t layers)
{
        struct limit_usage u;
        AUTO_FD(mounts, b->c.give ? wall_mounts(&b->child) : -1);
        if (mounts >= 0)
                limit_janitor_hold(&b->janitor, mounts);

        b->ready = true;
        b->layers = layers;
        if (limit_group_usage(&b->group, &u) == 0 && u.has_cpu)
                b->parked_cpu_ns = u.cpu_ns;
}

/* From the interpreter in a parked box, which is the payload: its text is quoted, and its box given up. */
static void hear_interpreter(struct box *b)
{
        char text[WALL_WARM_TEXT], shown[WALL_WARM_TEXT];
        struct err e;
        int r = wall_warm_listen(b->child.spare, text);
        if (r < 0 && errno == EAGAIN)
                return;

        if (r == 1 && text[0] == 'R') {
                note_ready(b, b->layers);
                return;
        }

        const char *why = r == 1 && text[0] == 'E' ? text + 1 : "it ended before it was ready";
        const char *path = b->c.plan->warm->argv[0], *slash = strrchr(path, '/');
        (void) err_set(&e, ERR_WALL, 0, "warming %s: %s", slash ? slash + 1 : path,
                       str_inert(span_str(why), shown, sizeof shown));
        fd_close(&b->child.spare);
        keeper_note_error(b, &e);
}

static bool warms(const struct box *b) { return keeper_is_warm(b) && !b->ready; }

/* The line closes when the program is executed. */
void keeper_hear_spare(struct box *b)
{
        if (warms(b)) {
                hear_interpreter(b);
                return;
        }

        struct wall_message m;
        int r = wall_spare_listen(b->child.spare, &m);
        if (r < 0 && errno == EAGAIN)
                return;

        fd_close(&b->child.spare);
        if (r == 1 && m.word == WALL_SAYS_ERROR)
                keeper_note_error(b, &m.error);
        else if (!b->run.up)
                note_up(b, b->layers);
}

static void note_end(struct box *b, const struct wall_end *end)
{
        if (b->run.r.out.cpu_ns < end->cpu_ns)
                b->run.r.out.cpu_ns = end->cpu_ns;

        if (b->run.r.out.memory_peak < end->max_rss)
                b->run.r.out.memory_peak = end->max_rss;

        b->run.one_program = end->one_program;
        b->run.r.out.blind = end->blind;
        b->run.r.out.edit_watched = end->edit_watched;
        b->run.r.out.left = end->left;
        (void) str_inert(span_of(end->left_name, strnlen(end->left_name, sizeof end->left_name)),
                         b->run.r.left_name, sizeof b->run.r.left_name);
        if (end->disk_full)
                b->run.r.limits_hit |= 1u << LIMIT_DISK;

        if (end->memory_passed)
                b->run.r.limits_hit |= 1u << LIMIT_MEMORY;

        if (end->procs_full)
                b->run.r.limits_hit |= 1u << LIMIT_PROCS;

        if (end->files_full)
                b->run.r.limits_hit |= 1u << LIMIT_FILES;

        b->run.r.out.session_over = b->run.r.in_session && end->session_over;
        if (b->run.r.in_session && end->replaced)
                replaced_told(&b->run);

        if (end->time_over)
                keeper_limit_fired(b, LIMIT_TIME);

        if (end->disk_over)
                keeper_limit_fired(b, LIMIT_DISK);

        if (end->cpu_over || end->memory_over)
                keeper_limit_fired(b, end->cpu_over ? LIMIT_CPU : LIMIT_MEMORY);

        if (b->run.r.out.end != CORDON_RUNNING)
                return;

        /* It was told to end because nobody renewed its time: whatever it made of that, its time is over. */
        bool by_term = WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGTERM;
        if (b->run.lease.warned && (by_term || !b->c.session)) {
                keeper_limit_fired(b, LIMIT_TIME);
        } else if (WIFSIGNALED(end->status)) {
                b->run.r.out.end = CORDON_SIGNALED;
                b->run.r.out.code = WTERMSIG(end->status);
        } else {
                b->run.r.out.end = CORDON_EXITED;
                b->run.r.out.code = WEXITSTATUS(end->status);
        }
}

/* The first process of a run in a session has ended, or the session has. Others may go on and hold its
 * streams: it does not wait for them. */
void keeper_note_left(struct box *b)
{
        b->init_gone = true;
        b->gone_ns = clock_mono_ns();
        fd_close(&b->child.control);
}

/* Every process of the payload was waited for: init, killed, is waited for last, and the janitor of a parked
 * box ends groups and mounts. Other boxes with groups remove them themselves, which has to wait for init. */
static bool is_emptied(const struct box *b, const struct wall_end *end)
{
        bool plain = b->janitor.line < 0 && !b->c.park && !b->c.session;
        return end->empty && (b->handed_over || plain) && !b->session && b->child.own_pids &&
               !b->c.plan->net && !b->c.plan->edits && !b->c.plan->copies;
}

bool heard_up(struct box *b, const struct wall_message *m, int *fd)
{
        b->init_up = true;
        b->held = TAKE_FD(*fd);
        b->layers = m->layers;
        if (keeper_is_warm(b))
                return true; /* until the interpreter is ready */

        if (b->c.park)
                note_ready(b, m->layers);
        else
                note_up(b, m->layers);
        return true;
}

bool heard_end(struct box *b, const struct wall_message *m, int *fd)
{
        (void) fd;
        b->init_ended = true;
        if ((b->handed_over || warms(b)) && b->child.spare >= 0) /* its last words came before */
                keeper_hear_spare(b);

        note_end(b, &m->end);
        b->emptied = is_emptied(b, &m->end);
        if (b->run.r.in_session || b->emptied)
                keeper_note_left(b);
        return true;
}

/* The one terminal that its plan or this keeper has asked for. A session knows which run has. */
static bool awaits_terminal(const struct box *b)
{
        bool asked = b->run.r.in_session || (b->init_up ? b->wants_tty : b->start.order->tty);
        return b->run.tty < 0 && asked;
}

bool heard_tty(struct box *b, const struct wall_message *m, int *fd)
{
        (void) m;
        if (!awaits_terminal(b))
                return false;

        pump_use_tty(&b->run, TAKE_FD(*fd));
        return true;
}

bool heard_error(struct box *b, const struct wall_message *m, int *fd)
{
        (void) fd;
        if (b->init_up && !awaits_terminal(b))
                return false;

        keeper_note_error(b, &m->error);
        return true;
}

bool heard_denial(struct box *b, const struct wall_message *m, int *fd)
{
        (void) fd;
        if (m->word == WALL_SAYS_SAW)
                keeper_note_effect(&b->run, &m->denial);
        else
                keeper_note_denial(&b->run, &m->denial);
        return true;
}

bool heard_lost(struct box *b, const struct wall_message *m, int *fd)
{
        (void) fd;
        keeper_note_lost(&b->run, m->lost.kind, m->lost.count);
        return true;
}

bool heard_listener(struct box *b, const struct wall_message *m, int *fd)
{
        if (m->listener.kind == LISTENER_SSH || m->listener.kind == LISTENER_GPG)
                keys_give(b, m->listener.kind, *fd);
        else
                broker_give(b, m, *fd);
        return true;
}

bool heard_connected(struct box *b, const struct wall_message *m, int *fd)
{
        inbound_connected(b, m->connected.id, fd); /* the client may have left since */
        return true;
}

bool heard_touched(struct box *b, const struct wall_message *m, int *fd)
{
        (void) fd;
        return touches_hear(b, m->touched.which);
}

bool heard_passed_on(struct box *b, const struct wall_message *m, int *fd)
{
        (void) m;
        (void) fd;
        b->passed_on = true;
        return true;
}

bool heard_news(struct box *b, const struct wall_message *m, int *fd)
{
        (void) fd;
        if (m->word != WALL_SAYS_LABEL) /* session_last_label() requests it again */
                session_told(b, m);
        return true;
}
