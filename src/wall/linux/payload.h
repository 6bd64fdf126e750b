/* SPDX-License-Identifier: MIT */
/* wall/linux/payload.h - the last steps of a payload's process, from a child of init to execve(). payload.c
 * takes them one after the other, spare.c stops before the run order. Each returns 0, or -1 with *e set. */
#pragma once
#include "wall/internal.h"

int wall_payload_lead_session(struct err *e);
int wall_payload_become(struct wall_init *w, struct err *e);      /* ids, privileges */
int wall_payload_load_filter(struct wall_init *w, struct err *e); /* not dumpable from here on */
int wall_payload_take_terminal(struct err *e);                    /* standard input becomes the session's */
int wall_payload_enter_directory(const struct wall_init *w, struct err *e);
void wall_payload_exec(struct wall_init *w, struct err *e); /* returns only if it failed */
/* The layers that this process raises. */
uint32_t wall_payload_layers(const struct wall_init *w);
