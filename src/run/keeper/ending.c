/* SPDX-License-Identifier: MIT */
/* run/keeper/ending.c - the phases of an end, and its classification. The order: every process in the box is
 * dead
 * -> the broker's last rows -> the groups are read and removed -> the kind of end -> results are handed over
 * -> the record. None of them waits: a phase that needs another process returns 0 and is called again. */
#include "base/clock.h"
#include "base/fd.h"
#include "run/keeper/internal.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum { STRAGGLERS_MS = 2000, FLUSH_MS = 1000, AGAIN_US = 1000 };

/* Behind the process wall, if a box was killed before it could report its resource use, the kernel has it:
 * init waits for all processes. Of memory only the amount above our own: init began as a copy of us. */
static void note_usage(struct box *b)
{
        struct rusage own = { 0 };
        if (b->child.own_pids)
                return;

        (void) getrusage(RUSAGE_SELF, &own);
        if (b->run.r.out.cpu_ns == 0)
                b->run.r.out.cpu_ns = b->child.cpu_ns;

        if (b->run.r.out.memory_peak == 0 && b->child.max_rss > (uint64_t) own.ru_maxrss * 1024)
                b->run.r.out.memory_peak = b->child.max_rss;
}

/* Without a pid namespace only init can find the processes that the payload left running: it gets the time
 * to. */
int ending_reap(struct box *b, struct err *e)
{
        (void) e;
        if (b->run.r.in_session) {
                if (b->session && !b->init_gone) /* what it left running stays with the session */
                        session_kill(b);

                fd_close(&b->child.control);
                gates_close(b);
                return session_last_label(b);
        }

        wall_end(&b->child, keeper_waits_too_long(b, STRAGGLERS_MS));
        if (b->emptied) {
                if (!b->child.theirs)
                        b->late[0] = (struct child){ .pid = b->child.pid, .pidfd = TAKE_FD(b->child.pidfd) };
                wall_leave(&b->child);
        }

        if (!wall_reap(&b->child)) {
                keeper_wait_child(b, &(struct child){ .pid = b->child.pid, .pidfd = b->child.pidfd });
                return 0;
        }

        note_usage(b);
        fd_close(&b->held);
        if (b->c.keep_output && b->run.log_on &&
            !b->given_up) /* first: a query from here on finds it there */
                logs_keep(&b->run);

        inbound_close(b);
        gates_close(b);
        return 1;
}

int ending_broker(struct box *b, struct err *e)
{
        (void) e;
        return keys_finish(b) && broker_finish(b);
}

int ending_writer(struct box *b, struct err *e)
{
        (void) e;
        return broker_writer_end(b);
}

int ending_groups(struct box *b, struct err *e)
{
        (void) e;
        if (keeper_is_new_phase(b))
                keeper_groups_read(b);

        unsigned us = keeper_groups_end(b);
        if (us > 0)
                keeper_wait_us(b, us);

        return us == 0;
}

/* Killed from outside: init went without a word. */
static void judge_silence(struct box *b)
{
        if (b->run.r.out.end != CORDON_RUNNING)
                return;

        if (b->run.r.limits_hit & (1u << LIMIT_MEMORY)) {
                b->run.r.out.end = CORDON_LIMIT;
                b->run.r.limit = LIMIT_MEMORY;
        } else if (b->run.up) {
                b->run.r.out.end = CORDON_SIGNALED;
                b->run.r.out.code = SIGKILL;
        } else {
                b->run.r.out.end = CORDON_FAILED;
                (void) err_set(&b->run.r.error, ERR_WALL, 0, "the box ended while its walls went up");
        }
}

/* The rlimit is of seconds, and the kernel's count of ticks. */
static bool cpu_is_used_up(const struct box *b)
{
        const uint64_t tick_ns = 10000000;
        return b->run.r.out.cpu_ns + tick_ns >= b->c.plan->order->limits.value[LIMIT_CPU] * 1000000u;
}

/* A payload that the kernel killed for memory, or that died of its CPU or file rlimit, did not just "get a
 * signal". A payload that sent itself such a signal did. */
static void judge_signal(struct box *b)
{
        if (b->run.r.out.end != CORDON_SIGNALED && b->run.r.out.end != CORDON_EXITED)
                return;

        if (b->run.r.limits_hit & (1u << LIMIT_MEMORY)) {
                b->run.r.out.end = CORDON_LIMIT;
                b->run.r.limit = LIMIT_MEMORY;
        } else if (b->run.r.out.end == CORDON_SIGNALED && b->run.r.out.code == SIGXCPU && cpu_is_used_up(b)) {
                b->run.r.out.end = CORDON_LIMIT;
                b->run.r.limit = LIMIT_CPU;
                b->run.r.limits_hit |= 1u << LIMIT_CPU;
        } else if (b->run.r.out.end == CORDON_SIGNALED && b->run.r.out.code == SIGXFSZ &&
                   b->c.plan->writes_host) {
                b->run.r.out.end = CORDON_LIMIT;
                b->run.r.limit = LIMIT_DISK;
                b->run.r.limits_hit |= 1u << LIMIT_DISK;
        }
}

/* A command that took half of its input for all of it, and succeeded, did not do its task. */
static void judge_streams(struct box *b)
{
        const char *what = b->run.output_error ? "the output could not be written"
                           : b->run.r.out.end == CORDON_EXITED && b->run.r.out.code == 0
                                   ? "the input could not be read"
                                   : NULL;
        int sys = b->run.output_error ? b->run.output_error : b->run.input_error;
        if (!what || !sys || b->run.r.out.end == CORDON_FAILED)
                return;

        b->run.r.out.end = CORDON_FAILED;
        (void) err_set(&b->run.r.error, ERR_IO, sys, "%s: %s", what, strerror(sys));
}

/* What a box printed was not what its policy says: whatever its status is, it failed. */
static void judge_forms(struct box *b)
{
        if (b->run.refused.code == ERR_NONE || b->run.r.out.end == CORDON_FAILED ||
            b->run.r.out.end == CORDON_LIMIT)
                return;

        b->run.r.out.end = CORDON_FAILED;
        b->run.r.error = b->run.refused;
}

/* Its caller has freed it. Results that were about to be handed over are dropped: those descriptors are the
 * caller's, which may have closed them. */
static void judge_given_up(struct box *b)
{
        if (b->run.r.out.end != CORDON_RUNNING && b->run.r.out.end != CORDON_EXITED)
                return;

        b->run.r.out.end = CORDON_SIGNALED;
        b->run.r.out.code = SIGKILL;
}

int ending_judge(struct box *b, struct err *e)
{
        (void) e;
        if (b->given_up) {
                judge_given_up(b);
        } else {
                judge_silence(b);
                judge_signal(b);
                b->run.r.out.mid_line = pump_is_mid_line(&b->run);
                input_settle(&b->run);
        }

        b->run.r.out.wall_ns = clock_mono_ns() - b->run.began_ns;
        keeper_work_end(b);
        work_private_remove(&b->private);
        keeper_copies_publish(b);
        if (!b->given_up) {
                keeper_note_limits(&b->run);
                judge_streams(b);
                judge_forms(b);
        }

        return 1;
}

int ending_publish(struct box *b, struct err *e)
{
        (void) e;
        if (b->given_up || b->run.r.out.end != CORDON_EXITED || b->run.r.out.code != 0)
                return 1;

        int r = handles_publish(&b->run, &b->run.r.error);
        if (r < 0)
                b->run.r.out.end = CORDON_FAILED;

        return r != 0;
}

/* A run whose start is in the ledger has an end there, even an abandoned one. */
int ending_result(struct box *b, struct err *e)
{
        (void) e;
        if (!b->given_up && recording_finish(&b->run, &b->run.r.error) < 0)
                b->run.r.out.end = CORDON_FAILED;

        b->run.r.reports = b->run.reports.n && !b->run.reports.failed ? b->run.reports.p : NULL;
        names_release(
                b); /* before the box cannot be found: a process that waited for that may take the name */
        registry_drop(b);
        fd_close(&b->registry);
        if (!b->given_up || record_is_open(&b->run))
                record_finish(&b->run);

        return 1;
}

int ending_ledger(struct box *b, struct err *e)
{
        (void) e;
        bool written = record_written(&b->run, keeper_waits_too_long(b, FLUSH_MS));
        if (!written)
                keeper_wait_us(b, AGAIN_US);
        else if (!b->given_up)
                keeper_note_named(&b->run);

        return written;
}

/* That of a parked box is the resident's child, which reaps it: dismissed, it needs no waiting for. */
int ending_janitor(struct box *b, struct err *e)
{
        (void) e;
        if (b->janitor.child.theirs) {
                fd_close(&b->janitor.child.pidfd);
                b->janitor.child = CHILD_NONE;
        }

        if (b->emptied) {
                b->late[1] = b->janitor.child;
                b->janitor.child = CHILD_NONE;
        }

        if (!child_reap(&b->janitor.child, NULL)) {
                keeper_wait_child(b, &b->janitor.child);
                return 0;
        }

        if (b->c.session)
                registry_send_result(b);

        return 1;
}
