/* SPDX-License-Identifier: MIT */
/* keeper/run_record.c - what a run leaves in the ledger, from its start to its end. Nothing of it is on the
 * path of a start: the first record is written when the payload already runs. A ledger that cannot be written
 * stops only a run that was told to require it; every other says so in its result. */
#include "keeper/run_record.h"
#include "base/fd.h"
#include "base/variable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HARDWARE_FROM = 1 << 20, SECRET_LEAST = 8 };

/* ---- start ---- */

static void name_pipe(int fd, char ret[80])
{
        struct stat st;
        char boot[40] = ""; /* a pipe's number is one of this boot */
        ret[0] = '\0';
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
                return;

        (void) fd_get(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
        (void) snprintf(ret, 80, "%llx:%llu@%s", (unsigned long long) st.st_dev,
                        (unsigned long long) st.st_ino, boot);
}

static void look_at_streams(struct box *b)
{
        struct record *c = b->record;
        name_pipe(b->c.io.in, c->pipe[0]);
        name_pipe(b->c.io.out[0], c->pipe[1]);
        name_pipe(b->c.io.out[1], c->pipe[2]);
}

/* The command is named by its first word; the whole of it by digest, because arguments carry secrets. */
static void put_command(const struct box *b, struct ledger_record *r, char digest[72])
{
        struct sha256 s;
        const char **v = b->c.plan->order->argv;
        sha256_init(&s);
        for (; *v; v++)
                sha256_add(&s, *v, strlen(*v) + 1);

        record_digest(&s, digest);
        r->digest = digest;
        r->target = b->c.plan->order->argv[0];
        ledger_more_number(r, "args", v - b->c.plan->order->argv);
}

static int add_start(struct box *b, struct err *e)
{
        char digest[72], layers[16];
        struct record *c = b->record;
        struct ledger_record r = record_of(b, LEDGER_START, LEDGER_BEGIN);

        r.name = "start";
        r.policy = policy_digest(b->c.policy);
        r.trace_in = b->c.trace_in;
        r.trace_out = b->c.trace_out;
        if (b->c.cause)
                r.parents[r.parent_count++] = b->c.cause;

        r.clock_seen = b->c.cause_clock;
        put_command(b, &r, digest);
        (void) snprintf(layers, sizeof layers, "%x", b->r.layers);
        ledger_more_text(&r, "layers", layers);
        ledger_more_text(&r, "wall", wall_name(b->r.wall));
        ledger_more_text(&r, "stdin-pipe", c->pipe[0]);
        ledger_more_number(&r, "keeper", getpid());
        if (b->c.trial)
                ledger_more_number(&r, "trial", 1);

        ledger_more_number(&r, "start-us", (int64_t) (b->r.start_ns / 1000));
        return ledger_append(c->ledger, &r, false, c->start, e);
}

/* A variable whose name says that it is a secret: its value is in no record of this run, should the box put
 * it into a path or a name. */
static void hide_variables(const struct box *b)
{
        for (const char **v = b->c.plan->order->envp; v && *v; v++) {
                const char *value = strchr(*v, '=');
                bool secret = value && variable_looks_secret(*v, (size_t) (value - *v));
                if (secret && strlen(value + 1) >= SECRET_LEAST)
                        (void) ledger_secret_add(b->record->ledger, value + 1, strlen(value + 1));
        }
}

static int begin(struct box *b, struct err *e)
{
        look_at_streams(b);
        b->record->ledger = ledger_open(b->c.cx, keeper_run(b), "", e);
        if (!b->record->ledger)
                return -1;

        hide_variables(b);
        return add_start(b, e);
}

static bool is_busy(const struct err *e) { return e->sys == EBUSY; }

int record_required(struct box *b, bool last, struct err *e)
{
        if (b->c.ledger != BOX_LEDGER_REQUIRE)
                return 1;

        int r = b->record->ledger ? 0 : begin(b, e);
        struct ledger *l = b->record->ledger;
        if (r == 0 && (r = ledger_flush(l, 0, e)) < 0 && is_busy(e) && !last)
                return 0;

        if (r == 0 && ledger_commit(l, ledger_mark(l), e) == 0)
                return 1;

        struct err why = *e;
        if (l)
                ledger_forget(l, 0);
        record_off(b, e);
        *e = why;
        return err_in(e, "--require-ledger");
}

/* Bytes are counted from the first on, also those that come before init's word that the payload runs. */
int record_new(struct box *b, struct err *e)
{
        if (b->c.ledger == BOX_LEDGER_OFF)
                return 0;

        b->record = calloc(1, sizeof *b->record);
        if (!b->record)
                return err_set(e, ERR_MEMORY, 0, "no memory for the ledger");

        for (int i = 0; i < STREAMS; i++)
                sha256_init(&b->record->stream[i].sum);

        return 0;
}

void record_up(struct box *b)
{
        struct err e;
        (void) snprintf(b->r.ledger, sizeof b->r.ledger,
                        b->c.ledger == BOX_LEDGER_OFF ? "off: asked for" : "on");
        if (!b->record)
                return;

        if (!b->record->ledger && begin(b, &e) < 0) {
                record_off(b, &e);
                return;
        }

        record_handles(b, false);
        record_sockets(b);
        record_shown(b);
        if (!b->record)
                return;

        (void) ledger_flush(b->record->ledger, 0, &e); /* busy: it goes with the next */
        ledger_wake_sealer(b->record->ledger);
}

int record_tick(struct box *b)
{
        if (!b->record || !b->record->ledger)
                return -1;
        ledger_tick(b->record->ledger);
        return ledger_waits(b->record->ledger) ? LEDGER_COMMIT_MS / 2 : -1;
}

bool record_settled(struct box *b)
{
        struct err e;
        return !b->record || !b->record->ledger || ledger_flush(b->record->ledger, 0, &e) == 0 ||
               !is_busy(&e);
}

void record_bytes(struct box *b, int stream, const void *p, size_t n)
{
        struct record *c = b->record;
        if (!c)
                return;

        if (stream == 0 && c->stream[0].bytes == 0 && n > 0) {
                char id[LEDGER_ID_MAX];
                (void) snprintf(id, sizeof id, "%s.stdin", b->r.run);
                record_input(b, id);
                if (!b->record)
                        return;
        }

        c->stream[stream].bytes += n;
        if (!c->hardware && c->stream[stream].bytes > HARDWARE_FROM)
                c->hardware = hash_use_hardware() || true;

        sha256_add(&c->stream[stream].sum, p, n);
}

/* ---- end ---- */

static void add_end(struct box *b, bool observed)
{
        static const char *const ends[] = {
                [BOX_RUNNING] = "running", [BOX_FAILED] = "failed",     [BOX_NO_EXEC] = "not started",
                [BOX_EXITED] = "exited",   [BOX_SIGNALED] = "signaled", [BOX_LIMIT] = "limit"
        };

        if (!b->record)
                return;

        char result[64];
        struct ledger_record r = record_of(b, LEDGER_END, LEDGER_OVER);
        r.name = "end";
        (void) snprintf(result, sizeof result, "%s %d", ends[b->r.end], b->r.code);
        if (b->r.end == BOX_LIMIT)
                (void) snprintf(result, sizeof result, "limit %s", policy_limit_name(b->r.limit));

        r.result = result;
        r.bytes = (int64_t) b->r.output_bytes;
        ledger_more_number(&r, "cpu-us", (int64_t) (b->r.cpu_ns / 1000));
        ledger_more_number(&r, "memory", (int64_t) b->r.memory_peak);
        ledger_more_number(&r, "wall-us", (int64_t) (b->r.wall_ns / 1000));
        ledger_more_number(&r, "denials-lost", b->r.denials_lost);
        if (b->r.net_lost)
                ledger_more_number(&r, "net-lost", b->r.net_lost);

        ledger_more_number(&r, "doors", record_own_doors(b));
        if (observed)
                ledger_more_text(&r, "observed", "all");

        if (b->r.error.what[0])
                ledger_more_text(&r, "error", b->r.error.what);

        record_causes(b, &r);
        record_add(b, &r, NULL);
}

void record_finish(struct box *b)
{
        if (!b->up && b->record && !b->record->ledger)
                record_up(b); /* a program that could not be started is told too */

        record_stream(b, 0);
        record_read_origins(b);
        record_stream(b, 1);
        record_stream(b, 2);
        if (b->r.end == BOX_EXITED && b->r.code == 0)
                record_handles(b, true);

        record_copies(b);
        record_destinations(b);
        record_inbound(b);
        record_denials(b);
        record_limits(b);
        add_end(b, record_used(b));
        if (b->record)
                b->record->over = true;
}

bool record_written(struct box *b, bool last)
{
        struct err e;
        struct ledger *l = b->record ? b->record->ledger : NULL;
        if (!l)
                return true;

        if (ledger_flush(l, 0, &e) == 0) {
                ledger_wake_sealer(l);
                return true;
        }

        if (is_busy(&e) && !last)
                return false;

        ledger_forget(l, 0);
        record_off(b, &e);
        return true;
}

bool record_is_open(const struct box *b)
{
        return b->record && b->record->ledger && b->record->start[0] && !b->record->over;
}

void record_free(struct box *b)
{
        if (b->record && b->record->ledger)
                ledger_close(b->record->ledger);
        free(b->record);
        b->record = NULL;
}
