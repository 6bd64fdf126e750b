/* SPDX-License-Identifier: MIT */
/* ledger/report/export_alerts.c - what a person should hear of at once, one JSON object a line: a tripwire,
 * an effect that waits, an incident. `text` is what chat systems show. Pure. */
#include "ledger/internal.h"

/* NULL: nobody has to hear of it. */
static const char *event_of(const struct ledger_view *v)
{
        if (span_is(v->kind, "end") && span_is(ledger_member(v->more, "stopped"), "tripwire"))
                return "tripwire";
        if (span_is(v->kind, "gate") && span_is(v->result, "pending"))
                return "pending";
        return span_is(v->kind, "gate") && span_is(v->result, "incident") ? "incident" : NULL;
}

static void put_member(struct buf *b, const char *key, struct span raw)
{
        buf_printf(b, ",\"%s\":\"", key);
        export_raw(b, raw);
        buf_putc(b, '"');
}

static void one_alert(struct export *x, const struct ledger_view *v)
{
        char time[TEXT_TIME];
        const char *event = event_of(v);
        AUTO_BUF(b);
        if (!event)
                return;

        struct span what = v->target.n ? v->target : ledger_member(v->more, "error");
        x->count++;
        buf_printf(&b, "{\"event\":\"%s\",\"time\":\"%sZ\"", event, text_time(v->time_us, 'T', time));
        put_member(&b, "id", v->id);
        put_member(&b, "run", v->run);
        put_member(&b, "box", v->box);
        put_member(&b, "target", what);
        put_member(&b, "digest", v->digest);
        buf_printf(&b, ",\"text\":\"cordon: %s: ", event);
        export_raw(&b, what);
        buf_puts(&b, "\"}\n");
        export_emit(x, &b);
}

void export_alerts(struct export *x) { export_each(x, one_alert); }
