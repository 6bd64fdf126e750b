/* SPDX-License-Identifier: MIT */
/* effect/gate/fatigue.c - does a person who approves still read? Figures over the last decisions, one score
 * with published weights, and the ladder of measures. It can only make an approval harder, never give one. */
#include "effect/gate/gate.h"

#include <stdlib.h>
#include <string.h>

enum { HOUR_MS = 3600 * 1000, LEAST_DECISIONS = 10, LEAST_TREND = 20 };

/* Points of the score at the worst value of each figure. */
enum { W_RUBBER = 45, W_DECOY = 20, W_INCIDENT = 15, W_RATE = 10, W_STREAK = 5, W_REPEAT = 5 };
static const struct gate_weight weights[] = {
        { "rubber_stamp", W_RUBBER }, { "decoy_misses", W_DECOY }, { "incidents", W_INCIDENT },
        { "per_hour", W_RATE },       { "yes_streak", W_STREAK },  { "repeats", W_REPEAT },
};

const struct gate_weight *gate_weights(size_t *ret_count)
{
        *ret_count = sizeof weights / sizeof *weights;
        return weights;
}

/* ---- figures ---- */

static int by_value(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
        return (x > y) - (x < y);
}

static uint32_t percentile_of(const uint32_t *sorted, size_t n, unsigned percent)
{
        return n ? sorted[(n - 1) * percent / 100] : 0;
}

static uint32_t median_of(const struct gate_decided *d, size_t n)
{
        uint32_t t[GATE_WINDOW] = { 0 };
        for (size_t i = 0; i < n; i++)
                t[i] = d[i].read_ms;
        qsort(t, n, sizeof *t, by_value);
        return percentile_of(t, n, 50);
}

static void put_times(const struct gate_decided *d, size_t n, struct gate_fatigue *f)
{
        uint32_t t[GATE_WINDOW] = { 0 };
        for (size_t i = 0; i < n; i++)
                t[i] = d[i].read_ms;

        qsort(t, n, sizeof *t, by_value);
        f->p10_ms = percentile_of(t, n, 10);
        f->median_ms = percentile_of(t, n, 50);
        f->p90_ms = percentile_of(t, n, 90);
        if (n >= 4)
                f->trend_ms = (int32_t) median_of(d + n / 2, n - n / 2) - (int32_t) median_of(d, n / 2);
}

/* The time to answer in percent of the least time to read that text. */
static uint32_t pace_of(const struct gate_decided *d, size_t n)
{
        uint32_t t[GATE_WINDOW] = { 0 };
        for (size_t i = 0; i < n; i++) {
                int64_t pace = (int64_t) d[i].read_ms * 100 / gate_reading_ms(d[i].chars);
                t[i] = pace < UINT32_MAX ? (uint32_t) pace : UINT32_MAX;
        }

        qsort(t, n, sizeof *t, by_value);
        return percentile_of(t, n, 50);
}

/* An alarm before the ladder's first step, which counts answers that were too fast. */
static bool is_in_hurry(const struct gate_decided *d, size_t n)
{
        enum { NEAR = 200 };
        if (n < LEAST_TREND)
                return false;

        uint32_t before = pace_of(d, n / 2), now = pace_of(d + n / 2, n - n / 2);
        return now < NEAR && now <= before / 2;
}

static unsigned percent(unsigned part, unsigned whole) { return whole ? part * 100 / whole : 0; }

static bool is_rubber_stamp(const struct gate_decided *d)
{
        return d->yes && d->read_ms < gate_reading_ms(d->chars);
}

static unsigned longest_streak(const struct gate_decided *d, size_t n)
{
        unsigned best = 0, now = 0;
        for (size_t i = 0; i < n; i++) {
                now = d[i].yes ? now + 1 : 0;
                best = now > best ? now : best;
        }
        return best;
}

static bool seen_before(const struct gate_decided *d, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (d[k].template == d[i].template)
                        return true;
        return false;
}

static void put_rates(const struct gate_decided *d, size_t n, struct gate_fatigue *f)
{
        unsigned yes = 0, repeats = 0, reversed = 0, incidents = 0, missed = 0;
        for (size_t i = 0; i < n; i++) {
                yes += d[i].yes;
                f->rubber_stamps += is_rubber_stamp(&d[i]);
                repeats += seen_before(d, i);
                reversed += d[i].reversed;
                incidents += d[i].yes && d[i].incident;
                f->decoys += d[i].decoy;
                missed += d[i].decoy && d[i].yes;
        }

        f->approval = percent(yes, (unsigned) n);
        f->rubber_stamp = percent(f->rubber_stamps, yes);
        f->repeats = percent(repeats, (unsigned) n);
        f->reversals = percent(reversed, (unsigned) n);
        f->incidents = percent(incidents, yes);
        f->decoy_misses = percent(missed, f->decoys);
}

static unsigned score_part(unsigned weight, unsigned value, unsigned worst)
{
        return value >= worst ? weight : weight * value / worst;
}

static unsigned score_of(const struct gate_fatigue *f)
{
        return score_part(W_RUBBER, percent(f->rubber_stamps, f->decisions), 100) +
               score_part(W_DECOY, f->decoy_misses, 100) + score_part(W_INCIDENT, f->incidents, 20) +
               score_part(W_RATE, f->per_hour, 2 * GATE_BUDGET) +
               score_part(W_STREAK, f->yes_streak, GATE_WINDOW) + score_part(W_REPEAT, f->repeats, 100);
}

struct gate_fatigue gate_fatigue_of(const struct gate_decided *d, size_t n, int64_t now_ms)
{
        struct gate_fatigue f = { 0 };
        for (size_t i = 0; i < n; i++)
                f.per_hour += d[i].at_ms <= now_ms && now_ms - d[i].at_ms < HOUR_MS;

        if (n > GATE_WINDOW) {
                d += n - GATE_WINDOW;
                n = GATE_WINDOW;
        }

        f.decisions = (unsigned) n;
        put_rates(d, n, &f);
        put_times(d, n, &f);
        f.hurries = is_in_hurry(d, n);
        f.yes_streak = longest_streak(d, n);
        f.score = score_of(&f);
        return f;
}

/* ---- the ladder ---- */

static const char *const steps[] = {
        [GATE_ATTENTIVE] = "none",    [GATE_MERGE] = "merge",          [GATE_SLOW] = "slow",
        [GATE_ASK_REASON] = "reason", [GATE_SECOND] = "second-person", [GATE_CLOSE] = "close"
};
_Static_assert(sizeof steps / sizeof *steps == GATE_STEP__COUNT, "a name for each step");

const char *gate_step_name(enum gate_step s)
{
        return steps[(unsigned) s < GATE_STEP__COUNT ? s : GATE_CLOSE];
}

/* Each step needs so many rubber stamps in the window, or so many points. */
enum gate_step gate_ladder(const struct gate_fatigue *f)
{
        static const struct {
                unsigned stamps, score;
        } from[GATE_STEP__COUNT] = { [GATE_MERGE] = { 10, 45 },
                                     [GATE_SLOW] = { 15, 55 },
                                     [GATE_ASK_REASON] = { 25, 65 },
                                     [GATE_SECOND] = { 35, 75 },
                                     [GATE_CLOSE] = { 45, 85 } };
        unsigned s = GATE_ATTENTIVE;
        for (unsigned i = GATE_MERGE; i < GATE_STEP__COUNT && f->decisions >= LEAST_DECISIONS; i++)
                if (f->rubber_stamps >= from[i].stamps || f->score >= from[i].score)
                        s = i;
        return (enum gate_step) s;
}

void gate_rule_tighten(struct gate_rule *r, enum gate_step s)
{
        r->slow = r->slow || s >= GATE_SLOW;
        r->reason = r->reason || s >= GATE_ASK_REASON;
        if (s >= GATE_SECOND && r->need < 2)
                r->need = 2;
        if (s >= GATE_CLOSE || (s >= GATE_SECOND && !r->group))
                r->closed = true;
}

bool gate_over_budget(const struct gate_fatigue *f) { return f->per_hour >= GATE_BUDGET; }
