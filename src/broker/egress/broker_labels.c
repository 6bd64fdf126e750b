/* SPDX-License-Identifier: MIT */
/* broker/egress/broker_labels.c - the label of the run as the broker sees it: it rises with what servers
 * answer, and never falls. What leaves is judged by it, at its departure and again when it has risen since.
 * The decision itself is policy_flow()'s. */
#include "broker/egress/broker_labels.h"

#include <stdio.h>

int labels_take(struct label *ret, struct span text, struct err *e)
{
        return label_parse(text, ret) < 0 ? err_set(e, ERR_INTERNAL, 0, "the broker got a broken label") : 0;
}

struct policy_flow labels_judge_door(const struct broker *b, const struct door *d, const char *method)
{
        const struct effect asked = { .kind = EFFECT_NET,
                                      .subject = { .label = &b->label,
                                                   .rehearsal = b->stage != POLICY_STAGE_LIVE },
                                      .method = method };
        return policy_flow(b->policy, d, &asked);
}

/* The method of the request that is under way; NULL: bytes, or a WebSocket. */
static const char *method_of(const struct flow *f) { return f->http ? http_flow_method(f->http) : NULL; }

struct policy_flow labels_judge(struct flow *f, const char *method)
{
        f->label_judged = f->label_seen = f->b->label_rises;
        return labels_judge_door(f->b, f->door, method);
}

void labels_approved(struct flow *f) { f->label_judged = f->label_seen = f->b->label_rises; }

enum effect_reason labels_since(struct flow *f)
{
        if (f->label_judged == f->b->label_rises || !f->door)
                return REASON_NONE;
        struct policy_flow p = labels_judge(f, method_of(f));
        return p.answer == ANSWER_ALLOW ? REASON_NONE : p.reason;
}

const char *labels_detail(struct broker *b)
{
        (void) label_text(&b->label, b->label_words);
        return b->label_words;
}

void labels_raise(struct broker *b, const struct door *d)
{
        if (!d || !d->flow.label)
                return;

        struct label by = label_of(d->flow.label);
        labels_join(b, &by);
}

void labels_join(struct broker *b, const struct label *by)
{
        struct label before = b->label;
        label_join(&b->label, by);
        if (label_equal(&before, &b->label))
                return;

        b->label_rises++;
        control_label(b); /* before the box gets what it has risen by: a run may end with that */
}

enum effect_reason labels_stop(struct flow *f)
{
        bool under_way = f->http ? http_flow_is_sending(f->http) : f->state > FLOW_RECORDING;
        if (f->label_seen == f->b->label_rises || !f->door || f->state >= FLOW_LINGERING)
                return REASON_NONE;

        f->label_seen = f->b->label_rises;
        if (!under_way)
                return REASON_NONE;

        struct policy_flow p = labels_judge_door(f->b, f->door, method_of(f));
        return p.answer == ANSWER_ALLOW ? REASON_NONE : p.reason;
}
