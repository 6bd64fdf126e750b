/* SPDX-License-Identifier: MIT */
/* base/precedence.h - inherited scheduling priority over other processes of the machine. */
#pragma once

/* Drops everything that favours this process: a real-time or deadline class, a negative nice value, an I/O
 * priority above the default, protection from the OOM killer. Keeps what disfavours it.
 *
 * Returns 0, or -1 with errno if the real-time class remains.
 */
int precedence_drop(void);
