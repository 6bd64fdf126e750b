/* SPDX-License-Identifier: MIT */
/* ledger/report/export_traces.c - a span for each run that ended, its effects as events of it (OTLP/JSON).
 * The span's id is the trace context that the run got; its parent is the one that came with the caller. Pure.
 */
#include "ledger/internal.h"

enum { EVENTS_MAX = 1000, TRACE_LEN = 55 };

static void put_event(struct buf *b, const struct ledger_view *v)
{
        buf_printf(b, "%s\n  {\"timeUnixNano\":\"%lld000\",\"name\":\"",
                   b->n > 0 && b->p[b->n - 1] == '[' ? "" : ",", (long long) v->time_us);
        export_raw(b, v->kind);
        buf_putc(b, ' ');
        export_raw(b, v->phase);
        buf_puts(b, "\",\"attributes\":[");
        export_attribute(b, "id", v->id);
        export_attribute(b, "target", v->target);
        export_attribute(b, "door", v->door);
        export_attribute(b, "reach", v->reach);
        export_attribute(b, "result", v->result);
        export_attribute(b, "reason", ledger_member(v->more, "reason"));
        buf_puts(b, "]}");
}

static bool is_event(const struct ledger_view *v)
{
        return !span_is(v->kind, "start") && !span_is(v->kind, "end") && !span_is(v->kind, "view");
}

/* The records of the run; *ret: its start. Returns how many events were too many. */
static uint64_t put_events(struct buf *b, const struct ledger_log *l, const char *run,
                           struct ledger_view *ret)
{
        uint64_t n = 0;
        struct ledger_view v;
        for (struct ledger_walk w = log_walk_run(l, run); ledger_next(&w, &v);) {
                if (span_is(v.kind, "start"))
                        *ret = v;
                if (is_event(&v) && ++n <= EVENTS_MAX)
                        put_event(b, &v);
                if (span_is(v.kind, "end"))
                        break;
        }
        return n > EVENTS_MAX ? n - EVENTS_MAX : 0;
}

static void put_ids(struct buf *b, const struct ledger_view *start)
{
        struct span out = ledger_member(start->trace, "out"), in = ledger_member(start->trace, "in");
        buf_printf(b, "\"traceId\":\"%.32s\",\"spanId\":\"%.16s\"", (const char *) out.p + 3,
                   (const char *) out.p + 36);
        if (in.n == TRACE_LEN)
                buf_printf(b, ",\"parentSpanId\":\"%.16s\"", (const char *) in.p + 36);
}

static void one_span(struct export *x, const struct ledger_view *end)
{
        char run[LEDGER_ID_MAX];
        struct ledger_view start = { 0 };
        AUTO_BUF(events);
        AUTO_BUF(b);
        if (!span_is(end->kind, "end"))
                return;

        buf_putc(&events, '[');
        uint64_t lost = put_events(&events, x->log, ledger_plain(end->run, run, sizeof run), &start);
        if (ledger_member(start.trace, "out").n != TRACE_LEN)
                return; /* its start was pruned, or it had no context */

        x->count++;
        buf_printf(&b, "%s\n {", x->first ? "" : ",");
        x->first = false;
        put_ids(&b, &start);
        buf_puts(&b, ",\"name\":\"cordon run ");
        export_raw(&b, start.box);
        buf_printf(&b,
                   "\",\"kind\":1,\"startTimeUnixNano\":\"%lld000\",\"endTimeUnixNano\":\"%lld000\","
                   "\"attributes\":[",
                   (long long) start.time_us, (long long) end->time_us);
        export_attribute(&b, "run", start.run);
        export_attribute(&b, "box", start.box);
        export_attribute(&b, "policy", start.policy);
        export_attribute(&b, "program", start.target);
        export_attribute(&b, "result", end->result);
        buf_printf(&b, "],\"status\":{\"code\":%d},\"droppedEventsCount\":%llu,\"events\":",
                   span_is(end->result, "exited 0") ? 1 : 2, (unsigned long long) lost);
        buf_add(&b, events.p, events.n);
        buf_puts(&b, "]}");
        b.failed |= events.failed;
        export_emit(x, &b);
}

void export_traces(struct export *x)
{
        static const char head[] =
                "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
                "\"stringValue\":\"cordon\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"cordon.ledger\"},"
                "\"spans\":[";
        x->put(x->ctx, head, sizeof head - 1);
        export_each(x, one_span);
        x->put(x->ctx, "\n]}]}]}\n", 8);
}
