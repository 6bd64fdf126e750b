/* SPDX-License-Identifier: MIT */
/* cli/gaps.h - what walls do not stop, in words. Each list ends with NULL. */
#pragma once

extern const char *const gaps_always[];       /* whatever wall */
extern const char *const gaps_process_wall[]; /* what it lacks beside the namespace wall */
extern const char *const gaps_no_group[];     /* where no control group keeps a box */
