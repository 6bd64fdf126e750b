/* SPDX-License-Identifier: MIT */
/* broker/egress/row_text.c - a row of the broker's accounts as text. Pure; for the keeper. */
#include "broker/egress/egress.h"

void egress_row_text(const struct egress_row *r, struct buf *out)
{
        const char *before = r->form == EGRESS_NAME ? "the name " : "";
        const char *between = r->form == EGRESS_PACKET ? " to " : r->method[0] ? " " : "";
        buf_printf(out, "%s%s%s%s", before, r->method, between, r->to);
}

void egress_row_why(const struct egress_row *r, struct buf *out)
{
        effect_put_why(out, r->reason, r->detail);
}
