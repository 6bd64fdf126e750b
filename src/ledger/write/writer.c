/* SPDX-License-Identifier: MIT */
/* ledger/write/writer.c - cordon-ledger write: makes intents durable for one run's broker, and records its
 * outcomes. All pending requests are written and flushed together, so that many concurrent effects cost one
 * flush.
 *
 * The broker parses hostile input. It can name only effects of its own run: numbers only increase, an
 * outcome needs an open intent, text is made inert. Ends with the broker; an intent without outcome remains
 * unknown.
 */
#include "base/fd.h"
#include "base/str.h"
#include "base/wire/wire.h"
#include "ledger/write/sealer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 64, OPEN_MAX_EFFECTS = 4096, LAST_WAIT_MS = 2000 };

struct writer {
        int dir, line;
        const char *run, *box;
        struct ledger *l; /* NULL: not open */
        uint32_t last;    /* the greatest number requested */
        uint32_t open[OPEN_MAX_EFFECTS + BATCH];
        unsigned open_count;
        uint32_t shared[OPEN_MAX_EFFECTS]; /* intents of connections: they cover later ones */
        unsigned shared_count;
        uint32_t covered; /* the greatest number of an outcome under one of them */
        char causes[LEDGER_CAUSES_MAX][LEDGER_ID_MAX]; /* of intents, as the keeper last told them */
        unsigned cause_count;
        int told; /* the keeper's line; -1: it is over */
        struct ledger_ask asked[BATCH];
        unsigned asked_count;
};

/* Truncates, terminates and neutralizes a request. Returns 0, or -1 if no honest broker would send it. */
static int clean_ask(struct ledger_ask *q)
{
        struct {
                char *p;
                size_t cap;
        } texts[] = { { q->target, sizeof q->target },         { q->door, sizeof q->door },
                      { q->credential, sizeof q->credential }, { q->result, sizeof q->result },
                      { q->address, sizeof q->address },       { q->seen, sizeof q->seen },
                      { q->labels, sizeof q->labels } };

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                char copy[320];
                size_t n = strnlen(texts[i].p, texts[i].cap);
                memcpy(copy, texts[i].p, n);
                (void) str_inert(span_of(copy, n), texts[i].p, texts[i].cap);
        }

        bool known = q->reach < LEDGER_REACH__COUNT && q->stage < LEDGER_STAGE__COUNT &&
                     q->touches < 1u << LEDGER_TOUCH__COUNT && q->end < LEDGER_END__COUNT;
        return known && (q->kind == LEDGER_NET || q->kind == LEDGER_REQUEST) ? 0 : -1;
}

static struct ledger_record record_of(const struct ledger_ask *q, enum ledger_phase phase, const char *start)
{
        struct ledger_record r = ledger_record_of((enum ledger_kind) q->kind, phase);
        r.reach = (enum ledger_reach) q->reach;
        r.stage = (enum ledger_stage) q->stage;
        r.writes = q->writes;
        r.touches = q->touches;
        r.target = q->target;
        r.parents[r.parent_count++] = start;
        ledger_more_text(&r, "labels", q->labels);
        return r;
}

static int add_record(struct writer *w, struct ledger_record *r, char what, uint32_t number, struct err *e)
{
        char name[16];
        (void) snprintf(name, sizeof name, "%c%u", what, number);
        r->name = name;
        r->box = w->box;
        return ledger_append(w->l, r, false, NULL, e);
}

/* ---- causes ---- */

static void take_causes(struct writer *w, const char *ids)
{
        struct span rest = span_str(ids), id;
        w->cause_count = 0;
        while (w->cause_count < LEDGER_CAUSES_MAX && (id = str_word(&rest)).n > 0)
                (void) snprintf(w->causes[w->cause_count++], LEDGER_ID_MAX, "%.*s", (int) id.n, id.p);
}

/* The keeper tells them before the box gets what they name: so they are here before the request. */
static void hear_causes(struct writer *w)
{
        struct ledger_causes c;
        struct pollfd p = { .fd = w->told, .events = POLLIN };
        while (w->told >= 0 && poll(&p, 1, 0) > 0) {
                if (wire_take(w->told, &ledger_causes_form, &c, NULL) == 1)
                        take_causes(w, c.ids);
                else
                        w->told = -1;
        }
}

static void add_causes(const struct writer *w, struct ledger_record *r)
{
        for (unsigned i = 0; i < w->cause_count && r->parent_count < LEDGER_PARENTS_MAX; i++)
                r->parents[r->parent_count++] = w->causes[i];
}

/* ---- intents ---- */

static int add_intent(struct writer *w, const struct ledger_ask *q, struct err *e)
{
        char start[LEDGER_ID_MAX], used[LEDGER_ID_MAX], before[LEDGER_ID_MAX];
        (void) snprintf(start, sizeof start, "%s.start", w->run);
        struct ledger_record r = record_of(q, LEDGER_INTENT, start);
        r.door = q->door;
        if (q->credential[0]) {
                struct ledger_record c = ledger_record_of(LEDGER_CREDENTIAL, LEDGER_CREDENTIALED);
                c.target = q->credential;
                c.door = q->door;
                c.stage = r.stage;
                c.result = "put into a request";
                c.parents[c.parent_count++] = start;
                add_causes(w, &c);
                if (add_record(w, &c, 'c', q->number, e) < 0)
                        return -1;
                ledger_effect_id(w->run, 'c', q->number, used);
                r.parents[r.parent_count++] = used;
        }

        if (q->after > 0 && q->after <= w->last) {
                ledger_effect_id(w->run, 'r', q->after, before);
                r.parents[r.parent_count++] = before;
        }

        add_causes(w, &r);
        return add_record(w, &r, 'q', q->number, e);
}

static void answer_ask(struct writer *w, uint32_t number, const struct err *why)
{
        struct ledger_answer a = { .number = number, .leave = why == NULL };
        if (why)
                (void) snprintf(a.why, sizeof a.why, "%.190s", why->what);
        (void) wire_put(w->line, &ledger_answer_form, &a, -1); /* closed: the next poll reports it */
}

static bool may_begin(struct writer *w, const struct ledger_ask *q)
{
        if (q->outcome || q->number <= w->last || w->open_count >= OPEN_MAX_EFFECTS)
                return false;
        w->last = q->number;
        return true;
}

/* ---- outcomes ---- */

static bool close_open(struct writer *w, uint32_t number)
{
        for (unsigned i = 0; i < w->open_count; i++)
                if (w->open[i] == number) {
                        w->open[i] = w->open[--w->open_count];
                        return true;
                }
        return false;
}

static bool is_covered(struct writer *w, const struct ledger_ask *q)
{
        for (unsigned i = 0; i < w->shared_count && q->number > w->covered; i++)
                if (w->shared[i] == q->under) {
                        w->covered = q->number;
                        return true;
                }
        return false;
}

static void add_outcome(struct writer *w, struct ledger_ask *q)
{
        char intent[LEDGER_ID_MAX];
        struct err ignored; /* it stays buffered and is retried */
        if (!q->outcome || !w->l || !(q->under ? is_covered(w, q) : close_open(w, q->number)))
                return;

        ledger_effect_id(w->run, 'q', q->under ? q->under : q->number, intent);
        struct ledger_record r = record_of(q, LEDGER_OUTCOME, intent);
        r.result = q->result;
        r.bytes = (int64_t) (q->sent + q->received);
        ledger_more_number(&r, "sent", (int64_t) q->sent);
        ledger_more_number(&r, "received", (int64_t) q->received);
        if (q->status)
                ledger_more_number(&r, "status", q->status);

        if (q->end != LEDGER_END_DONE)
                ledger_more_text(&r, "end", ledger_end_name((enum ledger_end) q->end));

        if (q->address[0])
                ledger_more_text(&r, "address", q->address);

        ledger_more_text(&r, "seen", q->seen);
        (void) add_record(w, &r, q->under ? 'n' : 'r', q->number, &ignored);
        q->number = 0; /* reported */
}

static void add_outcomes(struct writer *w)
{
        for (unsigned i = 0; i < w->asked_count; i++)
                add_outcome(w, &w->asked[i]);
}

/* ---- a round ---- */

static int open_ledger(struct writer *w, struct err *e)
{
        if (!w->l && w->dir >= 0)
                w->l = ledger_open_at(w->dir, w->run, "", e);
        else if (!w->l)
                return err_set(e, ERR_IO, ENOENT,
                               "the ledger cannot be written: its directory cannot be opened");
        return w->l ? 0 : -1;
}

/* Records that an intent, which is in the file and perhaps on the disk, was denied. */
static void take_back(struct writer *w, const uint32_t *numbers, unsigned count)
{
        for (unsigned i = 0; i < count && ledger_unsure(w->l); i++) {
                struct ledger_ask q = {
                        .number = numbers[i], .kind = LEDGER_REQUEST, .outcome = 1, .end = LEDGER_END_REFUSED
                };
                (void) snprintf(q.result, sizeof q.result,
                                "kept inside: its intent is not known to be durable");
                w->open[w->open_count++] = q.number;
                add_outcome(w, &q);
        }
}

static void begin_all(struct writer *w)
{
        uint32_t numbers[BATCH];
        bool connects[BATCH];
        unsigned count = 0;
        struct err e;
        bool bad = open_ledger(w, &e) < 0;
        size_t mark = bad ? 0 : ledger_mark(w->l);

        for (unsigned i = 0; i < w->asked_count; i++) {
                if (!may_begin(w, &w->asked[i]))
                        continue;
                connects[count] = w->asked[i].kind == LEDGER_NET;
                numbers[count++] = w->asked[i].number;
                bad = bad || add_intent(w, &w->asked[i], &e) < 0;
        }

        if (count == 0)
                return;

        if (bad && w->l) /* an intent without an answer would look like an effect that may have left */
                ledger_forget(w->l, mark);

        bad = bad || ledger_commit(w->l, mark, &e) < 0;
        for (unsigned i = 0; i < count; i++) {
                if (!bad)
                        w->open[w->open_count++] = numbers[i];
                if (!bad && connects[i] && w->shared_count < OPEN_MAX_EFFECTS)
                        w->shared[w->shared_count++] = numbers[i];
                answer_ask(w, numbers[i], bad ? &e : NULL);
        }

        if (bad && w->l)
                take_back(w, numbers, count);
}

/* Receives all pending requests, up to a batch; -1 if the broker is gone. */
static int gather_asks(struct writer *w)
{
        int r = 1;
        for (w->asked_count = 0; w->asked_count < BATCH;) {
                struct ledger_ask *q = &w->asked[w->asked_count];
                struct pollfd p = { .fd = w->line, .events = POLLIN };
                if (w->asked_count > 0 && poll(&p, 1, 0) <= 0)
                        break;
                r = wire_take(w->line, &ledger_ask_form, q, NULL);
                if (r != 1)
                        break;
                if (clean_ask(q) == 0)
                        w->asked_count++;
        }

        return r == 1 ? 0 : -1;
}

static int serve_asks(struct writer *w)
{
        struct pollfd p[] = { { .fd = w->line, .events = POLLIN }, { .fd = w->told, .events = POLLIN } };
        int n = poll(p, 2, w->l && ledger_waits(w->l) ? LEDGER_COMMIT_MS / 2 : -1);
        int r = 0;

        if (n < 0 && errno != EINTR)
                return -1;

        w->asked_count = 0;
        if (n > 0 && p[0].revents)
                r = gather_asks(w);

        hear_causes(w);  /* what was told before it was asked */
        add_outcomes(w); /* first: they may be causes of the intents */
        begin_all(w);
        add_outcomes(w); /* outcomes of those that failed at once */
        if (w->l)
                ledger_tick(w->l);

        return r;
}

int writer_run(int dir, const char *run, const char *box)
{
        static struct writer w;
        struct err ignored;
        w = (struct writer){
                .dir = dir, .line = LEDGER_LINE, .told = LEDGER_CAUSES_LINE, .run = run, .box = box
        };
        while (serve_asks(&w) == 0)
                ;

        if (w.l)
                (void) ledger_flush(w.l, LAST_WAIT_MS, &ignored);

        ledger_close(w.l);
        return 0;
}
