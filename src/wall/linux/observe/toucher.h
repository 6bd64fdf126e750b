/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/toucher.h - places that are shut until the box first touches them.
 *
 * Each is covered by an empty file or directory when the box starts. Every call that looks up a path stops at
 * init; one that leads behind a cover waits while the keeper raises the label of the run, and goes on when
 * the keeper says so: then the cover is taken off. What init reads of the call only decides when to ask. A
 * task that exchanges the path meanwhile finds the cover.
 *
 * init cannot unmount. A process of its own can, and nothing else: it takes the number of a place. */
#pragma once
#include "wall/internal.h"

/* The stage after Landlock, whose rules are about the files below the covers. */
int touch_cover(struct wall_init *w, struct err *e);
/* Starts the process that takes covers off, while init has the power. Returns 0, or -1. */
int toucher_begin(struct wall_init *w);
/* Takes a call over that leads to a shut place; it is answered later. False: it does not. */
bool touch_take(struct wall_init *w, const struct seccomp_notif *n);
/* Was it shown for this alone, and is not for reports? */
bool touch_only(const struct wall_init *w, const struct seccomp_notif *n);
/* The keeper's word: takes the cover off, and lets the calls that wait for it go on. */
void touch_open(struct wall_init *w, unsigned which);
