/* SPDX-License-Identifier: MIT */
/* keeper/init_messages.c - what init sends, one message at a time: the walls are up, something was refused,
 * how the payload ended. Parsed as if the payload had sent it. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "keeper/internal.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

void keeper_note_error(struct box *b, const struct err *error)
{
        if (b->r.end != BOX_RUNNING)
                return;
        b->r.error = *error;
        b->r.end = error->code == ERR_EXEC ? BOX_NO_EXEC : BOX_FAILED;
}

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

void keeper_hear(struct box *b)
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
                keeper_note_error(b, &m.error);
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
