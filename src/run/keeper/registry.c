/* SPDX-License-Identifier: MIT */
/* run/keeper/registry.c - how `ps`, `stop`, `inspect` and `logs` find running boxes: an abstract socket per
 * keeper, so that nothing is left when a keeper is killed. Boxes cannot reach it: they live in other network
 * namespaces. Both sides check the peer's uid; any process can bind a name, none can forge a uid. A process
 * that is confined in a way in which the keeper is not gets no answer (base/host/confinement.c): it would
 * read the output of other boxes, end them, and run commands in sessions with doors that it does not have. */
#include "run/keeper/registry.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/host/host.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { QUESTION_MS = 20 };

/* A failure to register does not stop a run: a box without a registry entry is only harder to find. */
void registry_open(struct box *b)
{
        b->registry = registry_listen("cordon", SOCK_SEQPACKET, b->c.uid, keeper_run(&b->run), CLIENTS_MAX);
}

/* A value that no group counts is not known before the end. */
static void put_usage(struct buf *out, const char *key, bool known, uint64_t value)
{
        if (known)
                buf_member_int(out, key, (long long) value);
        else
                buf_member(out, key, NULL);
}

static void state_json(const struct box *b, struct buf *out)
{
        struct limit_usage u = { 0 };
        (void) limit_group_usage(&b->group, &u);
        buf_putc(out, '{');
        buf_member(out, "run", b->run.r.run);
        buf_member(out, "name", b->run.r.name);
        buf_member_int(out, "keeper", getpid());
        buf_member_int(out, "init", b->child.pid);
        buf_member_bool(out, "up", b->run.up);
        buf_member_int(out, "age_ms", (long long) ((clock_mono_ns() - b->run.began_ns) / 1000000u));
        buf_member(out, "wall", wall_name(b->run.r.wall));
        buf_member(out, "policy", policy_digest(b->c.policy));
        buf_member_json(out, "command", "[");
        for (const char **v = b->c.plan->order->argv; *v; v++)
                buf_member(out, NULL, *v);

        buf_putc(out, ']');
        put_usage(out, "memory_peak", u.has_memory, u.memory_peak);
        put_usage(out, "cpu_ms", u.has_cpu, u.cpu_ns / 1000000u);
        buf_member_int(out, "output_bytes", (long long) b->run.r.out.output_bytes);
        buf_member_int(out, "denials", b->run.r.denial_count);
        keeper_lease_json(b, out);
        renew_json(b, out);
        if (b->c.session) {
                buf_member_bool(out, "session", true);
                buf_member_int(out, "runs", session_count(b));
        } else if (b->run.r.in_session) {
                buf_member(out, "in_session", b->c.session_run ? b->c.session_run : "");
        }
        buf_putc(out, '}');
}

cordon_usage box_usage_now(const struct box *b)
{
        struct limit_usage u = { 0 };
        (void) limit_group_usage(&b->group, &u);
        cordon_usage now = { .cpu_ns = u.has_cpu ? u.cpu_ns : CORDON_NOT_COUNTED,
                             .memory_peak = u.has_memory ? u.memory_peak : CORDON_NOT_COUNTED };
        for (unsigned i = 0; b->run.rows && i < b->run.r.net_count; i++)
                now.net_bytes += b->run.rows[i].sent + b->run.rows[i].received;
        return now;
}

/* Answers travel as a memory file: any size, one message. */
static void send_text(int client, struct span text, struct ask ok)
{
        AUTO_FD(fd, memfd_create("cordon-answer", MFD_CLOEXEC));
        if (fd >= 0 && fd_write_all(fd, text.p, text.n) == 0)
                (void) wire_put(client, &registry_ask_form, &ok, fd);
}

/* The result of a session, for clients that wait for its end. */
void registry_send_result(struct box *session)
{
        AUTO_BUF(out);
        box_result_json(session, &out);
        for (unsigned i = 0; i < CLIENTS_MAX; i++)
                if (session->ending[i] >= 0) {
                        if (!out.failed)
                                send_text(session->ending[i], buf_span(&out), (struct ask){ 0 });
                        fd_close(&session->ending[i]);
                }
}

/* Ends a session. The client waits for the result. */
static void end_session(struct box *session)
{
        for (unsigned i = 0; i < CLIENTS_MAX && session->client >= 0; i++)
                if (session->ending[i] < 0)
                        session->ending[i] = TAKE_FD(session->client);

        box_finish(session);
}

/* A reader that is further behind than the kept output gets all of it. */
static void put_newer(const struct box *b, int32_t position, struct buf *out)
{
        uint64_t fresh =
                position < 0 ? b->run.log.n : (b->run.log_total - (uint64_t) position) & LOG_POSITION;
        size_t n = fresh < b->run.log.n ? (size_t) fresh : b->run.log.n;
        if (n > 0)
                buf_add(out, b->run.log.p + b->run.log.n - n, n);
}

/* ---- requests ---- */

struct reply { /* zero but for `line`: an empty text */
        struct buf text;
        struct ask ok;
        int line;    /* instead of the text; borrowed, or the reply's own */
        bool own;    /* it is closed */
        bool silent; /* nothing is sent now */
};

static void serve_state(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        state_json(b, &r->text);
}

static void serve_logs(struct box *b, const struct ask *q, struct reply *r)
{
        r->ok = (struct ask){ b->run.log_on ? LOGS_ON : LOGS_OFF,
                              (int32_t) (b->run.log_total & LOG_POSITION) };
        put_newer(b, q->arg, &r->text);
}

static void serve_recipe(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        if (!b->c.session || b->c.recipe.n == 0)
                return;

        buf_printf(&r->text, "%s\n", b->run.r.run);
        buf_add(&r->text, b->c.recipe.p, b->c.recipe.n);
}

/* With a line, or with the reason. */
static void serve_join(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        struct err e;
        r->line = session_admit(b, &e);
        r->own = true;
        r->ok.request = r->line >= 0 ? JOIN_LINE : JOIN_REFUSED;
        if (r->line < 0)
                buf_puts(&r->text, e.what);
}

static void serve_words(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        r->silent = !b->c.words;
        r->line = b->c.words ? *b->c.words : -1;
}

static void serve_end(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        r->silent = true; /* until it has ended */
        if (b->c.session)
                end_session(b);
}

/* With its state, or with the reason. */
static void serve_renew(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        struct err e;
        bool done = box_renew(b, &e) >= 0; /* or a person is asked: the state says so */
        r->ok.request = done ? RENEW_DONE : RENEW_REFUSED;
        if (done)
                state_json(b, &r->text);
        else
                buf_puts(&r->text, e.what);
}

static void serve_labels(struct box *b, const struct ask *q, struct reply *r)
{
        (void) q;
        (void) r;
        keeper_label_again(b);
}

static void serve_stop(struct box *b, const struct ask *q, struct reply *r)
{
        buf_puts(&r->text, "{}");
        if (q->arg == SIGKILL)
                box_kill(b);
        else if (b->c.session) /* it has no payload that a signal could go to */
                box_finish(b);
        else
                box_signal(b, q->arg);
}

/* Each process of the user may ask; the proof is that it is confined as the keeper is. */
static const struct {
        void (*serve)(struct box *b, const struct ask *q, struct reply *r);
        bool unproven; /* it learns nothing, so it needs no proof */
} requests[] = {
        [BOX_ASK_STATE] = { serve_state, false },  [BOX_ASK_STOP] = { serve_stop, false },
        [BOX_ASK_LOGS] = { serve_logs, false },    [BOX_ASK_SESSION] = { serve_recipe, false },
        [BOX_ASK_JOIN] = { serve_join, false },    [BOX_ASK_WORDS] = { serve_words, false },
        [BOX_ASK_END] = { serve_end, false },      [BOX_ASK_RENEW] = { serve_renew, false },
        [BOX_ASK_LABELS] = { serve_labels, true },
};

static bool is_refused(struct box *b, const struct ask *q, int proof)
{
        AUTO_BUF(out);
        enum host_confinement_scope scope =
                registry_is_of_session(q) ? HOST_CONFINED_ALL : HOST_CONFINED_PROVEN;
        const char *how = host_proof_holds(proof, 0) ? host_peer_confined(b->client, scope)
                                                     : "it cannot inspect the keeper";
        if (!how)
                return false;

        buf_printf(&out, "this process is confined otherwise than the keeper of the box: %s", how);
        send_text(b->client, buf_span(&out), (struct ask){ .request = ASK_REFUSED });
        return true;
}

void registry_drop(struct box *b) { fd_close(&b->client); }

/* One at a time, and a client that connects and sends nothing is dropped soon: others wait. */
void registry_accept(struct box *b)
{
        AUTO_FD(client, accept4(b->registry, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (client < 0 || !registry_peer_is(client, b->c.uid))
                return;

        b->client = TAKE_FD(client);
        b->client_until_ns = clock_mono_ns() + QUESTION_MS * UINT64_C(1000000);
        registry_answer(b); /* most have asked by now */
}

static void serve_request(struct box *b, const struct ask *q)
{
        struct reply r = { .line = -1 };
        requests[q->request].serve(b, q, &r);
        if (r.line >= 0 && b->client >= 0)
                (void) wire_put(b->client, &registry_ask_form, &r.ok, r.line);
        else if (!r.silent && !r.text.failed) /* half an answer would be a wrong one */
                send_text(b->client, buf_span(&r.text), r.ok);

        if (r.own)
                fd_close(&r.line);
        buf_done(&r.text);
}

void registry_answer(struct box *b)
{
        struct ask q;
        AUTO_FD(proof, -1);
        int r = wire_take(b->client, &registry_ask_form, &q, &proof);
        if (r < 0 && errno == EAGAIN)
                return;

        bool known = r == 1 && q.request < sizeof requests / sizeof *requests && requests[q.request].serve;
        if (known && (requests[q.request].unproven || !is_refused(b, &q, proof)))
                serve_request(b, &q);

        registry_drop(b);
}
