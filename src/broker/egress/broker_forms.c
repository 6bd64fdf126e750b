/* SPDX-License-Identifier: MIT */
/* broker/egress/broker_forms.c - how the keeper's orders and the broker's words are encoded. A field that is
 * added, moved or changed makes a new version: keeper and broker are installed together, and one of another
 * build is not understood rather than misread. */
#include "broker/egress/internal.h"

static const struct wire_field order[] = {
        WIRE_NUMBER(struct egress_order, command),
        WIRE_NUMBER(struct egress_order, kind),
        WIRE_NUMBER(struct egress_order, port),
        WIRE_NUMBER(struct egress_order, become),
};
const struct wire_form egress_order_form = WIRE_FORM(WIRE_EGRESS_ORDER, 1, struct egress_order, order);

static const struct wire_field message[] = {
        WIRE_NUMBER(struct egress_message, word),
        WIRE_NUMBER(struct egress_message, limits),
        WIRE_NUMBER(struct egress_message, lost),
        WIRE_NUMBER(struct egress_message, denied_lost),
        WIRE_NUMBER(struct egress_message, recorded),
        WIRE_NUMBER(struct egress_message, unrecorded),
        WIRE_NUMBER(struct egress_message, record_failed),
        WIRE_NUMBER(struct egress_message, bundle_bytes),
        WIRE_NUMBER(struct egress_message, after),
        WIRE_STRING(struct egress_message, label),
        WIRE_NUMBER(struct egress_message, error.code),
        WIRE_NUMBER(struct egress_message, error.step),
        WIRE_NUMBER(struct egress_message, error.sys),
        WIRE_STRING(struct egress_message, error.what),
        WIRE_STRING(struct egress_message, error.hint),
        WIRE_NUMBER(struct egress_message, row.index),
        WIRE_NUMBER(struct egress_message, row.allowed),
        WIRE_NUMBER(struct egress_message, row.reach),
        WIRE_NUMBER(struct egress_message, row.seen),
        WIRE_NUMBER(struct egress_message, row.form),
        WIRE_NUMBER(struct egress_message, row.connections),
        WIRE_NUMBER(struct egress_message, row.requests),
        WIRE_NUMBER(struct egress_message, row.sent),
        WIRE_NUMBER(struct egress_message, row.received),
        WIRE_NUMBER(struct egress_message, row.told_bytes),
        WIRE_NUMBER(struct egress_message, row.told),
        WIRE_NUMBER(struct egress_message, row.reached),
        WIRE_NUMBER(struct egress_message, row.cut),
        WIRE_NUMBER(struct egress_message, row.reason),
        WIRE_STRING(struct egress_message, row.method),
        WIRE_STRING(struct egress_message, row.to),
        WIRE_STRING(struct egress_message, row.detail),
        WIRE_STRING(struct egress_message, row.permit),
        WIRE_STRING(struct egress_message, row.address),
};
const struct wire_form egress_message_form =
        WIRE_FORM(WIRE_EGRESS_MESSAGE, 3, struct egress_message, message);

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
        WIRE_STRING(struct egress_held, text),
};
const struct wire_form egress_held_form = WIRE_FORM(WIRE_EGRESS_HELD, 1, struct egress_held, held);

static const struct wire_field gate_answer[] = {
        WIRE_NUMBER(struct egress_gate_answer, number),
        WIRE_NUMBER(struct egress_gate_answer, yes),
        WIRE_NUMBER(struct egress_gate_answer, reason),
        WIRE_STRING(struct egress_gate_answer, id),
};
const struct wire_form egress_gate_answer_form =
        WIRE_FORM(WIRE_EGRESS_GATE, 1, struct egress_gate_answer, gate_answer);
