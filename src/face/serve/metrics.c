/* SPDX-License-Identifier: MIT */
/* face/serve/metrics.c - the figures of the server in the text form of Prometheus. contrib/grafana and
 * contrib/prometheus use these names (tests/cli/t8566-serve-metrics.sh). */
#include "face/serve/resources.h"

#include <string.h>

static void put_head(struct buf *out, const char *name, const char *kind, const char *help)
{
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

/* ---- of a tenant ---- */

#define BOOK(member) NULL, offsetof(struct tenant_book, member)
static uint64_t running(struct tenant *t) { return tenant_budget(t)->used[BUDGET_RUNS]; }
static uint64_t waiting(struct tenant *t) { return tenant_budget(t)->used[BUDGET_QUEUE]; }
static uint64_t sessions(struct tenant *t) { return tenant_budget(t)->used[BUDGET_SESSIONS]; }
static uint64_t lag(struct tenant *t) { return tenant_book(t)->ended - tenant_book(t)->headed; }

static const struct {
        const char *name, *kind, *help;
        unsigned digits; /* behind the point */
        uint64_t (*of)(struct tenant *t);
        size_t at; /* in the tenant's book, without `of` */
} of_tenants[] = {
        { "cordon_runs_started_total", "counter", "runs that were started", 0, BOOK(started) },
        { "cordon_runs_ended_total", "counter", "runs that have ended", 0, BOOK(ended) },
        { "cordon_runs_failed_total", "counter", "runs with a status that is not 0", 0, BOOK(failed) },
        { "cordon_runs_faulted_total", "counter", "runs that the server, not their command, failed", 0,
          BOOK(faults) },
        { "cordon_denials_total", "counter", "distinct effects that were denied", 0, BOOK(refused_effects) },
        { "cordon_rejected_total", "counter", "requests answered with 429", 0, BOOK(rejected) },
        { "cordon_output_bytes_total", "counter", "bytes of output", 0, BOOK(output_bytes) },
        { "cordon_net_bytes_total", "counter", "bytes that crossed the network", 0, BOOK(net_bytes) },
        { "cordon_cpu_seconds_total", "counter", "processor time of runs", 9, BOOK(cpu_ns) },
        { "cordon_runs_running", "gauge", "runs under way", 0, running, 0 },
        { "cordon_runs_waiting", "gauge", "runs that wait for a start", 0, waiting, 0 },
        { "cordon_sessions", "gauge", "boxes that stay", 0, sessions, 0 },
        { "cordon_kept_bytes", "gauge", "results of ended runs on the disk", 0, BOOK(kept_bytes) },
        { "cordon_ledger_lag_runs", "gauge", "ended runs of which the host's ledger has no head yet", 0, lag,
          0 },
};

static const struct {
        const char *name, *help;
        size_t offset; /* of the histogram in a tenant's book */
} histograms[] = {
        { "cordon_queue_seconds", "from the request to the start", offsetof(struct tenant_book, waits) },
        { "cordon_start_seconds", "from the start to the first instruction",
          offsetof(struct tenant_book, starts) },
        { "cordon_run_seconds", "from the start to the end", offsetof(struct tenant_book, takes) },
};

static void put_by(struct buf *out, const char *name, const char *label, struct tenant *t,
                   const char *const *words, const uint64_t *counts)
{
        for (size_t i = 0; words[i]; i++)
                buf_printf(out, "%s{tenant=\"%s\",%s=\"%s\"} %llu\n", name, tenant_label(t), label, words[i],
                           (unsigned long long) counts[i]);
}

static bool count_waiting(void *ctx, const struct asker *a)
{
        uint64_t *n = ctx;
        const struct admitted nobody = { .person = "metrics" };
        struct json_doc *d = asker_ask(a, &nobody, "{\"op\":\"list\"}", NULL);
        const struct json *items = d ? json_of(json_root(d), "items", JSON_ARRAY) : NULL;
        for (const struct json *i = items ? items->child : NULL; i; i = i->next)
                ++*n;
        json_free(d);
        return false;
}

#define EACH(c, t)                                                                                           \
        for (size_t k_ = 0; ((t) = tenants_at((c)->s->tenants, k_)); k_++)                                   \
                if (!(c)->tenant || (c)->tenant == (t))

static void put_tenants(const struct serve_call *c, struct buf *out)
{
        struct tenant *t;
        for (size_t i = 0; i < sizeof of_tenants / sizeof *of_tenants; i++) {
                put_head(out, of_tenants[i].name, of_tenants[i].kind, of_tenants[i].help);
                EACH(c, t)
                {
                        buf_printf(out, "%s{tenant=\"%s\"} ", of_tenants[i].name, tenant_label(t));
                        const char *book = (const char *) tenant_book(t);
                        uint64_t held;
                        memcpy(&held, book + of_tenants[i].at, sizeof held);
                        buf_fixed(out, of_tenants[i].of ? of_tenants[i].of(t) : held, of_tenants[i].digits);
                        buf_putc(out, '\n');
                }
        }

        put_head(out, "cordon_ends_total", "counter", "runs by how they ended");
        EACH(c, t) put_by(out, "cordon_ends_total", "end", t, serve_ends, tenant_book(t)->by_end);
        put_head(out, "cordon_starts_total", "counter", "runs by what they began in");
        EACH(c, t) put_by(out, "cordon_starts_total", "start", t, serve_starts, tenant_book(t)->by_start);
        put_head(out, "cordon_approvals_waiting", "gauge", "effects that wait for an approval");
        EACH(c, t)
        {
                uint64_t n = 0;
                (void) askers_each(c->s, t, count_waiting, &n);
                buf_printf(out, "cordon_approvals_waiting{tenant=\"%s\"} %llu\n", tenant_label(t),
                           (unsigned long long) n);
        }

        for (size_t i = 0; i < sizeof histograms / sizeof *histograms; i++) {
                put_head(out, histograms[i].name, "histogram", histograms[i].help);
                EACH(c, t)
                {
                        AUTO_BUF(label);
                        buf_printf(&label, "tenant=\"%s\"", tenant_label(t));
                        histogram_put(out, histograms[i].name, buf_str(&label),
                                      (const void *) ((const char *) tenant_book(t) + histograms[i].offset));
                }
        }
}

/* ---- of the host ---- */

static void put_host(const struct server *s, struct buf *out)
{
        const struct {
                const char *name, *kind, *help;
                uint64_t value;
        } rows[] = {
                { "cordon_requests_total", "counter", "HTTP requests", s->requests },
                { "cordon_server_errors_total", "counter", "answers of 500 and more", s->server_errors },
                { "cordon_held_back_total", "counter", "starts that waited for room on the host",
                  s->held_back },
                { "cordon_write_failures_total", "counter", "writes that failed", s->trouble.failed },
                { "cordon_log_lost_total", "counter", "lines of the log that nobody took", s->log_lost },
                { "cordon_degraded", "gauge", "1: it does not work as it should, health says why",
                  trouble_why(s) != NULL },
                { "cordon_draining", "gauge", "1: no new runs", s->draining },
                { "cordon_disk_bytes", "gauge", "size of the disk of its directory", s->disk.size },
                { "cordon_disk_free_bytes", "gauge", "what is left of it", s->disk.left },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                put_head(out, rows[i].name, rows[i].kind, rows[i].help);
                buf_printf(out, "%s %llu\n", rows[i].name, (unsigned long long) rows[i].value);
        }
        put_head(out, "cordon_request_seconds", "histogram", "from the head of a request to its answer");
        histogram_put(out, "cordon_request_seconds", "", &s->request_time);
}

/* One tenant's own, or with the scope admin those of all. Names of tenants have no character to escape. */
void get_metrics(struct serve_call *c, struct reply *r)
{
        put_tenants(c, &r->body);
        if (!c->tenant)
                put_host(c->s, &r->body);
        put_head(&r->body, "cordon_build_info", "gauge", "1, with the version");
        buf_printf(&r->body, "cordon_build_info{version=\"%s\"} 1\n", cordon_version());
        r->status = 200;
        r->type = "text/plain; version=0.0.4; charset=utf-8";
}
