/* SPDX-License-Identifier: MIT */
/* effect/gate/gate_states.c - the life of an approval as a table. A pair that is not listed is refused. */
#include "effect/gate/gate.h"

static const uint8_t next[GATE_STATE__COUNT][GATE_EVENT__COUNT] = {
        [GATE_PROPOSED] = { [GATE_HOLD] = GATE_PENDING, [GATE_WITHDRAW] = GATE_WITHDRAWN },
        [GATE_PENDING] = { [GATE_YES] = GATE_APPROVED,
                           [GATE_NO] = GATE_DENIED,
                           [GATE_TIMEOUT] = GATE_EXPIRED,
                           [GATE_REPLACE] = GATE_SUPERSEDED,
                           [GATE_WITHDRAW] = GATE_WITHDRAWN },
        [GATE_APPROVED] = { [GATE_USE] = GATE_CONSUMED,
                            [GATE_DRIFT] = GATE_DRIFTED,
                            [GATE_TIMEOUT] = GATE_EXPIRED,
                            [GATE_WITHDRAW] = GATE_WITHDRAWN,
                            [GATE_REVOKE] = GATE_REVOKED },
        [GATE_CONSUMED] = { [GATE_WELL] = GATE_CLEAN, [GATE_HARM] = GATE_INCIDENT },
        [GATE_CLEAN] = { [GATE_HARM] = GATE_INCIDENT },
};

enum gate_state gate_next(enum gate_state s, enum gate_event e)
{
        if ((unsigned) s >= GATE_STATE__COUNT || (unsigned) e >= GATE_EVENT__COUNT)
                return GATE_NONE;
        return (enum gate_state) next[s][e];
}

static const char *const names[] = {
        [GATE_NONE] = "none",
        [GATE_PROPOSED] = "proposed",
        [GATE_PENDING] = "pending",
        [GATE_APPROVED] = "approved",
        [GATE_DENIED] = "denied",
        [GATE_EXPIRED] = "expired",
        [GATE_SUPERSEDED] = "superseded",
        [GATE_WITHDRAWN] = "withdrawn",
        [GATE_CONSUMED] = "consumed",
        [GATE_DRIFTED] = "drifted",
        [GATE_REVOKED] = "revoked",
        [GATE_CLEAN] = "clean",
        [GATE_INCIDENT] = "incident",
};
_Static_assert(sizeof names / sizeof *names == GATE_STATE__COUNT, "a name for each state");

const char *gate_state_name(enum gate_state s)
{
        return (unsigned) s < GATE_STATE__COUNT ? names[s] : names[GATE_NONE];
}
