/* SPDX-License-Identifier: MIT */
/* broker/egress/held.c - describes an effect exactly, holds it, and lets it go when the keeper brings the
 * approval of that description. Decides nothing: the keeper counts the answers of persons. */
#include "broker/egress/held.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/wire/wire.h"
#include "broker/egress/broker_labels.h"
#include "broker/egress/write_ahead.h"
#include "effect/gate/gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct held {
        struct held *next;
        struct flow *f; /* NULL: withdrawn or over */
        uint32_t number;
        int64_t expires_s;
        char id[GATE_ID];
        struct buf text; /* for the keeper */
        size_t sent;     /* of it */
        uint32_t last;   /* enum egress_held_word, when it is over */
};

/* ---- the description ---- */

struct words { /* the texts of an envelope */
        char place[320], to[320], length[24], expires[24], nonce[104], body[72], headers[72];
        char labels[LABEL_TEXT_MAX];
        struct buf door, query;
};

static void words_done(struct words *w)
{
        buf_done(&w->door);
        buf_done(&w->query);
}

static void digest_of(struct span bytes, char ret[72])
{
        memcpy(ret, "sha256:", sizeof "sha256:");
        sha256_hex(bytes, ret + strlen("sha256:"));
}

static void put_common(const struct flow *f, const struct held *h, const struct door *d, struct words *w,
                       struct gate_envelope *e)
{
        const struct broker *b = f->b;
        policy_door_line(d, &w->door);
        (void) snprintf(w->expires, sizeof w->expires, "%lld", (long long) h->expires_s);
        (void) snprintf(w->nonce, sizeof w->nonce, "%s.%u", b->run, h->number);
        e->field[GATE_BOX] = policy_box(b->policy);
        e->field[GATE_DOOR] = buf_str(&w->door);
        e->field[GATE_EXPIRES] = w->expires;
        e->field[GATE_LABELS] = label_text(&b->label, w->labels);
        e->field[GATE_NONCE] = w->nonce;
        e->field[GATE_POLICY] = policy_digest(b->policy);
        e->field[GATE_RUN] = b->run;
        e->field[GATE_STAGE] = policy_stage_name(b->stage);
        e->field[GATE_TENANT] = b->tenant;
        e->field[GATE_VERSION] = "1";
}

/* A name is not resolved before it may leave: its address is guarded afterwards. */
static const char *reach_of(const char *host, bool is_address)
{
        struct egress_address a = { .v6 = strchr(host, ':') != NULL };
        bool known = is_address && inet_pton(a.v6 ? AF_INET6 : AF_INET, host, a.bytes) == 1;
        return ledger_reach_name(egress_reaches(span_str(host), known ? egress_judge(&a) : REACH_UNKNOWN));
}

static void describe_request(const struct http_event *q, struct words *w, struct gate_envelope *e)
{
        (void) snprintf(w->place, sizeof w->place, "%s://%s:%u", q->tls ? "https" : "http", q->host, q->port);
        (void) snprintf(w->to, sizeof w->to, "%s:%u", q->to_host, q->to_port);
        (void) snprintf(w->length, sizeof w->length, "%zu", q->body.n);
        digest_of(q->body, w->body);
        http_fields_digest(q->head, w->headers);
        if (q->query.n)
                buf_add(&w->query, q->query.p, q->query.n);

        e->field[GATE_KIND] = q->websocket ? "websocket" : "request";
        e->field[GATE_METHOD] = q->method;
        e->field[GATE_PLACE] = w->place;
        e->field[GATE_TO] = w->to;
        e->field[GATE_PATH] = q->path;
        e->field[GATE_QUERY] = buf_str(&w->query);
        e->field[GATE_HEADERS] = w->headers;
        e->field[GATE_BODY] = w->body;
        e->field[GATE_LENGTH] = w->length;
        e->field[GATE_CREDENTIAL] = q->credential;
        e->field[GATE_REACH] = reach_of(q->to_host, q->to_is_address);
}

static void describe_connection(const struct flow *f, struct words *w, struct gate_envelope *e)
{
        (void) snprintf(w->to, sizeof w->to, "%s:%u", f->to_host, f->to_port);
        e->field[GATE_KIND] = "connection";
        e->field[GATE_PLACE] = f->row_to;
        e->field[GATE_TO] = w->to;
        e->field[GATE_REACH] = reach_of(f->to_host, f->to_is_address);
}

/* The envelope of what would leave now. `q` NULL: a connection. Returns 0 or -1: it cannot be described. */
static int describe_held(const struct flow *f, const struct held *h, const struct http_event *q,
                         struct buf *out)
{
        struct words w = { 0 };
        struct gate_envelope e = { 0 };
        put_common(f, h, q ? q->door : f->door, &w, &e);
        if (q)
                describe_request(q, &w, &e);
        else
                describe_connection(f, &w, &e);

        bool exact = strlen(buf_str(&w.query)) == w.query.n; /* no NUL in it */
        int r = exact && !w.door.failed && !w.query.failed ? gate_envelope_json(&e, out) : -1;
        words_done(&w);
        return r;
}

/* ---- what a person is shown ---- */

/* Every line by itself, so that no byte of the box moves the cursor or hides another. */
static void show_lines(struct span text, const char *indent, struct buf *out)
{
        enum { LINE_MAX_BYTES = 4096 };
        char *line = malloc(4 * LINE_MAX_BYTES + 16);
        for (size_t at = 0; line && at < text.n;) {
                const uint8_t *end = memchr(text.p + at, '\n', text.n - at);
                size_t n = end ? (size_t) (end - text.p) - at : text.n - at, cr;
                bool cut = n > LINE_MAX_BYTES;
                n = cut ? LINE_MAX_BYTES : n;
                cr = end && !cut && n > 0 && text.p[at + n - 1] == '\r';
                buf_printf(out, "%s%s\n", indent,
                           str_inert(span_of(text.p + at, n - cr), line, 4 * LINE_MAX_BYTES + 16));
                at += n + !cut;
        }

        out->failed = out->failed || !line;
        free(line);
}

/* As the server will read it. */
static int show_body(const struct http_event *q, struct buf *out)
{
        AUTO_BUF(unpacked);
        int packed = q->body.n ? http_shown_body(q->head, q->body, &unpacked) : 0;
        if (q->body.n)
                buf_printf(out, "body, %zu bytes", q->body.n);
        if (packed > 0)
                buf_printf(out, ", which are %zu when they are unpacked", unpacked.n);
        if (q->body.n)
                buf_puts(out, ":\n");
        if (packed >= 0)
                show_lines(packed ? buf_span(&unpacked) : q->body, "  ", out);
        return packed < 0 || unpacked.failed ? -1 : 0;
}

static int show_request(const struct http_event *q, struct buf *out)
{
        char url[288];
        ahead_url(q, url, sizeof url);
        buf_printf(out, "%s %s%s", q->method, url, q->query.n ? "?" : "");
        show_lines(q->query, "", out);
        if (!q->query.n)
                buf_putc(out, '\n');

        if (q->credential)
                buf_printf(out, "with the credential \"%s\", which the box does not know\n", q->credential);

        if (strcmp(q->host, q->to_host) != 0 || q->port != q->to_port)
                buf_printf(out, "it goes to %s, port %u\n", q->to_host, q->to_port);

        const uint8_t *first = memchr(q->head.p, '\n', q->head.n);
        if (first)
                show_lines(span_of(first + 1, q->head.n - (size_t) (first + 1 - q->head.p)), "  ", out);

        return show_body(q, out);
}

/* ---- the line ---- */

int held_take_line(struct broker *b, int fd)
{
        struct egress_gate_answer run, tenant;
        if (wire_take(fd, &egress_gate_answer_form, &run, NULL) != 1 || run.number != 0 ||
            wire_take(fd, &egress_gate_answer_form, &tenant, NULL) != 1 || tenant.number != 0)
                return -1;

        (void) snprintf(b->run, sizeof b->run, "%.79s", run.id);
        (void) snprintf(b->tenant, sizeof b->tenant, "%.79s", tenant.id);
        return broker_keep_line(&b->gate_source, SOURCE_GATE, fd);
}

static bool is_there(const struct broker *b) { return b->gate_source.fd >= 0; }

static int send_part(struct broker *b, struct held *h)
{
        size_t n = h->text.n - h->sent, most = EGRESS_HELD_TEXT - 1;
        struct egress_held m = { .number = h->number,
                                 .word = n <= most ? EGRESS_HELD_LAST : EGRESS_HELD_PART,
                                 .group = h->f ? h->f->group : 0 };
        n = n < most ? n : most;
        memcpy(m.text, h->text.p + h->sent, n);
        if (wire_put(b->gate_source.fd, &egress_held_form, &m, -1) < 0)
                return -1;

        h->sent += n;
        return 0;
}

static int send_last(struct broker *b, const struct held *h)
{
        struct egress_held m = { .number = h->number, .word = h->last };
        return wire_put(b->gate_source.fd, &egress_held_form, &m, -1);
}

static void drop_held(struct broker *b, struct held **at)
{
        struct held *h = *at;
        *at = h->next;
        b->held_count--;
        buf_done(&h->text);
        free(h);
}

/* As much as the keeper takes now; the rest when it does. */
static void flush_held(struct broker *b)
{
        for (struct held **at = &b->helds; *at && is_there(b);) {
                struct held *h = *at;
                while (h->sent < h->text.n)
                        if (send_part(b, h) < 0)
                                return;

                if (!h->last) {
                        at = &h->next;
                        continue;
                }
                if (send_last(b, h) < 0)
                        return;
                drop_held(b, at);
        }
}

/* ---- holding ---- */

static enum http_leave stay_held(enum effect_reason why, enum effect_reason *ret_why)
{
        *ret_why = why;
        return HTTP_STAYS;
}

static struct held *held_new(struct flow *f, const struct door *d)
{
        struct broker *b = f->b;
        struct held *h = calloc(1, sizeof *h), **at = &b->helds;
        if (!h)
                return NULL;

        while (*at)
                at = &(*at)->next;

        *h = (struct held){ .f = f,
                            .number = ++b->held_number,
                            .expires_s = b->now_s + policy_ask_within_s(d) };
        *at = h;
        b->held_count++;
        return h;
}

/* The reason is ours, and stands last: the first line is the effect. */
static void show_label(struct broker *b, enum effect_reason why, struct buf *out)
{
        if (label_is_empty(&b->label))
                return;
        buf_printf(out, "%s%slabels of the run: %s\n", effect_reason_text(why), why ? "\n" : "",
                   labels_detail(b));
}

static enum http_leave hold_request(struct flow *f, const struct http_event *q, enum effect_reason asked_for,
                                    enum effect_reason *ret_why)
{
        struct broker *b = f->b;
        if (!is_there(b))
                return stay_held(REASON_GATE_GONE, ret_why);

        if (b->held_count >= EGRESS_HELD_MAX)
                return stay_held(REASON_GATE_FULL, ret_why);

        struct held *h = held_new(f, q ? q->door : f->door);
        if (!h)
                return stay_held(REASON_NO_MEMORY, ret_why);

        bool exact = describe_held(f, h, q, &h->text) == 0;
        gate_effect_id(buf_span(&h->text), h->id);
        buf_putc(&h->text, '\n');
        if (q)
                exact = show_request(q, &h->text) == 0 && exact;
        else
                buf_printf(&h->text, "connect to %s; the bytes that follow are not shown\n", f->row_to);

        show_label(b, asked_for, &h->text);

        if (!exact || h->text.failed || strlen(buf_str(&h->text)) != h->text.n) {
                h->last = EGRESS_HELD_WITHDRAWN;
                h->text.n = 0;
                flush_held(b);
                return stay_held(REASON_GATE_UNCLEAR, ret_why);
        }

        f->held = h;
        flush_held(b);
        return HTTP_WAITS;
}

enum http_leave held_connect(struct flow *f, enum effect_reason asked_for, enum effect_reason *ret_why)
{
        return hold_request(f, NULL, asked_for, ret_why);
}

enum http_leave held_request(struct flow *f, const struct http_event *e, enum effect_reason asked_for,
                             enum effect_reason *ret_why)
{
        return e->whole ? hold_request(f, e, asked_for, ret_why) : stay_held(REASON_GATE_TOO_LONG, ret_why);
}

static void end_held(struct held *h, uint32_t word)
{
        if (h->f)
                h->f->held = NULL;
        h->f = NULL;
        h->last = word;
}

void held_withdraw(struct flow *f)
{
        if (!f->held)
                return;
        end_held(f->held, EGRESS_HELD_WITHDRAWN);
        flush_held(f->b);
}

/* ---- answers ---- */

/* Is what would leave now still what was approved? */
static bool is_approved(const struct held *h, const char *id)
{
        AUTO_BUF(now);
        char now_id[GATE_ID];
        struct http_event q;
        struct flow *f = h->f;
        if (f->http && !http_flow_leaving(f->http, &q))
                return false;

        if (decide_closed(f->b, f->http ? q.door : f->door) ||
            describe_held(f, h, f->http ? &q : NULL, &now) < 0)
                return false;

        gate_effect_id(buf_span(&now), now_id);
        return strcmp(now_id, h->id) == 0 && strcmp(now_id, id) == 0;
}

static void let_go(struct flow *f)
{
        labels_approved(f);
        struct http_event q;
        const char *detail = "";
        bool is_request = f->http && http_flow_leaving(f->http, &q);
        enum http_leave r = is_request ? ahead_request(f, &q, &detail) : ahead_connect(f, &detail);
        if (r != HTTP_WAITS)
                broker_recorded(f, r == HTTP_LEAVES, REASON_LEDGER, detail);
}

static void take_answer(struct broker *b, const struct egress_gate_answer *m)
{
        struct held *h = b->helds;
        while (h && (h->number != m->number || !h->f))
                h = h->next;

        if (!h)
                return; /* withdrawn meanwhile */

        struct flow *f = h->f;
        bool good = m->yes && is_approved(h, m->id);
        end_held(h, good ? EGRESS_HELD_CONSUMED : m->yes ? EGRESS_HELD_DRIFTED : EGRESS_HELD_WITHDRAWN);
        if (good)
                let_go(f);
        else
                broker_recorded(f, false, m->yes ? REASON_GATE_DRIFTED : (enum effect_reason) m->reason, "");
}

static void refuse_all(struct broker *b)
{
        for (struct held *h = b->helds; h; h = h->next) {
                struct flow *f = h->f;
                end_held(h, EGRESS_HELD_WITHDRAWN);
                if (f)
                        broker_recorded(f, false, REASON_GATE_GONE, "");
        }
}

void held_serve(struct broker *b)
{
        struct egress_gate_answer m;
        flush_held(b);
        while (is_there(b)) {
                int r = wire_take(b->gate_source.fd, &egress_gate_answer_form, &m, NULL);
                if (r < 0 && (errno == EAGAIN || errno == EINTR))
                        break;
                if (r == 1) {
                        take_answer(b, &m);
                        continue;
                }
                broker_forget(&b->gate_source);
                refuse_all(b);
        }

        flush_held(b);
}
