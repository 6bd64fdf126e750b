/* SPDX-License-Identifier: MIT */
/* selftest/audit/audit.h - `cordon selftest audit`: what rots. A table of checks (audit_table.c), evidence
 * for them (evidence.c, live.c), one pure score (score.c), waivers (waivers.c), and what past audits found
 * (evidence.c). Uses cordon.h, cli/ and base/. */
#pragma once
#include "base/buf.h"
#include "base/json.h"
#include "face/cli/cli.h"

enum audit_group {
        AUDIT_RUNTIMES = 0,
        AUDIT_CAPS,
        AUDIT_ENVELOPE,
        AUDIT_LIFETIMES,
        AUDIT_GATES,
        AUDIT_VALIDATORS,
        AUDIT_TENANTS,
        AUDIT_SCHEMAS,
        AUDIT_HOST,
        AUDIT_SELF,
        AUDIT_GROUP__COUNT
};
const char *audit_group_name(enum audit_group g);

/* Where the evidence of a check comes from. */
enum audit_source {
        AUDIT_BY_PROBE = 0, /* attempts of the breakout: "CLASS" or "CLASS/beginning of a name"; must fail */
        AUDIT_BY_TRIAL,     /* a trial of live.c by its name; must be refused */
        AUDIT_BY_HOST,      /* a layer of `cordon doctor` */
        AUDIT_BY_FACT,      /* a fact of `cordon ledger health`; the count at which it is wholly bad; or
                             * "fact/of", a rate, and the percentage at which it is failing there */
        AUDIT_BY_LINT,      /* a lint of the policies given */
        AUDIT_BY_ITSELF,    /* a figure of the audit's own, by its name */
        AUDIT_BY_TENANTS,   /* a fact of serve_audit(); the count at which it is wholly bad */
        AUDIT_SOURCE__COUNT
};
struct audit_check {
        const char *id; /* stable: "caps.time" */
        enum audit_group group;
        unsigned weight; /* 1 to 10 */
        unsigned effort; /* of its repair, 1 to 5 */
        enum audit_source source;
        const char *arg;
        unsigned whole; /* BY_FACT: the count that is badness 100 */
        const char *technique, *remedy;
};
const struct audit_check *audit_checks(size_t *ret_count);
static inline bool audit_is_live(const struct audit_check *c)
{
        return c->source == AUDIT_BY_PROBE || c->source == AUDIT_BY_TRIAL;
}

enum audit_state { AUDIT_UNKNOWN = 0, AUDIT_HELD, AUDIT_OPEN, AUDIT_WAIVED, AUDIT_NONE };
struct audit_item { /* one check, judged */
        const struct audit_check *check;
        enum audit_state state;
        unsigned badness;   /* percent */
        unsigned days_open; /* since the audit that found it first */
        uint64_t debt;
        char since[16]; /* "2026-11-18" */
        char evidence[200];
};
enum { AUDIT_ITEMS_MAX = 160, AUDIT_REPAIRS = 3, AUDIT_OVERDUE_DAYS = 90, AUDIT_BLAST_MAX = 5 };

/* ---- score.c: pure ---- */

struct audit_score {
        uint64_t total, group[AUDIT_GROUP__COUNT];
        unsigned held, open, waived, unknown, none, live;
        const struct audit_item *repair[AUDIT_REPAIRS]; /* most debt for the least effort; NULL: none */
};
/* Sets the debt of each item (weight x badness x (1 + months open / 3) x blast radius), and sums up. */
void audit_score(struct audit_item *items, size_t n, unsigned blast, struct audit_score *ret);

/* In percent, of a count that is wholly bad from `whole` on. */
unsigned audit_badness_of(int64_t n, unsigned whole);
/* Sets badness, and with it the state. */
void audit_set_badness(struct audit_item *it, unsigned badness);

/* ---- waivers.c: pure ---- */

struct audit_waiver {
        char id[48], owner[64], end[16], reason[160];
        bool expired;
};
struct audit_rules {
        struct audit_waiver v[64];
        size_t n;
        unsigned incidents; /* budget of a quarter */
};
/* Lines: `waive ID until DATE owner NAME reason TEXT`, `incidents N`, comments. Returns 0, or -1 with the
 * line in *ret_line and why in *ret_why. `today`: "2026-11-18". */
int audit_rules_read(const char *text, const char *today, struct audit_rules *ret, unsigned *ret_line,
                     const char **ret_why);
const struct audit_waiver *audit_waiver_of(const struct audit_rules *r, const char *id);
/* Days between two dates; 0 if `from` is later or not a date. */
unsigned audit_days(const char *from, const char *to);
bool audit_is_date(const char *text);

/* ---- evidence.c, live.c ---- */

struct audit_past {
        char last[16];   /* the day of the last audit; "": none */
        char open[4096]; /* "id=2026-11-18 ...": open then, and since when */
        struct {
                char day[16];
                uint64_t debt;
        } trend[12];
        size_t count;
};
void audit_past_read(struct audit_past *ret);

struct audit_evidence {
        struct json_doc *probes, *host, *layers, *notes;
        struct json_doc *verified, *tenants; /* of the ledger; of `cordon serve` */
        unsigned policies;                   /* given */
        unsigned blast;                      /* 1 to AUDIT_BLAST_MAX */
        const struct audit_rules *rules;
        const struct audit_past *past;
        const char *today;
        uint64_t incidents; /* of this quarter */
};
/* Judges one check; sets state, badness and evidence. */
void audit_judge(const struct audit_evidence *e, struct audit_item *it);
/* Features that may still change, each with the day by which somebody has to look at it again. */
struct audit_experiment {
        const char *feature, *review;
};
extern const struct audit_experiment audit_experiments[]; /* ended by an empty row */

/* Tries it, in a state directory of its own that is removed. Returns 1 if it was refused, as it must be, 0 if
 * it went through, -1 if it could not be tried; `ret_why`: what happened. */
int audit_trial(const char *name, char ret_why[200]);
enum { AUDIT_REFUSED = 1, AUDIT_WENT_THROUGH = 0, AUDIT_NOT_TRIED = -1 };
