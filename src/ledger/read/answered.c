/* SPDX-License-Identifier: MIT */
/* ledger/read/answered.c - intents and their outcomes. An intent without an outcome is unknown: its effect
 * may be under way, or may or may not have happened before a crash. It is never guessed. Pure. */
#include "base/vec.h"
#include "ledger/internal.h"

#include <stdlib.h>

struct answered {
        uint64_t *ids; /* hashes, sorted */
        size_t n, cap;
        uint64_t from;     /* the outcomes of the records from here on are listed */
        bool made, failed; /* failed: out of memory */
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

static void add_intent(struct answered *a, struct span id)
{
        if (vec_room((void **) &a->ids, a->n, &a->cap, sizeof *a->ids) < 0) {
                a->failed = true;
                return;
        }

        a->ids[a->n++] = ledger_hash(id);
}

static bool is_answer(const struct ledger_view *v)
{
        return span_is(v->phase, "outcome") || span_is(v->phase, "denied");
}

/* Lists the outcomes of the records from `from` on. */
static void list_unanswered(struct answered *a, const struct ledger_log *l, uint64_t from)
{
        struct ledger_view v;
        struct span parent;
        uint64_t end = a->made ? a->from : l->count;

        for (uint64_t i = from; i < end; i++) {
                struct span bytes = log_bytes(l, i);
                if (!bytes.p || ledger_view_parse(bytes, &v) < 0 || !is_answer(&v))
                        continue;
                for (unsigned k = 0; (parent = ledger_element(v.parents, k)).n > 0; k++)
                        add_intent(a, parent);
        }

        if (a->n > 0)
                qsort(a->ids, a->n, sizeof *a->ids, by_number);

        a->made = true;
        a->from = from;
}

/* The same check without the list. */
static bool search_outcome(const struct ledger_log *l, uint64_t from, struct span intent)
{
        struct ledger_view v;
        struct span parent;
        for (uint64_t i = from; i < l->count; i++) {
                struct span bytes = log_bytes(l, i);
                if (!bytes.p || ledger_view_parse(bytes, &v) < 0 || !is_answer(&v))
                        continue;
                for (unsigned k = 0; (parent = ledger_element(v.parents, k)).n > 0; k++)
                        if (span_eq(parent, intent))
                                return true;
        }

        return false;
}

/* Extends the list backward in steps, so that lookups of ever older records do not sort it each time. */
enum { LIST_STEP = 1 << 16 };

bool answered_has(struct answered *a, const struct ledger_log *l, uint64_t index, struct span intent)
{
        uint64_t h = ledger_hash(intent);
        uint64_t from = l->ledgers ? 0 : index - index % LIST_STEP;

        if (!a->made || from < a->from)
                list_unanswered(a, l, from);

        if (a->failed) /* slow but correct: an effect with an outcome is never reported as unknown */
                return search_outcome(l, from, intent);

        return a->n > 0 && bsearch(&h, a->ids, a->n, sizeof *a->ids, by_number);
}

/* Only the id of an intent has a last part that begins with q. */
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

bool came_to_nothing(const struct ledger_view *v)
{
        if (!span_is(v->phase, "outcome"))
                return false;
        struct span end = ledger_member(v->more, "end"), sent = ledger_member(v->more, "sent");
        bool broken = span_is(end, ledger_end_name(LEDGER_END_FAILED)) ||
                      span_is(end, ledger_end_name(LEDGER_END_CUT));
        bool connected = span_is(v->kind, "net") && ledger_member(v->more, "address").n > 0;
        return span_is(end, ledger_end_name(LEDGER_END_REFUSED)) ||
               (broken && !connected && (sent.n == 0 || span_is(sent, "0")));
}

/* A denial of a session's broker is in the records of the session and in those of its runs; a box's end has
 * the bytes of its outputs. */
bool counted_elsewhere(const struct ledger_view *v)
{
        return ledger_member(v->more, "of-session").n > 0 || span_is(v->kind, "end");
}
