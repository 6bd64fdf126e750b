/* SPDX-License-Identifier: MIT */
/* egress/http/clause.h - why a request that has to do with a credential was refused: each reason once, with
 * the code that the keeper is told beside the words. */
#pragma once
#include "egress/egress.h"

#include <stddef.h>
#include <string.h>

#define CLAUSE_NAME_PLACEHOLDER "a placeholder of a credential stands in the name"
#define CLAUSE_BODY_PLACEHOLDER "a placeholder of a credential stands in a body where it does not belong"
#define CLAUSE_MISPLACED        "a placeholder of a credential stands where it does not belong"
#define CLAUSE_OWN_MISPLACED    "the placeholder of this door's credential stands where it does not belong"
#define CLAUSE_NOT_LOADED       "the credential of this door is not loaded"
#define CLAUSE_EXPIRED          "the credential of this door has expired"
#define CLAUSE_USED_UP          "the credential of this door is used up for this run"

/* Of a whole clause: one that has words of the box in it has no code. */
static inline enum egress_reason clause_reason(const char *why)
{
        static const struct {
                const char *clause;
                enum egress_reason reason;
        } rows[] = {
                { CLAUSE_NAME_PLACEHOLDER, EGRESS_REASON_PLACEHOLDER },
                { CLAUSE_BODY_PLACEHOLDER, EGRESS_REASON_PLACEHOLDER },
                { CLAUSE_MISPLACED, EGRESS_REASON_PLACEHOLDER },
                { CLAUSE_OWN_MISPLACED, EGRESS_REASON_CREDENTIAL },
                { CLAUSE_NOT_LOADED, EGRESS_REASON_CREDENTIAL },
                { CLAUSE_EXPIRED, EGRESS_REASON_CREDENTIAL },
                { CLAUSE_USED_UP, EGRESS_REASON_CREDENTIAL },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (strcmp(why, rows[i].clause) == 0)
                        return rows[i].reason;
        return EGRESS_REASON_OTHER;
}
