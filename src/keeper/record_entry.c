/* SPDX-License-Identifier: MIT */
/* keeper/record_entry.c - one record of a run: whose it is, what caused it, and its way into the ledger. */
#include "keeper/run_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void record_off(struct box *b, const struct err *e)
{
        (void) snprintf(b->r.ledger_lost, sizeof b->r.ledger_lost, "%.180s", e->what);
        (void) snprintf(b->r.ledger, sizeof b->r.ledger, "off: %s", b->r.ledger_lost);
        if (b->record)
                ledger_close(b->record->ledger);
        free(b->record);
        b->record = NULL;
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

struct ledger_record record_of(const struct box *b, enum ledger_kind k, enum ledger_phase p)
{
        struct ledger_record r = ledger_record_of(k, p);
        r.box = b->r.name;
        if (k != LEDGER_START) {
                r.parents[0] = b->record->start;
                r.parent_count = 1;
        }

        return r;
}

void record_add(struct box *b, const struct ledger_record *r, char ret_id[LEDGER_ID_MAX])
{
        struct err e;
        if (b->record && ledger_append(b->record->ledger, r, false, ret_id, &e) < 0)
                record_off(b, &e);
}

/* A record has room for so many causes. Where there are more, one record names them all, and stands for them
 * from then on. */
static void fold_inputs(struct box *b)
{
        struct ledger_record r = record_of(b, LEDGER_HANDLE, LEDGER_OUTCOME);
        char id[LEDGER_ID_MAX] = "";
        r.result = "came in, with others";
        for (unsigned i = 0; i < b->record->input_count; i++)
                r.parents[r.parent_count++] = b->record->inputs[i];

        record_add(b, &r, id);
        if (!b->record)
                return;

        memcpy(b->record->inputs[0], id, sizeof id);
        b->record->input_count = 1;
}
_Static_assert(1 + INPUTS_MAX <= LEDGER_PARENTS_MAX, "the start and all inputs fit");

void record_input(struct box *b, const char *id)
{
        if (b->record->input_count == INPUTS_MAX)
                fold_inputs(b);
        if (b->record)
                memcpy(b->record->inputs[b->record->input_count++], id, LEDGER_ID_MAX);
}

void record_causes(struct box *b, struct ledger_record *r)
{
        struct record *c = b->record;
        for (unsigned i = 0; c && i < c->input_count && r->parent_count < LEDGER_PARENTS_MAX; i++)
                r->parents[r->parent_count++] = c->inputs[i];

        if (!c || b->broker.after == 0 || r->parent_count == LEDGER_PARENTS_MAX)
                return;

        ledger_effect_id(b->r.run, 'r', b->broker.after, c->reply);
        r->parents[r->parent_count++] = c->reply;
}
