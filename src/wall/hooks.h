/* SPDX-License-Identifier: MIT */
/* wall/hooks.h - test hooks for attacks on our own walls: leave out single layers, stop at each step of a
 * start.
 *
 * The hooks exist only in the program tests/hooked. In every other program the compiler answers each question
 * here, so that no input, variable or flag can reach the walls of a release. A test searches the program for
 * the names. */
#pragma once
#include "wall/wall.h"

#ifdef CORDON_HOOKS
/* Named in CORDON_KNOCKOUT, or in CORDON_SABOTAGE, separated by commas? */
bool wall_left_out(enum wall_layer l);
/* Named in CORDON_KNOCKOUT: left out on purpose, so attestation skips it. Attestation must detect a sabotaged
 * layer. */
bool wall_excused(enum wall_layer l);
/* "scopes" in CORDON_KNOCKOUT: as if Landlock were older than they are. */
bool wall_unscoped(void);
/* Holds this process for two seconds, in which it is called at-NAME, or ends it, when CORDON_STEP is "NAME"
 * or "NAME:kill". */
void wall_step(const char *name);
/* The environment that init is executed with: here the caller's, which has the three variables above. */
char **wall_init_environment(void);
#else
static inline bool wall_left_out(enum wall_layer l)
{
        (void) l;
        return false;
}
static inline bool wall_unscoped(void) { return false; }
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
