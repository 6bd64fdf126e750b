/* SPDX-License-Identifier: MIT */
/* run/keeper/run_record.h - declarations shared by the files that record a run: run_record.c its life,
 * record_entry.c one record, record_inputs.c its inputs, record_effects.c its effects and denials. */
#pragma once
#include "base/hash.h"
#include "ledger/ledger.h"
#include "run/keeper/internal.h"

enum { STREAMS = 3, INPUTS_MAX = LEDGER_CAUSES_MAX };

struct inputs {
        char id[INPUTS_MAX][LEDGER_ID_MAX];
        unsigned count;
};

struct record {
        struct ledger *ledger;
        struct {
                struct sha256 sum;
                uint64_t bytes;
        } stream[STREAMS];
        char pipe[STREAMS][80]; /* "DEV:INO@BOOT" when the caller's stream is a pipe */
        char start[LEDGER_ID_MAX];
        struct inputs in;
        char reply[LEDGER_ID_MAX];
        bool hardware;
        bool over; /* the end is written: a later report is not an effect of the run */
};

/* record_entry.c. A record of this run, caused by its start. */
struct ledger_record record_of(const struct run *run, enum ledger_kind k, enum ledger_phase p);
/* Adds all inputs so far to its causes: of the answers of servers only the newest, which has the earlier ones
 * as causes. */
void record_causes(struct run *run, struct ledger_record *r);
/* Appends it. A ledger that fails is off from there on, and run->record is NULL. */
void record_add(struct run *run, const struct ledger_record *r, char ret_id[LEDGER_ID_MAX]);
void record_off(struct run *run, const struct err *e);
/* Adds to a list; one that is full becomes a single record of this run, with all of it as causes. */
void record_list_input(struct run *run, struct inputs *in, const char *id);
/* "sha256:..." */
void record_digest(struct sha256 *s, char ret[72]);
void record_digest_of(struct span bytes, char ret[72]);

/* causes.c: what leaves later, as output or as a request, may be caused by this record. */
void record_input(struct run *run, const char *id);

/* record_inputs.c */
void record_handles(struct run *run, bool out);
void record_shown(struct run *run); /* files that doors of the caller's own show, or let it change */
void record_read_origins(
        struct run *run); /* files below them that were seen to be read, and other runs created */
void record_stream(struct run *run, int stream);

/* publish.c */
void record_copies(struct box *b); /* files written to the host at the end */

/* record_effects.c */
void record_sockets(struct run *run); /* of `sock` doors, whose uses are not seen */
void record_denials(struct run *run);
void record_destinations(struct run *run);
void record_inbound(struct run *run);
void record_limits(struct run *run);
/* Returns true if all was seen, so the other doors were not used, and the end of the run records that this is
 * known. */
bool record_used(struct run *run);
/* The policy's own doors for files and programs: those that record_used() can record. */
unsigned record_own_doors(const struct run *run);
