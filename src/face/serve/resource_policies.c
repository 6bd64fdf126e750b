/* SPDX-License-Identifier: MIT */
/* face/serve/resource_policies.c - the policies that are registered for a tenant, and their versions. */
#include "face/serve/resources.h"

#include "base/err.h"
#include "base/str.h"
#include "face/serve/tenant_versions.h"

#include <string.h>

static void put_name(void *ctx, const char *name) { buf_member(ctx, NULL, name); }

void get_policies(struct serve_call *c, struct reply *r)
{
        buf_puts(&r->body, "{\"policies\":[");
        tenant_policies(c->tenant, put_name, &r->body);
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}

static int directory_of(const struct serve_call *c)
{
        int own[2];
        tenant_descriptors(c->tenant, own);
        return own[0];
}

/* One that no run tries any more is not shown as one that is tried. */
static void put_canary(struct serve_call *c, const struct canary_rule *rule, struct buf *out)
{
        AUTO_BUF(why);
        if (!rule->version)
                return;

        if (canary_is_withdrawn(c->tenant, c->arg, rule, &why)) {
                buf_printf(out, ",\"withdrawn\":{\"version\":%u", rule->version);
                buf_member(out, "why", buf_str(&why));
                buf_putc(out, '}');
        } else
                buf_printf(out, ",\"canary\":{\"version\":%u,\"share\":%u,\"bound\":%u}", rule->version,
                           rule->share, rule->bound);
}

static void put_versions(struct serve_call *c, struct buf *out)
{
        struct versions v;
        versions_read(directory_of(c), c->arg, &v);
        buf_printf(out, ",\"version\":%u,\"versions\":[", v.current);
        for (size_t i = 0; i < v.n; i++)
                buf_printf(out, "%s%u", i ? "," : "", v.v[i]);
        buf_putc(out, ']');
        put_canary(c, &v.canary, out);
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
                buf_putc(&r->body, '{');
                buf_member(&r->body, "name", c->arg);
                buf_member(&r->body, "digest", digest);
                buf_member(&r->body, "doors", doors);
                put_versions(c, &r->body);
                buf_putc(&r->body, '}');
                reply_json(r, 200);
        } else
                reply_error(r, status_of(&e), &e);

        cordon_free(digest);
        cordon_free(doors);
        held_policy_release(p);
}

/* ---- versions ---- */

/* ?share=PERCENT &bound=RUNS */
static bool take_rule(const struct serve_call *c, struct canary_rule *ret, struct reply *r)
{
        char text[24];
        uint64_t share = 0, bound = 1;
        bool good = (!request_param(c->r, "share", text, sizeof text) ||
                     (str_to_u64(span_str(text), &share) == 0 && share > 0 && share <= 100)) &&
                    (!request_param(c->r, "bound", text, sizeof text) ||
                     (str_to_u64(span_str(text), &bound) == 0 && bound > 0 && bound <= 1000));
        *ret = (struct canary_rule){ .share = (unsigned) share, .bound = (unsigned) bound };
        if (!good)
                reply_problem(r, 400, "usage",
                              "`share` is a percentage, 1 to 100; `bound` a number of runs, 1 to 1000", NULL);
        return good;
}

static void answer(struct serve_call *c, unsigned status, struct reply *r)
{
        buf_putc(&r->body, '{');
        buf_member(&r->body, "name", c->arg);
        put_versions(c, &r->body);
        buf_putc(&r->body, '}');
        reply_json(r, status);
}

/* Within the tenant's ceiling: whoever may write policies opens no more than the operator did. */
void put_policy(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        struct canary_rule rule;
        unsigned version = 0;
        if (!token_is_name(c->arg)) {
                reply_problem(r, 422, "usage", "a policy's name has letters, digits, _ and - only", NULL);
                return;
        }

        if (!take_rule(c, &rule, r))
                return;

        struct held_policy *used = rule.share ? tenant_policy(c->tenant, c->arg, &e) : NULL;
        if (rule.share && !used) {
                reply_problem(r, 422, "usage",
                              "a share of the runs tries a version of a policy that there is",
                              "PUT it without `share` first");
                return;
        }
        held_policy_release(used);

        struct held_policy *p = tenant_lines(c->tenant, (const char *) c->body.p, c->body.n, &e);
        if (!p || versions_put(directory_of(c), c->arg, c->body, &rule, &version, (struct err *) &e) < 0)
                reply_failed(c, r, &e);
        else
                answer(c, version == 1 ? 201 : 200, r);
        held_policy_release(p);
}

/* True: the version that is tried was withdrawn; the answer says why. */
static bool is_withdrawn(struct serve_call *c, struct reply *r)
{
        AUTO_BUF(why);
        AUTO_BUF(text);
        struct canary_rule rule = versions_canary(directory_of(c), c->arg);
        if (!rule.version || !canary_is_withdrawn(c->tenant, c->arg, &rule, &why))
                return false;

        buf_printf(&text, "version %u was withdrawn: %s", rule.version, buf_str(&why));
        reply_problem(r, 409, "withdrawn", buf_str(&text),
                      "PUT a version that mends it; rollback ends the trial");
        return true;
}

void post_promote(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        if (token_is_name(c->arg) && is_withdrawn(c, r))
                return;

        if (!token_is_name(c->arg) || versions_promote(directory_of(c), c->arg, (struct err *) &e) < 0)
                reply_error(r, e.what[0] ? status_of(&e) : 404, &e);
        else
                answer(c, 200, r);
}

void post_rollback(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        unsigned to = (unsigned) json_int_or(c->json, "version", 0); /* 0: the one before */
        if (!token_is_name(c->arg) || versions_roll_back(directory_of(c), c->arg, to, (struct err *) &e) < 0)
                reply_error(r, e.what[0] ? status_of(&e) : 404, &e);
        else
                answer(c, 200, r);
}
