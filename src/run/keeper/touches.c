/* SPDX-License-Identifier: MIT */
/* run/keeper/touches.c - labelled places that are shut until the box touches them (`rule touch`). A call of
 * the box waits in init while the label of the run rises here: the files that it can write are stamped, the
 * broker knows it, and a record has it. Only then the place opens. */
#include "run/keeper/internal.h"
#include "run/keeper/run_record.h"

static void record_touch(struct box *b, const struct box_shut *s)
{
        char labels[LABEL_TEXT_MAX], id[LEDGER_ID_MAX] = "";
        if (!b->run.record)
                return;

        struct ledger_record r = record_of(&b->run, LEDGER_FILE, LEDGER_OUTCOME);
        r.target = s->path;
        r.result = "touched";
        ledger_more_text(&r, "labels", label_text(&s->label, labels));
        record_add(&b->run, &r, id);
        if (b->run.record)
                record_input(&b->run, id);
}

bool touches_hear(struct box *b, uint32_t which)
{
        if (which >= b->c.shut_count || b->touched & 1u << which)
                return which < b->c.shut_count;

        const struct box_shut *s = &b->c.shut[which];
        b->touched |= 1u << which;
        keeper_label_rises(b, &s->label);
        record_touch(b, s);
        if (broker_raise(b, which))
                b->touch_waits |= 1u << which; /* until it says so: touches_settle() */
        else
                (void) wall_touch_open(&b->child, which);
        return true;
}

/* Nothing leaves any more when the broker is gone. */
void touches_settle(struct box *b)
{
        bool gone = b->broker.control < 0;
        for (unsigned i = 0; i < b->c.shut_count && b->touch_waits; i++)
                if (b->touch_waits & 1u << i &&
                    (gone || label_within(&b->c.shut[i].label, &b->broker.label))) {
                        b->touch_waits &= ~(1u << i);
                        (void) wall_touch_open(&b->child, i);
                }
}
