/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/stats.c - `cordon approve stats`: does each person still read, and is each gate still
 * worth a question? Reads past decisions, decides nothing. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "run/keeper/gates/decisions.h"
#include "run/keeper/gates/gates.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_MS = 24 * 3600 * 1000, STALE_DAYS = 90, PERSONS_MAX = 64, GATES_MAX = 256 };

struct gate_history {
        const char *door;
        unsigned asked, approved, unanswered;
        int64_t first_ms, denied_ms, unanswered_ms; /* 0: never */
};

static size_t persons_of(const struct past_decisions *p, const struct past_decision *who[PERSONS_MAX])
{
        size_t n = 0;
        for (size_t i = 0; i < p->n; i++) {
                size_t k = 0;
                while (k < n && who[k]->uid != p->v[i].uid)
                        k++;
                if (k == n && n < PERSONS_MAX)
                        who[n++] = &p->v[i];
        }
        return n;
}

static struct gate_history *history_of(struct gate_history *v, size_t *n, const struct past_decision *d)
{
        size_t k = 0;
        while (k < *n && strcmp(v[k].door, d->door) != 0)
                k++;
        if (k == GATES_MAX)
                return NULL;

        if (k == *n)
                v[(*n)++] = (struct gate_history){ .door = d->door, .first_ms = d->d.at_ms };
        if (d->d.at_ms < v[k].first_ms)
                v[k].first_ms = d->d.at_ms;
        v[k].asked++;
        return &v[k];
}

static size_t gates_of(const struct past_decisions *p, const struct past_decisions *unanswered,
                       struct gate_history v[GATES_MAX])
{
        size_t n = 0;
        for (size_t i = 0; i < p->n; i++) {
                const struct past_decision *d = &p->v[i];
                struct gate_history *h = d->d.decoy ? NULL : history_of(v, &n, d);
                if (!h)
                        continue;
                h->approved += d->d.yes;
                if (!d->d.yes)
                        h->denied_ms = d->d.at_ms;
        }

        for (size_t i = 0; i < unanswered->n; i++) {
                struct gate_history *h = history_of(v, &n, &unanswered->v[i]);
                if (!h)
                        continue;
                h->unanswered++;
                h->unanswered_ms = unanswered->v[i].d.at_ms;
        }
        return n;
}

/* Asked for so long, and never denied, not even by silence: the question changes nothing. */
static bool is_stale(const struct gate_history *h, int64_t now_ms)
{
        int64_t since = h->denied_ms ? h->denied_ms : h->first_ms;
        since = h->unanswered_ms > since ? h->unanswered_ms : since;
        return now_ms - since >= (int64_t) STALE_DAYS * DAY_MS;
}

static const char *name_of(const struct past_decision *who, char ret[160])
{
        if (who->by[0])
                return str_inert(span_str(who->by), ret, 160);
        (void) snprintf(ret, 160, "%llu", (unsigned long long) who->uid);
        return ret;
}

/* ---- JSON ---- */

static void person_json(const struct past_decision *who, const struct gate_fatigue *f, struct buf *out)
{
        enum gate_step s = gate_ladder(f);
        buf_printf(out, "{\"uid\":%llu", (unsigned long long) who->uid);
        if (who->by[0])
                buf_member(out, "by", who->by);
        buf_printf(out,
                   ",\"decisions\":%u,\"per_hour\":%u,\"budget\":%d,\"approval\":%u,\"rubber_"
                   "stamp\":%u,"
                   "\"p10_ms\":%u,\"median_ms\":%u,\"p90_ms\":%u,\"trend_ms\":%d,",
                   f->decisions, f->per_hour, GATE_BUDGET, f->approval, f->rubber_stamp, f->p10_ms,
                   f->median_ms, f->p90_ms, f->trend_ms);
        buf_printf(out,
                   "\"yes_streak\":%u,\"repeats\":%u,\"reversals\":%u,\"incidents\":%u,\"decoys\":%u,\"decoy_"
                   "misses\":%u,"
                   "\"score\":%u,\"step\":\"%s\",\"flagged\":%s,\"hurries\":%s}",
                   f->yes_streak, f->repeats, f->reversals, f->incidents, f->decoys, f->decoy_misses,
                   f->score, gate_step_name(s), s == GATE_ATTENTIVE ? "false" : "true",
                   f->hurries ? "true" : "false");
}

static void weights_json(struct buf *out)
{
        size_t n;
        const struct gate_weight *w = gate_weights(&n);
        for (size_t i = 0; i < n; i++)
                buf_printf(out, "%s\"%s\":%u", i ? "," : "", w[i].name, w[i].weight);
}

static void gate_json(const struct gate_history *h, int64_t now_ms, struct buf *out)
{
        buf_puts(out, "{\"door\":");
        buf_json(out, span_str(h->door));
        buf_printf(out, ",\"asked\":%u,\"approved\":%u,\"unanswered\":%u,\"age_days\":%lld,\"denied_days\":",
                   h->asked, h->approved, h->unanswered, (long long) ((now_ms - h->first_ms) / DAY_MS));
        if (h->denied_ms)
                buf_printf(out, "%lld", (long long) ((now_ms - h->denied_ms) / DAY_MS));
        else
                buf_puts(out, "null");
        buf_printf(out, ",\"stale\":%s}", is_stale(h, now_ms) ? "true" : "false");
}

/* ---- text ---- */

static const char *const measures[GATE_STEP__COUNT] = { [GATE_ATTENTIVE] = "no measure is taken",
                                                        [GATE_MERGE] = "like effects are shown together",
                                                        [GATE_SLOW] = "a yes has to wait",
                                                        [GATE_ASK_REASON] = "a yes needs a reason",
                                                        [GATE_SECOND] = "a second person has to approve",
                                                        [GATE_CLOSE] = "nothing is approved any more" };

/* In tenths of a second, rounded up: nobody answers in none. */
static const char *answer_time(uint32_t ms, char ret[32])
{
        uint32_t tenths = ms / 100 + (ms % 100 != 0 || ms == 0);
        if (ms >= 60000)
                return str_from_ms(ms / 1000 * UINT64_C(1000), ret);

        (void) snprintf(ret, 32, "%u.%us", tenths / 10, tenths % 10);
        return ret;
}

static void trend_text(const struct gate_fatigue *f, struct buf *out)
{
        char text[32];
        uint32_t change = f->trend_ms < 0 ? 0u - (uint32_t) f->trend_ms : (uint32_t) f->trend_ms;
        if (change < 100)
                buf_puts(out, "lately as before\n");
        else
                buf_printf(out, "lately %s %s\n", answer_time(change, text),
                           f->trend_ms < 0 ? "faster" : "slower");

        if (f->hurries)
                buf_puts(out,
                         "  alarm: twice as fast as before for as much text, and soon too fast to read it\n");
}

static void person_text(const struct past_decision *who, const struct gate_fatigue *f, struct buf *out)
{
        char tenth[32], half[32], most[32], name[160];
        buf_printf(out, "user %s: %u %s, %u in the last hour (at most %d)\n", name_of(who, name),
                   f->decisions, f->decisions == 1 ? "decision" : "decisions", f->per_hour, GATE_BUDGET);
        buf_printf(out, "  approved: %u%%; of these answered faster than one can read: %u%%\n", f->approval,
                   f->rubber_stamp);
        buf_printf(out, "  time to answer: one in ten within %s, half within %s, nine in ten within %s; ",
                   answer_time(f->p10_ms, tenth), answer_time(f->median_ms, half),
                   answer_time(f->p90_ms, most));
        trend_text(f, out);
        buf_printf(out, "  most approvals in a row: %u; same effect again: %u%%; answer changed: %u%%\n",
                   f->yes_streak, f->repeats, f->reversals);
        buf_printf(out, "  approvals that led to an incident: %u%%; decoys approved: %u%% of %u\n",
                   f->incidents, f->decoy_misses, f->decoys);
        buf_printf(out, "  fatigue: %u of 100; %s\n", f->score, measures[gate_ladder(f)]);
}

static void gate_text(const struct gate_history *h, int64_t now_ms, struct buf *out)
{
        char door[512];
        buf_printf(out, "gate %s: asked %u %s, approved %u", str_inert(span_str(h->door), door, sizeof door),
                   h->asked, h->asked == 1 ? "time" : "times", h->approved);
        if (h->unanswered)
                buf_printf(out, ", unanswered %u", h->unanswered);
        if (h->denied_ms)
                buf_printf(out, ", denied %lld days ago\n", (long long) ((now_ms - h->denied_ms) / DAY_MS));
        else
                buf_puts(out, ", never denied\n");

        if (is_stale(h, now_ms))
                buf_printf(out,
                           "  not denied in %d days: leave `ask` out of the line, or take the line out; "
                           "either saves a "
                           "question\n",
                           STALE_DAYS);
}

int box_approvals(const struct cordon_context *cx, bool json, struct buf *out)
{
        struct past_decisions p, unanswered;
        const struct past_decision *who[PERSONS_MAX];
        struct gate_history *h = calloc(GATES_MAX, sizeof *h);
        int64_t now = desk_now_ms();
        if (!h)
                return -1;

        decisions_read(cx, &p);
        decisions_read_unanswered(cx, &unanswered);
        size_t persons = persons_of(&p, who), gates = gates_of(&p, &unanswered, h);
        buf_puts(out, json ? "{\"persons\":[" : "");
        for (size_t i = 0; i < persons; i++) {
                struct gate_fatigue f = decisions_fatigue(&p, who[i]->uid, now);
                if (json && i)
                        buf_putc(out, ',');
                (json ? person_json : person_text)(who[i], &f, out);
        }

        buf_puts(out, json ? "],\"gates\":[" : "");
        for (size_t i = 0; i < gates; i++) {
                if (json && i)
                        buf_putc(out, ',');
                if (json)
                        gate_json(&h[i], now, out);
                else
                        gate_text(&h[i], now, out);
        }

        if (json) {
                buf_puts(out, "],\"weights\":{");
                weights_json(out);
                buf_printf(out, "},\"decoys\":%s}\n", decisions_decoys(cx) ? "true" : "false");
        } else if (persons == 0) {
                buf_puts(out, "no effect was approved or denied yet\n");
        }

        free(h);
        decisions_done(&unanswered);
        decisions_done(&p);
        return out->failed ? -1 : 0;
}

/* ---- metrics, and one verdict ---- */

static const struct metric {
        const char *name, *help;
        size_t at;
        bool is_time; /* kept in milliseconds, shown in seconds */
} metrics[] = {
#define METRIC(field, help)                                                                                  \
        {                                                                                                    \
#field, help, offsetof(struct gate_fatigue, field), false                                    \
        }
#define TIME_METRIC(field, help)                                                                             \
        {                                                                                                    \
#field "_seconds", help, offsetof(struct gate_fatigue, field##_ms), true                     \
        }
        METRIC(decisions, "Decisions that count: the last 50."),
        METRIC(per_hour, "Prompts of the last hour."),
        METRIC(approval, "Percent approved."),
        METRIC(rubber_stamp, "Percent of approvals that were faster than reading."),
        TIME_METRIC(p10, "Time to answer, 10th percentile."),
        TIME_METRIC(median, "Time to answer, median."),
        TIME_METRIC(p90, "Time to answer, 90th percentile."),
        TIME_METRIC(trend, "Median of the second half of the decisions, less that of the first."),
        METRIC(yes_streak, "Longest row of approvals."),
        METRIC(repeats, "Percent of prompts that repeat one before."),
        METRIC(reversals, "Percent of approvals that were revoked."),
        METRIC(incidents, "Percent of approvals that did harm."),
        METRIC(decoy_misses, "Percent of decoys that were approved."),
        METRIC(score, "Fatigue, 0 to 100."),
#undef METRIC
#undef TIME_METRIC
};

void box_approvals_metrics(const struct cordon_context *cx, struct buf *out)
{
        struct past_decisions p;
        const struct past_decision *who[PERSONS_MAX];
        char name[160];
        decisions_read(cx, &p);
        size_t persons = persons_of(&p, who);
        for (size_t m = 0; persons && m < sizeof metrics / sizeof *metrics; m++) {
                buf_printf(out, "# HELP cordon_approve_%s %s\n# TYPE cordon_approve_%s gauge\n",
                           metrics[m].name, metrics[m].help, metrics[m].name);
                for (size_t i = 0; i < persons; i++) {
                        struct gate_fatigue f = decisions_fatigue(&p, who[i]->uid, desk_now_ms());
                        int32_t value; /* each is of 32 bits */
                        memcpy(&value, (const char *) &f + metrics[m].at, sizeof value);
                        buf_printf(out, "cordon_approve_%s{uid=\"%s\"} %.3f\n", metrics[m].name,
                                   name_of(who[i], name), value / (metrics[m].is_time ? 1e3 : 1));
                }
        }
        decisions_done(&p);
}

enum box_approving box_approving(const struct cordon_context *cx, char *ret, size_t cap)
{
        struct past_decisions p, unanswered;
        const struct past_decision *who[PERSONS_MAX] = { 0 };
        unsigned tired = 0, hurried = 0, stale = 0;
        struct gate_history *h = calloc(GATES_MAX, sizeof *h);
        int64_t now = desk_now_ms();
        decisions_read(cx, &p);
        decisions_read_unanswered(cx, &unanswered);
        size_t persons = persons_of(&p, who), gates = h ? gates_of(&p, &unanswered, h) : 0;
        for (size_t i = 0; i < persons; i++) {
                struct gate_fatigue f = decisions_fatigue(&p, who[i]->uid, now);
                tired += gate_ladder(&f) != GATE_ATTENTIVE;
                hurried += f.hurries;
        }

        for (size_t i = 0; i < gates; i++)
                stale += is_stale(&h[i], now);

        (void) snprintf(ret, cap,
                        "%zu %s, %u of them faster than they can read, or worse, %u twice as fast as before; "
                        "%u of %zu gates asked for %d days without a denial",
                        persons, persons == 1 ? "person answers" : "persons answer", tired, hurried, stale,
                        gates, STALE_DAYS);
        free(h);
        decisions_done(&unanswered);
        decisions_done(&p);
        return persons == 0                ? BOX_APPROVING_NONE
               : tired || hurried || stale ? BOX_APPROVING_BADLY
                                           : BOX_APPROVING_WELL;
}

/* ---- incidents ---- */

static int record_incident(const struct cordon_context *cx, const struct past_decision *d, const char *text,
                           struct err *e)
{
        char digest[72], run[64], name[32]; /* one effect may have several incidents */
        (void) snprintf(run, sizeof run, "incident-%.16s", d->id);
        (void) snprintf(digest, sizeof digest, "sha256:%s", d->id);
        struct ledger *l = ledger_open(cx, run, "i", e);
        if (!l)
                return -1;

        struct ledger_record r = ledger_record_of(LEDGER_GATE, LEDGER_HUMAN);
        (void) snprintf(name, sizeof name, "i%llx", (unsigned long long) clock_mono_ns());
        r.name = name;
        r.result = gate_state_name(GATE_INCIDENT);
        r.target = d->effect;
        r.door = d->door;
        r.digest = digest;
        ledger_more_text(&r, "reason", text);
        ledger_more_number(&r, "uid", (int64_t) d->uid);
        int done = ledger_append(l, &r, true, NULL, e);
        ledger_close(l);
        return done;
}

int box_incident(const struct cordon_context *cx, const char *id, const char *text, struct err *e)
{
        struct past_decisions p;
        const struct past_decision *found = NULL;
        size_t n = strlen(id);
        unsigned matches = 0;
        decisions_read(cx, &p);
        for (size_t i = 0; i < p.n; i++)
                if (n >= 4 && strncmp(p.v[i].id, id, n) == 0 && p.v[i].d.yes) {
                        matches += !found || strcmp(found->id, p.v[i].id) != 0;
                        found = &p.v[i];
                }

        int r = matches > 1 ? err_set(e, ERR_USAGE, 0, "%u approved effects begin so: give more of the id",
                                      matches)
                            : matches == 0;
        if (r == 0 && found)
                r = record_incident(cx, found, text, e);
        if (r == 0 && found)
                r = decisions_mark(cx, "incident", found->id, text, e);

        decisions_done(&p);
        return r;
}

int box_decoys(const struct cordon_context *cx, bool on, struct err *e)
{
        return decisions_set_decoys(cx, on, e);
}
