/* SPDX-License-Identifier: MIT */
/* effect/gate/votes.c - decides about one answer of one person, and about the effect when it is about to
 * leave. */
#include "base/hash.h"
#include "effect/gate/gate.h"

#include <string.h>

static const struct {
        const char *name, *text;
} verdicts[] = {
        [GATE_REFUSED] = { "not-pending", "no such effect waits for an answer" },
        [GATE_OTHER_ID] = { "other-effect", "the answer is about another effect" },
        [GATE_TOO_LATE] = { "expired", "the time to answer is over" },
        [GATE_NOT_YOU] = { "not-approver", "you are not an approver of this door" },
        [GATE_NO_TERMINAL] = { "no-terminal", "answer from a terminal outside every box" },
        [GATE_TWICE] = { "voted", "this user has answered already" },
        [GATE_UNREAD] = { "not-shown", "view the effect before answering" },
        [GATE_TOO_FAST] = { "too-fast", "answered faster than it can be read" },
        [GATE_CHALLENGE_WRONG] = { "challenge", "the last 4 digits of the id must be typed" },
        [GATE_REASON_MISSING] = { "reason", "a yes needs a reason here" },
        [GATE_SCOPE_WRONG] = { "scope", "at most 100 uses and at most one hour" },
        [GATE_IS_CLOSED] = { "closed", "closed: the approver has stopped reading" },
        [GATE_COUNTED] = { "counted", "others must approve as well" },
        [GATE_DECIDED] = { "decided", "decided" },
};
_Static_assert(sizeof verdicts / sizeof *verdicts == GATE_VERDICT__COUNT, "a row for each verdict");

const char *gate_verdict_name(enum gate_verdict v)
{
        return verdicts[(unsigned) v < GATE_VERDICT__COUNT ? v : GATE_REFUSED].name;
}

const char *gate_verdict_text(enum gate_verdict v)
{
        return verdicts[(unsigned) v < GATE_VERDICT__COUNT ? v : GATE_REFUSED].text;
}

int64_t gate_reading_ms(uint32_t chars)
{
        enum { LEAST_MS = 1500, CHARS_PER_S = 30 };
        int64_t ms = (int64_t) chars * 1000 / CHARS_PER_S;
        return ms > LEAST_MS ? ms : LEAST_MS;
}

/* ---- a vote ---- */

uint64_t gate_person(const char *name)
{
        static const char digits[] = "0123456789abcdef";
        char hex[65];
        sha256_hex(span_str(name), hex);
        uint64_t n = 0;
        for (size_t i = 0; i < 12; i++) /* 48 bits: a whole number for every reader of JSON */
                n = n * 16 + (uint64_t) (strchr(digits, hex[i]) - digits);
        return GATE_FACE + n;
}

void gate_people_add(struct gate_people *p, uint64_t person)
{
        enum { ROOM = sizeof p->v / sizeof *p->v };
        for (unsigned i = 0; i < p->n && i < ROOM; i++)
                if (p->v[i] == person)
                        return;

        if (p->n < ROOM)
                p->v[p->n] = person;
        p->n += p->n <= ROOM;
}

static bool has_asked(const struct gate_people *p, uint64_t uid)
{
        bool found = p && p->n > sizeof p->v / sizeof *p->v;
        for (unsigned i = 0; p && !found && i < p->n; i++)
                found = p->v[i] == uid;
        return found;
}

/* The user of the box approves at a terminal, and of a face every person but those who asked; if the policy
 * names a group, only its members do. */
static enum gate_verdict may_vote(const struct gate_item *it, const struct gate_rule *r,
                                  const struct gate_voter *w)
{
        bool asked = has_asked(r->askers, w->uid), face = w->name && r->askers;
        if (r->group ? !w->in_group || w->uid == r->requester || asked
            : face   ? asked && !w->own
                     : w->name || w->uid != r->requester)
                return GATE_NOT_YOU;

        if (!r->group && !face && !w->at_terminal)
                return GATE_NO_TERMINAL;

        for (unsigned i = 0; i < it->yes_count; i++)
                if (it->yes[i] == w->uid)
                        return GATE_TWICE;

        return GATE_COUNTED;
}

static bool challenge_fits(const char *id, const char *typed)
{
        size_t n = strlen(id);
        return typed && n >= GATE_CHALLENGE && strcmp(id + n - GATE_CHALLENGE, typed) == 0;
}

static bool scope_fits(const struct gate_scope *s, int64_t now_ms)
{
        return s->uses <= GATE_USES_MAX &&
               (s->until_ms == 0 || (s->until_ms > now_ms && s->until_ms <= now_ms + GATE_UNTIL_MAX_MS));
}

/* A no is always taken. */
static enum gate_verdict may_approve(const struct gate_item *it, const struct gate_rule *r,
                                     const struct gate_vote *v)
{
        if (r->closed)
                return GATE_IS_CLOSED;

        if (v->shown_ms <= 0 || v->shown_ms > v->now_ms)
                return GATE_UNREAD;

        if (r->slow && v->now_ms - v->shown_ms < gate_reading_ms(v->chars))
                return GATE_TOO_FAST;

        if (r->high && !challenge_fits(it->id, v->challenge))
                return GATE_CHALLENGE_WRONG;

        if (r->reason && (!v->reason || !v->reason[0]))
                return GATE_REASON_MISSING;

        return scope_fits(&v->scope, v->now_ms) ? GATE_COUNTED : GATE_SCOPE_WRONG;
}

static struct gate_scope is_narrower(struct gate_scope a, struct gate_scope b)
{
        struct gate_scope r = { a.uses < b.uses ? a.uses : b.uses, a.until_ms };
        if (a.until_ms == 0 || (b.until_ms != 0 && b.until_ms < a.until_ms))
                r.until_ms = b.until_ms;
        return r;
}

static enum gate_verdict decide_item(struct gate_item *it, enum gate_event e)
{
        it->state = gate_next(it->state, e);
        return GATE_DECIDED;
}

static enum gate_verdict count_vote(struct gate_item *it, const struct gate_rule *r,
                                    const struct gate_vote *v)
{
        unsigned need = r->need ? r->need : 1;
        if (it->yes_count == GATE_VOTERS_MAX)
                return GATE_REFUSED;

        it->scope = it->yes_count ? is_narrower(it->scope, v->scope) : v->scope;
        it->yes[it->yes_count++] = v->who.uid;
        return it->yes_count < need ? GATE_COUNTED : decide_item(it, GATE_YES);
}

enum gate_verdict gate_vote(struct gate_item *it, const struct gate_rule *r, const struct gate_vote *v)
{
        if (it->state != GATE_PENDING)
                return GATE_REFUSED;

        if (!v->id || strcmp(v->id, it->id) != 0)
                return GATE_OTHER_ID;

        if (v->now_ms >= it->expires_ms)
                return GATE_TOO_LATE;

        enum gate_verdict may = may_vote(it, r, &v->who);
        if (!v->yes && (may == GATE_COUNTED || may == GATE_NO_TERMINAL))
                return decide_item(it, GATE_NO);

        if (may != GATE_COUNTED)
                return may;

        may = may_approve(it, r, v);
        return may == GATE_COUNTED ? count_vote(it, r, v) : may;
}

/* ---- use ---- */

enum gate_state gate_use(struct gate_item *it, const char *id, int64_t now_ms)
{
        if (it->state != GATE_APPROVED)
                return GATE_NONE;

        it->state = gate_next(it->state, now_ms >= it->expires_ms         ? GATE_TIMEOUT
                                         : !id || strcmp(id, it->id) != 0 ? GATE_DRIFT
                                                                          : GATE_USE);
        return it->state;
}
