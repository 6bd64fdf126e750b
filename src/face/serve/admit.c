/* SPDX-License-Identifier: MIT */
/* face/serve/admit.c - decides from the head of a request whether it is answered at all. Nothing of its body
 * has been read by then: without a token nobody makes the server keep more than a head. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/serve/internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- Host and Origin ---- */

static bool check_site(const struct server *s, const struct client *c, struct reply *r)
{
        const struct http_request *q = &c->h.in.r;
        if (!host_is_ours(q->host, c->h.port, s->o->hosts)) {
                reply_problem(r, 421, "host", "unknown Host header",
                              "an operator behind a proxy adds --http-host NAME");
                return false;
        }

        if (!origin_is_ours(q->origin, q->host)) {
                reply_problem(r, 403, "origin", "cross-site request", NULL);
                return false;
        }
        return true;
}

/* ---- tokens ---- */

/* Again when the file has changed: a removed token is void at once. One that does not load voids all. */
static void refresh_tokens(struct server *s)
{
        struct stat st = { 0 };
        struct tokens t = { 0 };
        struct err e;
        if (s->own)
                return;

        (void) fstatat(s->config, "tokens", &st, AT_SYMLINK_NOFOLLOW);
        if (memcmp(&st.st_mtim, &s->tokens_changed, sizeof s->tokens_changed) == 0)
                return;

        bool good = tokens_load(s->config, &t, &e) == 0;
        tokens_done(&s->tokens);
        s->tokens = good ? t : (struct tokens){ 0 };
        s->tokens_changed = good ? st.st_mtim : (struct timespec){ 0 };
        if (!good)
                serve_log(s, LOG_ERROR, e.what);
}

static void refuse_scope(const struct token *t, unsigned needed, struct reply *r)
{
        AUTO_BUF(names);
        AUTO_BUF(what);
        AUTO_BUF(hint);
        for (unsigned bit = 0; scope_name(bit); bit++)
                if (needed & 1u << bit)
                        buf_printf(&names, "%s`%s`", names.n ? " or " : "", scope_name(bit));

        buf_printf(&what, "the token does not have the scope %s", buf_str(&names));
        unsigned first = 0;
        while (!(needed & 1u << first))
                first++;
        buf_printf(&hint, "an operator makes one that has: cordon serve token new --scopes %s%s%s",
                   scope_name(first), needed == SCOPE_ADMIN ? "" : " --tenant ",
                   needed == SCOPE_ADMIN ? ""
                   : t->tenant[0]        ? t->tenant
                                         : "NAME");
        reply_problem(r, 403, "scope", buf_str(&what), buf_str(&hint));
}

static bool refuse_token(struct reply *r)
{
        reply_problem(r, 401, "token", "missing or invalid bearer token",
                      "Authorization: Bearer TOKEN; an operator makes one: "
                      "cordon serve token new --tenant NAME");
        (void) snprintf(r->extra, sizeof r->extra, "WWW-Authenticate: Bearer realm=\"cordon\"\r\n");
        return false;
}

static bool check_token(struct server *s, const struct client *c, struct admitted *a, struct reply *r)
{
        cordon_error e = { 0 };
        refresh_tokens(s);
        const struct token *t =
                c->h.in.r.token[0] ? tokens_check(&s->tokens, c->h.in.r.token, clock_wall_s()) : NULL;
        if (!t)
                return refuse_token(r);

        if (!(t->scopes & a->route->scope)) {
                refuse_scope(t, a->route->scope, r);
                return false;
        }

        a->scopes = t->scopes;
        a->expires = t->expires;
        if (t->scopes == SCOPE_ADMIN) /* the host's own, of no tenant */
                return true;

        if (t->person[0])
                (void) snprintf(a->person, sizeof a->person, "%s", t->person);
        else
                (void) snprintf(a->person, sizeof a->person, "token:%s", t->id);
        (void) snprintf(a->groups, sizeof a->groups, "%s", t->groups);
        a->own = t->scopes & SCOPE_OWN;
        a->tenant = tenant_of(s->tenants, t, &e);
        if (!a->tenant && e.sys == ESTALE)
                return refuse_token(r);
        if (!a->tenant) {
                serve_log(s, LOG_ERROR, e.what);
                reply_problem(r, 503, "tenant", "the tenant's settings do not load", "ask the operator");
                return false;
        }

        uint64_t wait_ms = bucket_take(tenant_rate(a->tenant), clock_mono_ns());
        if (wait_ms == 0)
                return true;
        tenant_book(a->tenant)->rejected++;
        reply_later(r, 429, (unsigned) (wait_ms / 1000 + 1), "rate limit of the tenant reached");
        return false;
}

/* A tenant never holds more connections than are free: streams left open by one do not keep others out. */
static bool check_place(const struct server *s, const struct client *c, const struct admitted *a,
                        struct reply *r)
{
        size_t mine = 0, free_places = CLIENTS_MAX;
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
                const struct client *x = s->clients[i];
                if (!x || x == c || !x->h.busy)
                        continue;
                free_places--;
                mine += x->admitted.tenant == a->tenant;
        }

        if (!a->tenant || a->route->time != ROUTE_WAITS || mine < free_places)
                return true;
        tenant_book(a->tenant)->rejected++;
        reply_later(r, 429, 1, "too many requests of this tenant are open at once");
        return false;
}

static bool check_params(const struct route *route, const char *query, struct reply *r)
{
        char unknown[64], *text = NULL;
        size_t n = 0;
        uint64_t cuts;
        AUTO_BUF(what);
        AUTO_BUF(hint);
        if (route_takes(route, query, unknown, sizeof unknown))
                return true;

        text = cordon_inert(unknown, strlen(unknown), &n, &cuts);
        buf_printf(&what, "this path has no parameter `%.*s`", (int) n, text ? text : "");
        buf_printf(&hint, "it has: %s", islower((unsigned char) route->params[0]) ? route->params : "none");
        reply_problem(r, 400, "parameter", buf_str(&what), buf_str(&hint));
        cordon_free(text);
        return false;
}

bool admit(struct server *s, const struct client *c, struct admitted *ret, struct reply *r)
{
        const struct http_request *q = &c->h.in.r;
        unsigned status = 0;
        *ret = (struct admitted){ 0 };
        if (!check_site(s, c, r))
                return false;

        ret->route = route_find(q->method, q->path, ret->arg, &status);
        if (!ret->route) {
                reply_problem(r, status, status == 405 ? "method" : "path",
                              status == 405 ? "method not allowed for this path" : "path not found",
                              "GET /v1/openapi.json describes all");
                return false;
        }

        if (ret->route->scope != SCOPE_NONE && (!check_token(s, c, ret, r) || !check_place(s, c, ret, r)))
                return false;

        if (!check_params(ret->route, q->query, r))
                return false;

        if (q->length != UINT64_MAX && q->length > route_body_max(ret->route)) {
                reply_problem(r, 413, "size", "the body is longer than this path takes", NULL);
                return false;
        }
        return true;
}
