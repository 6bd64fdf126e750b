/* SPDX-License-Identifier: MIT */
/* broker/egress/departure.c - the last checks of an effect that a door covers, in this order:
 *
 *   labels     may data that this run has read go there?                   broker_labels.c
 *   gate       must a person approve it? It waits; the bytes are ours.     held.c
 *   write-ahead  is its intent durable in the ledger?                      write_ahead.c
 *
 * The record comes last: only the network can stop a recorded intent. A check that makes an effect wait holds
 * its flow alone; when it goes on, the labels are compared once more. */
#include "broker/egress/departure.h"
#include "broker/egress/broker_labels.h"
#include "broker/egress/held.h"
#include "broker/egress/write_ahead.h"

#include <stdio.h>

static enum http_leave stay_flow(struct flow *f, enum effect_reason why, enum effect_reason *ret_why,
                                 const char **ret_detail)
{
        *ret_why = why;
        *ret_detail = labels_detail(f->b);
        return HTTP_STAYS;
}

enum http_leave departure_connect(struct flow *f, enum effect_reason *ret_why, const char **ret_detail)
{
        struct policy_flow flow = labels_judge(f, NULL);
        *ret_detail = "";
        if (flow.answer == ANSWER_DENY)
                return stay_flow(f, flow.reason, ret_why, ret_detail);

        if (decide_asks(f->door, flow))
                return held_connect(f, flow.reason, ret_why); /* the record follows the approval */

        *ret_why = REASON_LEDGER;
        return ahead_connect(f, ret_detail);
}

enum http_leave departure_request(struct flow *f, const struct http_event *e, enum effect_reason *ret_why,
                                  const char **ret_detail)
{
        struct policy_flow flow = labels_judge(f, e->websocket ? NULL : e->method);
        *ret_detail = "";
        if (flow.answer == ANSWER_DENY || (flow.answer == ANSWER_ASK && !e->whole))
                return stay_flow(f, flow.reason, ret_why, ret_detail);

        if (decide_asks(f->door, flow))
                return held_request(f, e, flow.reason, ret_why);

        *ret_why = REASON_LEDGER;
        return ahead_request(f, e, ret_detail);
}

bool departure_again(struct flow *f)
{
        enum effect_reason why = f->recorded ? labels_since(f) : REASON_NONE;
        if (!why)
                return f->recorded;

        f->recorded = false;
        f->record_why = why;
        (void) snprintf(f->record_detail, sizeof f->record_detail, "%.150s", labels_detail(f->b));
        return false;
}
