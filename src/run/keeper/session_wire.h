/* SPDX-License-Identifier: MIT */
/* run/keeper/session_wire.h - the first message from a session to the keeper of a run in it: the run's number
 * and its spare, whose line comes as the descriptor. After it, init's messages follow in this direction, and
 * wall orders in the other. */
#pragma once
#include "effect/label/label.h"

#include <stdint.h>

struct session_joined {
        uint32_t id;     /* of the run, in the session */
        uint32_t leader; /* pid of its first process in the box */
        uint32_t layers;
        uint8_t memory_by_group, procs_by_group, cpu_by_group;
        uint32_t host_uid, host_gid; /* of the box's user outside */
        char label[LABEL_TEXT_MAX];  /* of the session */
        char error[320];             /* "": none */
};
struct wire_form;
extern const struct wire_form session_joined_form;
