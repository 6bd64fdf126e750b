/* SPDX-License-Identifier: MIT */
/* run/keeper/run_record.c - writes the records of a run, from its start to its end. Nothing of it is on the
 * path of a start: the first record is written when the payload already runs. A ledger that cannot be written
 * stops only a run that requires it; every other run reports it in its result. */
#include "run/keeper/run_record.h"
#include "base/context/context.h"
#include "base/fd.h"
#include "base/variable.h"
#include "effect/stamp/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HARDWARE_FROM = 1 << 20, SECRET_LEAST = 8, JOB_TEXT = 16 + 2 * CONTEXT_BATCH_ID_MAX };

/* ---- start ---- */

static void look_at_streams(struct run *run)
{
        struct record *c = run->record;
        (void) stamp_pipe(run->c->io.in, c->pipe[0]);
        (void) stamp_pipe(run->c->io.out[0], c->pipe[1]);
        (void) stamp_pipe(run->c->io.out[1], c->pipe[2]);
}

/* The command is named by its first word; the whole of it by digest, because arguments carry secrets. */
static void put_command(const struct run *run, struct ledger_record *r, char digest[72])
{
        struct sha256 s;
        const char **v = run->c->plan->order->argv;
        sha256_init(&s);
        for (; *v; v++)
                sha256_add(&s, *v, strlen(*v) + 1);

        record_digest(&s, digest);
        r->digest = digest;
        r->target = run->c->plan->order->argv[0];
        ledger_more_number(r, "args", v - run->c->plan->order->argv);
}

static void put_job(const struct run *run, struct ledger_record *r, char text[JOB_TEXT], char task[JOB_TEXT])
{
        struct context_batch job;
        if (!context_batch(run->c->cx, &job))
                return;

        (void) snprintf(text, JOB_TEXT, "%s %s", job.engine, job.id);
        ledger_more_text(r, "job", text);
        if (!job.task)
                return;

        (void) snprintf(task, JOB_TEXT, "%s_%s", job.array, job.task);
        ledger_more_text(r, "task", task);
}

static int add_start(struct run *run, struct err *e)
{
        char digest[72], layers[16], job[JOB_TEXT], task[JOB_TEXT], labels[LABEL_TEXT_MAX];
        struct record *c = run->record;
        struct ledger_record r = record_of(run, LEDGER_START, LEDGER_BEGIN);

        r.name = "start";
        r.policy = policy_digest(run->c->policy);
        r.trace_in = run->c->trace_in[0] ? run->c->trace_in : NULL;
        r.trace_out = run->c->trace_out[0] ? run->c->trace_out : NULL;
        if (run->c->cause[0])
                r.parents[r.parent_count++] = run->c->cause;

        r.clock_seen = run->c->cause_clock;
        put_command(run, &r, digest);
        (void) snprintf(layers, sizeof layers, "%x", run->r.layers);
        ledger_more_text(&r, "layers", layers);
        ledger_more_text(&r, "wall", wall_name(run->r.wall));
        if (run->r.gpus[0])
                ledger_more_text(&r, "gpu", run->r.gpus);
        ledger_more_text(&r, "stdin-pipe", c->pipe[0]);
        ledger_more_number(&r, "keeper", getpid());
        put_job(run, &r, job, task);
        if (run->r.in_session)
                ledger_more_number(&r, "in-session", 1);
        ledger_more_text(&r, "labels", label_text(&run->r.label, labels));
        if (run->c->trial)
                ledger_more_number(&r, "trial", 1);

        ledger_more_number(&r, "start-us", (int64_t) (run->r.out.start_ns / 1000));
        return ledger_append(c->ledger, &r, false, c->start, e);
}

/* A variable whose name suggests a secret: its value is in no record of this run, even if the box puts it
 * into a path or a name. */
static void hide_variables(const struct run *run)
{
        for (const char **v = run->c->plan->order->envp; v && *v; v++) {
                const char *value = strchr(*v, '=');
                bool secret = value && variable_looks_secret(*v, (size_t) (value - *v));
                if (secret && strlen(value + 1) >= SECRET_LEAST)
                        (void) ledger_secret_add(run->record->ledger, value + 1, strlen(value + 1));
        }
}

static int begin_record(struct run *run, struct err *e)
{
        look_at_streams(run);
        run->record->ledger = ledger_open(run->c->cx, keeper_run(run), "", e);
        if (!run->record->ledger)
                return -1;

        hide_variables(run);
        return add_start(run, e);
}

static bool is_busy(const struct err *e) { return e->sys == EBUSY; }

int record_required(struct run *run, bool last, struct err *e)
{
        if (run->c->ledger != BOX_LEDGER_REQUIRE)
                return 1;

        int r = run->record->ledger ? 0 : begin_record(run, e);
        struct ledger *l = run->record->ledger;
        if (r == 0 && (r = ledger_flush(l, 0, e)) < 0 && is_busy(e) && !last)
                return 0;

        if (r == 0 && ledger_commit(l, ledger_mark(l), e) == 0)
                return 1;

        struct err why = *e;
        if (l)
                ledger_forget(l, 0);
        record_off(run, e);
        *e = why;
        return err_in(e, "--require-ledger");
}

/* Bytes are counted from the first on, also those that come before init's word that the payload runs. */
int record_new(struct run *run, struct err *e)
{
        if (run->c->ledger == BOX_LEDGER_OFF)
                return 0;

        run->record = calloc(1, sizeof *run->record);
        if (!run->record)
                return err_set(e, ERR_MEMORY, 0, "no memory for the ledger");

        for (int i = 0; i < STREAMS; i++)
                sha256_init(&run->record->stream[i].sum);

        return 0;
}

/* Starting a program takes longer than a short run: a resident does it beside the run. */
static void wake_sealer(const struct run *run)
{
        const struct box *b = run->box;
        if (b->waker < 0 ||
            send(b->waker, b->wake, b->wake_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t) b->wake_bytes)
                ledger_wake_sealer(run->record->ledger);
}

void record_early(struct run *run)
{
        struct err e;
        if (run->record && !run->record->ledger && begin_record(run, &e) < 0)
                record_off(run, &e);
}

void record_up(struct run *run)
{
        struct err e;
        (void) snprintf(run->r.ledger, sizeof run->r.ledger,
                        run->c->ledger == BOX_LEDGER_OFF ? "off: asked for" : "on");
        if (!run->record)
                return;

        if (!run->record->ledger && begin_record(run, &e) < 0) {
                record_off(run, &e);
                return;
        }

        record_handles(run, false);
        record_sockets(run);
        record_shown(run);
        if (!run->record)
                return;

        (void) ledger_flush(run->record->ledger, 0, &e); /* busy: it goes with the next */
        wake_sealer(run);
}

int record_tick(struct run *run)
{
        if (!run->record || !run->record->ledger)
                return -1;
        ledger_tick(run->record->ledger);
        return ledger_waits(run->record->ledger) ? LEDGER_COMMIT_MS / 2 : -1;
}

bool record_settled(struct run *run)
{
        struct err e;
        return !run->record || !run->record->ledger || ledger_flush(run->record->ledger, 0, &e) == 0 ||
               !is_busy(&e);
}

void record_bytes(struct run *run, int stream, const void *p, size_t n)
{
        struct record *c = run->record;
        if (!c)
                return;

        if (stream == 0 && c->stream[0].bytes == 0 && n > 0) {
                char id[LEDGER_ID_MAX];
                (void) snprintf(id, sizeof id, "%s.stdin", run->r.run);
                record_input(run, id);
                if (!run->record)
                        return;
        }

        c->stream[stream].bytes += n;
        if (!c->hardware && c->stream[stream].bytes > HARDWARE_FROM)
                c->hardware = hash_use_hardware() || true;

        sha256_add(&c->stream[stream].sum, p, n);
}

/* ---- end ---- */

static void add_end(struct run *run, bool observed)
{
        static const char *const ends[] = { [CORDON_RUNNING] = "running",         [CORDON_FAILED] = "failed",
                                            [CORDON_NOT_STARTED] = "not started", [CORDON_EXITED] = "exited",
                                            [CORDON_SIGNALED] = "signaled",       [CORDON_LIMIT] = "limit" };

        if (!run->record)
                return;

        char result[64], labels[LABEL_TEXT_MAX];
        struct ledger_record r = record_of(run, LEDGER_END, LEDGER_OVER);
        r.name = "end";
        (void) snprintf(result, sizeof result, "%s %d", ends[run->r.out.end], run->r.out.code);
        if (run->r.out.end == CORDON_LIMIT)
                (void) snprintf(result, sizeof result, "limit %s", policy_limit_name(run->r.limit));

        r.result = result;
        r.bytes = (int64_t) run->r.out.output_bytes;
        ledger_more_number(&r, "cpu-us", (int64_t) (run->r.out.cpu_ns / 1000));
        ledger_more_number(&r, "memory", (int64_t) run->r.out.memory_peak);
        ledger_more_number(&r, "wall-us", (int64_t) (run->r.out.wall_ns / 1000));
        ledger_more_number(&r, "denials-lost", result_denials_lost(&run->r));
        if (run->r.net_lost)
                ledger_more_number(&r, "net-lost", run->r.net_lost);

        ledger_more_text(&r, "labels", label_text(&run->r.label, labels));
        ledger_more_number(&r, "doors", record_own_doors(run));
        if (observed)
                ledger_more_text(&r, "observed", "all");

        if (run->r.error.what[0]) {
                ledger_more_text(&r, "error", run->r.error.what);
                ledger_more_text(&r, "code", err_code_name(run->r.error.code));
        }

        if (run->refused.code != ERR_NONE)
                ledger_more_text(&r, "stopped", run->stopped_by ? run->stopped_by : "output");

        record_causes(run, &r);
        record_add(run, &r, NULL);
}

void record_finish(struct run *run)
{
        if (!run->up && run->record && !run->record->ledger)
                record_up(run); /* a program that could not be started is recorded as well */

        record_stream(run, 0);
        record_read_origins(run);
        record_stream(run, 1);
        record_stream(run, 2);
        if (run->r.out.end == CORDON_EXITED && run->r.out.code == 0)
                record_handles(run, true);

        record_copies(run->box);
        record_destinations(run);
        record_inbound(run);
        record_denials(run);
        record_limits(run);
        add_end(run, record_used(run));
        if (run->record)
                run->record->over = true;
}

bool record_written(struct run *run, bool last)
{
        struct err e;
        struct ledger *l = run->record ? run->record->ledger : NULL;
        if (!l)
                return true;

        if (ledger_flush(l, 0, &e) == 0) {
                wake_sealer(run);
                return true;
        }

        if (is_busy(&e) && !last)
                return false;

        ledger_forget(l, 0);
        record_off(run, &e);
        return true;
}

bool record_is_open(const struct run *run)
{
        return run->record && run->record->ledger && run->record->start[0] && !run->record->over;
}

void record_free(struct run *run)
{
        if (run->record && run->record->ledger)
                ledger_close(run->record->ledger);
        free(run->record);
        run->record = NULL;
}
