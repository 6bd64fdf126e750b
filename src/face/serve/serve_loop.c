/* SPDX-License-Identifier: MIT */
/* face/serve/serve_loop.c - the loop: listeners, clients, runs, sessions and questions. */
#include "base/clock.h"
#include "base/end_signals.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/listen_at.h"
#include "face/serve/internal.h"
#include "face/serve/own.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

enum {
        WATCHED_MAX =
                1 + SERVE_LISTEN_MAX + CLIENTS_MAX + RUNS_MAX + SESSIONS_MAX + ASIDES_MAX + QUESTIONS_MAX,
        TICK_MS = 1000
};

enum watched_kind {
        WATCH_SIGNAL = 0,
        WATCH_LISTENER,
        WATCH_TLS,
        WATCH_CLIENT,
        WATCH_RUN,
        WATCH_SESSION,
        WATCH_ASIDE,
        WATCH_QUESTION
};
struct watched {
        struct pollfd v[WATCHED_MAX];
        struct {
                enum watched_kind kind;
                size_t index;
        } of[WATCHED_MAX];
        nfds_t n;
        int next_ms;
};

static void watch(struct watched *w, enum watched_kind kind, size_t index, int fd, short events)
{
        w->v[w->n] = (struct pollfd){ .fd = fd, .events = events };
        w->of[w->n].kind = kind;
        w->of[w->n++].index = index;
}

static void sooner(struct watched *w, int ms)
{
        if (ms >= 0 && ms < w->next_ms)
                w->next_ms = ms;
}

static void watch_box(struct watched *w, enum watched_kind kind, size_t index, cordon_box *b)
{
        watch(w, kind, index, cordon_box_fd(b), POLLIN);
        sooner(w, cordon_box_next_ms(b));
}

static void watch_jobs(struct server *s, struct watched *w)
{
        for (size_t i = 0; i < RUNS_MAX; i++) {
                struct job *j = s->running[i];
                if (!j)
                        continue;
                watch_box(w, WATCH_RUN, i, j->box);
                if (j->deadline_ns && !j->timed_out)
                        sooner(w, clock_left_ms(j->deadline_ns));
        }
        for (size_t i = 0; i < SESSIONS_MAX; i++)
                if (s->sessions[i])
                        watch_box(w, WATCH_SESSION, i, s->sessions[i]->box);
}

static void watch_all(struct server *s, struct watched *w)
{
        w->n = 0;
        w->next_ms = TICK_MS;
        watch(w, WATCH_SIGNAL, 0, s->signals, POLLIN);
        bool room = clients_place(s) < CLIENTS_MAX;
        for (size_t i = 0; i < s->listener_count; i++)
                watch(w, s->tls[i].pid ? WATCH_TLS : WATCH_LISTENER, i,
                      !room                                  ? -1
                      : s->tls[i].pid                        ? s->tls[i].channel
                      : s->o->tls_certificate && s->ports[i] ? -1
                                                             : s->listeners[i],
                      POLLIN);
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (s->clients[i])
                        watch(w, WATCH_CLIENT, i, s->clients[i]->h.fd,
                              s->clients[i]->h.out.n ? POLLIN | POLLOUT : POLLIN);
        watch_jobs(s, w);
        for (size_t i = 0; i < ASIDES_MAX; i++)
                if (s->asides[i])
                        watch(w, WATCH_ASIDE, i, s->asides[i]->fd, POLLIN);
        for (size_t i = 0; i < QUESTIONS_MAX; i++)
                if (s->questions[i])
                        watch(w, WATCH_QUESTION, i, cordon_question_fd(s->questions[i]->q), POLLIN);
}

/* ---- a turn ---- */

static void take_client(struct server *s, size_t index, short events)
{
        struct client *c = s->clients[index];
        if (!c)
                return;

        if (events & POLLOUT)
                http_conn_flush(&c->h);
        if (events & POLLOUT && c->job && !c->h.gone)
                client_follow(c);
        if (events & (POLLIN | POLLHUP | POLLERR) && !c->h.gone)
                client_read(s, c);
}

/* The first one drains, a second one does not wait. */
static void take_signal(struct server *s)
{
        struct signalfd_siginfo got;
        if (read(s->signals, &got, sizeof got) != sizeof got)
                return;

        s->stop |= s->draining || s->o->drain_s == 0;
        if (!s->stop)
                jobs_drain(s, clock_mono_ns() + s->o->drain_s * 1000000000ull);
}

static void take(struct server *s, const struct watched *w, size_t i)
{
        size_t index = w->of[i].index;
        short events = w->v[i].revents;
        switch (w->of[i].kind) {
        case WATCH_SIGNAL:
                if (events)
                        take_signal(s);
                break;
        case WATCH_LISTENER:
                if (events)
                        client_accept(s, index);
                break;
        case WATCH_TLS:
                if (events && s->tls[index].pid)
                        tls_take(s, index);
                break;
        case WATCH_CLIENT:
                if (events)
                        take_client(s, index, events);
                break;
        case WATCH_RUN:
                if (s->running[index])
                        jobs_step(s, index);
                break;
        case WATCH_SESSION:
                if (s->sessions[index])
                        sessions_step(s, index);
                break;
        case WATCH_ASIDE:
                if (events && s->asides[index])
                        aside_read(s, index);
                break;
        case WATCH_QUESTION: /* all of them, below */
                break;
        }
}

static void tidy_clients(struct server *s)
{
        uint64_t now = clock_mono_ns();
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
                struct client *c = s->clients[i];
                if (c && c->h.again && !c->h.gone)
                        client_parse(s, c);
                if (!c || (!c->h.gone && now < http_conn_until(&c->h)))
                        continue;
                s->clients[i] = NULL;
                client_free(s, c);
        }
}

static bool is_idle(const struct server *s)
{
        for (size_t i = 0; i < RUNS_MAX; i++)
                if (s->running[i] || (i < SESSIONS_MAX && s->sessions[i]))
                        return false;
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (s->clients[i] && (s->clients[i]->h.busy || s->clients[i]->h.out.n))
                        return false;
        return true;
}

/* Boxes that stay, and in which nothing runs, need not stay. */
static void drain_sessions(struct server *s)
{
        for (size_t i = 0; i < SESSIONS_MAX; i++)
                if (s->sessions[i] && !s->sessions[i]->over && s->sessions[i]->jobs == 0) {
                        s->sessions[i]->over = true;
                        cordon_session_end(s->sessions[i]->box);
                }
}

static void turn(struct server *s)
{
        struct watched w;
        watch_all(s, &w);
        if (poll(w.v, w.n, w.next_ms) < 0 && errno != EINTR)
                s->stop = true;

        for (size_t i = 0; i < w.n; i++)
                take(s, &w, i);
        asides_late(s);
        heads_step(s);
        questions_step(s);
        approvals_follow(s);
        tidy_clients(s);
        jobs_start(s);
        struct tenant *t;
        for (size_t i = 0, again = trouble_step(s); again && (t = tenants_at(s->tenants, i)); i++)
                jobs_keep(s, t);
        tls_step(s);
        serve_watchdog(s);
        if (s->draining)
                drain_sessions(s);
        s->stop |= s->draining && (is_idle(s) || clock_mono_ns() >= s->drain_until_ns);
}

/* ---- start and end ---- */

static int load_past(void *ctx, struct tenant *t, cordon_error *e)
{
        struct server *s = ctx;
        unsigned unread = 0;
        AUTO_BUF(line);
        if (store_load(t, &unread, (struct err *) e) < 0)
                return -1;

        usage_load(t);
        buf_printf(&line, "tenant %s: %u records of past runs cannot be read", tenant_label(t), unread);
        if (unread)
                serve_log(s, LOG_WARN, buf_str(&line));
        return 0;
}

static void tell_unread(void *ctx, const char *name)
{
        AUTO_BUF(line);
        buf_printf(&line, "tenant %s: its settings or its past runs do not load", name);
        serve_log(ctx, LOG_WARN, buf_str(&line));
}

/* Descriptors that one box takes, with what is open besides: no run is accepted that would fail for one. */
static void hold_by_descriptors(struct server *s)
{
        enum { A_BOX = 24, BESIDES = 256 };
        struct rlimit most;
        fd_use_limit();
        if (getrlimit(RLIMIT_NOFILE, &most) < 0 || most.rlim_cur == RLIM_INFINITY)
                return;

        uint64_t boxes = most.rlim_cur > BESIDES + A_BOX ? (most.rlim_cur - BESIDES) / A_BOX : 1;
        if (boxes >= s->host.limit[BUDGET_RUNS])
                return;
        AUTO_BUF(line);
        buf_printf(&line,
                   "%llu descriptors are enough for %llu runs at once, not for %llu: raise LimitNOFILE",
                   (unsigned long long) most.rlim_cur, (unsigned long long) boxes,
                   (unsigned long long) s->host.limit[BUDGET_RUNS]);
        serve_log(s, LOG_WARN, buf_str(&line));
        s->host.limit[BUDGET_RUNS] = boxes;
}

static int open_all(struct server *s, cordon_error *e)
{
        if (!s->o->ready)
                s->config = serve_config_open(s->o->config, false, (struct err *) e);
        if (s->config < 0 && !s->o->ready)
                return -1;

        s->tenants = tenants_new(s->config, s->o->config, s->o->environment, &s->host, load_past, s);
        if (!s->tenants)
                return err_set((struct err *) e, ERR_MEMORY, 0, "no memory for the tenants");

        for (; s->o->listen[s->listener_count]; s->listener_count++) {
                size_t i = s->listener_count;
                s->listeners[i] = (s->o->tls_certificate ? listen_anywhere : listen_at)(
                        s->o->listen[i], &s->ports[i], (struct err *) e);
                if (s->listeners[i] < 0)
                        return -1;
        }
        s->signals = end_signals_open();
        (void) signal(SIGPIPE, SIG_IGN);
        if (s->o->ready)
                return own_begin(s, e);

        if (tls_start(s, e) < 0 || heads_start(s, e) < 0)
                return -1;

        tenants_resume(s->tenants, tell_unread);
        return 0;
}

static void end_boxes(struct server *s)
{
        enum { TURNS = 400, STEP_MS = 50 };
        size_t ended = 0;
        s->draining = true;
        approvals_follow(s); /* which ends the streams */
        for (size_t i = 0; i < QUESTIONS_MAX; i++)
                if (s->questions[i])
                        s->questions[i]->client->h.gone = true;
        for (size_t i = 0; i < RUNS_MAX; i++)
                if (s->running[i]) {
                        s->running[i]->interrupted = true;
                        job_kill(s, s->running[i]);
                        ended++;
                }
        if (ended) {
                AUTO_BUF(line);
                buf_printf(&line, "ended %zu run%s that had not ended by then", ended, ended == 1 ? "" : "s");
                serve_log(s, LOG_WARN, buf_str(&line));
        }
        for (size_t i = 0; i < SESSIONS_MAX; i++)
                if (s->sessions[i] && !s->sessions[i]->over)
                        cordon_session_end(s->sessions[i]->box);

        for (unsigned n = 0; n < TURNS && !is_idle(s); n++) {
                (void) poll(NULL, 0, STEP_MS);
                for (size_t i = 0; i < RUNS_MAX; i++)
                        if (s->running[i])
                                jobs_step(s, i);
                for (size_t i = 0; i < SESSIONS_MAX; i++)
                        if (s->sessions[i])
                                sessions_step(s, i);
                tidy_clients(s);
        }
}

static void close_all(struct server *s)
{
        for (size_t i = 0; i < CLIENTS_MAX; i++)
                if (s->clients[i])
                        client_free(s, s->clients[i]);
        for (size_t i = 0; i < ASIDES_MAX; i++)
                if (s->asides[i])
                        s->asides[i]->deadline_ns = 0;
        asides_late(s);
        struct tenant *t;
        for (size_t i = 0; s->tenants && (t = tenants_at(s->tenants, i)); i++)
                jobs_free(s, t);
        s->turn = 0;
        if (s->tenants)
                sessions_free(s);
        own_end(s);
        tenants_free(s->tenants);
        cordon_context_free(s->heads.host);
        tokens_done(&s->tokens);
        for (size_t i = 0; i < s->listener_count; i++) {
                tls_end(s, i);
                listen_remove(s->o->listen[i]);
                fd_close(&s->listeners[i]);
        }
        fd_close(&s->signals);
        fd_close(&s->config);
}

static void tell_ready(struct server *s)
{
        if (s->own) {
                own_ready(s);
                return;
        }

        if (cordon_host_cores() < 0)
                serve_log(s, LOG_INFO,
                          "this kernel has no core scheduling: boxes of different tenants may run "
                          "on the threads of one core at once");
        for (size_t i = 0; i < s->listener_count; i++) {
                AUTO_BUF(line);
                if (s->ports[i])
                        buf_printf(&line, "serving HTTP at http%s://%.*s:%u/", s->tls[i].pid ? "s" : "",
                                   (int) (strrchr(s->o->listen[i], ':') - s->o->listen[i]), s->o->listen[i],
                                   s->ports[i]);
                else
                        buf_printf(&line, "serving HTTP at %s", s->o->listen[i]);
                serve_log(s, LOG_INFO, buf_str(&line));
        }
}

int serve_http(const struct serve_options *o, cordon_error *e)
{
        struct server *s = calloc(1, sizeof *s);
        if (!s)
                return err_set((struct err *) e, ERR_MEMORY, 0, "no memory for a server");

        s->o = o;
        s->ask = question_begin;
        s->follow = client_follow;
        s->config = s->signals = -1;
        s->started_ns = clock_mono_ns();
        s->host.limit[BUDGET_RUNS] = o->runs;
        s->host.limit[BUDGET_QUEUE] = 16384;
        s->host.limit[BUDGET_SESSIONS] = SESSIONS_MAX;
        s->host.limit[BUDGET_GPUS] = o->gpu_boxes;
        s->host.limit[BUDGET_ASIDE] = ASIDES_MAX;
        s->host.limit[BUDGET_BYTES] = 512u << 20;
        hold_by_descriptors(s);
        int r = open_all(s, e);
        if (r == 0) {
                tell_ready(s);
                serve_notify("READY=1");
                while (!s->stop)
                        turn(s);
                end_boxes(s);
                heads_end(s);
        }

        close_all(s);
        free(s);
        return r;
}
