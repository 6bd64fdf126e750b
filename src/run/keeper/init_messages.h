/* SPDX-License-Identifier: MIT */
/* run/keeper/init_messages.h - init's messages: when each may come, and what is done with it. */
#pragma once
#include "run/keeper/internal.h"

/* What is known of the sender, and so what it may still have to say. */
enum init_phase {
        INIT_RAISING, /* until UP */
        INIT_WARMING, /* a parked box whose interpreter is not ready */
        INIT_PARKED,  /* and ready, until the program of its run is executed */
        INIT_SERVING, /* a session */
        INIT_RUNNING,
        INIT_ENDING, /* END came */
        INIT_JOINED, /* not init: the session that a run is in */
        INIT_PHASE__COUNT
};

/* init_table.c */
enum init_phase init_phase_of(const struct box *b);
/* May this message come in this phase, with a descriptor or without? */
bool init_may_say(uint32_t word, enum init_phase phase, bool with_fd);

/* init_messages.c: one for each row of the table. False: nothing has asked for it. */
bool heard_up(struct box *b, const struct wall_message *m, int *fd);
bool heard_end(struct box *b, const struct wall_message *m, int *fd);
bool heard_tty(struct box *b, const struct wall_message *m, int *fd);
bool heard_error(struct box *b, const struct wall_message *m, int *fd);
bool heard_denial(struct box *b, const struct wall_message *m, int *fd); /* SAW, too */
bool heard_lost(struct box *b, const struct wall_message *m, int *fd);
bool heard_listener(struct box *b, const struct wall_message *m, int *fd);
bool heard_connected(struct box *b, const struct wall_message *m, int *fd);
bool heard_touched(struct box *b, const struct wall_message *m, int *fd);
bool heard_passed_on(struct box *b, const struct wall_message *m, int *fd);
bool heard_news(struct box *b, const struct wall_message *m, int *fd);
void keeper_note_left(struct box *b);
