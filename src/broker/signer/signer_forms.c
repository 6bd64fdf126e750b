/* SPDX-License-Identifier: MIT */
/* broker/signer/signer_forms.c - how the keeper's orders and the signer's words are encoded. */
#include "broker/signer/signer.h"

static const struct wire_field order[] = {
        WIRE_NUMBER(struct signer_order, command), WIRE_NUMBER(struct signer_order, agent),
        WIRE_NUMBER(struct signer_order, decrypt), WIRE_NUMBER(struct signer_order, number),
        WIRE_NUMBER(struct signer_order, yes),     WIRE_NUMBER(struct signer_order, become),
        WIRE_STRING(struct signer_order, key),
};
const struct wire_form signer_order_form = WIRE_FORM(WIRE_SIGNER_ORDER, 1, struct signer_order, order);

static const struct wire_field message[] = {
        WIRE_NUMBER(struct signer_message, word),    WIRE_NUMBER(struct signer_message, agent),
        WIRE_NUMBER(struct signer_message, decrypt), WIRE_NUMBER(struct signer_message, number),
        WIRE_NUMBER(struct signer_message, done),    WIRE_NUMBER(struct signer_message, bytes),
        WIRE_STRING(struct signer_message, key),     WIRE_STRING(struct signer_message, comment),
        WIRE_STRING(struct signer_message, what),    WIRE_STRING(struct signer_message, digest),
};
const struct wire_form signer_message_form =
        WIRE_FORM(WIRE_SIGNER_MESSAGE, 1, struct signer_message, message);
