/* SPDX-License-Identifier: MIT */
/* broker/signer/agent_jobs.c - one connection to each agent, and one job on it at a time: so no client's
 * state there is another's. */
#include "broker/signer/signer_state.h"

#include <string.h>
#include <unistd.h>

static void finish_job(struct signer *s, struct agent *a, bool done)
{
        struct client *c = a->busy;
        a->busy = NULL;
        if (c->kind == JOB_SIGN || c->kind == JOB_DECRYPT) {
                struct signer_message m = { .word = SIGNER_SAYS_RESULT, .number = c->number, .done = done };
                client_report(s, &m);
        }

        c->data.n = 0;
        c->state = CLIENT_READS;
        client_serve(s, c);
}

void agent_lost(struct signer *s, enum signer_agent which)
{
        struct agent *a = &s->agents[which];
        if (a->fd >= 0)
                (void) close(a->fd);
        a->fd = -1;
        for (unsigned i = 0; i < CLIENTS_MAX; i++) {
                struct client *c = s->clients[i];
                if (!c || c->agent != which || (c->state != CLIENT_QUEUED && c->state != CLIENT_WORKS))
                        continue;
                a->busy = c;
                client_refuse(c);
                finish_job(s, a, false);
        }
}

/* ---- ssh ---- */

static void ssh_heard(struct signer *s, struct agent *a)
{
        ptrdiff_t n = ssh_message_length(buf_span(&a->in));
        if (n < 0 || (n > 0 && !a->busy)) {
                agent_lost(s, SIGNER_SSH);
                return;
        }
        if (n == 0)
                return;

        struct client *c = a->busy;
        struct span message = span_of(a->in.p + 4, (size_t) n - 4);
        bool done = c->kind == JOB_LIST ? ssh_filter_list(message, keys_permit_ssh, s, &c->out) >= 0
                                        : ssh_is_signature(message);
        if (!done)
                client_refuse(c);
        else if (c->kind != JOB_LIST)
                buf_add(&c->out, a->in.p, (size_t) n);

        a->in.n = 0; /* one answer to one request */
        finish_job(s, a, done);
}

/* ---- gpg ---- */

static void send_next(struct agent *a)
{
        struct client *c = a->busy;
        const char *at = c->job.p + c->job_at, *end = memchr(at, '\n', c->job.n - c->job_at);
        size_t n = (size_t) (end + 1 - at);
        buf_add(&a->out, at, n);
        c->job_at += n;
}

static void answer_inquiry(struct agent *a, struct span line)
{
        static const char cipher[] = "INQUIRE CIPHERTEXT";
        const struct client *c = a->busy;
        bool asked = c->kind == JOB_DECRYPT && span_starts(line, cipher);
        if (asked)
                buf_add(&a->out, c->gpg.cipher.p, c->gpg.cipher.n);
        buf_puts(&a->out, asked ? "END\n" : "CAN\n");
}

static void gpg_line(struct signer *s, struct agent *a, struct span line)
{
        struct client *c = a->busy;
        bool last = c && c->job_at == c->job.n;
        if (!c)
                return;

        if (span_starts(line, "INQUIRE")) {
                answer_inquiry(a, line);
        } else if (span_starts(line, "ERR")) {
                buf_add(&c->out, line.p, line.n);
                buf_putc(&c->out, '\n');
                finish_job(s, a, false);
        } else if (span_starts(line, "OK") && !last) {
                send_next(a);
        } else if (span_starts(line, "OK")) {
                buf_add(&c->out, c->data.p, c->data.n);
                buf_puts(&c->out, "OK\n");
                finish_job(s, a, true);
        } else if (last && (span_starts(line, "D ") || span_starts(line, "S PADDING"))) {
                buf_add(&c->data, line.p, line.n);
                buf_putc(&c->data, '\n');
        }
}

static void gpg_heard(struct signer *s, struct agent *a)
{
        const char *end;
        while (a->fd >= 0 && a->in.n && (end = memchr(a->in.p, '\n', a->in.n))) {
                size_t n = (size_t) (end + 1 - a->in.p);
                gpg_line(s, a, span_of(a->in.p, n - 1));
                memmove(a->in.p, a->in.p + n, a->in.n - n);
                a->in.n -= n;
        }
        if (a->in.n > 4 * ASSUAN_LINE_MAX)
                agent_lost(s, SIGNER_GPG);
}

void agent_heard(struct signer *s, enum signer_agent which)
{
        struct agent *a = &s->agents[which];
        if (a->in.failed)
                agent_lost(s, which);
        else if (which == SIGNER_SSH)
                ssh_heard(s, a);
        else
                gpg_heard(s, a);
}

/* ---- the next job ---- */

static struct client *next_of(struct signer *s, enum signer_agent which)
{
        struct client *first = NULL;
        for (unsigned i = 0; i < CLIENTS_MAX; i++) {
                struct client *c = s->clients[i];
                if (c && c->agent == which && c->state == CLIENT_QUEUED && (!first || c->turn < first->turn))
                        first = c;
        }
        return first;
}

void agents_begin(struct signer *s)
{
        for (unsigned i = 0; i < SIGNER_AGENT__COUNT; i++) {
                struct agent *a = &s->agents[i];
                struct client *c = a->busy ? NULL : next_of(s, i);
                if (!c)
                        continue;
                if (a->fd < 0) {
                        agent_lost(s, i);
                        continue;
                }
                a->busy = c;
                c->state = CLIENT_WORKS;
                if (i == SIGNER_GPG)
                        send_next(a);
                else
                        buf_add(&a->out, c->job.p, c->job.n);
        }
}
