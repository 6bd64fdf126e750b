/* SPDX-License-Identifier: MIT */
/* face/serve/resource_host.c - the server itself: health, metrics, tenants, drain. */
#include "base/clock.h"
#include "face/serve/resources.h"

void get_health(struct serve_call *c, struct reply *r)
{
        buf_putc(&r->body, '{');
        const char *why = trouble_why(c->s);
        buf_member(&r->body, "status", c->s->draining ? "draining" : why ? "degraded" : "ok");
        if (why)
                buf_member(&r->body, "why", why);
        buf_member(&r->body, "version", cordon_version());
        buf_putc(&r->body, '}');
        reply_json(r, c->s->draining ? 503 : 200);
}

/* ---- tenants, drain ---- */

static void put_tenant(struct tenant *t, struct buf *out)
{
        const uint64_t *most = tenant_budget(t)->limit;
        const struct {
                const char *name;
                uint64_t value;
        } counts[] = { { "running", tenant_budget(t)->used[BUDGET_RUNS] },
                       { "running_most", most[BUDGET_RUNS] },
                       { "waiting", tenant_budget(t)->used[BUDGET_QUEUE] },
                       { "waiting_most", most[BUDGET_QUEUE] },
                       { "sessions", tenant_budget(t)->used[BUDGET_SESSIONS] },
                       { "sessions_most", most[BUDGET_SESSIONS] },
                       { "gpu_boxes", tenant_budget(t)->used[BUDGET_GPUS] },
                       { "gpu_boxes_most", most[BUDGET_GPUS] },
                       { "started", tenant_book(t)->started },
                       { "failed", tenant_book(t)->failed },
                       { "denials", tenant_book(t)->refused_effects },
                       { "rejected", tenant_book(t)->rejected },
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
        jobs_drain(c->s, UINT64_MAX);
        get_health(c, r);
        r->status = 202;
}
