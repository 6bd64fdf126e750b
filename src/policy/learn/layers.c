/* SPDX-License-Identifier: MIT */
/* policy/learn/layers.c - which of the eight layers fails? Each symptom is a count or a rate with a threshold
 * and an intervention; the worst of each layer speaks for it. Judges only its input. */
#include "policy/learn/internal.h"

static const char *const layers[] = { "isolation", "resource", "policy", "credentials",
                                      "approval",  "output",   "tenant", "observability" };
_Static_assert(COUNT(layers) == LEARN_LAYER__COUNT, "a name for each layer");
static const char *const states[] = { "well", "debt", "failing", "broken" };
_Static_assert(COUNT(states) == LEARN_STATE__COUNT, "a name for each state");

const char *learn_layer_name(enum learn_layer l) { return layers[l]; }
const char *learn_state_name(enum learn_state s) { return states[s]; }

#define COUNTED(fact)        fact, fact
#define PERCENT(fact, whole) fact, whole
static const struct learn_symptom symptoms[] = {
        { LAYER_OF_ISOLATION, COUNTED(FACT_TRIPPED), 1, LEARN_BROKEN, "runs were stopped by a tripwire",
          "cordon ledger show {}" },
        { LAYER_OF_ISOLATION, COUNTED(FACT_NOT_STARTED), 1, LEARN_BROKEN,
          "runs did not start: a wall could not be raised, or was found down", "cordon doctor" },
        { LAYER_OF_ISOLATION, COUNTED(FACT_WEAK), 1, LEARN_FAILING,
          "runs were behind fewer layers than others here", "cordon ledger show {}" },
        { LAYER_OF_RESOURCE, PERCENT(FACT_CAPPED, FACT_RUNS), 10, LEARN_FAILING,
          "percent of runs reached a limit", "cordon ledger show {}" },
        { LAYER_OF_RESOURCE, COUNTED(FACT_NO_GROUPS), 1, LEARN_DEBT,
          "runs had no control group: their limits are sampled", "cordon doctor" },
        { LAYER_OF_POLICY, PERCENT(FACT_FAILED_DENIED, FACT_RUNS), 20, LEARN_FAILING,
          "percent of runs failed after a denial", "cordon policy fit --all" },
        { LAYER_OF_POLICY, PERCENT(FACT_DENIED_NET, FACT_RUNS), 20, LEARN_FAILING,
          "percent of runs were denied a destination", "cordon policy fit --all" },
        { LAYER_OF_POLICY, COUNTED(FACT_UNUSED_DOORS), 50, LEARN_DEBT,
          "percent of doors unused in observed runs", "cordon policy fit --all" },
        { LAYER_OF_CREDENTIALS, COUNTED(FACT_DENIED_CREDENTIAL), 1, LEARN_FAILING,
          "runs used a credential where it may not go", "cordon ledger show {}" },
        { LAYER_OF_CREDENTIALS, COUNTED(FACT_EXPIRED_CREDENTIALS), 1, LEARN_FAILING,
          "credentials have expired", "cordon vault rotate {}" },
        { LAYER_OF_CREDENTIALS, COUNTED(FACT_LONG_CREDENTIALS), 1, LEARN_DEBT,
          "credentials live longer than their class may", "cordon vault audit" },
        { LAYER_OF_CREDENTIALS, COUNTED(FACT_GROWN_CREDENTIALS), 1, LEARN_DEBT,
          "credentials live longer with each rotation", "cordon vault audit" },
        { LAYER_OF_CREDENTIALS, COUNTED(FACT_UNBOUND_CREDENTIALS), 1, LEARN_DEBT,
          "credentials are for no destination in particular", "cordon vault audit" },
        { LAYER_OF_APPROVAL, COUNTED(FACT_INCIDENTS), 1, LEARN_BROKEN, "approved effects did harm",
          "cordon ledger --kind gate" },
        { LAYER_OF_APPROVAL, PERCENT(FACT_UNANSWERED, FACT_ASKED), 25, LEARN_FAILING,
          "percent of the questions were not answered in time", "cordon approve stats" },
        { LAYER_OF_APPROVAL, COUNTED(FACT_TIRED), 1, LEARN_FAILING,
          "approvers answer faster than they can read", "cordon approve stats" },
        { LAYER_OF_APPROVAL, COUNTED(FACT_STALE_GATES), 1, LEARN_DEBT,
          "doors with `ask` were never denied in 90 days", "cordon approve stats" },
        { LAYER_OF_OUTPUT, COUNTED(FACT_OUTPUT_REFUSED), 1, LEARN_FAILING,
          "runs printed what their policy does not permit", "cordon ledger show {}" },
        { LAYER_OF_OUTPUT, COUNTED(FACT_OUTPUT_FOUND), 1, LEARN_FAILING,
          "runs printed what reads like an instruction or a secret", "cordon ledger show {}" },
        { LAYER_OF_OUTPUT, PERCENT(FACT_OUTPUT_CUT, FACT_RUNS), 10, LEARN_FAILING,
          "percent of runs printed escapes or hidden characters, which were removed",
          "cordon ledger show {}" },
        { LAYER_OF_TENANT, COUNTED(FACT_OPEN_STATE), 1, LEARN_BROKEN,
          "files of the state can be read or were made by other users", "chmod -R go= {}" },
        { LAYER_OF_OBSERVABILITY, COUNTED(FACT_ALTERED), 1, LEARN_BROKEN, "records are not what was sealed",
          "cordon ledger verify" },
        { LAYER_OF_OBSERVABILITY, COUNTED(FACT_UNREADABLE), 1, LEARN_BROKEN, "ledger cannot be read",
          "cordon ledger verify" },
        { LAYER_OF_OBSERVABILITY, COUNTED(FACT_UNFINISHED), 1, LEARN_FAILING,
          "runs have no end: their keeper was killed", "cordon ledger show {}" },
        { LAYER_OF_OBSERVABILITY, COUNTED(FACT_UNKNOWN), 1, LEARN_FAILING,
          "runs have an effect whose outcome is unknown", "cordon ledger --kind unknown" },
        { LAYER_OF_OBSERVABILITY, COUNTED(FACT_UNEXPLAINED), 1, LEARN_DEBT,
          "runs have a denial without a reason", "cordon ledger show {}" },
        { LAYER_OF_OBSERVABILITY, COUNTED(FACT_GAPS), 1, LEARN_DEBT,
          "times bytes were lost before they were on the disk", "cordon ledger verify" },
};

static int64_t value_of(const struct learn_symptom *s, const struct learn_facts *f)
{
        if (s->of == s->fact)
                return f->n[s->fact];
        return f->n[s->of] > 0 ? f->n[s->fact] * 100 / f->n[s->of] : 0;
}

static struct learn_finding judge_symptom(const struct learn_symptom *s, const struct learn_facts *f)
{
        struct learn_finding r = { .symptom = s, .value = value_of(s, f) };
        r.state = r.value >= s->threshold ? s->state : LEARN_WELL;
        return r;
}

/* How far over its threshold, in percent. A count says less about how bad it is than a rate does. */
static int64_t excess_of(const struct learn_finding *r)
{
        bool rate = r->symptom->of != r->symptom->fact;
        return rate ? r->value * 100 / r->symptom->threshold : r->value > 0 ? 100 : 0;
}

/* The order of layers that are as bad: others cause denials and failed runs, so policy and resource come
 * last. */
static unsigned layer_order(enum learn_layer l)
{
        static const unsigned char at[LEARN_LAYER__COUNT] = {
                [LAYER_OF_TENANT] = 0,   [LAYER_OF_OBSERVABILITY] = 1, [LAYER_OF_ISOLATION] = 2,
                [LAYER_OF_APPROVAL] = 3, [LAYER_OF_CREDENTIALS] = 4,   [LAYER_OF_OUTPUT] = 5,
                [LAYER_OF_RESOURCE] = 6, [LAYER_OF_POLICY] = 7,
        };
        return at[l];
}

static bool is_worse(const struct learn_finding *a, const struct learn_finding *b)
{
        if (a->state != b->state)
                return a->state > b->state;

        bool same = a->symptom->layer == b->symptom->layer;
        if (same)
                return excess_of(a) > excess_of(b);

        return layer_order(a->symptom->layer) < layer_order(b->symptom->layer);
}

void learn_layers(const struct learn_facts *f, struct learn_finding ret[LEARN_LAYER__COUNT])
{
        for (unsigned l = 0; l < LEARN_LAYER__COUNT; l++)
                ret[l] = (struct learn_finding){ 0 };

        for (size_t i = 0; i < COUNT(symptoms); i++) {
                struct learn_finding now = judge_symptom(&symptoms[i], f), *best = &ret[symptoms[i].layer];
                if (!best->symptom || is_worse(&now, best))
                        *best = now;
        }

        for (unsigned i = 1; i < LEARN_LAYER__COUNT; i++)
                for (unsigned k = i; k > 0 && is_worse(&ret[k], &ret[k - 1]); k--) {
                        struct learn_finding t = ret[k];
                        ret[k] = ret[k - 1];
                        ret[k - 1] = t;
                }
}
