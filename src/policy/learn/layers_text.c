/* SPDX-License-Identifier: MIT */
/* policy/learn/layers_text.c - the eight layers for a person and for a program: metric, threshold, evidence
 * and the next command of each. */
#include "policy/learn/internal.h"

static const char *const facts[] = {
        [FACT_RUNS] = "runs",
        [FACT_RUNS_FAILED] = "runs_failed",
        [FACT_TRIPPED] = "runs_tripped",
        [FACT_NOT_STARTED] = "runs_not_started",
        [FACT_WEAK] = "runs_weak",
        [FACT_CAPPED] = "runs_capped",
        [FACT_NO_GROUPS] = "runs_without_groups",
        [FACT_FAILED_DENIED] = "runs_failed_denied",
        [FACT_DENIED_NET] = "runs_denied_net",
        [FACT_UNUSED_DOORS] = "unused_doors_percent",
        [FACT_DENIED_CREDENTIAL] = "runs_denied_credential",
        [FACT_EXPIRED_CREDENTIALS] = "credentials_expired",
        [FACT_LONG_CREDENTIALS] = "credentials_long",
        [FACT_GROWN_CREDENTIALS] = "credentials_grown",
        [FACT_UNBOUND_CREDENTIALS] = "credentials_unbound",
        [FACT_ASKED] = "asked",
        [FACT_UNANSWERED] = "unanswered",
        [FACT_INCIDENTS] = "incidents",
        [FACT_TIRED] = "persons_tired",
        [FACT_STALE_GATES] = "gates_stale",
        [FACT_OUTPUT_REFUSED] = "runs_output_refused",
        [FACT_OUTPUT_CUT] = "runs_output_cut",
        [FACT_OUTPUT_FOUND] = "runs_output_found",
        [FACT_OPEN_STATE] = "state_open",
        [FACT_ALTERED] = "ledger_altered",
        [FACT_UNREADABLE] = "ledger_unreadable",
        [FACT_UNFINISHED] = "runs_unfinished",
        [FACT_UNKNOWN] = "runs_unknown",
        [FACT_UNEXPLAINED] = "runs_unexplained",
        [FACT_GAPS] = "ledger_gaps",
};
_Static_assert(COUNT(facts) == LEARN_FACT__COUNT, "a name for each fact");

/* The command, with the example in it. */
static void put_next(const struct learn_symptom *s, const char *example, struct buf *out)
{
        const char *hole = strstr(s->next, "{}");
        if (!hole) {
                buf_puts(out, s->next);
                return;
        }
        buf_add(out, s->next, (size_t) (hole - s->next));
        buf_printf(out, "%s%s", example[0] ? example : "NAME", hole + 2);
}

void learn_layers_text(const struct learn_facts *f, struct buf *out)
{
        struct learn_finding r[LEARN_LAYER__COUNT];
        learn_layers(f, r);
        if (r[0].state == LEARN_WELL)
                buf_printf(out, "no layer fails, by %lld runs\n", (long long) f->n[FACT_RUNS]);
        else
                buf_printf(out, "start with: %s\n", learn_layer_name(r[0].symptom->layer));

        for (unsigned i = 0; i < LEARN_LAYER__COUNT; i++) {
                const struct learn_symptom *s = r[i].symptom;
                buf_printf(out, "%-8s %-14s %lld %s (threshold %u)\n", learn_state_name(r[i].state),
                           learn_layer_name(s->layer), (long long) r[i].value, s->what, s->threshold);
                if (r[i].state == LEARN_WELL)
                        continue;
                buf_printf(out, "%24snext: ", "");
                put_next(s, f->example[s->fact], out);
                buf_putc(out, '\n');
        }
}

static void finding_json(const struct learn_facts *f, const struct learn_finding *r, struct buf *out)
{
        const struct learn_symptom *s = r->symptom;
        AUTO_BUF(next);
        buf_printf(out,
                   "{\"layer\":\"%s\",\"state\":\"%s\",\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%lld,"
                   "\"threshold\":%u",
                   learn_layer_name(s->layer), learn_state_name(r->state), facts[s->fact],
                   s->of == s->fact ? "count" : "percent", (long long) r->value, s->threshold);
        buf_member(out, "what", s->what);
        buf_member(out, "evidence", f->example[s->fact]);
        if (r->state != LEARN_WELL)
                put_next(s, f->example[s->fact], &next);
        buf_member(out, "next", buf_str(&next));
        out->failed |= next.failed;
        buf_putc(out, '}');
}

void learn_layers_json(const struct learn_facts *f, struct buf *out)
{
        struct learn_finding r[LEARN_LAYER__COUNT];
        learn_layers(f, r);
        buf_printf(out, "{\"first\":");
        if (r[0].state == LEARN_WELL)
                buf_puts(out, "null");
        else
                buf_json(out, span_str(learn_layer_name(r[0].symptom->layer)));

        buf_puts(out, ",\"layers\":[");
        for (unsigned i = 0; i < LEARN_LAYER__COUNT; i++) {
                buf_puts(out, i ? ",\n " : "\n ");
                finding_json(f, &r[i], out);
        }

        buf_puts(out, "],\n\"facts\":{");
        for (unsigned i = 0; i < LEARN_FACT__COUNT; i++)
                buf_printf(out, "%s\"%s\":%lld", i ? "," : "", facts[i], (long long) f->n[i]);
        buf_puts(out, "}}\n");
}
