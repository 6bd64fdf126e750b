/* SPDX-License-Identifier: MIT */
/* run/keeper/broker.c - the keeper's side of the broker: starts it, passes it the policy and the gateway's
 * listeners, collects its rows for the result. When the broker dies, the box's connections die with it and no
 * new ones are made; the box goes on without a network, and the result reports it. */
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "base/str.h"
#include "base/trust.h"
#include "base/wire/wire.h"
#include "ledger/ledger.h"
#include "run/keeper/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READY_MS = 10000, LAST_WORDS_MS = 1000, WRITER_MS = 3000, SETTLE_MS = 50, CATCH_UP = 1024 };

/* ---- start ---- */

/* One text, in a file that cannot be changed any more. */
static int send_text(const struct box *b, struct egress_order o, struct span text)
{
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, "broker", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        if (fd < 0 || fd_write_all(fd, text.p, text.n) < 0 ||
            fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
                return -1;
        return wire_put(b->broker.control, &egress_order_form, &o, fd);
}

/* A recorded run: the broker gets a line for write-ahead requests. The writer is started at the first
 * request: most runs never make one. */
static int send_line(struct box *b)
{
        const struct egress_order o = { .command = EGRESS_LEDGER };
        int ends[2];
        if (b->c.ledger == BOX_LEDGER_OFF)
                return 0;

        if (wire_pair(ends) < 0)
                return -1;

        AUTO_FD(its, ends[1]);
        b->broker.ledger = ends[0];
        return wire_put(b->broker.control, &egress_order_form, &o, its);
}

/* What the run was handed; the broker adds what it reads. */
static int send_label(const struct box *b)
{
        char text[LABEL_TEXT_MAX];
        if (label_is_empty(&b->c.label))
                return 0;
        return send_text(b, (struct egress_order){ .command = EGRESS_LABEL },
                         span_str(label_text(&b->c.label, text)));
}

static int send_touch(const struct box *b)
{
        char text[LABEL_TEXT_MAX];
        for (unsigned i = 0; i < b->c.shut_count; i++)
                if (send_text(b, (struct egress_order){ .command = EGRESS_TOUCH },
                              span_str(label_text(&b->c.shut[i].label, text))) < 0)
                        return -1;
        return 0;
}

static int send_gates(struct box *b)
{
        const struct egress_order o = { .command = EGRESS_GATES };
        if (!b->gates)
                return 0;

        AUTO_FD(its, gates_line(b));
        return its < 0 ? -1 : wire_put(b->broker.control, &egress_order_form, &o, its);
}

static void put_spelling(void *ctx, struct span spelling)
{
        base64_put(spelling, ctx);
        buf_putc(ctx, '\n');
}

static int send_canaries(struct box *b)
{
        AUTO_BUF(text);
        for (unsigned i = 0; i < b->c.canary_count; i++)
                known_spell(span_str(b->c.canaries[i].value), put_spelling, &text);
        if (text.n == 0)
                return 0;
        return text.failed
                       ? -1
                       : send_text(b, (struct egress_order){ .command = EGRESS_CANARIES }, buf_span(&text));
}

static int send_checks(struct box *b, struct err *e)
{
        const struct egress_order o = { .command = EGRESS_CHECKS };
        AUTO_FD(line, -1);
        if (filter_serve(&b->run, &line, e) < 0)
                return -1;
        if (line < 0 || wire_put(b->broker.control, &egress_order_form, &o, line) == 0)
                return 0;
        return err_set(e, ERR_IO, errno, "the line to cordon-output could not be handed to the broker: %s",
                       strerror(errno));
}

/* The policy last: the broker waits for it. */
static int send_all(struct box *b, struct err *e)
{
        const struct egress_order grants = { .command = EGRESS_GRANTS };
        const struct egress_order policy = {
                .command = EGRESS_POLICY,
                .kind = b->c.stage,
                .become = b->c.root ? wall_host_id_in(b->c.tenant.id_first, b->c.tenant.id_count) : 0
        };
        AUTO_BUF(text);

        policy_canonical_json(b->c.policy, &text);
        bool bad = text.failed;
        bad = bad ||
              (b->c.grants && wire_put(b->broker.control, &egress_order_form, &grants, *b->c.grants) < 0);
        bad = bad || (b->c.places.n &&
                      send_text(b, (struct egress_order){ .command = EGRESS_PLACES }, b->c.places) < 0);
        bad = bad || (b->c.answers.n &&
                      send_text(b, (struct egress_order){ .command = EGRESS_ANSWERS }, b->c.answers) < 0);
        bad = bad || send_canaries(b) < 0 || send_label(b) < 0 || send_touch(b) < 0 || send_line(b) < 0 ||
              send_gates(b) < 0;
        const struct egress_order record = { .command = EGRESS_RECORD };
        bad = bad || (b->c.recording.name &&
                      wire_put(b->broker.control, &egress_order_form, &record, b->c.recording.fd) < 0);
        if (bad || send_text(b, policy, buf_span(&text)) < 0)
                return err_set(e, ERR_IO, errno, "the policy could not be handed to the broker: %s",
                               strerror(errno));

        return 0;
}

/* The roots that this host trusts, as they are; a broker that opens TLS up adds the box's authority. */
static int open_roots(void)
{
        for (size_t i = 0; i < sizeof trust_files / sizeof *trust_files; i++) {
                AUTO_FD(fd, open(trust_files[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
                struct stat st;
                if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= EGRESS_ROOTS_MAX)
                        return TAKE_FD(fd);
        }

        return -1;
}

static int cannot_start(struct err *e, const char *why)
{
        (void) err_set(e, ERR_HOST, 0, "the broker %s could not be started: %s", EGRESS_PROGRAM, why);
        return err_hint(e, "%s", BROKER_ASK_DOCTOR);
}

int broker_start(struct box *b, struct err *e)
{
        char path[PATH_MAX];
        int ends[2];
        if (!b->c.plan->net)
                return 0;

        if (host_program(b->c.cx, EGRESS_PROGRAM, path, sizeof path, e) < 0)
                return -1;

        b->run.rows = calloc(NET_ROWS_MAX, sizeof *b->run.rows);
        if (!b->run.rows)
                return err_set(e, ERR_MEMORY, errno, "no memory for the broker");

        if (wire_pair(ends) < 0)
                return err_set(e, ERR_IO, errno, "making the line to the broker: %s", strerror(errno));

        AUTO_FD(its, ends[1]);
        char *const argv[] = { (char[]){ EGRESS_PROGRAM }, NULL }, *const envp[] = { (char[]){ "LANG=C" },
                                                                                     NULL };
        const int fds[EGRESS_CONTROL + 1] = { -1, -1, -1, its };
        _Static_assert((int) EGRESS_CONTROL == 3, "the one after the standard streams");
        b->broker.control = ends[0];
        b->broker.process = host_spawn(&(struct host_spawn){ .path = path,
                                                             .argv = argv,
                                                             .envp = envp,
                                                             .fds = fds,
                                                             .fd_count = EGRESS_CONTROL + 1,
                                                             .flags = HOST_SPAWN_APART });
        if (b->broker.process.pid < 0)
                return cannot_start(e, strerror(errno));

        b->run.r.net = b->run.rows;
        b->broker.trust = open_roots();
        return send_checks(b, e) < 0 ? -1 : send_all(b, e);
}

static void take_ready(struct box *b, const struct egress_message *m, int *trust)
{
        if (*trust < 0 && b->c.plan->authority)
                return; /* of another version: broker_ready() reports it */

        b->run.r.broker = BROKER_RUNS;
        if (*trust < 0)
                return;

        fd_close(&b->broker.trust);
        b->broker.trust = TAKE_FD(*trust);
        b->broker.bundle_bytes = m->bundle_bytes;
}

static void take_error(struct box *b, const struct egress_message *m)
{
        struct err *e = &b->broker.error;
        *e = m->error;
        e->what[sizeof e->what - 1] = e->hint[sizeof e->hint - 1] = '\0';
}

int broker_ready(struct box *b, struct err *e)
{
        if (!b->c.plan->net || b->run.r.broker == BROKER_RUNS)
                return 1;

        if (b->broker.error.code != ERR_NONE) {
                *e = b->broker.error;
                return -1;
        }

        if (b->broker.control >= 0 && !b->broker.odd && !keeper_waits_too_long(b, READY_MS))
                return 0;

        return cannot_start(e, "it ended at once");
}

/* ---- while the box runs ---- */

void broker_give(struct box *b, const struct wall_message *m, int fd)
{
        struct egress_order o = { .command = EGRESS_LISTENER,
                                  .kind = m->listener.kind,
                                  .port = m->listener.port };
        b->broker.parts |= m->listener.kind == LISTENER_WHOSE;
        if (b->broker.control >= 0 && fd >= 0)
                (void) wire_put(b->broker.control, &egress_order_form, &o,
                                fd); /* gone: broker_hear() reports it */
}

int broker_label(struct box *b, const struct label *l, struct err *e)
{
        const struct egress_order o = { .command = EGRESS_LABEL };
        char text[LABEL_TEXT_MAX];
        int ends[2];               /* what the broker may still read: a pipe, no file */
        if (b->broker.control < 0) /* none, or gone: broker_hear() reports it */
                return 0;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return err_set(e, ERR_IO, errno, "the broker cannot be told the label of the run");

        (void) fd_write_all(ends[1], text, strlen(label_text(l, text)));
        (void) close(ends[1]);
        (void) wire_put(b->broker.control, &egress_order_form, &o, ends[0]);
        (void) close(ends[0]);
        return 0;
}

bool broker_raise(struct box *b, unsigned which)
{
        const struct egress_order o = { .command = EGRESS_RAISE, .kind = which };
        if (b->broker.control < 0)
                return false;
        (void) wire_put(b->broker.control, &egress_order_form, &o, -1); /* gone: broker_hear() reports it */
        return true;
}

static void take_text(char *to, const char *from, size_t cap)
{
        (void) str_inert(span_of(from, strnlen(from, cap)), to, cap);
}

/* A row of the broker's as the effect that it is about. */
static struct effect_row describe_row(struct box *b, const struct egress_row *n)
{
        AUTO_BUF(text);
        AUTO_BUF(why);
        bool metadata = policy_names_metadata(n->to);
        struct effect_row d =
                keeper_row(&b->run, effect_reason_is_credential(n->reason) ? EFFECT_CREDENTIAL : EFFECT_NET);

        egress_row_text(n, &text);
        egress_row_why(n, &why);
        d.layer = "egress";
        d.count = n->connections;
        d.effect.target = n->to;
        d.effect.method = n->method[0] ? n->method : NULL;
        d.effect.reason = metadata ? REASON_METADATA : n->reason;
        d.what = keeper_text(&b->run, "%s (%s)", buf_str(&text), buf_str(&why));
        d.why = metadata ? "" : keeper_text(&b->run, "%s", buf_str(&why));
        d.permit = metadata ? "" : n->permit;
        if (b->run.one_program)
                d.program = keeper_command_name(&b->run);

        /* The door has the credential already, so another line would not help: the placeholder is in a wrong
         * position. */
        if (n->form == EGRESS_REQUEST && effect_reason_is_placeholder(n->reason) && n->method[0])
                d.permit = keeper_text(&b->run, "net %s %s with NAME", n->to, n->method);

        return d;
}

/* Of a session: what it denied is told to the run whose process asked. */
static void tell_runs(struct box *b, const struct egress_row *r, uint64_t group, uint32_t count)
{
        if (r->allowed || !r->to[0] || !b->c.session)
                return;

        struct effect_row d = describe_row(b, r);
        d.count = count;
        session_tell_blocked(b, &d, group);
        arena_done(&b->run.draft);
}

/* The broker is ours, but its messages contain bytes of the box: text is cut and made inert, indexes are
 * checked. */
static void take_row(struct box *b, const struct egress_row *row)
{
        if (row->index >= NET_ROWS_MAX)
                return;

        struct egress_row *r = &b->run.rows[row->index];
        uint32_t before = row->index < b->run.r.net_count ? r->connections : 0;
        *r = *row;
        take_text(r->method, row->method, sizeof r->method);
        take_text(r->to, row->to, sizeof r->to);
        take_text(r->detail, row->detail, sizeof r->detail);
        take_text(r->permit, row->permit, sizeof r->permit);
        r->address[sizeof r->address - 1] = '\0';
        if (row->index >= b->run.r.net_count)
                b->run.r.net_count = row->index + 1;

        if (!r->allowed && r->to[0] && (b->c.trip || r->reason == REASON_CANARY)) {
                struct effect_row d = describe_row(b, r);
                tripwire_look(&b->run, &d);
        }

        if (!b->broker.parts && r->connections > before)
                tell_runs(b, r, 0, r->connections - before);
}

/* The runs of one group, of a row that came before. */
static void take_part(struct box *b, const struct egress_part *p)
{
        if (p->index < b->run.r.net_count)
                tell_runs(b, &b->run.rows[p->index], p->group, p->count);
}

/* It has nothing more to send: killed, and reaped at the end of the box. */
static void part_with(struct box *b, enum box_broker end)
{
        fd_close(&b->broker.trust);
        fd_close(&b->broker.control);
        child_kill(&b->broker.process);
        if (b->run.r.broker == BROKER_RUNS)
                b->run.r.broker = end;
}

/* It only rises: a broken text is the worst label. */
static void take_label(struct box *b, struct egress_message *m)
{
        m->label[sizeof m->label - 1] = '\0';
        struct label l = label_of(m->label);
        keeper_label_rises(b, &l);
        b->broker.label = l;
}

void broker_hear(struct box *b)
{
        struct egress_message m;
        AUTO_FD(trust, -1);
        bool starts = b->run.r.broker == BROKER_NONE;
        int r = wire_take(b->broker.control, &egress_message_form, &m, starts ? &trust : NULL);
        if (r < 0 && errno == EINTR)
                return;

        if (r != 1) {
                part_with(b, BROKER_DIED);
                return;
        }

        if (starts) {
                b->broker.odd = m.word != EGRESS_SAYS_READY && m.word != EGRESS_SAYS_ERROR;
                if (m.word == EGRESS_SAYS_READY)
                        take_ready(b, &m, &trust);
                else if (m.word == EGRESS_SAYS_ERROR)
                        take_error(b, &m);
                return;
        }

        b->run.r.limits_hit |= m.limits & (1u << LIMIT_EGRESS | 1u << LIMIT_INGRESS | 1u << LIMIT_EFFECTS |
                                           1u << LIMIT_RATE);
        b->run.r.net_lost = m.lost;
        b->run.r.net_denied_lost = m.denied_lost;
        take_label(b, &m);
        b->broker.after = m.after > b->broker.after ? m.after : b->broker.after;
        b->run.r.out.recorded = m.recorded;
        b->run.r.out.unrecorded = m.unrecorded;
        b->broker.record_failed = m.record_failed;
        if (m.word == EGRESS_SAYS_ROW)
                take_row(b, &m.row);
        else if (m.word == EGRESS_SAYS_PART)
                take_part(b, &m.part);
        else if (m.word == EGRESS_SAYS_SETTLED)
                b->broker.settled = true;
        else if (m.word == EGRESS_SAYS_DONE)
                part_with(b, BROKER_DONE);
}

/* Bounded: it is no faster than we are, unless it is no longer ours. */
void broker_catch_up(struct box *b)
{
        for (int i = 0; i < CATCH_UP && fd_await(b->broker.control, POLLIN, 0); i++)
                broker_hear(b);
}

void broker_settle(struct box *b)
{
        const struct egress_order o = { .command = EGRESS_SETTLE };
        bool sent = b->broker.control >= 0 && b->run.r.broker == BROKER_RUNS &&
                    wire_put_now(b->broker.control, &egress_order_form, &o) == 0;
        uint64_t now = clock_mono_ns(), until = now + LAST_WORDS_MS * UINT64_C(1000000);
        b->broker.settled = !sent;
        while (!b->broker.settled && b->broker.control >= 0 && now < until &&
               fd_await(b->broker.control, POLLIN, (unsigned) ((until - now) / 1000000) + 1)) {
                broker_hear(b);
                now = clock_mono_ns();
        }
        broker_catch_up(b);
}

/* Its start is in the file before its effects are. True: it is, or has been waited for long enough. */
static bool is_settled(struct box *b)
{
        uint64_t now = clock_mono_ns();
        if (b->broker.ledger_until_ns == 0)
                b->broker.ledger_until_ns = now + SETTLE_MS * UINT64_C(1000000);

        bool settled = record_settled(&b->run) || now >= b->broker.ledger_until_ns;
        b->broker.ledger_ns = settled ? 0 : now + 1000000u;
        return settled;
}

static void start_writer(struct box *b, struct err *e)
{
        int lines[2] = { b->broker.ledger, -1 };
        if (causes_line(b, &lines[1]) < 0)
                (void) err_set(e, ERR_IO, errno, "a line to the ledger's writer: %s", strerror(errno));
        else
                b->broker.writer = ledger_writer_start(b->c.cx, keeper_run(&b->run), b->run.r.name, lines, e);
        fd_close(&lines[1]);
}

/* Without a writer the broker closes its doors with consequences; it gets the reason. */
void broker_record(struct box *b)
{
        struct err e;
        struct pollfd p = { .fd = b->broker.ledger, .events = POLLIN };
        if (!is_settled(b))
                return;

        bool asks = poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
        AUTO_FD(dir, asks ? ledger_dir_open(b->c.cx, true, &e) : -1);
        if (dir >= 0)
                start_writer(b, &e);

        if (b->broker.writer.pid < 0 && asks) {
                struct ledger_answer no = { .number = 0 };
                (void) snprintf(no.why, sizeof no.why, "%.190s", e.what);
                (void) wire_put(b->broker.ledger, &ledger_answer_form, &no, -1);
        }

        fd_close(&b->broker.ledger);
}

/* ---- end ---- */

static void note_denials(struct box *b)
{
        for (unsigned i = 0; i < b->run.r.net_count; i++) {
                const struct egress_row *n = &b->run.rows[i];
                if (n->allowed || n->to[0] == '\0')
                        continue;
                struct effect_row d = describe_row(b, n);
                keeper_add_denial(&b->run, &d);
        }

        arena_done(&b->run.draft);
}

static void note_death(struct box *b)
{
        struct effect_row d = keeper_row(&b->run, EFFECT_NET);
        if (b->run.r.broker != BROKER_DIED)
                return;

        d.layer = "egress";
        d.effect.reason = REASON_BROKER_DIED;
        d.what = "every `net` door";
        keeper_add_denial(&b->run, &d);
}

static bool has_said_all(struct box *b)
{
        if (b->broker.control < 0 || b->run.r.broker != BROKER_RUNS)
                return true;

        if (!b->broker.finishing) {
                struct egress_order o = { .command = EGRESS_FINISH };
                b->broker.finishing = true;
                (void) wire_put_now(b->broker.control, &egress_order_form, &o);
        }

        return keeper_waits_too_long(b, LAST_WORDS_MS);
}

bool broker_finish(struct box *b)
{
        bool was = b->broker.process.pid > 0;
        if (!has_said_all(b))
                return false;

        part_with(b, BROKER_DIED);
        if (!child_reap(&b->broker.process, NULL)) {
                keeper_wait_child(b, &b->broker.process);
                return false;
        }

        if (was) {
                note_denials(b);
                note_death(b);
        }

        return true;
}

/* The broker is gone, and with it its line: the writer writes the requests that came over it, and ends. A
 * writer whose disk does not answer is abandoned. */
bool broker_writer_end(struct box *b)
{
        fd_close(&b->broker.ledger);
        fd_close(&b->broker.causes);
        if (child_reap(&b->broker.writer, NULL) || keeper_waits_too_long(b, WRITER_MS)) {
                fd_close(&b->broker.writer.pidfd);
                return true;
        }

        keeper_wait_child(b, &b->broker.writer);
        return false;
}
