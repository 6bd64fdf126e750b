/* SPDX-License-Identifier: MIT */
/* serve/resource_policies.c - the policies that the operator registered for a tenant. */
#include "serve/resources.h"

#include <string.h>

static void put_name(void *ctx, const char *name)
{
        struct buf *out = ctx;
        buf_puts(out, out->p[out->n - 1] == '[' ? "" : ",");
        buf_json(out, span_str(name));
}

void get_policies(struct serve_call *c, struct reply *r)
{
        buf_puts(&r->body, "{\"policies\":[");
        tenant_policies(c->tenant, put_name, &r->body);
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}

void get_policy(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        struct held_policy *p = tenant_policy(c->tenant, c->arg, &e);
        if (!p) {
                reply_error(r, 404, &e);
                return;
        }

        char *doors = cordon_policy_view(held_policy(p), CORDON_VIEW_DOORS, &e);
        char *digest = doors ? cordon_policy_view(held_policy(p), CORDON_VIEW_DIGEST, &e) : NULL;
        if (digest) {
                digest[strcspn(digest, "\n")] = '\0';
                buf_puts(&r->body, "{\"name\":");
                buf_json(&r->body, span_str(c->arg));
                buf_member(&r->body, "digest", digest);
                buf_member(&r->body, "doors", doors);
                buf_putc(&r->body, '}');
                reply_json(r, 200);
        } else
                reply_error(r, status_of(&e), &e);

        cordon_free(digest);
        cordon_free(doors);
        held_policy_release(p);
}
