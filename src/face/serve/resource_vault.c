/* SPDX-License-Identifier: MIT */
/* face/serve/resource_vault.c - credentials of a tenant: written, never read. */
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/resources.h"

#include <string.h>

void get_vault(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char *list = cordon_vault_list(tenant_context(c->tenant), 1, &e);
        buf_puts(&r->body, list ? list : "");
        reply_done(r, 200, list ? 0 : -1, &e);
        cordon_free(list);
}

/* Of a credential that exists, the secret, its time and what it is for are replaced, and nothing else. */
static const char *beside_rotate(const struct json *o)
{
        static const char *const first_only[] = { "env", "header", "query", "basic", "sigv4", "test" };
        for (size_t i = 0; json_is_true(o, "rotate") && i < sizeof first_only / sizeof *first_only; i++)
                if (json_get(o, first_only[i]))
                        return first_only[i];
        return NULL;
}

static bool check(const struct serve_call *c, struct reply *r)
{
        AUTO_BUF(why);
        const char *beside = beside_rotate(c->json);
        if (!token_is_name(c->arg))
                buf_puts(&why, "a credential's name has letters, digits, _ and - only");
        else if (beside)
                buf_printf(&why, "with `rotate` there is no `%s`: it is set when a credential is made",
                           beside);
        if (why.n)
                reply_problem(r, 422, "usage", buf_str(&why), NULL);
        return why.n == 0;
}

void put_credential(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        const struct json *o = c->json, *secret = json_get(o, "secret");
        if (!check(c, r))
                return;

        AUTO_FD(fd, fd_memory("secret", secret->str, secret->len));
        const cordon_credential v = { .name = c->arg,
                                      .env = json_str(o, "env"),
                                      .header = json_str(o, "header"),
                                      .query = json_str(o, "query"),
                                      .basic = json_str(o, "basic"),
                                      .scope = json_str(o, "scope"),
                                      .sigv4 = json_is_true(o, "sigv4"),
                                      .test = json_is_true(o, "test"),
                                      .ttl_s = (uint64_t) json_int_or(o, "ttl", 0),
                                      .secret_fd = fd,
                                      .passphrase_fd = -1 };
        bool again = json_is_true(o, "rotate");
        int failed = again ? cordon_vault_rotate(tenant_context(c->tenant), &v, &e)
                           : cordon_vault_add(tenant_context(c->tenant), &v, &e);
        buf_puts(&r->body, "{}");
        reply_done(r, again ? 200 : 201, failed, &e);
}

void delete_credential(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        if (cordon_vault_remove(tenant_context(c->tenant), c->arg, &e) < 0) {
                reply_error(r, status_of(&e) == 422 ? 404 : status_of(&e), &e);
                return;
        }
        buf_puts(&r->body, "{}");
        reply_json(r, 200);
}
