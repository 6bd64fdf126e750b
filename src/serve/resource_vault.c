/* SPDX-License-Identifier: MIT */
/* serve/resource_vault.c - credentials of a tenant: written, never read. */
#include "base/err.h"
#include "base/fd.h"
#include "serve/resources.h"

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

static void store(struct serve_call *c, const struct json *o, struct reply *r)
{
        cordon_error e = { 0 };
        const struct json *secret = body_member(o, "secret", JSON_STRING),
                          *ttl = body_member(o, "ttl", JSON_INT);
        if (!secret || secret->len == 0) {
                reply_problem(r, 422, "usage", "`secret` is missing", NULL);
                return;
        }

        AUTO_FD(fd, secret_file(secret));
        const cordon_credential v = { .name = c->arg,
                                      .env = body_text(o, "env"),
                                      .header = body_text(o, "header"),
                                      .query = body_text(o, "query"),
                                      .basic = body_text(o, "basic"),
                                      .scope = body_text(o, "scope"),
                                      .sigv4 = body_member(o, "sigv4", JSON_TRUE) != NULL,
                                      .test = body_member(o, "test", JSON_TRUE) != NULL,
                                      .ttl_s = ttl && ttl->integer > 0 ? (uint64_t) ttl->integer : 0,
                                      .secret_fd = fd,
                                      .passphrase_fd = -1 };
        bool again = body_member(o, "rotate", JSON_TRUE) != NULL;
        int failed = again ? cordon_vault_rotate(tenant_context(c->tenant), &v, &e)
                           : cordon_vault_add(tenant_context(c->tenant), &v, &e);
        if (failed < 0) {
                reply_error(r, status_of(&e), &e);
                return;
        }
        buf_puts(&r->body, "{}");
        reply_json(r, again ? 200 : 201);
}

void put_credential(struct serve_call *c, struct reply *r)
{
        cordon_error e = { 0 };
        struct json_doc *d = token_is_name(c->arg) ? json_parse("body", c->body, (struct err *) &e) : NULL;
        if (!token_is_name(c->arg))
                reply_problem(r, 422, "usage", "a credential's name has letters, digits, _ and - only", NULL);
        else if (!d)
                reply_problem(r, 400, "usage", "the body is not JSON",
                              NULL); /* without the place: it has a secret */
        else
                store(c, json_root(d), r);
        json_free(d);
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
