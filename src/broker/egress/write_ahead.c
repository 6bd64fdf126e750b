/* SPDX-License-Identifier: MIT */
/* broker/egress/write_ahead.c - see write_ahead.h. An effect is first requested (its flow waits), then open
 * (it may be under way), then over. A broken line to the writer closes every door with consequences, with the
 * reason; the others go on. */
#include "broker/egress/write_ahead.h"
#include "base/fd.h"
#include "base/wire/wire.h"
#include "ledger/ledger.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { PATIENCE_S = 30, COVERS_MAX = 1024, CONNECTS_MAX = 4096 /* that the writer remembers */ };

struct ahead { /* one effect */
        struct ahead *next;
        struct flow *f; /* NULL: gone; its outcome is in q */
        bool open;      /* the intent is durable; else requested */
        uint64_t asked_ns;
        const struct door *door; /* of an opaque connection; NULL: a request */
        struct ledger_ask q;
};

/* A durable intent to connect to one destination through one door. It covers every later connection there in
 * this run, so that only the first waits for the disk; each still has an outcome. */
struct ahead_cover {
        struct ahead_cover *next;
        const struct door *door;
        uint32_t number;
        char target[320];
};

/* ---- how it is written down ---- */

void ahead_url(const struct http_event *e, char *out, size_t cap)
{
        char origin[HTTP_ORIGIN_MAX];
        (void) snprintf(out, cap, "%s%s", http_origin(e->tls, e->host, e->port, origin), e->path);
}

static void target_of(const struct http_event *e, char *out, size_t cap)
{
        char url[288];
        ahead_url(e, url, sizeof url);
        (void) snprintf(out, cap, "%s%s%s", e->method, e->method[0] ? " " : "", url);
}

uint64_t ahead_sent(const struct flow *f)
{
        size_t waiting = f->http ? http_flow_waiting(f->http) : 0;
        return f->sent > waiting ? f->sent - waiting : 0;
}

/* ---- the line ---- */

static void ledger_broke(struct broker *b, const char *why)
{
        broker_forget(&b->ledger_source);
        if (!b->ledger_why[0])
                (void) snprintf(b->ledger_why, sizeof b->ledger_why, "%s", why);
}

/* In order: an outcome never overtakes its intent. */
static void flush_line(struct broker *b)
{
        size_t at = 0;
        for (; at < b->unsent.n && b->ledger_source.fd >= 0; at += sizeof(struct ledger_ask)) {
                if (wire_put(b->ledger_source.fd, &ledger_ask_form, b->unsent.p + at, -1) == 0)
                        continue;
                if (errno == EAGAIN || errno == ENOBUFS)
                        break;
                ledger_broke(b, "the ledger's writer ended");
        }

        if (b->ledger_source.fd < 0)
                at = b->unsent.n;

        if (at > 0)
                memmove(b->unsent.p, b->unsent.p + at, b->unsent.n - at);

        b->unsent.n -= at;
}

static int send_ask(struct broker *b, const struct ledger_ask *q)
{
        buf_add(&b->unsent, q, sizeof *q);
        bool lost = b->unsent.failed;
        b->unsent.failed = false; /* the previous bytes are still whole */
        flush_line(b);
        return lost ? -1 : 0;
}

/* ---- asking ---- */

/* A name is not resolved yet. */
static uint8_t reach_of(const char *host, bool is_address, const struct egress_address *literal)
{
        return (uint8_t) egress_reaches(span_str(host), is_address ? egress_judge(literal) : REACH_UNKNOWN);
}

static const uint8_t stages[] = { [POLICY_STAGE_MOCK] = LEDGER_MOCK,
                                  [POLICY_STAGE_TEST] = LEDGER_TEST,
                                  [POLICY_STAGE_LIVE] = LEDGER_LIVE };
_Static_assert(sizeof stages == POLICY_STAGE__COUNT, "a word for each stage");

static bool is_consequential(const struct ledger_ask *q)
{
        struct ledger_record r = ledger_record_of((enum ledger_kind) q->kind, LEDGER_INTENT);
        r.reach = (enum ledger_reach) q->reach;
        r.stage = (enum ledger_stage) q->stage;
        r.writes = q->writes;
        r.touches = q->touches;
        r.phase = q->credential[0] ? LEDGER_CREDENTIALED : LEDGER_INTENT;
        return ledger_consequential(&r);
}

/* The reach that the policy gives the door. It can only widen the reach of an address, never narrow it. */
static void take_word(const struct door *d, struct ledger_ask *q)
{
        if (!d)
                return;
        q->touches = d->net.touches;
        if (d->net.reach && d->net.reach - 1 > q->reach)
                q->reach = (uint8_t) (d->net.reach - 1);
}
_Static_assert(NET_REACH_SELF - 1 == (int) LEDGER_REACH_SELF &&
                       NET_REACH_PUBLIC - 1 == (int) LEDGER_REACH_PUBLIC,
               "the policy's words and the ledger's");
_Static_assert((int) NET_TOUCH_PERSON == (int) LEDGER_TOUCH_PERSON &&
                       (int) NET_TOUCH__COUNT == (int) LEDGER_TOUCH__COUNT,
               "the policy's words and the ledger's");

static void name_door(const struct door *d, struct ledger_ask *q)
{
        AUTO_BUF(line);
        if (d)
                policy_door_line(d, &line);
        (void) snprintf(q->door, sizeof q->door, "%s", buf_str(&line));
}

/* Most runs have many requests and few intents: its texts are made only on demand. */
static bool is_asked_for(const struct broker *b, struct ledger_ask *q)
{
        q->stage = stages[b->stage];
        if (!b->ledger_on || !is_consequential(q))
                return false;

        char labels[LABEL_TEXT_MAX];
        (void) snprintf(q->labels, sizeof q->labels, "%s", label_text(&b->label, labels));
        return true;
}

static enum http_leave ask_ledger(struct flow *f, struct ledger_ask *q, const char **ret_detail)
{
        struct broker *b = f->b;
        *ret_detail = b->ledger_why;
        if (b->ledger_why[0])
                return HTTP_STAYS;

        struct ahead *a = malloc(sizeof *a);
        q->number = b->ahead_number + 1;
        q->after = b->ahead_after;
        if (!a || send_ask(b, q) < 0) {
                free(a);
                *ret_detail = "no memory";
                return HTTP_STAYS;
        }

        b->ahead_number++;
        *a = (struct ahead){ b->aheads, f, false, b->now_ns, NULL, *q };
        b->aheads = a;
        b->aheads_waiting++;
        f->ahead = a;
        return HTTP_WAITS;
}

static bool only_asks(const char *method)
{
        return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
}

enum http_leave ahead_request(struct flow *f, const struct http_event *e, const char **ret_detail)
{
        if (!f->b->ledger_on)
                return HTTP_LEAVES;

        struct ledger_ask q = { .kind = LEDGER_REQUEST, .writes = e->websocket || !only_asks(e->method) };
        struct egress_address literal = { .v6 = strchr(e->to_host, ':') != NULL };
        bool known = e->to_is_address &&
                     inet_pton(literal.v6 ? AF_INET6 : AF_INET, e->to_host, literal.bytes) == 1;
        q.reach = reach_of(e->to_host, known, &literal);
        take_word(e->door, &q);
        if (e->credential)
                (void) snprintf(q.credential, sizeof q.credential, "%s", e->credential);

        if (!is_asked_for(f->b, &q))
                return HTTP_LEAVES;

        name_door(e->door, &q);
        target_of(e, q.target, sizeof q.target);

        /* The box has no secret to put there; should it have found one, it is not written down. */
        if (http_rules_hold_secret(f->b->rules, q.target))
                (void) snprintf(q.target, sizeof q.target, "%s (a secret stood here)", e->host);

        return ask_ledger(f, &q, ret_detail);
}

/* ---- outcomes ---- */

static void take_out(struct broker *b, struct ahead *a)
{
        struct ahead **at = &b->aheads;
        while (*at != a)
                at = &(*at)->next;
        *at = a->next;
        b->aheads_waiting -= !a->open;
        free(a);
}

static void send_outcome(struct broker *b, struct ahead *a)
{
        a->q.outcome = 1;
        if (a->q.under)
                a->q.number = ++b->covered_number;
        if (send_ask(b, &a->q) == 0 && !a->q.under && a->q.number > b->ahead_after)
                b->ahead_after = a->q.number;
        take_out(b, a);
}

bool ahead_over(struct flow *f, enum ledger_end end, const char *result, const struct http_event *e)
{
        struct ahead *a = f->ahead;
        struct broker *b = f->b;
        bool left = !f->http || http_flow_has_left(f->http);
        uint64_t sent_now = ahead_sent(f), sent = left ? sent_now - f->sent_told : 0,
                 received = f->received - f->received_told;

        f->sent_told = sent_now;
        f->received_told = f->received;
        f->sent_last = sent;
        f->received_last = received;
        if (!a)
                return false;

        f->ahead = NULL;
        a->f = NULL;
        (void) snprintf(a->q.result, sizeof a->q.result, "%s%s", a->open ? "" : "kept inside: ", result);
        a->q.end = (uint8_t) (a->open ? end : LEDGER_END_REFUSED);
        if (!a->open)
                return true; /* the answer to its intent is still to come */

        if (a->q.end == LEDGER_END_REFUSED) /* nothing of it left */
                sent = 0;

        a->q.sent = sent;
        a->q.received = received;
        a->q.status = e ? e->status : 0;
        if (f->seen)
                (void) snprintf(a->q.seen, sizeof a->q.seen, "%s", egress_seen_name(f->seen));

        (void) snprintf(a->q.address, sizeof a->q.address, "%s", f->address);
        if (f->row) {
                f->row->told++;
                f->row->told_bytes += sent + received;
                accounting_touch(b, f->row);
        }

        send_outcome(b, a);
        return true;
}

/* ---- answers ---- */

static const struct ahead_cover *find_cover(const struct broker *b, const struct flow *f)
{
        const struct ahead_cover *c = b->covers;
        while (c && (c->door != f->door || strcmp(c->target, f->row_to) != 0))
                c = c->next;
        return c;
}

static void add_cover(struct broker *b, const struct ahead *a)
{
        struct ahead_cover *c = NULL;
        if (a->door && b->cover_count < COVERS_MAX && b->connects_asked <= CONNECTS_MAX)
                c = malloc(sizeof *c);

        if (!c)
                return; /* the next one asks again */

        *c = (struct ahead_cover){ .next = b->covers, .door = a->door, .number = a->q.number };
        memcpy(c->target, a->q.target, sizeof c->target);
        b->covers = c;
        b->cover_count++;
}

/* The waiting flow is notified when the broker polls: flow_recorded(). */
static void answer_ahead(struct broker *b, struct ahead *a, bool leaves, const char *detail)
{
        struct flow *f = a->f;
        if (leaves) {
                b->aheads_waiting--;
                a->open = true;
                add_cover(b, a);
                if (!f)
                        send_outcome(b, a); /* no flow waits for it now */
        } else {
                take_out(b, a);
                if (f)
                        f->ahead = NULL;
        }

        if (!f)
                return;

        broker_recorded(f, leaves, REASON_LEDGER, detail);
}

static void refuse_waiting(struct broker *b, const char *detail)
{
        for (;;) { /* from the start each time: an answer takes it out */
                struct ahead *a = b->aheads;
                while (a && a->open)
                        a = a->next;
                if (!a)
                        return;
                answer_ahead(b, a, false, detail);
        }
}

static void take_answer(struct broker *b, struct ledger_answer *m)
{
        m->why[sizeof m->why - 1] = '\0';
        if (m->number == 0) {
                ledger_broke(b, m->why);
                return;
        }

        for (struct ahead *a = b->aheads; a; a = a->next)
                if (a->q.number == m->number && !a->open) {
                        answer_ahead(b, a, m->leave, m->why);
                        return;
                }
}

void ahead_serve(struct broker *b)
{
        struct ledger_answer m;
        flush_line(b);
        while (b->ledger_source.fd >= 0) {
                int r = wire_take(b->ledger_source.fd, &ledger_answer_form, &m, NULL);
                if (r < 0 && (errno == EAGAIN || errno == EINTR))
                        break;
                if (r == 1)
                        take_answer(b, &m);
                else
                        ledger_broke(b, "the ledger's writer ended");
        }

        if (b->ledger_why[0])
                refuse_waiting(b, b->ledger_why);
}

/* A disk that does not answer must not block a flow for ever. */
void ahead_tick(struct broker *b)
{
        flush_line(b);
        if (b->ledger_why[0])
                refuse_waiting(b, b->ledger_why);

        for (struct ahead *a = b->aheads; a; a = a->next)
                if (!a->open && b->now_ns - a->asked_ns > PATIENCE_S * UINT64_C(1000000000)) {
                        ledger_broke(b, "the ledger does not answer");
                        refuse_waiting(b, b->ledger_why);
                        return;
                }
}

/* ---- opaque connections ---- */

static enum http_leave ask_to_connect(struct flow *f, struct ledger_ask *q, const char **ret_detail)
{
        struct broker *b = f->b;
        const struct ahead_cover *c = b->ledger_why[0] ? NULL : find_cover(b, f);
        struct ahead *a = c ? malloc(sizeof *a) : NULL;
        if (!a) {
                enum http_leave r = ask_ledger(f, q, ret_detail);
                if (r == HTTP_WAITS)
                        f->ahead->door = f->door;
                b->connects_asked++;
                return r;
        }

        q->under = c->number;
        *a = (struct ahead){ b->aheads, f, true, b->now_ns, f->door, *q };
        b->aheads = a;
        f->ahead = a;
        return HTTP_LEAVES;
}

enum http_leave ahead_connect(struct flow *f, const char **ret_detail)
{
        struct ledger_ask q = { .kind = LEDGER_NET };
        q.reach = reach_of(f->to_host, f->to_is_address, &f->literal);
        take_word(f->door, &q);
        (void) snprintf(q.target, sizeof q.target, "%s", f->row_to);
        name_door(f->door, &q);
        return is_asked_for(f->b, &q) ? ask_to_connect(f, &q, ret_detail) : HTTP_LEAVES;
}

void ahead_last_words(struct broker *b)
{
        for (struct flow *f = b->flows; f; f = f->next)
                (void) ahead_over(f, LEDGER_END_CUT, effect_reason_text(REASON_BOX_ENDED), NULL);

        for (struct ahead *a = b->aheads; a; a = a->next) { /* requested, and never sent */
                a->q.outcome = 1;
                a->q.end = LEDGER_END_REFUSED;
                (void) send_ask(b, &a->q);
        }

        flush_line(b);
}
