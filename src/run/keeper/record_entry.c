/* SPDX-License-Identifier: MIT */
/* run/keeper/record_entry.c - one record of a run: its owner, its causes, and how it is written to the
 * ledger. */
#include "run/keeper/run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void record_off(struct run *run, const struct err *e)
{
        (void) snprintf(run->r.ledger_lost, sizeof run->r.ledger_lost, "%.180s", e->what);
        (void) snprintf(run->r.ledger, sizeof run->r.ledger, "off: %s", run->r.ledger_lost);
        if (run->record)
                ledger_close(run->record->ledger);
        free(run->record);
        run->record = NULL;
}

void record_digest(struct sha256 *s, char ret[72])
{
        memcpy(ret, "sha256:", sizeof "sha256:");
        sha256_end_hex(s, ret + strlen("sha256:"));
}

void record_digest_of(struct span bytes, char ret[72])
{
        struct sha256 s;
        sha256_init(&s);
        sha256_add(&s, bytes.p, bytes.n);
        record_digest(&s, ret);
}

struct ledger_record record_of(const struct run *run, enum ledger_kind k, enum ledger_phase p)
{
        struct ledger_record r = ledger_record_of(k, p);
        r.box = run->r.name;
        if (k != LEDGER_START) {
                r.parents[0] = run->record->start;
                r.parent_count = 1;
        }

        return r;
}

void record_add(struct run *run, const struct ledger_record *r, char ret_id[LEDGER_ID_MAX])
{
        struct err e;
        if (run->record && ledger_append(run->record->ledger, r, false, ret_id, &e) < 0)
                record_off(run, &e);
}

/* A record has room for so many causes. If more exist, one record names them all, and stands for them from
 * then on. */
static void fold_text(struct run *run, struct inputs *in)
{
        struct ledger_record r = record_of(run, LEDGER_HANDLE, LEDGER_OUTCOME);
        char id[LEDGER_ID_MAX] = "";
        r.result = "came in, with others";
        for (unsigned i = 0; i < in->count; i++)
                r.parents[r.parent_count++] = in->id[i];

        record_add(run, &r, id);
        if (!run->record)
                return;

        memcpy(in->id[0], id, sizeof id);
        in->count = 1;
}
_Static_assert(1 + INPUTS_MAX <= LEDGER_PARENTS_MAX, "the start and all inputs fit");

void record_list_input(struct run *run, struct inputs *in, const char *id)
{
        if (in->count == INPUTS_MAX)
                fold_text(run, in);
        if (run->record)
                (void) snprintf(in->id[in->count++], LEDGER_ID_MAX, "%s", id);
}

void record_causes(struct run *run, struct ledger_record *r)
{
        struct record *c = run->record;
        for (unsigned i = 0; c && i < c->in.count && r->parent_count < LEDGER_PARENTS_MAX; i++)
                r->parents[r->parent_count++] = c->in.id[i];

        if (!c || run->box->broker.after == 0 || r->parent_count == LEDGER_PARENTS_MAX)
                return;

        ledger_effect_id(run->r.run, 'r', run->box->broker.after, c->reply);
        r->parents[r->parent_count++] = c->reply;
}
