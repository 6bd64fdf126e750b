/* SPDX-License-Identifier: MIT */
/* selftest/audit/live_state.h - a state directory for one trial, which is removed. */
#pragma once
#include "cordon.h"

#include <sys/types.h>

/* Records are written without a sealer in the background, which would write there after the end. */
struct own_state {
        char dir[64], home[96], variable[96], libexec[4200];
        char *environment[6], *alone[6];
        cordon_context *cx, *writer; /* with our other programs, and without */
};
int own_state_make(struct own_state *s, mode_t mode);
void own_state_done(struct own_state *s);
