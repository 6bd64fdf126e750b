/* SPDX-License-Identifier: MIT */
/* egress/broker/departure.c - the last checks of an effect that a door covers, in this order:
 *
 *   labels     may data that this subject has read go there?               (to come: src/label)
 *   gate       must a person approve it? It waits; the bytes are ours.     held.c
 *   write-ahead  is its intent durable in the ledger?                      write_ahead.c
 *
 * The record comes last: only the network can stop a recorded intent. A check that makes an effect wait holds
 * its flow alone. */
#include "egress/broker/departure.h"
#include "egress/broker/held.h"
#include "egress/broker/write_ahead.h"

enum http_leave departure_connect(struct flow *f, enum effect_reason *ret_why, const char **ret_detail)
{
        if (f->door->ask.on)
                return held_connect(f, ret_why, ret_detail); /* the record follows the approval */

        *ret_why = REASON_LEDGER;
        return ahead_connect(f, ret_detail);
}

enum http_leave departure_request(struct flow *f, const struct http_event *e, enum effect_reason *ret_why,
                                  const char **ret_detail)
{
        if (e->door && e->door->ask.on)
                return held_request(f, e, ret_why, ret_detail);

        *ret_why = REASON_LEDGER;
        return ahead_request(f, e, ret_detail);
}
