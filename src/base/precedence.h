/* SPDX-License-Identifier: MIT */
/* base/precedence.h - precedence over other processes of the machine that a process inherited. */
#pragma once

/*
 * Gives up what puts this process before others: a real-time or deadline class, a negative nice value, an I/O
 * priority above the default, protection from the OOM killer. What puts it behind others stays.
 *
 * Returns 0, or -1 with errno when the real-time class stays.
 */
int precedence_drop(void);
