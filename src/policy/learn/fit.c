/* SPDX-License-Identifier: MIT */
/* policy/learn/fit.c - does a box fit its runs? Too broad: doors without use. Too narrow: denials that recur
 * in runs that fail. Judges only its input, and makes no claim from few runs. */
#include "policy/learn/internal.h"

/* cordon-diagnose(1) also lists them, and a test compares the two. */
static const struct learn_threshold_row thresholds[] = {
        [LEARN_NEED_RUNS] = { "runs", 3, "with fewer runs that passed, no door counts as unused" },
        [LEARN_RECURS] = { "recurs", 2, "a refusal recurs when so many failed runs had it" },
        [LEARN_UNUSED_DOORS] = { "unused_doors", 1, "with so many unused doors a box is too broad" },
        [LEARN_WINDOW] = { "window", 100, "only the newest so many runs are looked at" },
};
_Static_assert(COUNT(thresholds) == LEARN_THRESHOLD__COUNT, "a row for each threshold");

const struct learn_threshold_row *learn_threshold(enum learn_threshold t) { return &thresholds[t]; }

static const char *const verdicts[] = {
        [LEARN_TOO_FEW] = "not enough runs",
        [LEARN_FITS] = "fits",
        [LEARN_BROAD] = "too broad",
        [LEARN_NARROW] = "too narrow",
        [LEARN_BOTH] = "too broad and too narrow",
};
_Static_assert(COUNT(verdicts) == LEARN_VERDICT__COUNT, "a name for each verdict");

const char *learn_verdict_name(enum learn_verdict v) { return verdicts[v]; }

static void count_doors(struct learn_fit *f)
{
        const unsigned need = thresholds[LEARN_NEED_RUNS].value;
        f->used = f->unused = f->unknown = f->not_judged = 0;
        for (size_t i = 0; i < f->door_count; i++) {
                f->used += f->doors[i].use == LEARN_USED;
                f->unused += f->doors[i].use == LEARN_UNUSED;
                f->unknown += f->doors[i].use == LEARN_UNKNOWN;
                f->not_judged += f->doors[i].use == LEARN_NOT_JUDGED;
        }

        if (!f->counted)
                return;

        unsigned rest = f->doors_counted > f->used_counted ? f->doors_counted - f->used_counted : 0;
        f->used = f->used_counted;
        *(f->observed < need ? &f->unknown : &f->unused) = rest;
}

/* A denial that is as frequent in runs that pass is not why others fail. A door that is never proposed
 * does not make a box too narrow: the box did its job. An unknown destination is not such a reason: the
 * network is missing. */
static bool refusal_recurs(const struct learn_fit *f, const struct learn_refusal *r)
{
        unsigned passed = f->runs - f->failed;
        bool proposed = !r->never || r->never == REASON_NETWORK;
        bool oftener = passed == 0 || (uint64_t) r->failed * passed > (uint64_t) r->passed * f->failed;
        return proposed && oftener && r->failed >= thresholds[LEARN_RECURS].value;
}

void learn_fit_judge(struct learn_fit *f)
{
        const unsigned need = thresholds[LEARN_NEED_RUNS].value;
        bool narrow = false;
        count_doors(f);
        for (size_t i = 0; i < f->refusal_count; i++) {
                struct learn_refusal *r = &f->refusals[i];
                r->recurs = f->runs >= need && refusal_recurs(f, r);
                narrow |= r->recurs;
        }

        bool broad = f->unused >= thresholds[LEARN_UNUSED_DOORS].value;
        bool known = f->runs - f->failed >= need && f->unknown == 0;
        f->verdict = broad && narrow ? LEARN_BOTH
                     : narrow        ? LEARN_NARROW
                     : broad         ? LEARN_BROAD
                     : known         ? LEARN_FITS
                                     : LEARN_TOO_FEW;
}
