/* SPDX-License-Identifier: MIT */
/* broker/signer/client_requests.c - what a client in the box asks for. A use of a key waits for the keeper's
 * answer, with its bytes here; then it is queued for the agent. */
#include "base/hash.h"
#include "base/str.h"
#include "broker/signer/signer_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char refused_gpg[] = "ERR 67109115 Not permitted by the box's policy <GPG Agent>\n";

void client_report(struct signer *s, struct signer_message *m)
{
        if (wire_put(s->control, &signer_message_form, m, -1) < 0)
                _exit(0); /* the keeper is gone */
}

static void report_denied(struct signer *s, const struct client *c, const char *key, const char *what)
{
        struct signer_message m = { .word = SIGNER_SAYS_DENIED,
                                    .agent = c->agent,
                                    .decrypt = c->kind == JOB_DECRYPT };
        if (s->denied++ >= SIGNER_DENIED_MAX)
                return;
        (void) snprintf(m.key, sizeof m.key, "%s", key);
        (void) snprintf(m.what, sizeof m.what, "%s", what);
        client_report(s, &m);
}

void client_refuse(struct client *c)
{
        if (c->agent == SIGNER_SSH)
                ssh_put_failure(&c->out);
        else
                buf_puts(&c->out, refused_gpg);
}

static void queue_client(struct signer *s, struct client *c)
{
        c->state = CLIENT_QUEUED;
        c->turn = ++s->turn;
}

static void ask_gate(struct signer *s, struct client *c, struct signer_message *m, struct span bytes)
{
        m->word = SIGNER_SAYS_ASK;
        m->agent = c->agent;
        m->decrypt = c->kind == JOB_DECRYPT;
        m->number = c->number = ++s->number;
        m->bytes = bytes.n;
        memcpy(m->digest, "sha256:", sizeof "sha256:");
        sha256_hex(bytes, m->digest + strlen("sha256:"));
        c->state = CLIENT_ASKED;
        client_report(s, m);
}

/* ---- ssh ---- */

static void ask_to_sign(struct signer *s, struct client *c, struct span message, const struct ssh_sign *q)
{
        AUTO_BUF(purpose);
        struct signer_message m = { 0 };
        ssh_fingerprint(q->key, m.key);
        const struct known_key *k = keys_known(s, m.key);
        c->kind = JOB_SIGN;
        if (!k && keys_permit_ssh(s, q->key, span_of(NULL, 0)))
                k = keys_known(s, m.key);

        ssh_purpose(q->data, &purpose);
        if (!k) {
                report_denied(s, c, m.key, buf_str(&purpose));
                client_refuse(c);
                return;
        }

        (void) str_inert(span_str(k->comment), m.comment, sizeof m.comment);
        (void) snprintf(m.what, sizeof m.what, "%s", buf_str(&purpose));
        c->job.n = 0;
        buf_add(&c->job, message.p - 4, message.n + 4);
        if (c->job.failed)
                c->ends = true;
        else
                ask_gate(s, c, &m, message);
}

static void serve_ssh(struct signer *s, struct client *c, struct span message)
{
        struct ssh_sign q;
        const char *what = "";
        switch (ssh_request_read(message, &q, &what)) {
        case SSH_LIST:
                c->kind = JOB_LIST;
                c->job.n = 0;
                ssh_put_list_request(&c->job);
                queue_client(s, c);
                break;
        case SSH_SIGN:
                ask_to_sign(s, c, message, &q);
                break;
        case SSH_DENIED:
                c->kind = JOB_LIST;
                report_denied(s, c, "", what);
                client_refuse(c);
                break;
        case SSH_QUIET:
                client_refuse(c);
                break;
        case SSH_BROKEN:
                c->ends = true;
                break;
        }
}

/* ---- gpg ---- */

static const char described[] = "A box of cordon asks to use this key. The policy of the box permits it.";

static void put_job(struct client *c, const char *set_key, const char *last)
{
        c->job.n = c->job_at = 0;
        buf_printf(&c->job, "RESET\n%s %s\nSETKEYDESC ", set_key, c->gpg.key);
        assuan_put_escaped(&c->job, described);
        buf_putc(&c->job, '\n');
        if (c->kind == JOB_SIGN)
                buf_printf(&c->job, "SETHASH %s %s\n", c->gpg.algorithm, c->gpg.hash);
        buf_printf(&c->job, "%s\n", last);
}

static void ask_gpg(struct signer *s, struct client *c, bool decrypt)
{
        AUTO_BUF(bytes);
        struct signer_message m = { 0 };
        c->kind = decrypt ? JOB_DECRYPT : JOB_SIGN;
        (void) snprintf(m.key, sizeof m.key, "%s", c->gpg.key);
        if (decrypt) {
                (void) snprintf(m.what, sizeof m.what, "decryption of %zu bytes", c->gpg.cipher.n);
                buf_add(&bytes, c->gpg.cipher.p, c->gpg.cipher.n);
                put_job(c, "SETKEY", "PKDECRYPT");
        } else {
                (void) snprintf(m.what, sizeof m.what, "signature of the data with hash %s %s",
                                c->gpg.algorithm, c->gpg.hash);
                buf_printf(&bytes, "%s %s %s", c->gpg.key, c->gpg.algorithm, c->gpg.hash);
                put_job(c, "SIGKEY", "PKSIGN");
        }

        if (bytes.failed || c->job.failed)
                c->ends = true;
        else
                ask_gate(s, c, &m, buf_span(&bytes));
}

static void serve_gpg(struct signer *s, struct client *c, struct span line)
{
        const struct assuan_keys keys = { keys_permit_gpg, keys_gpg_at, s };
        const char *what = "";
        switch (assuan_read(&c->gpg, line, &keys, &c->out, &what)) {
        case ASSUAN_ANSWERED:
                break;
        case ASSUAN_BYE:
                c->ends = true;
                break;
        case ASSUAN_SIGN:
                ask_gpg(s, c, false);
                break;
        case ASSUAN_DECRYPT:
                ask_gpg(s, c, true);
                break;
        case ASSUAN_READ_KEY:
                c->kind = JOB_READ_KEY;
                c->job.n = c->job_at = 0;
                buf_printf(&c->job, "RESET\nREADKEY %s\n", c->gpg.key);
                queue_client(s, c);
                break;
        case ASSUAN_DENIED:
                c->kind = strcmp(what, "decrypt with a key") == 0 ? JOB_DECRYPT : JOB_SIGN;
                report_denied(s, c, c->gpg.key, what);
                break;
        }
}

/* ---- whole requests ---- */

/* The first request in `in` and its length; 0: none is whole; -1: it can never be. */
static ptrdiff_t whole_request(const struct client *c, struct span *ret)
{
        struct span in = buf_span(&c->in);
        if (c->agent == SIGNER_SSH) {
                ptrdiff_t n = ssh_message_length(in);
                if (n > 4)
                        *ret = span_of(in.p + 4, (size_t) n - 4);
                return n;
        }

        const uint8_t *end = in.n ? memchr(in.p, '\n', in.n) : NULL;
        if (!end)
                return in.n > ASSUAN_LINE_MAX ? -1 : 0;
        *ret = span_of(in.p, (size_t) (end - in.p));
        return ret->n > ASSUAN_LINE_MAX ? -1 : (ptrdiff_t) ret->n + 1;
}

void client_serve(struct signer *s, struct client *c)
{
        struct span request;
        while (c->state == CLIENT_READS && !c->ends && c->fd >= 0) {
                ptrdiff_t n = whole_request(c, &request);
                if (n < 0)
                        c->ends = true;
                if (n <= 0)
                        return;

                if (c->agent == SIGNER_SSH)
                        serve_ssh(s, c, request);
                else
                        serve_gpg(s, c, request);

                memmove(c->in.p, c->in.p + n, c->in.n - (size_t) n);
                c->in.n -= (size_t) n;
        }
}

void client_answer(struct signer *s, uint32_t number, bool yes)
{
        for (unsigned i = 0; i < CLIENTS_MAX; i++) {
                struct client *c = s->clients[i];
                if (!c || c->state != CLIENT_ASKED || c->number != number)
                        continue;
                if (yes && c->fd >= 0) {
                        queue_client(s, c);
                        return;
                }
                if (yes) {
                        struct signer_message m = { .word = SIGNER_SAYS_RESULT, .number = number };
                        client_report(s, &m);
                }
                client_refuse(c);
                c->state = CLIENT_READS;
                client_serve(s, c);
                return;
        }
}
