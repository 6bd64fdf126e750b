/* SPDX-License-Identifier: MIT */
/* policy/why.c - the smallest line that would permit an effect, and what that line costs. */
#include "policy/internal.h"

static void line_net_text(const struct effect *f, struct buf *out)
{
        buf_puts(out, "net ");
        net_print(&f->net, out);
        if (f->method)
                buf_printf(out, " %s", f->method);
}

/* Nothing is written when no line can permit it (the root directory). */
void policy_smallest_line(const struct effect *f, const struct decision *d, struct buf *out)
{
        bool root = f->path && strcmp(f->path, "/") == 0;
        if (d->answer == ANSWER_ALLOW || root)
                return;
        switch (f->kind) {
        case EFFECT_READ:
                buf_puts(out, "read ");
                break;
        case EFFECT_WRITE:
                buf_puts(out, "edit ");
                break; /* the smaller power: nothing reaches the host unseen */
        case EFFECT_RUN:
                buf_puts(out, "run ");
                break;
        case EFFECT_SOCK:
                buf_puts(out, "sock ");
                break;
        case EFFECT_ENV:
                buf_printf(out, "env %s", f->name);
                return;
        case EFFECT_NET:
                line_net_text(f, out);
                return;
        case EFFECT_NONE:
        case EFFECT_KIND__COUNT:
                return;
        }
        show_token(out, f->path);
}

void policy_line_cost(const struct effect *f, struct buf *out)
{
        switch (f->kind) {
        case EFFECT_READ:
                buf_printf(out, "A hostile guest could read everything at and below %s", f->path);
                break;
        case EFFECT_WRITE:
                buf_printf(out,
                           "A hostile guest could read %s and change, add or delete anything at and below "
                           "it, in a "
                           "private layer that reaches the host only when a person applies it",
                           f->path);
                break;
        case EFFECT_RUN:
                buf_printf(out, "A hostile guest could start %s with any arguments", f->path);
                break;
        case EFFECT_NET:
                buf_puts(out, "A hostile guest could send anything it can read to ");
                net_print(&f->net, out);
                buf_puts(out, " and take whatever comes back");
                break;
        case EFFECT_ENV:
                buf_printf(out, "A hostile guest could read the value of %s", f->name);
                break;
        case EFFECT_SOCK:
                buf_printf(out,
                           "A hostile guest could ask the program behind %s for anything it does for you",
                           f->path);
                break;
        case EFFECT_NONE:
        case EFFECT_KIND__COUNT:
                return;
        }
        buf_putc(out, '.');
}
