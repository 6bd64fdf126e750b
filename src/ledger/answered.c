/* SPDX-License-Identifier: MIT */
/* ledger/answered.c - intents and their outcomes. An intent that no outcome names is unknown: its effect may
 * be under way, or have happened before a crash, or not. It is never guessed. Pure. */
#include "ledger/internal.h"

#include <stdlib.h>

struct answered {
        uint64_t *ids; /* hashes, sorted */
        size_t n, cap;
        bool made, failed; /* failed: no memory for them */
};

struct answered *answered_new(void) { return calloc(1, sizeof(struct answered)); }

void answered_free(struct answered *a)
{
        if (a)
                free(a->ids);
        free(a);
}

static int by_number(const void *pa, const void *pb)
{
        uint64_t a, b;
        memcpy(&a, pa, sizeof a);
        memcpy(&b, pb, sizeof b);
        return (a > b) - (a < b);
}

static void add(struct answered *a, struct span id)
{
        if (a->n == a->cap) {
                size_t cap = a->cap ? 2 * a->cap : 256;
                uint64_t *more = realloc(a->ids, cap * sizeof *more);
                if (!more) {
                        a->failed = true;
                        return;
                }
                a->ids = more;
                a->cap = cap;
        }
        a->ids[a->n++] = ledger_hash(id);
}

static bool is_answer(const struct ledger_view *v)
{
        return span_is(v->phase, "outcome") || span_is(v->phase, "denied");
}

static void make(struct answered *a, const struct span *records, uint64_t count)
{
        struct ledger_view v;
        struct span parent;
        a->made = true;
        for (uint64_t i = 0; i < count; i++) {
                if (!records[i].p || ledger_view_parse(records[i], &v) < 0 || !is_answer(&v))
                        continue;
                for (unsigned k = 0; (parent = ledger_element(v.parents, k)).n > 0; k++)
                        add(a, parent);
        }
        if (a->n > 0)
                qsort(a->ids, a->n, sizeof *a->ids, by_number);
}

/* The same question without the list. */
static bool search(const struct span *records, uint64_t count, struct span intent)
{
        struct ledger_view v;
        struct span parent;
        for (uint64_t i = 0; i < count; i++) {
                if (!records[i].p || ledger_view_parse(records[i], &v) < 0 || !is_answer(&v))
                        continue;
                for (unsigned k = 0; (parent = ledger_element(v.parents, k)).n > 0; k++)
                        if (span_eq(parent, intent))
                                return true;
        }
        return false;
}

bool answered_has(struct answered *a, const struct span *records, uint64_t count, struct span intent)
{
        uint64_t h = ledger_hash(intent);
        if (!a->made)
                make(a, records, count);
        if (a->failed) /* slow, and right: what is known is never told as unknown */
                return search(records, count, intent);
        return a->n > 0 && bsearch(&h, a->ids, a->n, sizeof *a->ids, by_number);
}

/* The last part of an intent's id begins with q, and of no other record's. */
bool answers_intent(const struct ledger_view *v)
{
        struct span parent;
        for (unsigned k = 0; is_answer(v) && (parent = ledger_element(v->parents, k)).n > 0; k++) {
                const uint8_t *dot = memrchr(parent.p, '.', parent.n);
                if (dot && dot + 1 < parent.p + parent.n && dot[1] == 'q')
                        return true;
        }
        return false;
}
