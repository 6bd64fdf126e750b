/* SPDX-License-Identifier: MIT */
/* effect/gate/gate.h - approvals: an effect that a person must approve before it leaves. Pure: the clock, the
 * person and all bytes are passed in.
 *
 *   envelope   the exact effect, as canonical JSON; its SHA-256 is the effect's id
 *   item       one held effect and its state
 *   vote       the answer of one person to one id
 *   grant      an approval for several effects that differ only in declared fields
 *   fatigue    does the person still read? Figures over the last decisions, and the ladder of measures
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/span.h"

enum {
        GATE_ID = 65, /* 64 hex digits and a NUL */
        GATE_ENVELOPE_MAX = 16384,
        GATE_ROWS_MAX = 2000, /* of 80 columns, that a person can be shown */
        GATE_VOTERS_MAX = 9,
        GATE_USES_MAX = 100,
        GATE_UNTIL_MAX_MS = 3600 * 1000,
        GATE_BATCH_MAX = 20,
        GATE_REASON_MAX = 200,
        GATE_CHALLENGE = 4, /* digits of the id that a person types for a high risk */
        GATE_WINDOW = 50,   /* decisions that count for fatigue */
        GATE_BUDGET = 30,   /* prompts an hour that a person gets at most */
        GATE_DECOY_EVERY = 50,
};

/* ---- gate_envelope.c ---- */

/* In the byte order of their names. */
enum gate_field {
        GATE_BODY = 0, /* "sha256:..." */
        GATE_BOX,
        GATE_CREDENTIAL,
        GATE_DOOR,
        GATE_EXPIRES,
        GATE_HEADERS, /* "sha256:..." of the header fields that the box sent, without those of framing */
        GATE_INPUTS,  /* digests of inputs; reserved */
        GATE_KIND,
        GATE_LABELS, /* what the run has read: src/effect/label */
        GATE_LENGTH, /* of the body */
        GATE_METHOD,
        GATE_NONCE,
        GATE_PATH,
        GATE_PLACE, /* the destination as the box named it */
        GATE_POLICY,
        GATE_QUERY,
        GATE_REACH,
        GATE_RUN,
        GATE_STAGE,
        GATE_TENANT,
        GATE_TO, /* the destination that it goes to */
        GATE_VERSION,
        GATE_FIELD__COUNT
};

struct gate_envelope {
        const char *field[GATE_FIELD__COUNT]; /* NULL: empty */
};
/* Returns 0, or -1 if a field is not UTF-8 or all is too long: then the effect cannot be approved. */
int gate_envelope_json(const struct gate_envelope *e, struct buf *out);
/* Returns 0, or -1 if this is not the JSON that gate_envelope_json() writes. Strings are copied to `mem`. */
int gate_envelope_read(struct span json, struct arena *mem, struct gate_envelope *ret);
void gate_effect_id(struct span json, char ret_id[GATE_ID]);

/* ---- gate_show.c ---- */

/* The text as people are shown it, on whichever face: escaped, with runs of blanks and of blank lines counted
 * instead of shown. Returns 0, or -1: it is longer than a person can be shown. */
int gate_show(struct span text, struct buf *out);

/* Fields that a door may declare as varying: `ask vary path body`. */
enum gate_vary { GATE_VARY_BODY = 0, GATE_VARY_HEADERS, GATE_VARY_PATH, GATE_VARY_QUERY, GATE_VARY__COUNT };
const char *gate_vary_name(enum gate_vary v);
/* The id of all envelopes that differ from this one only in these fields (a bit for each), in their nonce and
 * in their expiry. Returns 0 or -1. */
int gate_template_id(const struct gate_envelope *e, unsigned vary, char ret_id[GATE_ID]);

/* ---- gate_states.c ---- */

enum gate_state {
        GATE_NONE = 0, /* no such transition: refused */
        GATE_PROPOSED,
        GATE_PENDING,
        GATE_APPROVED,
        GATE_DENIED,
        GATE_EXPIRED,
        GATE_SUPERSEDED,
        GATE_WITHDRAWN,
        GATE_CONSUMED,
        GATE_DRIFTED,
        GATE_REVOKED,
        GATE_CLEAN,
        GATE_INCIDENT,
        GATE_STATE__COUNT
};
enum gate_event {
        GATE_HOLD = 0, /* it is held and listed */
        GATE_YES,
        GATE_NO,
        GATE_TIMEOUT,
        GATE_REPLACE, /* a newer one stands for it */
        GATE_WITHDRAW,
        GATE_USE,
        GATE_DRIFT,
        GATE_REVOKE,
        GATE_WELL,
        GATE_HARM,
        GATE_EVENT__COUNT
};
enum gate_state gate_next(enum gate_state s, enum gate_event e);
const char *gate_state_name(enum gate_state s);
/* It waits, or may still leave. */
static inline bool gate_is_open(enum gate_state s)
{
        return s == GATE_PROPOSED || s == GATE_PENDING || s == GATE_APPROVED;
}

/* ---- votes.c ---- */

struct gate_scope {       /* zero: once */
        uint32_t uses;    /* 0: once */
        int64_t until_ms; /* 0: no end but that of the run */
};
/* A person is a uid, or one of a face (a token of `cordon serve`), whose number is GATE_FACE or more. */
#define GATE_FACE (UINT64_C(1) << 52)
struct gate_people { /* of a face, who asked for what the box does: none of them approves it */
        uint64_t v[8];
        unsigned n; /* more than there is room for: nobody of the face approves */
};
void gate_people_add(struct gate_people *p, uint64_t person);
struct gate_rule {                        /* of the door, and of the ladder */
        uint64_t requester;               /* uid */
        const struct gate_people *askers; /* NULL: the box is of no face */
        uint8_t need;                     /* persons that must approve; 0 counts as 1 */
        bool group;                       /* only members of a group, and not the requester */
        bool high;                        /* the challenge must be typed */
        bool slow;                        /* an answer before the reading time is refused */
        bool reason;                      /* a yes needs a reason */
        bool closed;                      /* no yes is taken */
};
struct gate_voter {
        uint64_t uid;
        const char *name; /* of a person of a face; NULL: a user of this host */
        bool own;         /* such a person may approve what it asked for: the operator said so */
        bool in_group;
        bool at_terminal; /* a person of this uid sits at a terminal, and no box or agent does */
};
struct gate_vote {
        struct gate_voter who;
        bool yes;
        const char *id;        /* of the effect that was shown */
        const char *challenge; /* as typed, or "" */
        const char *reason;    /* or "" */
        struct gate_scope scope;
        int64_t now_ms, shown_ms; /* shown_ms 0: it was not shown */
        uint32_t chars;           /* that were shown */
};
struct gate_item {
        enum gate_state state;
        char id[GATE_ID], template[GATE_ID];
        int64_t expires_ms;
        uint64_t yes[GATE_VOTERS_MAX]; /* uids */
        unsigned yes_count;
        struct gate_scope scope; /* the narrowest of all votes */
};
enum gate_verdict {
        GATE_REFUSED = 0, /* no open item */
        GATE_OTHER_ID,    /* the vote is about another effect */
        GATE_TOO_LATE,
        GATE_NOT_YOU, /* this person may not approve here */
        GATE_NO_TERMINAL,
        GATE_TWICE,
        GATE_UNREAD, /* not shown before */
        GATE_TOO_FAST,
        GATE_CHALLENGE_WRONG,
        GATE_REASON_MISSING,
        GATE_SCOPE_WRONG,
        GATE_IS_CLOSED,
        GATE_COUNTED, /* a yes, and others are needed */
        GATE_DECIDED, /* the item is approved or denied now */
        GATE_VERDICT__COUNT
};
/* The number of a person of a face. */
uint64_t gate_person(const char *name);
const char *gate_verdict_name(enum gate_verdict v); /* "too-fast": stable */
const char *gate_verdict_text(enum gate_verdict v); /* one clause */
enum gate_verdict gate_vote(struct gate_item *it, const struct gate_rule *r, const struct gate_vote *v);
/* The time that reading so many characters takes. */
int64_t gate_reading_ms(uint32_t chars);

/* The effect is about to leave: `id` is of the bytes that would. Returns the new state; only GATE_CONSUMED
 * lets it leave. */
enum gate_state gate_use(struct gate_item *it, const char *id, int64_t now_ms);

/* ---- gate_grants.c ---- */

struct gate_grant { /* an approval of several effects */
        char template[GATE_ID];
        struct gate_scope left;
        bool revoked;
};
/* The grant that a vote's scope leaves for later effects, after the approved one. Returns false: nothing. */
bool gate_grant_of(const struct gate_item *it, struct gate_grant *ret);
/* Takes one use. */
bool gate_grant_use(struct gate_grant *g, const char *template_id, int64_t now_ms);

struct gate_batch_row {
        const char *door, *template;
        bool high;
};
/* May these be decided at once? One door, one template, one class of risk, at most GATE_BATCH_MAX. */
bool gate_batch_fits(const struct gate_batch_row *rows, size_t n);

/* ---- fatigue.c ---- */

struct gate_decided { /* one decision of one person, as it is kept */
        int64_t at_ms;
        uint32_t read_ms, chars;
        uint64_t template; /* first digits */
        bool yes, decoy;
        bool reversed; /* revoked later */
        bool incident;
};
struct gate_fatigue { /* of the last GATE_WINDOW decisions; rates in percent */
        unsigned decisions;
        unsigned per_hour; /* prompts of the last hour */
        unsigned approval, rubber_stamp, repeats, reversals, incidents, decoy_misses;
        unsigned rubber_stamps, decoys;
        uint32_t p10_ms, median_ms, p90_ms;
        int32_t trend_ms; /* the second half's median minus the first half's */
        bool hurries;     /* of late twice as fast for as much text, and soon too fast to read it */
        unsigned yes_streak;
        unsigned score; /* 0 to 100 */
};
/* Oldest first; only the last GATE_WINDOW count. */
struct gate_fatigue gate_fatigue_of(const struct gate_decided *d, size_t n, int64_t now_ms);

enum gate_step {
        GATE_ATTENTIVE = 0,
        GATE_MERGE,
        GATE_SLOW,
        GATE_ASK_REASON,
        GATE_SECOND,
        GATE_CLOSE,
        GATE_STEP__COUNT
};
const char *gate_step_name(enum gate_step s);
enum gate_step gate_ladder(const struct gate_fatigue *f);
/* The ladder's measures. A gate without a group has no second person to ask: it closes. */
void gate_rule_tighten(struct gate_rule *r, enum gate_step s);
/* This person has had the prompts of an hour: new ones wait in the list without a notice. */
bool gate_over_budget(const struct gate_fatigue *f);
/* The weights of the score, for documents and tests. */
struct gate_weight {
        const char *name;
        unsigned weight;
};
const struct gate_weight *gate_weights(size_t *ret_count);
