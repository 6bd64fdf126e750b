/* SPDX-License-Identifier: MIT */
/* wall/linux/observe/mover.h - renames directories of edit doors, which the kernel's overlayfs answers with
 * EXDEV.
 *
 * In a box with an edit door to a directory every rename() stops at init. init reads its arguments once, and
 * lets it go on unless a directory of such a door is renamed. That one it hands, as two open directories and
 * two names, to the mover: a process with the payload's ids, no capability and the payload's Landlock rules,
 * so that the kernel allows it no more than the payload (as root also CAP_FSETID: a
 * directory keeps its setgid bit). One directory is moved after another; other renames
 * do not wait. */
#pragma once
#include "wall/internal.h"

/* Takes a call over; it is answered later. False: it is for the kernel to do, or to refuse. */
bool mover_take(struct wall_init *w, const struct seccomp_notif *n);
/* A child of init has ended: was it the mover? Its unanswered calls fail; the next call starts a new one. */
void mover_ended(struct wall_init *w, pid_t pid);

/* ---- dir_move.c ---- */

struct move {
        int old_dir, new_dir;
        unsigned flags; /* of renameat2() */
        const char *old, *new;
};

/* Returns 0 or an errno: EXDEV if the directory is not moved, with the reason in *ret (REASON_NONE: the two
 * names lie on different mounts, which no rename crosses). */
int move_directory(const struct move *m, enum effect_reason *ret);
