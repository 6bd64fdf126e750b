/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/desk.c - the held effects of one box: takes them, applies the answers that gate/ accepts,
 * tells the holder, and records each transition before it has an effect. Never approves by itself: without a
 * person, or an approval that a person left for like effects, all ends denied. */
#include "base/fd.h"
#include "base/str.h"
#include "base/wire/wire.h"
#include "broker/egress/egress.h"
#include "run/keeper/gates/decisions.h"
#include "run/keeper/gates/gates.h"
#include "run/keeper/run_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MAX = 1 << 20, LATE_MS = 60000, NONCE_MAX = 104 };

int64_t desk_now_ms(void)
{
        struct timespec t;
        (void) clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t) t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void desk_door(const struct box *b, const struct desk_item *it, struct buf *out)
{
        const struct policy_limits *l = policy_limits(b->c.policy);
        if (it->source != DESK_RENEW) {
                policy_door_line(it->door, out);
                return;
        }

        policy_limit_line(LIMIT_RENEW, l->value[LIMIT_RENEW], out);
        buf_puts(out, policy_limit_ask(l, LIMIT_RENEW));
}

/* ---- records ---- */

static enum ledger_phase phase_of(enum gate_state s, bool person)
{
        if (person)
                return LEDGER_HUMAN;
        return s == GATE_PENDING || s == GATE_APPROVED ? LEDGER_CLAIM
               : s == GATE_CONSUMED                    ? LEDGER_OUTCOME
                                                       : LEDGER_DENIED;
}

static void record_person(struct ledger_record *r, uint64_t uid, const char *name)
{
        ledger_more_number(r, "uid", (int64_t) uid);
        if (name)
                ledger_more_text(r, "by", name);
}

struct act {                          /* who moved an item, and how */
        const struct gate_vote *vote; /* NULL: no person */
        const char *why;
};

/* False: it could not be recorded, so it must not leave. */
static bool record_move(struct box *b, const struct desk_item *it, enum gate_state s, const struct act *a)
{
        struct run *run = &b->run;
        struct err e;
        AUTO_BUF(what);
        AUTO_BUF(door);
        char digest[72];
        if (!run->record || !run->record->ledger)
                return b->c.ledger != BOX_LEDGER_REQUIRE;

        desk_summary(it, &what);
        desk_door(b, it, &door);
        (void) snprintf(digest, sizeof digest, "sha256:%s", it->gate.id);
        struct ledger_record r = record_of(run, LEDGER_GATE, phase_of(s, a->vote != NULL));
        r.target = buf_str(&what);
        r.door = buf_str(&door);
        r.result = gate_state_name(s);
        r.digest = digest;
        ledger_more_text(&r, "template", it->gate.template);
        ledger_more_text(&r, "why", a->why);
        if (a->vote) {
                record_person(&r, a->vote->who.uid, a->vote->who.name);
                ledger_more_number(&r, "read-ms",
                                   a->vote->shown_ms ? a->vote->now_ms - a->vote->shown_ms : -1);
                ledger_more_number(&r, "chars", a->vote->chars);
                ledger_more_text(&r, "reason", a->vote->reason);
        }

        record_causes(run, &r);
        if (ledger_append(run->record->ledger, &r, s == GATE_APPROVED, NULL, &e) == 0)
                return true;

        record_off(run, &e);
        return false;
}

/* ---- items ---- */

static struct desk_item *item_of(struct gates *g, enum desk_source source, uint32_t number)
{
        for (unsigned i = 0; i < g->count; i++)
                if (g->items[i]->source == source && g->items[i]->number == number)
                        return g->items[i];
        return NULL;
}

struct desk_item *desk_find(struct gates *g, const char *id)
{
        size_t n = strlen(id);
        struct desk_item *found = NULL;
        for (unsigned i = 0; i < g->count; i++) {
                struct desk_item *it = g->items[i];
                if (!it->ready || n < 4 || strncmp(it->gate.id, id, n) != 0)
                        continue;
                if (found)
                        return NULL; /* more than one begins with it */
                found = it;
        }
        return found;
}

static void item_free(struct desk_item *it)
{
        buf_done(&it->text);
        arena_done(&it->mem);
        free(it);
}

static void item_drop(struct gates *g, struct desk_item *it)
{
        unsigned to = 0;
        for (unsigned i = 0; i < g->count; i++)
                if (g->items[i] != it)
                        g->items[to++] = g->items[i];
        g->count = to;
        item_free(it);
}

static struct desk_item *item_new(struct gates *g, enum desk_source source, uint32_t number)
{
        struct desk_item *it = g->count < DESK_MAX ? calloc(1, sizeof *it) : NULL;
        if (!it)
                return NULL;

        it->source = source;
        it->number = number;
        g->items[g->count++] = it;
        return it;
}

void desk_summary(const struct desk_item *it, struct buf *out)
{
        char line[400];
        const char *text = buf_str(&it->text) + it->shown_at;
        buf_puts(out, str_inert(span_of(text, strcspn(text, "\n")), line, sizeof line));
}

uint32_t desk_chars(const struct desk_item *it) { return (uint32_t) (it->text.n - it->shown_at); }

void desk_shown(struct desk_item *it, uint64_t uid)
{
        if (!desk_shown_ms(it, uid) && it->shown_count < GATE_VOTERS_MAX) {
                it->shown[it->shown_count].uid = uid;
                it->shown[it->shown_count++].ms = desk_now_ms();
        }
}

int64_t desk_shown_ms(const struct desk_item *it, uint64_t uid)
{
        for (unsigned i = 0; i < it->shown_count; i++)
                if (it->shown[i].uid == uid)
                        return it->shown[i].ms;
        return 0;
}

/* ---- answers to the holder ---- */

static void tell_broker(struct gates *g, const struct desk_item *it, bool yes, enum effect_reason why)
{
        struct egress_gate_answer m = { .number = it->number, .yes = yes, .reason = why };
        (void) snprintf(m.id, sizeof m.id, "%s", it->gate.id);
        if (g->line >= 0)
                (void) wire_put(g->line, &egress_gate_answer_form, &m, -1);
}

static void tell_start(struct gates *g, const struct desk_item *it, bool yes, enum effect_reason why)
{
        (void) it;
        g->start_waiting -= g->start_waiting > 0;
        g->start_denied += !yes;
        g->start_why = why;
}

static void tell_renewal(struct gates *g, const struct desk_item *it, bool yes, enum effect_reason why)
{
        (void) it;
        g->renew_told = (struct renew_told){ .is = true, .yes = yes, .why = why };
}

static void tell_keeper(struct gates *g, const struct desk_item *it, bool yes, enum effect_reason why)
{
        if (g->told_count < DESK_MAX)
                g->told[g->told_count++] = (struct desk_told){ it->source, it->number, yes, why };
}

/* What holds effects: its letter in their nonces, how the ledger calls the use of an approval (NULL: the
 * holder tells it itself), and how it hears the answer (NULL: not at all). */
static const struct gate_source {
        const char *letter, *use;
        void (*tell)(struct gates *g, const struct desk_item *it, bool yes, enum effect_reason why);
} sources[] = {
        [DESK_BROKER] = { "", NULL, tell_broker },
        [DESK_LISTEN] = { "l", "connected", tell_keeper },
        [DESK_START] = { "s", "the box starts", tell_start },
        [DESK_APPLY] = { "a", "the apply begins", tell_start },
        [DESK_TOOL] = { "t", "the tool is called", tell_keeper },
        [DESK_KEY] = { "k", "the agent is asked", tell_keeper },
        [DESK_RENEW] = { "r", "renewed", tell_renewal },
        [DESK_DECOY] = { "", "", NULL },
};

static void tell_holder(struct box *b, const struct desk_item *it, bool yes, enum effect_reason why)
{
        if (sources[it->source].tell)
                sources[it->source].tell(b->gates, it, yes, why);
}

static void finish_item(struct box *b, struct desk_item *it, enum gate_event e, const struct act *a)
{
        static const struct {
                enum gate_state state;
                enum effect_reason why;
        } whys[] = { { GATE_DENIED, REASON_GATE_DENIED },
                     { GATE_EXPIRED, REASON_GATE_EXPIRED },
                     { GATE_WITHDRAWN, REASON_GATE_WITHDRAWN },
                     { GATE_REVOKED, REASON_GATE_DENIED } };
        enum gate_state s = e == GATE_EVENT__COUNT ? it->gate.state : gate_next(it->gate.state, e);
        if (s == GATE_NONE)
                return;

        it->gate.state = s;
        (void) record_move(b, it, s, a);
        for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
                if (whys[i].state == s)
                        tell_holder(b, it, false, whys[i].why);

        item_drop(b->gates, it);
        b->gates->changed = true;
}

/* Recorded first, durably; then it may leave. */
static void let_go(struct box *b, struct desk_item *it, const struct act *a)
{
        struct gates *g = b->gates;
        size_t n;
        const struct door *doors = policy_doors(b->c.policy, &n);
        if (!record_move(b, it, GATE_APPROVED, a)) {
                const struct act lost = { .why = "the approval could not be recorded" };
                finish_item(b, it, GATE_REVOKE, &lost);
                return;
        }

        if (it->door->ask.first && !it->envelope.field[GATE_LABELS][0])
                g->opened[it->door - doors] = true;

        tell_holder(b, it, true, REASON_NONE);
        b->gates->changed = true;
        if (sources[it->source].use) {
                const struct act used = { .why = sources[it->source].use };
                finish_item(b, it, GATE_USE, &used);
        }
}

/* ---- a new item ---- */

static bool is_granted(struct gates *g, const struct desk_item *it)
{
        for (unsigned i = 0; i < g->grant_count; i++)
                if (gate_grant_use(&g->grants[i], it->gate.template, desk_now_ms()))
                        return true;
        return false;
}

static const struct door *door_of(const struct box *b, const char *line)
{
        for (const struct door *d = NULL; (d = policy_door_next(b->c.policy, d));) {
                AUTO_BUF(text);
                if (!d->ask.on && d->kind != DOOR_NET) /* a `net` door asks because of labels, too */
                        continue;
                policy_door_line(d, &text);
                if (!text.failed && strcmp(buf_str(&text), line) == 0)
                        return d;
        }
        return NULL;
}

/* The digest of the policy that the run has, or had. */
static const char *gates_policy(const struct box *b)
{
        return b->gates->policy ? b->gates->policy : policy_digest(b->c.policy);
}

static void put_nonce(struct box *b, const struct desk_item *it, char ret[NONCE_MAX])
{
        (void) snprintf(ret, NONCE_MAX, "%s.%s%u", keeper_run(&b->run), sources[it->source].letter,
                        it->number);
}

/* It is of this run, this policy and this moment, and through a door that asks. */
static bool is_ours(struct box *b, struct desk_item *it)
{
        const struct gate_envelope *e = &it->envelope;
        char nonce[NONCE_MAX];
        uint64_t expires;
        put_nonce(b, it, nonce);
        it->door = it->source == DESK_RENEW ? &b->gates->renewal : door_of(b, e->field[GATE_DOOR]);
        if (!it->door || strcmp(e->field[GATE_RUN], keeper_run(&b->run)) != 0 ||
            strcmp(e->field[GATE_TENANT], gates_tenant(b)) != 0 ||
            strcmp(e->field[GATE_POLICY], gates_policy(b)) != 0 || strcmp(e->field[GATE_NONCE], nonce) != 0 ||
            str_to_u64(span_str(e->field[GATE_EXPIRES]), &expires) < 0)
                return false;

        int64_t now = desk_now_ms(), most = now + policy_ask_within_s(it->door) * INT64_C(1000) + LATE_MS;
        if (expires > INT64_MAX / 1000)
                return false;
        if ((int64_t) expires * 1000 > most)
                return false;

        /* The envelope has whole seconds: it lasts to the end of that one, and no longer than the door says.
         */
        int64_t whole = (int64_t) expires * 1000 + 999, within = most - LATE_MS;
        it->gate.expires_ms = whole < within ? whole : within;
        return true;
}

/* Whatever holds it: no face has another text. */
static bool make_shown(struct desk_item *it)
{
        AUTO_BUF(shown);
        if (gate_show(span_of(buf_str(&it->text) + it->shown_at, it->text.n - it->shown_at), &shown) < 0)
                return false;

        it->text.n = it->shown_at;
        buf_add(&it->text, shown.p, shown.n);
        return !it->text.failed;
}

static bool read_item(struct box *b, struct desk_item *it)
{
        const char *text = buf_str(&it->text);
        size_t n = strcspn(text, "\n");
        struct span json = span_of(text, n);
        it->shown_at = n + (text[n] == '\n');
        if (it->text.failed || gate_envelope_read(json, &it->mem, &it->envelope) < 0 || !is_ours(b, it))
                return false;

        gate_effect_id(json, it->gate.id);
        return gate_template_id(&it->envelope, it->door->ask.vary, it->gate.template) == 0 && make_shown(it);
}

static bool is_high(const struct desk_item *it)
{
        const struct door *d = it->door;
        bool declassifies = d->flow.declassify && it->envelope.field[GATE_LABELS][0];
        if (d->kind == DOOR_EDIT)
                return strcmp(it->envelope.field[GATE_METHOD], GATE_APPLY_FLAGGED) == 0;
        if (d->kind == DOOR_SIGN || d->kind == DOOR_DECRYPT)
                return true;
        return d->kind == DOOR_NET && (d->net.touches || d->net.credential || declassifies);
}

/* A decoy: the same effect to a place that no door leads to. It is an item like others, and nothing holds it.
 */
static void add_decoy(struct box *b, const struct desk_item *from)
{
        struct past_decisions p;
        decisions_read(b->c.cx, &p);
        bool due = decisions_decoys(b->c.cx) && (p.n + 1) % GATE_DECOY_EVERY == 0;
        decisions_done(&p);
        struct desk_item *it = due ? item_new(b->gates, DESK_DECOY, from->number) : NULL;
        if (!it)
                return;

        struct gate_envelope e = from->envelope;
        e.field[GATE_PLACE] = e.field[GATE_TO] = "https://collector.invalid:443";
        it->door = from->door;
        it->high = from->high;
        it->asked_ms = from->asked_ms;
        it->gate = (struct gate_item){ .state = GATE_PENDING, .expires_ms = from->gate.expires_ms };
        bool good = gate_envelope_json(&e, &it->text) == 0 &&
                    gate_template_id(&e, it->door->ask.vary, it->gate.template) == 0;
        gate_effect_id(buf_span(&it->text), it->gate.id);
        it->shown_at = it->text.n + 1;
        buf_printf(&it->text, "\n%s https://collector.invalid%s\n",
                   e.field[GATE_METHOD][0] ? e.field[GATE_METHOD] : "connect to", e.field[GATE_PATH]);
        good = good &&
               gate_envelope_read(span_of(it->text.p, it->shown_at - 1), &it->mem, &it->envelope) == 0;
        if (good)
                it->ready = true;
        else
                item_drop(b->gates, it);
}

static void item_ready(struct box *b, struct desk_item *it)
{
        struct gates *g = b->gates;
        size_t n;
        const struct door *doors = policy_doors(b->c.policy, &n);
        const struct act held = { .why = "held" };
        it->ready = true;
        it->asked_ms = desk_now_ms();
        it->gate.state = GATE_PROPOSED;
        if (!read_item(b, it)) {
                tell_holder(b, it, false, REASON_GATE_UNCLEAR);
                item_drop(g, it);
                return;
        }

        it->high = is_high(it);
        it->gate.state = gate_next(it->gate.state, GATE_HOLD);
        (void) record_move(b, it, GATE_PENDING, &held);
        bool opened = it->door->ask.first && !it->envelope.field[GATE_LABELS][0] &&
                      g->opened[it->door - doors]; /* what a run has read since was not approved with it */
        if (opened || is_granted(g, it)) {
                const struct act earlier = { .why = opened ? "the door was approved before"
                                                           : "a like effect was approved before" };
                it->gate.state = gate_next(it->gate.state, GATE_YES);
                let_go(b, it, &earlier);
                return;
        }

        if (it->source != DESK_RENEW)
                add_decoy(b, it);
        b->gates->changed = true;
}

int desk_hold(struct box *b, const struct desk_asked *a, const struct gate_envelope *own,
              const struct buf *shown)
{
        struct desk_item *it = b->gates && !shown->failed ? item_new(b->gates, a->source, a->number) : NULL;
        if (!it)
                return -1;

        AUTO_BUF(line);
        char nonce[NONCE_MAX], expires[24];
        it->door = a->door;
        desk_door(b, it, &line);
        put_nonce(b, it, nonce);
        (void) snprintf(expires, sizeof expires, "%lld",
                        (long long) desk_now_ms() / 1000 + (long long) policy_ask_within_s(a->door));
        struct gate_envelope e = { .field = { [GATE_BOX] = policy_box(b->c.policy),
                                              [GATE_DOOR] = buf_str(&line),
                                              [GATE_EXPIRES] = expires,
                                              [GATE_NONCE] = nonce,
                                              [GATE_POLICY] = gates_policy(b),
                                              [GATE_RUN] = keeper_run(&b->run),
                                              [GATE_STAGE] = policy_stage_name(b->c.stage),
                                              [GATE_TENANT] = gates_tenant(b),
                                              [GATE_VERSION] = "1" } };
        for (size_t i = 0; i < GATE_FIELD__COUNT; i++)
                if (own->field[i])
                        e.field[i] = own->field[i];

        if (line.failed || gate_envelope_json(&e, &it->text) < 0) {
                item_drop(b->gates, it);
                return -1;
        }

        buf_printf(&it->text, "\n%s\n", buf_str(shown));
        item_ready(b, it);
        return 0;
}

/* ---- the broker ---- */

static void take_part(struct box *b, const struct egress_held *m)
{
        struct gates *g = b->gates;
        struct desk_item *it = item_of(g, DESK_BROKER, m->number);
        if (!it)
                it = item_new(g, DESK_BROKER, m->number);

        if (!it || it->ready || it->text.n > TEXT_MAX) {
                const struct egress_gate_answer no = { .number = m->number, .reason = REASON_GATE_FULL };
                (void) wire_put(g->line, &egress_gate_answer_form, &no, -1);
                if (it && !it->ready)
                        item_drop(g, it);
                return;
        }

        it->group = m->group;
        buf_add(&it->text, m->text, strnlen(m->text, sizeof m->text));
        if (m->word == EGRESS_HELD_LAST)
                item_ready(b, it);
}

static void take_end(struct box *b, const struct egress_held *m)
{
        static const struct {
                uint32_t word;
                enum gate_event event;
                const char *why;
        } ends[] = { { EGRESS_HELD_WITHDRAWN, GATE_WITHDRAW, "given up" },
                     { EGRESS_HELD_CONSUMED, GATE_USE, "left" },
                     { EGRESS_HELD_DRIFTED, GATE_DRIFT, "not what was approved" } };
        struct desk_item *it = item_of(b->gates, DESK_BROKER, m->number);
        for (size_t i = 0; it && i < sizeof ends / sizeof *ends; i++)
                if (ends[i].word == m->word) {
                        const struct act a = { .why = ends[i].why };
                        finish_item(b, it, ends[i].event, &a);
                        return;
                }
}

void desk_hear(struct box *b)
{
        struct gates *g = b->gates;
        struct egress_held m;
        for (int r; g->line >= 0 && (r = wire_take(g->line, &egress_held_form, &m, NULL)) != -1;) {
                if (r == 0) {
                        fd_close(&g->line);
                        break;
                }
                if (m.word == EGRESS_HELD_PART || m.word == EGRESS_HELD_LAST)
                        take_part(b, &m);
                else
                        take_end(b, &m);
        }
}

/* ---- votes ---- */

struct gate_rule desk_rule(struct box *b, const struct desk_item *it, enum gate_step step)
{
        struct gate_rule r = { .requester = b->c.uid,
                               .askers = b->c.askers.n ? &b->c.askers : NULL,
                               .need = it->door->ask.need,
                               .group = it->door->ask.group != NULL,
                               .high = it->high };
        gate_rule_tighten(&r, step);
        return r;
}

/* Like effects of all runs have one number: their template without the run and the policy. */
static uint64_t kin_of(const struct desk_item *it)
{
        char id[GATE_ID];
        struct gate_envelope e = it->envelope;
        e.field[GATE_RUN] = e.field[GATE_POLICY] = NULL;
        if (gate_template_id(&e, it->door->ask.vary, id) < 0)
                return 0;

        id[15] = '\0'; /* a whole number of JSON */
        return strtoull(id, NULL, 16);
}

static void keep_decision(struct box *b, const struct desk_item *it, const struct gate_vote *v)
{
        AUTO_BUF(what);
        AUTO_BUF(door);
        desk_summary(it, &what);
        desk_door(b, it, &door);
        const struct past_decision p = { .d = { .at_ms = v->now_ms,
                                                .read_ms = v->shown_ms ? (uint32_t) (v->now_ms - v->shown_ms)
                                                                       : 0,
                                                .chars = v->chars,
                                                .template = kin_of(it),
                                                .yes = v->yes,
                                                .decoy = it->source == DESK_DECOY },
                                         .uid = v->who.uid,
                                         .by = v->who.name,
                                         .id = it->gate.id,
                                         .door = buf_str(&door),
                                         .effect = buf_str(&what),
                                         .reason = v->reason };
        decisions_add(b->c.cx, &p);
}

static void keep_unanswered(struct box *b, const struct desk_item *it)
{
        AUTO_BUF(what);
        AUTO_BUF(door);
        desk_summary(it, &what);
        desk_door(b, it, &door);
        const struct past_decision p = {
                .d.at_ms = desk_now_ms(), .id = it->gate.id, .door = buf_str(&door), .effect = buf_str(&what)
        };
        decisions_add_unanswered(b->c.cx, &p);
}

static void add_grant(struct gates *g, const struct desk_item *it)
{
        struct gate_grant made;
        if (!gate_grant_of(&it->gate, &made) || g->grant_count == GRANTS_MAX)
                return;
        g->kin[g->grant_count] = kin_of(it);
        g->grants[g->grant_count++] = made;
}

enum gate_verdict desk_vote(struct box *b, struct desk_item *it, const struct gate_rule *r,
                            struct gate_vote *v)
{
        enum gate_verdict got = gate_vote(&it->gate, r, v);
        if (got != GATE_COUNTED && got != GATE_DECIDED)
                return got;

        const struct act a = { .vote = v, .why = v->yes ? "approved" : "denied" };
        keep_decision(b, it, v);
        if (got == GATE_COUNTED) {
                (void) record_move(b, it, GATE_PENDING, &a);
                b->gates->changed = true;
                return got;
        }

        if (it->gate.state != GATE_APPROVED || it->source == DESK_DECOY) {
                finish_item(b, it, GATE_EVENT__COUNT, &a);
                return got;
        }

        add_grant(b->gates, it);
        let_go(b, it, &a);
        return got;
}

/* The newest yes to this template was taken back. */
static void mark_reversed(struct box *b, uint64_t kin)
{
        struct past_decisions p;
        struct err ignored;
        decisions_read(b->c.cx, &p);
        for (size_t i = p.n; i-- > 0;)
                if (p.v[i].d.yes && p.v[i].d.template == kin) {
                        (void) decisions_mark(b->c.cx, "reversed", p.v[i].id, "", &ignored);
                        break;
                }
        decisions_done(&p);
}

bool desk_is_new(struct box *b, const struct desk_item *it)
{
        struct past_decisions p;
        decisions_read(b->c.cx, &p);
        size_t from = p.n > GATE_WINDOW ? p.n - GATE_WINDOW : 0;
        uint64_t kin = kin_of(it);
        bool seen = false;
        for (size_t i = from; i < p.n; i++)
                seen = seen || (p.v[i].d.yes && p.v[i].d.template == kin);
        decisions_done(&p);
        return !seen;
}

unsigned desk_revoke(struct box *b, const char *template_id, const struct approver *by)
{
        struct gates *g = b->gates;
        bool all = strcmp(template_id, "*") == 0;
        unsigned n = 0;
        for (unsigned i = 0; i < g->grant_count; i++)
                if (!g->grants[i].revoked && (all || strcmp(g->grants[i].template, template_id) == 0)) {
                        g->grants[i].revoked = true;
                        mark_reversed(b, g->kin[i]);
                        n++;
                }

        struct run *run = &b->run;
        if (n && run->record && run->record->ledger) {
                struct ledger_record r = record_of(run, LEDGER_GATE, LEDGER_HUMAN);
                r.result = gate_state_name(GATE_REVOKED);
                ledger_more_text(&r, "template", template_id);
                record_person(&r, by->uid, by->face ? by->face->name : NULL);
                record_add(run, &r, NULL);
        }

        return n;
}

/* ---- time, and the end ---- */

void desk_expire(struct box *b)
{
        struct gates *g = b->gates;
        const struct act late = { .why = "nobody answered in time" };
        for (unsigned i = g->count; i-- > 0;) {
                struct desk_item *it = g->items[i];
                if (!it->ready || desk_now_ms() < it->gate.expires_ms)
                        continue;
                if (it->gate.state == GATE_PENDING && it->source != DESK_DECOY)
                        keep_unanswered(b, it);
                finish_item(b, it, GATE_TIMEOUT, &late);
        }
}

void desk_clear(struct box *b)
{
        struct gates *g = b->gates;
        const struct act over = { .why = "the box ended" };
        while (g->count) {
                struct desk_item *it = g->items[g->count - 1];
                bool open = it->ready && gate_is_open(it->gate.state);
                if (open)
                        finish_item(b, it, GATE_WITHDRAW, &over);
                else
                        item_drop(g, it);
        }
}
