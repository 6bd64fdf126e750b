/* SPDX-License-Identifier: MIT */
/* ledger/write/ask_form.c - the encodings of the broker's requests to the ledger's writer, of its answers,
 * and of what the keeper tells it. A field that is added, moved or changed makes a new version. */
#include "base/wire/wire.h"
#include "ledger/ledger.h"

static const struct wire_field ask[] = {
        WIRE_NUMBER(struct ledger_ask, number),   WIRE_NUMBER(struct ledger_ask, after),
        WIRE_NUMBER(struct ledger_ask, under),    WIRE_NUMBER(struct ledger_ask, outcome),
        WIRE_NUMBER(struct ledger_ask, kind),     WIRE_NUMBER(struct ledger_ask, reach),
        WIRE_NUMBER(struct ledger_ask, stage),    WIRE_NUMBER(struct ledger_ask, writes),
        WIRE_NUMBER(struct ledger_ask, touches),  WIRE_NUMBER(struct ledger_ask, end),
        WIRE_NUMBER(struct ledger_ask, status),   WIRE_NUMBER(struct ledger_ask, sent),
        WIRE_NUMBER(struct ledger_ask, received), WIRE_STRING(struct ledger_ask, target),
        WIRE_STRING(struct ledger_ask, door),     WIRE_STRING(struct ledger_ask, credential),
        WIRE_STRING(struct ledger_ask, result),   WIRE_STRING(struct ledger_ask, address),
        WIRE_STRING(struct ledger_ask, labels),   WIRE_STRING(struct ledger_ask, seen),
};
const struct wire_form ledger_ask_form = WIRE_FORM(WIRE_LEDGER_ASK, 2, struct ledger_ask, ask);

static const struct wire_field answer[] = {
        WIRE_NUMBER(struct ledger_answer, number),
        WIRE_NUMBER(struct ledger_answer, leave),
        WIRE_STRING(struct ledger_answer, why),
};
const struct wire_form ledger_answer_form = WIRE_FORM(WIRE_LEDGER_ANSWER, 1, struct ledger_answer, answer);

static const struct wire_field causes[] = { WIRE_STRING(struct ledger_causes, ids) };
const struct wire_form ledger_causes_form = WIRE_FORM(WIRE_LEDGER_CAUSES, 1, struct ledger_causes, causes);
