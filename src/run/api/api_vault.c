/* SPDX-License-Identifier: MIT */
/* run/api/api_vault.c - cordon_vault_*: bindings from the caller, work for cordon-vault. Never: holds a
 * secret.
 */
#include "base/clock.h"
#include "base/str.h"
#include "broker/vault/vault.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TTL_MOST_S = 50 * 365 * 86400 }; /* far from overflow; the lifetime of a class is far less */

static int copy_text(char *to, size_t cap, const char *from, const char *what, struct err *e)
{
        if (strlen(from) >= cap)
                return err_set(e, ERR_USAGE, 0, "the %s is too long", what);
        (void) snprintf(to, cap, "%s", from);
        return 0;
}

static int read_where(const cordon_credential *c, struct vault_meta *m, struct err *e)
{
        int ways = (c->header != NULL) + (c->query != NULL) + (c->basic != NULL) + (c->body != 0) +
                   (c->sigv4 != 0);
        if (ways > 1)
                return err_set(e, ERR_USAGE, 0,
                               "use only one of --header, --query, --basic, --body and --sigv4");

        m->where = c->query   ? GRANT_QUERY
                   : c->basic ? GRANT_BASIC
                   : c->body  ? GRANT_BODY
                   : c->sigv4 ? GRANT_SIGV4
                              : GRANT_HEADER;
        if (m->where == GRANT_HEADER)
                return vault_header_read(c->header ? c->header : "Authorization: Bearer {}", m, e);

        if (c->sigv4 && c->file) {
                (void) err_set(e, ERR_USAGE, 0, "a key of AWS is in variables of a box, not in a file");
                return err_hint(e, "leave out --box-file");
        }

        return c->body || c->sigv4
                       ? 0
                       : copy_text(m->field, sizeof m->field, c->query ? c->query : c->basic, "name", e);
}

static int read_name(const cordon_credential *c, struct vault_meta *m, struct err *e)
{
        if (!c->name || !vault_name_ok(c->name)) {
                (void) err_set(e, ERR_USAGE, 0, "invalid credential name");
                return err_hint(e, "letters, digits, . _ and -, at most %d", GRANT_NAME - 1);
        }
        return copy_text(m->name, sizeof m->name, c->name, "name", e);
}

static int read_meta(const cordon_credential *c, struct vault_meta *m, struct err *e)
{
        struct vault_meta again;
        AUTO_BUF(line);
        const char *env = c->env || !c->sigv4 ? c->env : VAULT_AWS_VARIABLES;
        if (read_name(c, m, e) < 0 || read_where(c, m, e) < 0 ||
            (env && copy_text(m->env, sizeof m->env, env, "variable", e) < 0) ||
            vault_form_read(c->file, c->form, m, e) < 0)
                return -1;

        m->live = !c->test;
        m->created = clock_wall_s();
        m->expires = m->created + (c->ttl_s ? (int64_t) c->ttl_s : vault_life_most(m->live));
        m->max_uses = c->max_uses;
        vault_meta_print(m, &line);
        struct err why;
        if (line.failed || vault_meta_parse(buf_span(&line), &again, &why) < 0)
                return err_set(e, ERR_USAGE, 0,
                               "a name, variable or field has a character that cannot stand there");

        return 0;
}

static int read_protect(const struct cordon_context *cx, const cordon_credential *c, struct vault_request *q,
                        struct err *e)
{
        static const enum vault_protect all[] = { VAULT_BY_FILE, VAULT_BY_PASSPHRASE, VAULT_BY_KEYRING };
        for (size_t i = 0; c->protect && i < sizeof all / sizeof *all; i++)
                if (strcmp(c->protect, vault_protect_name(all[i])) == 0)
                        q->protect = all[i];

        if (c->protect && !q->protect) {
                (void) err_set(e, ERR_USAGE, 0, "a vault is protected by file, passphrase or keyring");
                return -1;
        }

        if (c->key_file && (c->key_file[0] != '/' || (q->protect && q->protect != VAULT_BY_FILE)))
                return err_set(e, ERR_USAGE, 0, "a key file is an absolute path, with --protect file");

        if (c->key_file)
                return copy_text(q->key_file, sizeof q->key_file, c->key_file, "path", e);

        /* Needed only if the vault does not exist yet and a file is to protect it: cordon-vault reports it
         * then. */
        struct err none;
        if (vault_default_key_file(cx, q->key_file, sizeof q->key_file, &none) < 0 &&
            q->protect == VAULT_BY_FILE) {
                *e = none;
                return -1;
        }

        return 0;
}

static int fill_request(const struct cordon_context *cx, struct vault_request *q, enum vault_op op,
                        const cordon_credential *c, struct err *e)
{
        q->op = op;
        if (c->ttl_s > TTL_MOST_S)
                return err_set(e, ERR_USAGE, 0, "this lifetime has no end");

        q->ttl_s = (int64_t) c->ttl_s;
        if ((op == VAULT_ADD ? read_meta(c, &q->meta, e) : read_name(c, &q->meta, e)) < 0)
                return -1;

        if (c->scope && vault_scope_read(c->scope, q->meta.scope, e) < 0)
                return -1;

        if (c->secret_env && copy_text(q->from_env, sizeof q->from_env, c->secret_env, "variable", e) < 0)
                return -1;

        return read_protect(cx, c, q, e);
}

static int send_request(const struct cordon_context *cx, enum vault_op op, const cordon_credential *c,
                        struct err *e)
{
        struct vault_request *q = calloc(1, sizeof *q);
        if (!q)
                return err_set(e, ERR_MEMORY, 0, "no memory");

        int bad = fill_request(cx, q, op, c, e);
        if (!bad)
                bad = vault_work(cx, q, c->secret_env ? -1 : c->secret_fd, c->passphrase_fd, e);

        free(q);
        return bad;
}

int cordon_vault_add(const cordon_context *cx, const cordon_credential *c, cordon_error *e)
{
        return send_request(cx, VAULT_ADD, c, to_err(e));
}
int cordon_vault_rotate(const cordon_context *cx, const cordon_credential *c, cordon_error *e)
{
        if (c->secret_fd < 0 && !c->secret_env && c->scope && c->ttl_s == 0)
                return send_request(cx, VAULT_SCOPE, c, to_err(e));

        return send_request(cx, VAULT_ROTATE, c, to_err(e));
}
int cordon_vault_remove(const cordon_context *cx, const char *name, cordon_error *e)
{
        return vault_remove(cx, name, to_err(e));
}

/* ---- list ---- */

struct listing {
        struct buf out;
        bool json;
        unsigned count;
        int64_t now;
};

static void put_binding(const struct vault_meta *m, struct buf *out)
{
        if (m->where == GRANT_HEADER)
                buf_printf(out, "header %s: %s{}%s", m->field, m->before, m->after);
        else
                buf_printf(out, "%s%s%s", vault_where_name((enum grant_where) m->where),
                           m->field[0] ? " " : "", m->field);

        if (m->file[0])
                buf_printf(out, ", in ~/%s", m->file);

        for (const char *p = m->scope; *p; p += strcspn(p, "\n") + 1)
                buf_printf(out, "%s%.*s", p > m->scope ? ", " : ", for ", (int) strcspn(p, "\n"), p);
}

/* In days from two on, in hours below; rounded up. */
static void put_left(int64_t s, char ret[32])
{
        enum { HOUR_S = 3600, DAY_S = 24 * HOUR_S };
        int64_t unit = s > 2 * DAY_S ? DAY_S : HOUR_S;

        (void) snprintf(ret, 32, "%lld%c", (long long) ((s + unit - 1) / unit), unit == DAY_S ? 'd' : 'h');
}

static void list_entry(void *ctx, const struct vault_meta *m)
{
        struct listing *l = ctx;
        AUTO_BUF(where);
        char left[32] = "-", uses[32] = "-";

        if (l->json) {
                buf_puts(&l->out, l->count++ ? ",\n " : "[");
                vault_meta_print(m, &l->out);
                return;
        }

        if (l->count++ == 0)
                buf_printf(&l->out, "%-20s %-5s %-20s %-8s %-8s %s\n", "NAME", "CLASS", "VARIABLE", "EXPIRES",
                           "USES", "WHERE");

        put_binding(m, &where);
        if (m->expires && m->expires <= l->now)
                (void) snprintf(left, sizeof left, "over");
        else if (m->expires)
                put_left(m->expires - l->now, left);

        if (m->max_uses)
                (void) snprintf(uses, sizeof uses, "%llu", (unsigned long long) m->max_uses);

        buf_printf(&l->out, "%-20s %-5s %-20s %-8s %-8s %s\n", m->name, m->live ? "live" : "test",
                   m->env[0] ? m->env : "-", left, uses, buf_str(&where));
}

char *cordon_vault_list(const cordon_context *cx, int json, cordon_error *e)
{
        struct listing l = { .json = json != 0, .now = clock_wall_s() };
        if (vault_list(cx, list_entry, &l, to_err(e)) < 0) {
                buf_done(&l.out);
                return NULL;
        }

        buf_puts(&l.out, !l.json ? "" : l.count ? "]\n" : "[]\n");
        return api_give(&l.out, to_err(e));
}
