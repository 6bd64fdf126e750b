/* SPDX-License-Identifier: MIT */
/* face/serve/resource_operator.c - what an operator watches: parked boxes and past audits; and for any
 * client, whose token it has. */
#include "base/err.h"
#include "face/serve/resources.h"

#include <errno.h>
#include <string.h>

/* ---- the token of the request ---- */

void get_token(struct serve_call *c, struct reply *r)
{
        const struct admitted *a = &c->client->admitted;
        buf_putc(&r->body, '{');
        buf_member(&r->body, "tenant", c->tenant ? tenant_label(c->tenant) : NULL);
        buf_member(&r->body, "person", a->person);
        buf_member_int(&r->body, "expires", a->expires);
        scopes_put(a->scopes, "scopes", &r->body);
        if (c->s->own)
                buf_member_bool(&r->body, "own", true);
        buf_putc(&r->body, '}');
        reply_json(r, 200);
}

/* ---- parked boxes ---- */

/* A list and an object of the resident, as they are; or why there is none. */
void get_pool(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        cordon_context *cx = cordon_context_new(c->s->o->environment);
        char *plans = cx ? cordon_pool_ask(cx, CORDON_POOL_LIST, NULL, 1, &e) : NULL;
        char *stats = plans ? cordon_pool_ask(cx, CORDON_POOL_STATS, NULL, 1, &e) : NULL;
        if (stats)
                buf_printf(&r->body, "{\"plans\":%s,\"stats\":%s}", plans, stats);
        else {
                buf_puts(&r->body, "{\"plans\":[]");
                buf_member(&r->body, "why", e.what);
                buf_putc(&r->body, '}');
        }
        reply_json(r, 200);
        cordon_free(plans);
        cordon_free(stats);
        cordon_context_free(cx);
}

/* ---- audits ---- */

/* Of `cordon selftest audit`, not of claims. */
static void put_audit(void *ctx, const char *json, const char *line)
{
        struct err ignored;
        (void) line;
        struct json_doc *d = json_parse("record", span_str(json), &ignored);
        const char *target = d ? json_str(json_root(d), "target") : NULL;
        if (target && strcmp(target, "debt") == 0)
                buf_member_json(ctx, NULL, json);
        json_free(d);
}

/* Records of the host's own ledger, oldest first. */
void get_audits(struct serve_call *c, struct reply *r)
{
        enum { AUDITS_MAX = 100 };
        cordon_error e = { 0 };
        uint64_t cursor = 1; /* not from the first record: such a question would be recorded as a look */
        cordon_log_filter f = { .kind = "audit", .last = AUDITS_MAX };
        cordon_context *cx = cordon_context_new(c->s->o->environment);
        buf_puts(&r->body, "{\"audits\":[");
        if (!cx || (cordon_log_each(cx, &f, &cursor, put_audit, &r->body, &e) < 0 && e.sys != ENOENT)) {
                reply_error(r, status_of(&e), &e);
                cordon_context_free(cx);
                return;
        }

        buf_puts(&r->body, "]}");
        reply_json(r, 200);
        cordon_context_free(cx);
}
