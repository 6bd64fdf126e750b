/* SPDX-License-Identifier: MIT */
/* ledger/report/export.c - exports records as OpenTelemetry logs (OTLP/JSON), OCSF events, or
 * unchanged, and finds the files for other formats. Pure. Secrets were removed when the records were written.
 */
#include "base/str.h"
#include "ledger/internal.h"

#include <stdio.h>
#include <stdlib.h>

static void one_line(struct export *x, const struct ledger_view *v)
{
        x->count++;
        x->put(x->ctx, (const char *) v->json.p, v->json.n);
        x->put(x->ctx, "\n", 1);
}

static void as_jsonl(struct export *x) { export_each(x, one_line); }

/* ---- OTLP ---- */

static void list_attribute(struct buf *b, const char *key, struct span list)
{
        struct span one = ledger_element(list, 0);
        if (one.n == 0)
                return;

        buf_printf(b, ",{\"key\":\"cordon.%s\",\"value\":{\"arrayValue\":{\"values\":[", key);
        for (unsigned i = 0; i < LEDGER_TOUCH__COUNT && (one = ledger_element(list, i)).n; i++) {
                buf_printf(b, "%s{\"stringValue\":\"", i ? "," : "");
                export_raw(b, one);
                buf_puts(b, "\"}");
        }

        buf_puts(b, "]}}}");
}

static void number_attribute(struct buf *b, const char *key, int64_t v)
{
        if (v >= 0)
                buf_printf(b, ",{\"key\":\"cordon.%s\",\"value\":{\"intValue\":\"%lld\"}}", key,
                           (long long) v);
}

static void put_body(struct buf *b, const struct ledger_view *v)
{
        export_raw(b, v->kind);
        buf_putc(b, ' ');
        export_raw(b, v->phase);
        if (v->target.n)
                buf_putc(b, ' ');
        export_raw(b, v->target);
}

static void one_otlp(struct export *x, const struct ledger_view *v)
{
        AUTO_BUF(b);
        bool denied = span_is(v->phase, "denied");
        buf_printf(&b,
                   "%s\n{\"timeUnixNano\":\"%lld000\",\"severityNumber\":%d,\"severityText\":\"%s\",\"body\":"
                   "{\"stringValue\":\"",
                   x->first ? "" : ",", (long long) v->time_us, denied ? 13 : 9, denied ? "WARN" : "INFO");
        x->first = false;
        x->count++;
        put_body(&b, v);
        buf_puts(&b, "\"},\"attributes\":[");
        export_attribute(&b, "id", v->id);
        export_attribute(&b, "run", v->run);
        export_attribute(&b, "box", v->box);
        export_attribute(&b, "kind", v->kind);
        export_attribute(&b, "phase", v->phase);
        export_attribute(&b, "door", v->door);
        export_attribute(&b, "target", v->target);
        export_attribute(&b, "reach", v->reach);
        list_attribute(&b, "touches", v->touches);
        export_attribute(&b, "stage", v->stage);
        export_attribute(&b, "result", v->result);
        export_attribute(&b, "policy", v->policy);
        export_attribute(&b, "digest", v->digest);
        number_attribute(&b, "bytes", v->bytes);
        number_attribute(&b, "count", v->count);
        number_attribute(&b, "cost", v->cost);
        number_attribute(&b, "clock", v->clock);
        buf_puts(&b, "]");
        struct span out = ledger_member(v->trace, "out");
        if (out.n == 55)
                buf_printf(&b, ",\"traceId\":\"%.32s\",\"spanId\":\"%.16s\"", (const char *) out.p + 3,
                           (const char *) out.p + 36);

        buf_putc(&b, '}');
        export_emit(x, &b);
}

static void as_otlp(struct export *x)
{
        static const char head[] =
                "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
                "\"stringValue\":"
                "\"cordon\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"cordon.ledger\"},\"logRecords\":[";
        x->put(x->ctx, head, sizeof head - 1);
        export_each(x, one_otlp);
        x->put(x->ctx, "\n]}]}]}\n", 8);
}

/* ---- OCSF ---- */

/* The nearest class; a record without one is kept whole under `unmapped`, like the others. */
static const struct {
        const char *kind;
        int category, class_uid, activity;
        const char *class_name;
} classes[] = {
        { "start", 1, 1007, 1, "Process Activity" },       { "end", 1, 1007, 2, "Process Activity" },
        { "exec", 1, 1007, 99, "Process Activity" },       { "file", 1, 1001, 99, "File System Activity" },
        { "handle", 1, 1001, 99, "File System Activity" }, { "output", 1, 1001, 99, "File System Activity" },
        { "net", 4, 4001, 99, "Network Activity" },        { "request", 4, 4002, 99, "HTTP Activity" },
        { "credential", 3, 3002, 99, "Authentication" },
};

static void one_ocsf(struct export *x, const struct ledger_view *v)
{
        AUTO_BUF(b);
        x->count++;
        size_t c = 0, n = sizeof classes / sizeof *classes;
        while (c < n && !span_is(v->kind, classes[c].kind))
                c++;

        int category = c < n ? classes[c].category : 6, class_uid = c < n ? classes[c].class_uid : 6003,
            activity = c < n ? classes[c].activity : 99;
        bool denied = span_is(v->phase, "denied");
        buf_printf(&b,
                   "{\"activity_id\":%d,\"category_uid\":%d,\"class_name\":\"%s\",\"class_uid\":%d,\"type_"
                   "uid\":%d,\"time\":%lld,"
                   "\"severity_id\":%d,\"status_id\":%d,\"metadata\":{\"version\":\"1.3.0\",\"uid\":\"",
                   activity, category, c < n ? classes[c].class_name : "API Activity", class_uid,
                   class_uid * 100 + activity, (long long) (v->time_us / 1000), denied ? 3 : 1,
                   denied ? 2 : 1);
        export_raw(&b, v->id);
        buf_puts(&b, "\",\"product\":{\"name\":\"cordon\",\"vendor_name\":\"cordon\"}},\"message\":\"");
        put_body(&b, v);
        buf_puts(&b, "\",\"unmapped\":");
        export_raw(&b, v->json);
        buf_puts(&b, "}\n");
        export_emit(x, &b);
}

static void as_ocsf(struct export *x) { export_each(x, one_ocsf); }

static const struct {
        const char *name;
        void (*run)(struct export *x);
} formats[] = { { "jsonl", as_jsonl }, { "otlp", as_otlp },         { "otlp-traces", export_traces },
                { "ocsf", as_ocsf },   { "alerts", export_alerts }, { "prometheus", export_metrics } };

int64_t ledger_export(const struct ledger_log *l, const char *format, const struct ledger_filter *f,
                      void (*put)(void *ctx, const char *text, size_t len), void *ctx, struct err *e)
{
        struct export x = { .log = l, .filter = f, .put = put, .ctx = ctx, .first = true };
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
                if (strcmp(format, formats[i].name) == 0) {
                        formats[i].run(&x);
                        return x.failed ? err_set(e, ERR_MEMORY, 0, "no memory for all of the records")
                                        : (int64_t) x.count;
                }

        (void) err_set(e, ERR_USAGE, 0, "unknown format %.40s", format);
        return err_hint(e, "jsonl, otlp, otlp-traces, ocsf, alerts or prometheus");
}
