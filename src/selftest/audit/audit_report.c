/* SPDX-License-Identifier: MIT */
/* selftest/audit/audit_report.c - an audit for a person, for a program, and for the ledger. */
#include "selftest/audit/audit_report.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

static const char *const states[] = { [AUDIT_UNKNOWN] = "unknown",
                                      [AUDIT_HELD] = "held",
                                      [AUDIT_OPEN] = "open",
                                      [AUDIT_WAIVED] = "waived",
                                      [AUDIT_NONE] = "none" };

/* ---- text ---- */

static void put_item(const struct audit_item *it, struct buf *o)
{
        const struct audit_check *c = it->check;
        char shown[400];
        buf_printf(o, "  %-22s %-8s weight %-2u", c->id, states[it->state], c->weight);
        if (it->state == AUDIT_OPEN || it->state == AUDIT_WAIVED)
                buf_printf(o, " badness %3u%% since %s debt %llu", it->badness, it->since,
                           (unsigned long long) it->debt);
        buf_printf(o, " %s%s\n      %s\n", c->technique, audit_is_live(c) ? " (tried)" : "",
                   str_inert(span_str(it->evidence), shown, sizeof shown));
        if (it->state == AUDIT_OPEN)
                buf_printf(o, "      repair: %s\n", c->remedy);
}

static void put_items(const struct audit_report *r, enum audit_state state, const char *head, struct buf *o)
{
        bool first = true;
        for (size_t i = 0; i < r->n; i++)
                if (r->items[i].state == state) {
                        buf_puts(o, first ? head : "");
                        put_item(&r->items[i], o);
                        first = false;
                }
}

static void put_waivers(const struct audit_report *r, struct buf *o)
{
        char shown[200];
        for (size_t i = 0; i < r->e->rules->n; i++) {
                const struct audit_waiver *w = &r->e->rules->v[i];
                buf_printf(o, "%s  %-22s until %s, %s: ", i ? "" : "\nWAIVERS\n", w->id, w->end, w->owner);
                buf_printf(o, "%s%s\n", str_inert(span_str(w->reason), shown, sizeof shown),
                           w->expired ? " (ended)" : "");
        }
}

static void put_trend(const struct audit_report *r, struct buf *o)
{
        const struct audit_past *p = r->e->past;
        buf_puts(o, "\nTREND\n ");
        for (size_t i = 0; i < p->count; i++)
                buf_printf(o, " %s: %llu,", p->trend[i].day, (unsigned long long) p->trend[i].debt);
        buf_printf(o, " now: %llu\n", (unsigned long long) r->s->total);
        if (p->last[0])
                buf_printf(o, "  %u days since the last audit; over %d is debt\n",
                           audit_days(p->last, r->e->today), AUDIT_OVERDUE_DAYS);
        else
                buf_puts(o, "  this is the first audit here\n");
}

static void put_rest(const struct audit_report *r, struct buf *o)
{
        buf_puts(o, "\nREPAIRS THAT SAVE MOST FOR THE LEAST\n");
        for (unsigned i = 0; i < AUDIT_REPAIRS && r->s->repair[i]; i++)
                buf_printf(o, "  %u. %s (debt %llu): %s\n", i + 1, r->s->repair[i]->check->id,
                           (unsigned long long) r->s->repair[i]->debt, r->s->repair[i]->check->remedy);
        if (!r->s->repair[0])
                buf_puts(o, "  nothing to repair\n");

        put_waivers(r, o);
        put_trend(r, o);
        buf_printf(o, "\nINCIDENTS\n  %llu in this quarter, of %u that it may have\n",
                   (unsigned long long) r->e->incidents, r->e->rules->incidents);
        buf_puts(o, "\nON TRIAL, AND TO BE REVIEWED BY\n");
        for (const struct audit_experiment *x = audit_experiments; x->feature; x++)
                buf_printf(o, "  %s  %s\n", x->review, x->feature);
        buf_printf(o,
                   "\nBOXES OF 90 DAYS: DEPTH, COST, BLAST RADIUS\n"
                   "  LAYERS: the fewest of any run (-: none came to its command); REACH: how far effects "
                   "went\n%s",
                   r->tools ? r->tools : "");
}

void audit_report_text(const struct audit_report *r, bool all, struct buf *o)
{
        const struct audit_score *s = r->s;
        buf_printf(o, "debt %llu, blast radius %u: %zu checks, %u of them tried now; %u held, %u open, ",
                   (unsigned long long) s->total, r->e->blast, r->n, s->live, s->held, s->open);
        buf_printf(o, "%u waived, %u without an object, %u not judged\n", s->waived, s->none, s->unknown);
        buf_puts(o, "  blast radius, by which each debt is multiplied: 1 runs reached nobody, 2 a tenant, 3 "
                    "named "
                    "parties, 4 the public; 1 more with a credential\n\n");
        for (unsigned g = 0; g < AUDIT_GROUP__COUNT; g++)
                buf_printf(o, "  %-12s %llu\n", audit_group_name(g), (unsigned long long) s->group[g]);

        put_items(r, AUDIT_OPEN, "\nOPEN\n", o);
        put_items(r, AUDIT_WAIVED, "\nWAIVED\n", o);
        put_items(r, AUDIT_UNKNOWN, "\nNOT JUDGED\n", o);
        if (all) {
                put_items(r, AUDIT_NONE, "\nWITHOUT AN OBJECT\n", o);
                put_items(r, AUDIT_HELD, "\nHELD\n", o);
        }
        put_rest(r, o);
}

/* ---- JSON ---- */

static void item_json(const struct audit_item *it, struct buf *o)
{
        const struct audit_check *c = it->check;
        buf_printf(o,
                   "{\"id\":\"%s\",\"group\":\"%s\",\"state\":\"%s\",\"live\":%s,\"weight\":%u,\"effort\":%u",
                   c->id, audit_group_name(c->group), states[it->state], audit_is_live(c) ? "true" : "false",
                   c->weight, c->effort);
        buf_printf(o, ",\"badness\":%u,\"days_open\":%u,\"debt\":%llu", it->badness, it->days_open,
                   (unsigned long long) it->debt);
        buf_member(o, "since", it->since[0] ? it->since : NULL);
        buf_member(o, "technique", c->technique);
        buf_member(o, "evidence", it->evidence);
        buf_member(o, "remedy", c->remedy);
        buf_putc(o, '}');
}

static void waivers_json(const struct audit_report *r, struct buf *o)
{
        buf_puts(o, "],\n\"waivers\":[");
        for (size_t i = 0; i < r->e->rules->n; i++) {
                const struct audit_waiver *w = &r->e->rules->v[i];
                buf_printf(o, "%s{\"ended\":%s", i ? "," : "", w->expired ? "true" : "false");
                buf_member(o, "id", w->id);
                buf_member(o, "until", w->end);
                buf_member(o, "owner", w->owner);
                buf_member(o, "reason", w->reason);
                buf_putc(o, '}');
        }
}

static void trend_json(const struct audit_report *r, struct buf *o)
{
        const struct audit_past *p = r->e->past;
        buf_puts(o, "],\n\"trend\":[");
        for (size_t i = 0; i < p->count; i++)
                buf_printf(o, "%s{\"day\":\"%s\",\"debt\":%llu}", i ? "," : "", p->trend[i].day,
                           (unsigned long long) p->trend[i].debt);
        buf_puts(o, "],\"days_since_last\":");
        if (p->last[0])
                buf_printf(o, "%u", audit_days(p->last, r->e->today));
        else
                buf_puts(o, "null");
}

static void experiments_json(struct buf *o)
{
        buf_puts(o, ",\n\"experiments\":[");
        for (const struct audit_experiment *x = audit_experiments; x->feature; x++) {
                buf_printf(o, "%s{\"review\":\"%s\"", x == audit_experiments ? "" : ",", x->review);
                buf_member(o, "feature", x->feature);
                buf_putc(o, '}');
        }
}

void audit_report_json(const struct audit_report *r, struct buf *o)
{
        buf_printf(o, "{\"day\":\"%s\",\"debt\":%llu,\"blast\":%u,\"groups\":{", r->e->today,
                   (unsigned long long) r->s->total, r->e->blast);
        for (unsigned g = 0; g < AUDIT_GROUP__COUNT; g++)
                buf_printf(o, "%s\"%s\":%llu", g ? "," : "", audit_group_name(g),
                           (unsigned long long) r->s->group[g]);

        buf_puts(o, "},\n\"checks\":[");
        for (size_t i = 0; i < r->n; i++) {
                buf_puts(o, i ? ",\n " : "\n ");
                item_json(&r->items[i], o);
        }

        buf_puts(o, "],\n\"repairs\":[");
        for (unsigned i = 0; i < AUDIT_REPAIRS && r->s->repair[i]; i++)
                buf_printf(o, "%s\"%s\"", i ? "," : "", r->s->repair[i]->check->id);
        waivers_json(r, o);
        trend_json(r, o);
        experiments_json(o);
        buf_printf(o, "],\n\"incidents\":%llu,\"incident_budget\":%u,\"boxes\":%s}\n",
                   (unsigned long long) r->e->incidents, r->e->rules->incidents, r->tools ? r->tools : "[]");
}

/* ---- the ledger ---- */

/* "12 caps.time=2026-11-18 ...": the debt of a group, and what is open since when. */
static void put_group(const struct audit_report *r, unsigned g, struct buf *o)
{
        buf_printf(o, "%llu", (unsigned long long) r->s->group[g]);
        for (size_t i = 0; i < r->n; i++) {
                const struct audit_item *it = &r->items[i];
                if (it->check->group == g && (it->state == AUDIT_OPEN || it->state == AUDIT_WAIVED))
                        buf_printf(o, " %s=%s", it->check->id, it->since);
        }
}

/* One line each; what is too long for a record is left out. */
static void put_repairs(const struct audit_report *r, struct buf *o)
{
        enum { MOST = 1000 };
        for (unsigned i = 0; i < AUDIT_REPAIRS && r->s->repair[i]; i++) {
                const struct audit_item *it = r->s->repair[i];
                if (o->n + strlen(it->check->id) + strlen(it->check->remedy) + 32 < MOST)
                        buf_printf(o, "%s (debt %llu): %s\n", it->check->id, (unsigned long long) it->debt,
                                   it->check->remedy);
        }
}

int audit_report_record(const struct audit_report *r, cordon_error *e)
{
        struct buf lists[AUDIT_GROUP__COUNT] = { 0 };
        AUTO_BUF(repairs);
        const char *pairs[2 * AUDIT_GROUP__COUNT + 7] = { 0 };
        char budget[16], incidents[24], result[64], id[64];
        size_t n = 0;
        for (unsigned g = 0; g < AUDIT_GROUP__COUNT; g++) {
                put_group(r, g, &lists[g]);
                pairs[n++] = audit_group_name(g);
                pairs[n++] = buf_str(&lists[g]);
        }

        (void) snprintf(budget, sizeof budget, "%u", r->e->rules->incidents);
        (void) snprintf(incidents, sizeof incidents, "%llu", (unsigned long long) r->e->incidents);
        (void) snprintf(result, sizeof result, "%u open", r->s->open);
        pairs[n++] = "incident-budget";
        pairs[n++] = budget;
        pairs[n++] = "incidents";
        pairs[n++] = incidents;
        put_repairs(r, &repairs);
        if (repairs.n) {
                pairs[n++] = "repairs";
                pairs[n++] = buf_str(&repairs);
        }

        int done = cordon_audit_add(
                cli_context(),
                &(cordon_audit_record){
                        .what = "debt", .result = result, .pairs = pairs, .debt = (int64_t) r->s->total },
                id, e);
        for (unsigned g = 0; g < AUDIT_GROUP__COUNT; g++)
                buf_done(&lists[g]);
        return done;
}
