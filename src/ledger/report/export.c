/* SPDX-License-Identifier: MIT */
/* ledger/report/export.c - exports records as OpenTelemetry logs (OTLP/JSON), OCSF events, Prometheus
 * counters, or unchanged. Pure. Secrets were removed when the records were written. */
#include "base/str.h"
#include "ledger/internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct export
{
        const struct ledger_log *log;
        const struct ledger_filter *filter;
        void (*put)(void *ctx, const char *text, size_t len);
        void *ctx;
        bool first;
        bool failed; /* out of memory for all of it */
};

static void emit(struct export *x, const struct buf *b)
{
        x->failed |= b->failed;
        if (!x->failed)
                x->put(x->ctx, buf_str(b), b->n);
}

static void each_match(struct export *x, void (*one)(struct export *x, const struct ledger_view *v))
{
        for (uint64_t i = 0; i < ledger_log_count(x->log); i++) {
                struct ledger_view v;
                if (ledger_log_view(x->log, i, &v) == 0 && ledger_matches(x->filter, &v))
                        one(x, &v);
        }
}

static void one_line(struct export *x, const struct ledger_view *v)
{
        x->put(x->ctx, (const char *) v->json.p, v->json.n);
        x->put(x->ctx, "\n", 1);
}

static void as_jsonl(struct export *x) { each_match(x, one_line); }

/* A string that is already escaped is copied from JSON to JSON unchanged. */
static void put_raw(struct buf *b, struct span s) { buf_add(b, s.n ? (const char *) s.p : "", s.n); }

/* ---- OTLP ---- */

static void attribute(struct buf *b, const char *key, struct span value)
{
        if (value.n == 0)
                return;
        buf_printf(b, "%s{\"key\":\"cordon.%s\",\"value\":{\"stringValue\":\"",
                   b->n > 0 && b->p[b->n - 1] == '[' ? "" : ",", key);
        put_raw(b, value);
        buf_puts(b, "\"}}");
}

static void list_attribute(struct buf *b, const char *key, struct span list)
{
        struct span one = ledger_element(list, 0);
        if (one.n == 0)
                return;

        buf_printf(b, ",{\"key\":\"cordon.%s\",\"value\":{\"arrayValue\":{\"values\":[", key);
        for (unsigned i = 0; i < LEDGER_TOUCH__COUNT && (one = ledger_element(list, i)).n; i++) {
                buf_printf(b, "%s{\"stringValue\":\"", i ? "," : "");
                put_raw(b, one);
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
        put_raw(b, v->kind);
        buf_putc(b, ' ');
        put_raw(b, v->phase);
        if (v->target.n)
                buf_putc(b, ' ');
        put_raw(b, v->target);
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
        put_body(&b, v);
        buf_puts(&b, "\"},\"attributes\":[");
        attribute(&b, "id", v->id);
        attribute(&b, "run", v->run);
        attribute(&b, "box", v->box);
        attribute(&b, "kind", v->kind);
        attribute(&b, "phase", v->phase);
        attribute(&b, "door", v->door);
        attribute(&b, "target", v->target);
        attribute(&b, "reach", v->reach);
        list_attribute(&b, "touches", v->touches);
        attribute(&b, "stage", v->stage);
        attribute(&b, "result", v->result);
        attribute(&b, "policy", v->policy);
        attribute(&b, "digest", v->digest);
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
        emit(x, &b);
}

static void as_otlp(struct export *x)
{
        static const char head[] =
                "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"
                "\"stringValue\":"
                "\"cordon\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"cordon.ledger\"},\"logRecords\":[";
        x->put(x->ctx, head, sizeof head - 1);
        each_match(x, one_otlp);
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
        put_raw(&b, v->id);
        buf_puts(&b, "\",\"product\":{\"name\":\"cordon\",\"vendor_name\":\"cordon\"}},\"message\":\"");
        put_body(&b, v);
        buf_puts(&b, "\",\"unmapped\":");
        put_raw(&b, v->json);
        buf_puts(&b, "}\n");
        emit(x, &b);
}

static void as_ocsf(struct export *x) { each_match(x, one_ocsf); }

/* ---- Prometheus ---- */

struct counter {
        struct span kind, phase, reach;
        uint64_t records, bytes, cost;
};

static int by_name(const void *pa, const void *pb)
{
        const struct counter *a = pa, *b = pb;
        const struct span x[] = { a->kind, a->phase, a->reach }, y[] = { b->kind, b->phase, b->reach };
        for (int i = 0; i < 3; i++) {
                size_t n = x[i].n < y[i].n ? x[i].n : y[i].n;
                int d = n ? memcmp(x[i].p, y[i].p, n) : 0;
                if (d || x[i].n != y[i].n)
                        return d ? d : x[i].n < y[i].n ? -1 : 1;
        }

        return 0;
}

static size_t count_all(const struct export *x, struct counter *c, size_t most)
{
        size_t n = 0;
        for (uint64_t i = 0; i < ledger_log_count(x->log); i++) {
                struct ledger_view v;
                if (ledger_log_view(x->log, i, &v) < 0 || !ledger_matches(x->filter, &v))
                        continue;
                bool nothing = came_to_nothing(&v); /* no party was reached, and nothing crossed */
                struct counter key = { .kind = v.kind,
                                       .phase = v.phase,
                                       .reach = nothing ? span_of(NULL, 0) : v.reach };
                size_t k = 0;
                while (k < n && by_name(&c[k], &key) != 0)
                        k++;
                if (k == most)
                        continue;
                if (k == n)
                        c[n++] = key;
                c[k].records += v.count > 0 ? (uint64_t) v.count : 1;
                c[k].bytes += v.bytes > 0 && !nothing ? (uint64_t) v.bytes : 0;
                c[k].cost += v.cost > 0 ? (uint64_t) v.cost : 0;
        }

        qsort(c, n, sizeof *c, by_name);
        return n;
}

static void put_metric(struct export *x, const struct counter *c, size_t n, const char *name,
                       const char *help, size_t at)
{
        AUTO_BUF(b);
        buf_printf(&b, "# HELP cordon_%s_total %s\n# TYPE cordon_%s_total counter\n", name, help, name);
        for (size_t i = 0; i < n; i++) {
                uint64_t value;
                memcpy(&value, (const char *) &c[i] + at, sizeof value);
                buf_printf(&b, "cordon_%s_total{kind=\"%.*s\",phase=\"%.*s\",reach=\"%.*s\"} %llu\n", name,
                           (int) c[i].kind.n, (const char *) c[i].kind.p, (int) c[i].phase.n,
                           (const char *) (c[i].phase.n ? c[i].phase.p : (const uint8_t *) ""),
                           (int) c[i].reach.n,
                           (const char *) (c[i].reach.n ? c[i].reach.p : (const uint8_t *) ""),
                           (unsigned long long) value);
        }

        emit(x, &b);
}

static void as_prometheus(struct export *x)
{
        enum { MOST = 512 };
        struct counter *c = calloc(MOST, sizeof *c);
        x->failed |= !c;
        if (!c)
                return;

        size_t n = count_all(x, c, MOST);
        put_metric(x, c, n, "effects", "Effects in the ledger.", offsetof(struct counter, records));
        put_metric(x, c, n, "bytes", "Bytes that crossed.", offsetof(struct counter, bytes));
        put_metric(x, c, n, "cost", "What effects cost.", offsetof(struct counter, cost));
        free(c);
}

static const struct {
        const char *name;
        void (*run)(struct export *x);
} formats[] = {
        { "jsonl", as_jsonl }, { "otlp", as_otlp }, { "ocsf", as_ocsf }, { "prometheus", as_prometheus }
};

int ledger_export(const struct ledger_log *l, const char *format, const struct ledger_filter *f,
                  void (*put)(void *ctx, const char *text, size_t len), void *ctx, struct err *e)
{
        struct export x = { .log = l, .filter = f, .put = put, .ctx = ctx, .first = true };
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
                if (strcmp(format, formats[i].name) == 0) {
                        formats[i].run(&x);
                        return x.failed ? err_set(e, ERR_MEMORY, 0, "no memory for all of the records") : 0;
                }

        (void) err_set(e, ERR_USAGE, 0, "unknown format %.40s", format);
        return err_hint(e, "jsonl, otlp, ocsf or prometheus");
}
