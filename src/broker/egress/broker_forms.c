/* SPDX-License-Identifier: MIT */
/* broker/egress/broker_forms.c - how the keeper's orders and the broker's words are encoded. A field that is
 * added, moved or changed makes a new version: keeper and broker are installed together, and one of another
 * build is not understood rather than misread. */
#include "broker/egress/internal.h"

#define NUM(m)    WIRE_NUMBER(struct egress_message, m)
#define STRING(m) WIRE_STRING(struct egress_message, m)

static const struct wire_field order[] = {
        WIRE_NUMBER(struct egress_order, command),
        WIRE_NUMBER(struct egress_order, kind),
        WIRE_NUMBER(struct egress_order, port),
        WIRE_NUMBER(struct egress_order, become),
};
const struct wire_form egress_order_form = WIRE_FORM(WIRE_EGRESS_ORDER, 1, struct egress_order, order);

static const struct wire_field message[] = {
        NUM(word),           NUM(limits),        NUM(lost),
        NUM(denied_lost),    NUM(recorded),      NUM(unrecorded),
        NUM(record_failed),  NUM(bundle_bytes),  NUM(after),
        STRING(label),       NUM(error.code),    NUM(error.step),
        NUM(error.sys),      STRING(error.what), STRING(error.hint),
        NUM(row.index),      NUM(row.allowed),   NUM(row.reach),
        NUM(row.seen),       NUM(row.form),      NUM(row.connections),
        NUM(row.requests),   NUM(row.sent),      NUM(row.received),
        NUM(row.told_bytes), NUM(row.told),      NUM(row.reached),
        NUM(row.cut),        NUM(row.reason),    STRING(row.method),
        STRING(row.to),      STRING(row.detail), STRING(row.permit),
        STRING(row.address), NUM(part.group),    NUM(part.index),
        NUM(part.count),
};
const struct wire_form egress_message_form =
        WIRE_FORM(WIRE_EGRESS_MESSAGE, 4, struct egress_message, message);

static const struct wire_field asked[] = { WIRE_NUMBER(struct resolve_ask, id),
                                           WIRE_STRING(struct resolve_ask, name) };
const struct wire_form resolve_ask_form = WIRE_FORM(WIRE_RESOLVE_ASK, 1, struct resolve_ask, asked);

static const struct wire_field answer[] = {
        WIRE_NUMBER(struct resolve_answer, id),    WIRE_NUMBER(struct resolve_answer, error),
        WIRE_NUMBER(struct resolve_answer, count), WIRE_BYTES(struct resolve_answer, v6),
        WIRE_BYTES(struct resolve_answer, own),    WIRE_BYTES(struct resolve_answer, bytes),
};
const struct wire_form resolve_answer_form = WIRE_FORM(WIRE_RESOLVE_ANSWER, 1, struct resolve_answer, answer);

static const struct wire_field held[] = {
        WIRE_NUMBER(struct egress_held, number),
        WIRE_NUMBER(struct egress_held, word),
        WIRE_NUMBER(struct egress_held, group),
        WIRE_STRING(struct egress_held, text),
};
const struct wire_form egress_held_form = WIRE_FORM(WIRE_EGRESS_HELD, 2, struct egress_held, held);

static const struct wire_field gate_answer[] = {
        WIRE_NUMBER(struct egress_gate_answer, number),
        WIRE_NUMBER(struct egress_gate_answer, yes),
        WIRE_NUMBER(struct egress_gate_answer, reason),
        WIRE_STRING(struct egress_gate_answer, id),
};
const struct wire_form egress_gate_answer_form =
        WIRE_FORM(WIRE_EGRESS_GATE, 1, struct egress_gate_answer, gate_answer);
