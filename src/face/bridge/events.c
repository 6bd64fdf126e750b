/* SPDX-License-Identifier: MIT */
/* face/bridge/events.c - text/event-stream: the data of each event. Names, ids and times to retry are
 * dropped. Pure. */
#include "face/bridge/bridge.h"

#include <string.h>

static void take_line(struct bridge_events *v, void (*fn)(void *ctx, struct span data), void *ctx)
{
        struct span l = buf_span(&v->line);
        if (l.n == 0) {
                if (v->data.n > 0) /* without its last newline */
                        fn(ctx, span_of(v->data.p, v->data.n - 1));
                v->data.n = 0;
        } else if (l.n >= 5 && memcmp(l.p, "data:", 5) == 0) {
                size_t from = l.n > 5 && l.p[5] == ' ' ? 6 : 5;
                buf_add(&v->data, l.p + from, l.n - from);
                buf_putc(&v->data, '\n');
        } else if (span_is(l, "data"))
                buf_putc(&v->data, '\n');
        v->line.n = 0;
}

bool bridge_events_add(struct bridge_events *v, struct span in, void (*fn)(void *ctx, struct span data),
                       void *ctx)
{
        for (size_t i = 0; i < in.n && !v->too_long; i++) {
                char c = (char) in.p[i];
                bool ends = c == '\r' || (c == '\n' && !v->after_cr);
                if (ends)
                        take_line(v, fn, ctx);
                else if (c != '\n')
                        buf_putc(&v->line, c);
                v->after_cr = c == '\r';
                v->too_long = v->line.n > v->max || v->data.n > v->max || v->line.failed || v->data.failed;
        }
        return !v->too_long;
}

void bridge_events_done(struct bridge_events *v)
{
        buf_done(&v->line);
        buf_done(&v->data);
}
