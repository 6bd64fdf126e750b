/* SPDX-License-Identifier: MIT */
/* face/serve/resource_host.c - the server itself: health, metrics, tenants, drain. */
#include "base/clock.h"
#include "face/serve/resources.h"

void get_health(struct serve_call *c, struct reply *r)
{
        buf_putc(&r->body, '{');
        buf_member(&r->body, "status", c->s->draining ? "draining" : "ok");
        buf_member(&r->body, "version", cordon_version());
        buf_putc(&r->body, '}');
        reply_json(r, c->s->draining ? 503 : 200);
}

/* ---- metrics ---- */

struct metric {
        const char *name, *kind, *help;
        uint64_t (*of)(struct tenant *t);
};

static uint64_t started(struct tenant *t) { return tenant_book(t)->started; }
static uint64_t ended(struct tenant *t) { return tenant_book(t)->ended; }
static uint64_t failed(struct tenant *t) { return tenant_book(t)->failed; }
static uint64_t denied(struct tenant *t) { return tenant_book(t)->refused_effects; }
static uint64_t rejected(struct tenant *t) { return tenant_book(t)->rejected; }
static uint64_t output(struct tenant *t) { return tenant_book(t)->output_bytes; }
static uint64_t running(struct tenant *t) { return tenant_budget(t)->used[BUDGET_RUNS]; }
static uint64_t waiting(struct tenant *t) { return tenant_budget(t)->used[BUDGET_QUEUE]; }
static uint64_t sessions(struct tenant *t) { return tenant_budget(t)->used[BUDGET_SESSIONS]; }

static const struct metric metrics[] = {
        { "cordon_runs_started_total", "counter", "runs that were started", started },
        { "cordon_runs_ended_total", "counter", "runs that have ended", ended },
        { "cordon_runs_failed_total", "counter", "runs with a status that is not 0", failed },
        { "cordon_denials_total", "counter", "distinct effects that were denied", denied },
        { "cordon_rejected_total", "counter", "requests answered with 429", rejected },
        { "cordon_output_bytes_total", "counter", "bytes of output", output },
        { "cordon_runs_running", "gauge", "runs under way", running },
        { "cordon_runs_waiting", "gauge", "runs that wait for a start", waiting },
        { "cordon_sessions", "gauge", "boxes that stay", sessions },
};

/* One tenant's own, or with the scope admin those of all. Names of tenants have no character to escape. */
void get_metrics(struct serve_call *c, struct reply *r)
{
        for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
                struct tenant *t;
                buf_printf(&r->body, "# HELP %s %s\n# TYPE %s %s\n", metrics[i].name, metrics[i].help,
                           metrics[i].name, metrics[i].kind);
                for (size_t k = 0; (t = tenants_at(c->s->tenants, k)); k++)
                        if (!c->tenant || c->tenant == t)
                                buf_printf(&r->body, "%s{tenant=\"%s\"} %llu\n", metrics[i].name,
                                           tenant_label(t), (unsigned long long) metrics[i].of(t));
        }

        if (!c->tenant)
                buf_printf(
                        &r->body,
                        "# HELP cordon_requests_total HTTP requests\n# TYPE cordon_requests_total counter\n"
                        "cordon_requests_total %llu\n",
                        (unsigned long long) c->s->requests);
        r->status = 200;
        r->type = "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- tenants, drain ---- */

static void put_tenant(struct tenant *t, struct buf *out)
{
        const uint64_t *most = tenant_budget(t)->limit;
        const struct {
                const char *name;
                uint64_t value;
        } counts[] = { { "running", running(t) },
                       { "running_most", most[BUDGET_RUNS] },
                       { "waiting", waiting(t) },
                       { "waiting_most", most[BUDGET_QUEUE] },
                       { "sessions", sessions(t) },
                       { "sessions_most", most[BUDGET_SESSIONS] },
                       { "gpu_boxes", tenant_budget(t)->used[BUDGET_GPUS] },
                       { "gpu_boxes_most", most[BUDGET_GPUS] },
                       { "started", started(t) },
                       { "failed", failed(t) },
                       { "denials", denied(t) },
                       { "rejected", rejected(t) },
                       { "weight", tenant_turns(t)->weight } };
        buf_member_json(out, NULL, "{");
        buf_member(out, "name", tenant_label(t));
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                buf_member_int(out, counts[i].name, (long long) counts[i].value);
        buf_member(out, "pool", tenant_pool(t));
        buf_member_bool(out, "share", !tenant_is_alone(t));
        buf_putc(out, '}');
}

/* Those that were used since the start, with their figures; and the names of all. */
void get_tenants(struct serve_call *c, struct reply *r)
{
        struct tenant *t;
        cordon_error e;
        char *all = serve_tenant_list(c->s->o->config, true, &e);
        buf_puts(&r->body, "{\"tenants\":[");
        for (size_t i = 0; (t = tenants_at(c->s->tenants, i)); i++)
                put_tenant(t, &r->body);

        buf_printf(&r->body, "],\"all\":%s}", all ? all : "[]");
        cordon_free(all);
        reply_json(r, 200);
}

/* Runs under way go on; the server ends when none is left. */
void post_drain(struct serve_call *c, struct reply *r)
{
        c->s->draining = true;
        buf_puts(&r->body, "{\"status\":\"draining\"}");
        reply_json(r, 202);
}
