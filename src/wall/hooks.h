/* SPDX-License-Identifier: MIT */
/* wall/hooks.h - for attacking our own walls: layers left out one by one, and a stop at each step of a start.
 *
 * They exist in one program only, tests/hooked. In any other every question here is answered by the
 * compiler, so that no input, variable or flag can reach a release's walls; a test looks for the names in the
 * program. */
#pragma once
#include "wall/wall.h"

#ifdef CORDON_HOOKS
/* Named in CORDON_KNOCKOUT, or in CORDON_SABOTAGE, separated by commas? */
bool wall_left_out(enum wall_layer l);
/* Named in CORDON_KNOCKOUT: left out on purpose, so the probe from inside does not ask for it. What is
 * sabotaged it must find. */
bool wall_excused(enum wall_layer l);
/* Holds this process for two seconds, in which it is called at-NAME, or ends it, when CORDON_STEP is "NAME"
 * or "NAME:kill". */
void wall_step(const char *name);
/* What init is executed with: here the caller's, which has the three above. */
char **wall_init_environment(void);
#else
static inline bool wall_left_out(enum wall_layer l)
{
        (void) l;
        return false;
}
static inline bool wall_excused(enum wall_layer l)
{
        (void) l;
        return false;
}
static inline void wall_step(const char *name) { (void) name; }
static inline char **wall_init_environment(void)
{
        static char *none[1];
        return none;
}
#endif
