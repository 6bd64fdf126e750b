/* SPDX-License-Identifier: MIT */
/* tests/unit/test_egress_common.h - a flow on a bench: both sides are memory, the test is box and server. */
#pragma once
#include "base/str.h"
#include "broker/egress/http/http_internal.h"
#include "test_policy_common.h"

enum { RIG_EVENTS = 32 };

struct rig_event {
        enum http_verdict verdict;
        char method[40], path[512], why[300], credential[64], permit[512];
        bool abused, scrubbed, had_door;
        enum effect_reason reason;
        unsigned status;
        uint64_t sent, received;
};

struct rig {
        struct checked_policy *policy;
        struct policy_places *places;
        struct http_fixtures *fixtures;
        struct http_rules *rules;
        struct http_flow *flow;
        struct buf to_client, to_upstream, records; /* all that came out */
        unsigned connects;
        bool refuse_connect;
        size_t grown, grow_max; /* bytes that came out of compressed answers beyond what went in; 0: any */
        char target[300];
        struct rig_event event[RIG_EVENTS];
        unsigned event_count;
};

static inline void rig_event(void *ctx, const struct http_event *e)
{
        struct rig *g = ctx;
        if (g->event_count == RIG_EVENTS)
                return;
        struct rig_event *to = &g->event[g->event_count++];
        *to = (struct rig_event){ .verdict = e->verdict,
                                  .abused = e->placeholder_abused,
                                  .scrubbed = e->secret_scrubbed,
                                  .had_door = e->door != NULL,
                                  .reason = e->reason,
                                  .status = e->status,
                                  .sent = e->sent,
                                  .received = e->received };
        (void) snprintf(to->method, sizeof to->method, "%s", e->method);
        (void) snprintf(to->path, sizeof to->path, "%s", e->path);
        AUTO_BUF(why);
        effect_put_why(&why, e->reason, e->detail);
        (void) snprintf(to->why, sizeof to->why, "%s", buf_str(&why));
        (void) snprintf(to->permit, sizeof to->permit, "%s", e->permit ? e->permit : "");
        (void) snprintf(to->credential, sizeof to->credential, "%s", e->credential ? e->credential : "");
}

static inline void rig_record(void *ctx, struct span line)
{
        buf_add(&((struct rig *) ctx)->records, line.p, line.n);
}

static inline bool rig_grow(void *ctx, size_t n, enum effect_reason *ret_why)
{
        struct rig *g = ctx;
        g->grown += n;
        *ret_why = REASON_LIMIT_INGRESS;
        return !g->grow_max || g->grown <= g->grow_max;
}

/* Moves everything that wants to move. */
static inline void rig_move(struct rig *g)
{
        struct http_target t;
        for (bool more = true; more;) {
                struct span c = http_flow_to_client(g->flow), u = http_flow_to_upstream(g->flow);
                more = c.n > 0;
                buf_add(&g->to_client, c.p, c.n);
                buf_add(&g->to_upstream, u.p, u.n);
                http_flow_client_took(g->flow, c.n);
                http_flow_upstream_took(g->flow, u.n);
                if (http_flow_take_connect(g->flow, &t)) {
                        g->connects++;
                        (void) snprintf(g->target, sizeof g->target, "%s:%u", t.host, t.port);
                        if (g->refuse_connect)
                                http_flow_upstream_closed(g->flow);
                        else
                                http_flow_upstream_connected(g->flow);
                        more = true;
                }
        }
}

/* `cut` bytes at a time; 0: all at once. */
static inline void rig_client(struct rig *g, struct span s, size_t cut)
{
        for (size_t i = 0, n; i < s.n && !http_flow_done(g->flow); i += n) {
                n = cut && cut < s.n - i ? cut : s.n - i;
                http_flow_from_client(g->flow, span_of(s.p + i, n));
                rig_move(g);
        }
}

static inline void rig_upstream(struct rig *g, struct span s, size_t cut)
{
        for (size_t i = 0, n; i < s.n && !http_flow_done(g->flow); i += n) {
                n = cut && cut < s.n - i ? cut : s.n - i;
                http_flow_from_upstream(g->flow, span_of(s.p + i, n));
                rig_move(g);
        }
}

struct rig_in {
        const char *policy, *places, *fixtures;
        const struct http_credential *credentials;
        size_t credential_count;
        enum policy_stage stage;
        bool record;
        const char *host; /* "api.test" when NULL */
        uint16_t port;    /* 80 when 0 */
        const struct tls_ops *tls;
        void *tls_ctx;
};

static inline void rig_flow(struct rig *g, const char *host, uint16_t port)
{
        struct http_peer peer = { .host = host, .port = port };
        struct http_callbacks cb = {
                .ctx = g, .on_request = rig_event, .grow = rig_grow, .on_record = rig_record
        };
        http_flow_free(g->flow);
        g->flow = http_flow_new(g->rules, &peer, &cb);
        buf_done(&g->to_client);
        buf_done(&g->to_upstream);
        g->event_count = g->connects = 0;
}

static inline bool rig_start(struct rig *g, const struct rig_in *in)
{
        struct err e = { 0 };
        *g = (struct rig){ 0 };
        g->policy = load(in->policy);
        if (in->places)
                g->places = policy_places_parse("places", span_str(in->places), &e);
        if (in->fixtures)
                g->fixtures = http_fixtures_parse("fixtures", span_str(in->fixtures), &e);
        struct http_rules_in r = { .policy = g->policy,
                                   .places = g->places,
                                   .stage = in->stage,
                                   .credentials = in->credentials,
                                   .credential_count = in->credential_count,
                                   .fixtures = g->fixtures,
                                   .record = in->record,
                                   .tls = in->tls,
                                   .tls_ctx = in->tls_ctx };
        g->rules = g->policy ? http_rules_new(&r, &e) : NULL;
        if (!g->rules) {
                printf("# no rules: %s\n", e.what);
                test_failures++;
                return false;
        }
        http_rules_clock(g->rules, 1790000000);
        rig_flow(g, in->host ? in->host : "api.test", in->port ? in->port : 80);
        return true;
}

static inline void rig_end(struct rig *g)
{
        http_flow_free(g->flow);
        http_rules_free(g->rules);
        http_fixtures_free(g->fixtures);
        policy_places_free(g->places);
        policy_checked_free(g->policy);
        buf_done(&g->to_client);
        buf_done(&g->to_upstream);
        buf_done(&g->records);
}

static inline bool holds(const struct buf *b, const char *text)
{
        return b->n && memmem(b->p, b->n, text, strlen(text)) != NULL;
}

static inline const struct rig_event *rig_last(const struct rig *g)
{
        static const struct rig_event none = { .verdict = HTTP_DENIED, .why = "no event" };
        return g->event_count ? &g->event[g->event_count - 1] : &none;
}
