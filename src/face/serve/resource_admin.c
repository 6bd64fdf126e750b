/* SPDX-License-Identifier: MIT */
/* face/serve/resource_admin.c - with the scope admin: tenants, their settings and ceilings, tokens; and what
 * tenants used, hour by hour. */
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"
#include "face/serve/resources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tenants ---- */

static int tenant_below(const struct serve_call *c, const char *name, const char *file, char *ret, size_t cap)
{
        struct stat st;
        (void) snprintf(ret, cap, "tenants/%.64s", name);
        if (!token_is_name(name) || fstatat(c->s->config, ret, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(st.st_mode))
                return -1;
        (void) snprintf(ret, cap, "tenants/%.64s/%s", name, file);
        return 0;
}

void post_tenant(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        const char *name = json_str(c->json, "name");
        if (serve_tenant_new(c->s->o->config, name, &e) < 0) {
                bool exists = e.sys == EEXIST;
                reply_error(r, exists ? 409 : status_of(&e), &e);
                return;
        }

        buf_putc(&r->body, '{');
        buf_member(&r->body, "name", name);
        buf_putc(&r->body, '}');
        reply_json(r, 201);
}

/* A whole new file in place of the old one: the server reads the one or the other. */
static void replace(struct serve_call *c, const char *file, struct reply *r)
{
        char path[SERVE_NAME_MAX + 64], fresh[SERVE_NAME_MAX + 72];
        if (tenant_below(c, c->arg, file, path, sizeof path) < 0) {
                reply_problem(r, 404, "tenant", "there is no such tenant", "GET /v1/tenants lists them");
                return;
        }

        (void) snprintf(fresh, sizeof fresh, "%s.new", path);
        AUTO_FD(fd, openat(c->s->config, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (fd < 0 || fd_write_all(fd, c->body.p, c->body.n) < 0 || fsync(fd) < 0 ||
            renameat(c->s->config, fresh, c->s->config, path) < 0) {
                bool full = errno == ENOSPC || errno == EDQUOT;
                (void) unlinkat(c->s->config, fresh, 0);
                reply_problem(r, full ? 507 : 500, "io", "the file cannot be written", NULL);
                return;
        }
        buf_printf(&r->body, "{\"bytes\":%zu}", c->body.n);
        reply_json(r, 200);
}

void put_tenant_settings(struct serve_call *c, struct reply *r) { replace(c, "tenant.json", r); }

void put_ceiling(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char path[SERVE_NAME_MAX + 64];
        bool known = tenant_below(c, c->arg, "", path, sizeof path) == 0;
        if (known && tenant_check_text(c->s->tenants, c->arg, c->body, &e) < 0)
                reply_error(r, 422, &e);
        else
                replace(c, "ceiling.cordon", r);
}

/* ---- tokens ---- */

void get_tokens(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char *list = serve_token_list(c->s->o->config, true, &e);
        if (!list) {
                reply_error(r, status_of(&e), &e);
                return;
        }
        buf_printf(&r->body, "{\"tokens\":%s}", list);
        cordon_free(list);
        reply_json(r, 200);
}

static bool take_scopes(const struct json *o, unsigned *ret)
{
        const struct json *list = json_of(o, "scopes", JSON_ARRAY);
        *ret = 0;
        for (const struct json *w = list ? list->child : NULL; w; w = w->next) {
                unsigned bit = scope_bit(w->str, w->len);
                if (!bit)
                        return false;
                *ret |= bit;
        }
        *ret = list ? *ret : SCOPE_RUN | SCOPE_READ | SCOPE_FILES;
        return *ret != 0 && (!(*ret & SCOPE_ADMIN) || *ret == SCOPE_ADMIN);
}

void post_token(struct serve_call *c, struct reply *r)
{
        enum { MONTH_S = 30 * 86400 };
        cordon_error e = { 0 };
        char token[SERVE_TOKEN_MAX];
        struct serve_new_token n = { .config = c->s->o->config,
                                     .tenant = json_text(c->json, "tenant"),
                                     .person = json_text(c->json, "person"),
                                     .groups = json_text(c->json, "groups"),
                                     .expires = clock_wall_s() + json_int_or(c->json, "expires_s", MONTH_S) };
        if (!take_scopes(c->json, &n.scopes) || (n.scopes == SCOPE_ADMIN) != (n.tenant[0] == '\0')) {
                reply_problem(r, 422, "usage",
                              "a token has a `tenant` and scopes of one, or the scope admin alone", NULL);
                return;
        }
        if (serve_token_new(&n, token, &e) < 0) {
                reply_error(r, status_of(&e), &e);
                return;
        }

        char id[TOKEN_ID_MAX];
        (void) snprintf(id, sizeof id, "%.16s", token + strlen("cordon_"));
        buf_putc(&r->body, '{');
        buf_member(&r->body, "id", id);
        buf_member(&r->body, "token", token);
        buf_member_int(&r->body, "expires", n.expires);
        buf_putc(&r->body, '}');
        reply_json(r, 201);
        explicit_bzero(token, sizeof token);
}

void delete_token(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        if (serve_token_remove(c->s->o->config, c->arg, &e) < 0) {
                reply_problem(r, e.code == ERR_USAGE ? 404 : status_of(&e), "token", "there is no such token",
                              NULL);
                return;
        }
        buf_puts(&r->body, "{}");
        reply_json(r, 200);
}

/* ---- what was used ---- */

static void put_hours(struct tenant *t, uint64_t since, uint64_t until, struct reply *r)
{
        const struct usage_hour *h;
        for (size_t i = 0; (h = usage_at(t, i)); i++) {
                if (h->hour_s < since || h->hour_s > until)
                        continue;
                buf_member_json(&r->body, NULL, "{");
                buf_member(&r->body, "tenant", tenant_label(t));
                buf_member_int(&r->body, "hour", (long long) h->hour_s);
                for (size_t k = 0; usage_names[k]; k++)
                        buf_member_int(&r->body, usage_names[k], (long long) h->n[k]);
                buf_putc(&r->body, '}');
        }
}

/* ?since= &until=, seconds since 1970; with admin ?tenant= */
void get_usage(struct serve_call *c, struct reply *r)
{
        char since[24] = "0", until[24] = "9223372036854775807", name[TOKEN_NAME_MAX] = "";
        uint64_t from = 0, to = 0;
        (void) request_param(c->r, "since", since, sizeof since);
        (void) request_param(c->r, "until", until, sizeof until);
        (void) request_param(c->r, "tenant", name, sizeof name);
        if (str_to_u64(span_str(since), &from) < 0 || str_to_u64(span_str(until), &to) < 0) {
                reply_problem(r, 400, "parameter", "`since` and `until` are seconds since 1970", NULL);
                return;
        }

        struct tenant *t;
        buf_puts(&r->body, "{\"hours\":[");
        for (size_t i = 0; (t = tenants_at(c->s->tenants, i)); i++)
                if ((!c->tenant || c->tenant == t) && (!name[0] || strcmp(name, tenant_label(t)) == 0))
                        put_hours(t, from, to, r);
        buf_puts(&r->body, "]}");
        reply_json(r, 200);
}
