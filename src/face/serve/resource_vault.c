/* SPDX-License-Identifier: MIT */
/* face/serve/resource_vault.c - credentials of a tenant: written, never read. */
#include "base/err.h"
#include "base/fd.h"
#include "face/serve/resources.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

void get_vault(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        char *list = cordon_vault_list(tenant_context(c->tenant), 1, &e);
        if (!list) {
                reply_error(r, status_of(&e), &e);
                return;
        }
        buf_puts(&r->body, list);
        cordon_free(list);
        reply_json(r, 200);
}

static int secret_file(const struct json *secret)
{
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, "secret", MFD_CLOEXEC));
        bool good = fd >= 0 && fd_write_all(fd, secret->str, secret->len) == 0 && lseek(fd, 0, SEEK_SET) == 0;
        return good ? TAKE_FD(fd) : -1;
}

/* Of a credential that exists, the secret, its time and what it is for are replaced, and nothing else. */
static const char *beside_rotate(const struct json *o)
{
        static const char *const first_only[] = { "env", "header", "query", "basic", "sigv4", "test" };
        for (size_t i = 0; body_true(o, "rotate") && i < sizeof first_only / sizeof *first_only; i++)
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
        const struct json *o = c->json;
        if (!check(c, r))
                return;

        AUTO_FD(fd, secret_file(json_get(o, "secret")));
        const cordon_credential v = { .name = c->arg,
                                      .env = body_text(o, "env"),
                                      .header = body_text(o, "header"),
                                      .query = body_text(o, "query"),
                                      .basic = body_text(o, "basic"),
                                      .scope = body_text(o, "scope"),
                                      .sigv4 = body_true(o, "sigv4"),
                                      .test = body_true(o, "test"),
                                      .ttl_s = (uint64_t) body_int(o, "ttl", 0),
                                      .secret_fd = fd,
                                      .passphrase_fd = -1 };
        bool again = body_true(o, "rotate");
        int failed = again ? cordon_vault_rotate(tenant_context(c->tenant), &v, &e)
                           : cordon_vault_add(tenant_context(c->tenant), &v, &e);
        if (failed < 0) {
                reply_error(r, status_of(&e), &e);
                return;
        }
        buf_puts(&r->body, "{}");
        reply_json(r, again ? 200 : 201);
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
