/* SPDX-License-Identifier: MIT */
/* selftest/audit/score.c - the debt of an audit. Pure: a function of the judged items and the blast radius.
 */
#include "selftest/audit/audit.h"

#include <string.h>

enum { QUARTER_DAYS = 90 };

static const char *const groups[] = { "runtimes",   "caps",    "envelope", "lifetimes", "gates",
                                      "validators", "tenants", "schemas",  "host",      "self" };
_Static_assert(sizeof groups / sizeof *groups == AUDIT_GROUP__COUNT, "a name for each group");

const char *audit_group_name(enum audit_group g) { return groups[g]; }

/* weight x badness x (1 + months open / 3) x blast radius, rounded up; 0 if badness is 0. Three months are a
 * quarter, so (1 + months / 3) is (90 + days) / 90. */
static uint64_t debt_of(unsigned weight, unsigned badness, unsigned days_open, unsigned blast)
{
        const uint64_t whole = 100 * QUARTER_DAYS;
        uint64_t points = (uint64_t) weight * badness * (QUARTER_DAYS + (uint64_t) days_open) * blast;
        return (points + whole - 1) / whole;
}

/* Is the repair of `a` cheaper for what it saves? */
static bool is_cheaper(const struct audit_item *a, const struct audit_item *b)
{
        uint64_t x = a->debt * b->check->effort, y = b->debt * a->check->effort;
        return x != y ? x > y : a->check->effort < b->check->effort;
}

static void offer_repair(struct audit_score *s, const struct audit_item *it)
{
        for (unsigned i = 0; i < AUDIT_REPAIRS; i++)
                if (!s->repair[i] || is_cheaper(it, s->repair[i])) {
                        for (unsigned k = AUDIT_REPAIRS - 1; k > i; k--)
                                s->repair[k] = s->repair[k - 1];
                        s->repair[i] = it;
                        return;
                }
}

unsigned audit_badness_of(int64_t n, unsigned whole)
{
        return n <= 0 ? 0 : n >= (int64_t) whole ? 100 : (unsigned) (n * 100 / whole) + 1;
}

void audit_set_badness(struct audit_item *it, unsigned badness)
{
        it->badness = badness > 100 ? 100 : badness;
        it->state = badness ? AUDIT_OPEN : AUDIT_HELD;
}

void audit_score(struct audit_item *items, size_t n, unsigned blast, struct audit_score *ret)
{
        *ret = (struct audit_score){ 0 };
        for (size_t i = 0; i < n; i++) {
                struct audit_item *it = &items[i];
                bool open = it->state == AUDIT_OPEN;
                it->debt = open ? debt_of(it->check->weight, it->badness, it->days_open, blast) : 0;
                ret->total += it->debt;
                ret->group[it->check->group] += it->debt;
                ret->held += it->state == AUDIT_HELD;
                ret->open += open;
                ret->waived += it->state == AUDIT_WAIVED;
                ret->unknown += it->state == AUDIT_UNKNOWN;
                ret->none += it->state == AUDIT_NONE;
                ret->live += audit_is_live(it->check);
                if (open)
                        offer_repair(ret, it);
        }
}
