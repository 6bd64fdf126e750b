/* SPDX-License-Identifier: MIT */
/* broker/egress/control_send.c - the broker's messages to the keeper. */
#include "base/wire/wire.h"
#include "broker/egress/internal.h"

#include <errno.h>
#include <unistd.h>

bool control_send(struct broker *b, struct egress_message *m)
{
        m->limits = b->limits_hit;
        m->lost = b->rows_lost;
        m->denied_lost = b->denied_lost;
        m->after = b->ahead_after;
        m->recorded = b->recorded;
        m->unrecorded = b->answered - b->recorded;
        m->record_failed = b->record_failed;
        (void) label_text(&b->label, m->label);
        if (wire_put(b->control, &egress_message_form, m, -1) == 0)
                return true;

        if (errno != EAGAIN && errno != ENOBUFS)
                _exit(0); /* the peer is gone */

        return false;
}

void control_label(struct broker *b)
{
        struct egress_message m = { .word = EGRESS_SAYS_LABEL };
        b->label_dirty = !control_send(b, &m);
        b->any_dirty |= b->label_dirty;
}
