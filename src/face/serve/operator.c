/* SPDX-License-Identifier: MIT */
/* face/serve/operator.c - what the operator does in the directory of `cordon serve`: tokens and tenants. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "face/serve/serve.h"
#include "face/serve/tenant_identity.h"
#include "face/serve/token_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char *variable(char *const *environment, const char *name)
{
        size_t n = strlen(name);
        for (; *environment; environment++)
                if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
                        return *environment + n + 1;
        return NULL;
}

bool serve_config_path(char *const *environment, char *ret, size_t cap)
{
        const char *config = variable(environment, "XDG_CONFIG_HOME"), *home = variable(environment, "HOME");
        int n = config && config[0] == '/' ? snprintf(ret, cap, "%s/cordon/serve", config)
                : home && home[0] == '/'   ? snprintf(ret, cap, "%s/.config/cordon/serve", home)
                                           : -1;
        return n > 0 && (size_t) n < cap;
}

bool serve_scopes_read(const char *text, unsigned *ret)
{
        *ret = 0;
        for (const char *p = text;; p++) {
                size_t n = strcspn(p, ",");
                unsigned scope = scope_bit(p, n);
                if (!scope)
                        return false;

                *ret |= scope;
                p += n;
                if (!*p)
                        return true;
        }
}

/* ---- tokens ---- */

static void put_token(const struct token *t, struct buf *out)
{
        buf_member_json(out, NULL, "{");
        buf_member(out, "id", t->id);
        buf_member(out, "tenant", t->tenant);
        if (t->person[0])
                buf_member(out, "person", t->person);
        if (t->groups[0])
                buf_member(out, "groups", t->groups);
        scopes_put(t->scopes, "scopes", out);
        buf_member_int(out, "created", t->created);
        buf_member_int(out, "expires", t->expires);
}

/* Replaces the file as a whole: a server reads the old one or the new one. */
static int store(int dir, const struct tokens *t, struct err *e)
{
        AUTO_BUF(out);
        for (size_t i = 0; i < t->n; i++) {
                AUTO_BUF(line);
                put_token(&t->v[i], &line);
                if (t->v[i].mark[0])
                        buf_member(&line, "mark", t->v[i].mark);
                buf_member(&line, "sha256", t->v[i].digest);
                buf_printf(&out, "%s}\n", buf_str(&line));
                out.failed |= line.failed;
        }

        AUTO_FD(fd, openat(dir, "tokens.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (out.failed || fd < 0 || fd_write_all(fd, buf_str(&out), out.n) < 0 || fsync(fd) < 0 ||
            renameat(dir, "tokens.new", dir, "tokens") < 0)
                return err_set(e, ERR_IO, errno, "the file `tokens` cannot be written: %s", strerror(errno));
        return 0;
}

/* Opens the directory for a change: one at a time. */
static int open_locked(const char *config, bool make, struct tokens *ret, struct err *e)
{
        AUTO_FD(dir, serve_config_open(config, make, e));
        if (dir < 0 || flock(dir, LOCK_EX) < 0 || tokens_load(dir, ret, e) < 0)
                return -1;
        return TAKE_FD(dir);
}

static int has_tenant(int dir, const char *config, const char *name, struct err *e)
{
        char path[SERVE_NAME_MAX + 96];
        struct stat st;
        (void) snprintf(path, sizeof path, "tenants/%s", name);
        if (token_is_name(name) && fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
                return 0;

        (void) err_set(e, ERR_USAGE, 0, "there is no tenant `%.64s`", name);
        (void) snprintf(path, sizeof path, "cordon serve tenant new %.64s", name);
        return serve_hint(e, config, path);
}

/* The tenant that it was made for does not exist, or not any more. */
static bool is_void(int dir, const struct token *t)
{
        char mark[sizeof t->mark];
        return t->tenant[0] && !(tenant_mark(dir, t->tenant, mark) && strcmp(mark, t->mark) == 0);
}

/* A further one, to be filled in. */
static struct token *token_add(struct tokens *t, struct err *e)
{
        struct token *more = t->n < TOKENS_MAX ? reallocarray(t->v, t->n + 1, sizeof *more) : NULL;
        if (!more) {
                (void) err_set(e, ERR_LIMIT, 0, "there are too many tokens");
                return NULL;
        }

        t->v = more;
        return &t->v[t->n++];
}

/* A tenant that was made before identities gets one now, as at a start of the server. */
static int give_identity(const struct serve_new_token *n, struct err *e)
{
        cordon_tenant own = { 0 };
        AUTO_FD(dir, serve_config_open(n->config, true, e));
        if (dir < 0 || has_tenant(dir, n->config, n->tenant, e) < 0)
                return -1;

        int r = tenant_identity(dir, n->tenant, &own, e);
        explicit_bzero(&own, sizeof own);
        return r;
}

int serve_token_new(const struct serve_new_token *n, char ret[SERVE_TOKEN_MAX], cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        struct tokens t = { 0 };
        char secret[65];
        bool host = n->scopes == SCOPE_ADMIN;
        if (!host && give_identity(n, e) < 0)
                return -1;

        AUTO_FD(dir, open_locked(n->config, true, &t, e));
        if (dir < 0)
                return -1;

        int r = 0;
        char mark[sizeof t.v->mark] = "";
        if (!host && !tenant_mark(dir, n->tenant, mark))
                r = err_set(e, ERR_IO, 0, "the file `identity` of the tenant is missing, or not one");
        if (r == 0 && ((n->person && n->person[0] && !token_is_name(n->person)) ||
                       (n->groups && n->groups[0] &&
                        (strlen(n->groups) >= TOKEN_GROUPS_MAX || !token_are_names(n->groups)))))
                r = err_set(e, ERR_USAGE, 0, "a person and a group are names: letters, digits, _ and -");
        struct token *v = r == 0 ? token_add(&t, e) : NULL;
        if (v) {
                *v = (struct token){ .scopes = n->scopes, .created = clock_wall_s(), .expires = n->expires };
                (void) snprintf(v->tenant, sizeof v->tenant, "%s", host ? "" : n->tenant);
                memcpy(v->mark, mark, sizeof v->mark);
                (void) snprintf(v->person, sizeof v->person, "%s", n->person ? n->person : "");
                (void) snprintf(v->groups, sizeof v->groups, "%s", n->groups ? n->groups : "");
                r = random_hex(v->id, 8) < 0 || random_hex(secret, 32) < 0
                            ? err_set(e, ERR_IO, errno, "no random bits")
                            : 0;
        }
        if (v && r == 0) {
                (void) snprintf(ret, SERVE_TOKEN_MAX, "cordon_%s_%s", v->id, secret);
                sha256_hex(span_str(ret), v->digest);
                r = store(dir, &t, e);
        }

        explicit_bzero(secret, sizeof secret);
        tokens_done(&t);
        return v ? r : -1;
}

char *serve_token_list(const char *config, bool json, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        struct tokens t = { 0 };
        struct buf out = { 0 };
        AUTO_FD(dir, serve_config_open(config, false, e));
        if (dir < 0 || tokens_load(dir, &t, e) < 0)
                return NULL;

        buf_puts(&out, json ? "[" : "");
        for (size_t i = 0; i < t.n; i++) {
                bool expired = t.v[i].expires <= clock_wall_s(), gone = is_void(dir, &t.v[i]);
                if (json) {
                        put_token(&t.v[i], &out);
                        buf_member_bool(&out, "expired", expired);
                        buf_member_bool(&out, "void", gone);
                        buf_putc(&out, '}');
                        continue;
                }
                buf_printf(&out, "%s  %-16s  %s  ", t.v[i].id, t.v[i].tenant[0] ? t.v[i].tenant : "-",
                           gone      ? "void   "
                           : expired ? "expired"
                                     : "valid  ");
                for (unsigned bit = 0, some = 0; scope_name(bit); bit++)
                        if (t.v[i].scopes & 1u << bit)
                                buf_printf(&out, "%s%s", some++ ? "," : "", scope_name(bit));
                if (t.v[i].person[0])
                        buf_printf(&out, "  %s%s%s", t.v[i].person, t.v[i].groups[0] ? " of " : "",
                                   t.v[i].groups);
                buf_puts(&out, gone ? "  (made for a tenant that was removed)\n" : "\n");
        }
        buf_puts(&out, json ? "]\n" : "");
        tokens_done(&t);
        if (!out.failed)
                return out.p;

        buf_done(&out);
        (void) err_set(e, ERR_MEMORY, 0, "no memory for the list");
        return NULL;
}

int serve_token_remove(const char *config, const char *id, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        struct tokens t = { 0 };
        size_t kept = 0;
        AUTO_FD(dir, open_locked(config, false, &t, e));
        if (dir < 0)
                return -1;

        for (size_t i = 0; i < t.n; i++)
                if (strcmp(t.v[i].id, id) != 0)
                        t.v[kept++] = t.v[i];
        bool found = kept < t.n;
        t.n = kept;
        int r = found ? store(dir, &t, e) : err_set(e, ERR_USAGE, 0, "there is no token `%.32s`", id);
        if (!found)
                (void) serve_hint(e, config, "cordon serve token ls");
        tokens_done(&t);
        return r;
}

/* ---- tenants ---- */

static const char SETTINGS[] =
        "{\"weight\": 1, \"runs\": 8, \"queue\": 64, \"rate\": 500, \"sessions\": 4}\n";
static const char POLICY[] =
        "# what runs of this tenant may do unless they name another policy of this directory\n"
        "use   base/system\n"
        "read  {work}\n"
        "limit time 5m  memory 512M\n";

static int make_file(int dir, const char *path, const char *text, struct err *e)
{
        AUTO_FD(fd, openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (fd < 0 && errno == EEXIST)
                return 0;
        if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
                return err_set(e, ERR_IO, errno, "%s: %s", path, strerror(errno));
        return 0;
}

int serve_tenant_new(const char *config, const char *name, cordon_error *ce)
{
        static const char *const dirs[] = { "", "/policies", "/files", "/state", "/home" };
        struct err *e = (struct err *) ce;
        char path[SERVE_NAME_MAX + 64];
        if (!token_is_name(name) || strlen(name) >= SERVE_NAME_MAX)
                return err_set(e, ERR_USAGE, 0, "a tenant's name has letters, digits, _ and - only");

        AUTO_FD(dir, serve_config_open(config, true, e));
        if (dir < 0 || (mkdirat(dir, "tenants", 0700) < 0 && errno != EEXIST))
                return dir < 0 ? -1 : err_set(e, ERR_IO, errno, "tenants: %s", strerror(errno));

        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                (void) snprintf(path, sizeof path, "tenants/%s%s", name, dirs[i]);
                if (mkdirat(dir, path, 0700) < 0) {
                        bool again = errno == EEXIST;
                        return err_set(e, again ? ERR_USAGE : ERR_IO, errno, "%s: %s", path,
                                       again ? "the tenant exists" : strerror(errno));
                }
        }

        (void) snprintf(path, sizeof path, "tenants/%s/policies/default.cordon", name);
        if (make_file(dir, path, POLICY, e) < 0)
                return -1;
        (void) snprintf(path, sizeof path, "tenants/%s/tenant.json", name);
        cordon_tenant made;
        return make_file(dir, path, SETTINGS, e) < 0 ? -1 : tenant_identity(dir, name, &made, e);
}

/* How many heads of that ledger the host's has, if they do not fit it any more. -1: they do, or the host's
 * cannot be verified. */
static int64_t lost_heads(const cordon_context *host, const char *state, const char *name, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        int64_t n = 0;
        int ok = 0;
        char *report = cordon_verify(host, NULL, 1, &ok, ce);
        struct json_doc *d = report ? json_parse_data("report", span_str(report), e) : NULL;
        const struct json *list = d ? json_get(json_root(d), "tenants") : NULL;
        for (const struct json *o = list ? list->child : NULL; o && n >= 0; o = o->next) {
                const struct json *heads = json_get(o, "heads");
                if (heads && strcmp(json_text(o, "state"), state) == 0)
                        n = json_is_true(o, "fits") ? -1 : heads->integer;
        }
        if (n < 0) {
                (void) err_set(e, ERR_USAGE, EEXIST, "the ledger of the tenant %s exists, and fits its heads",
                               name);
                (void) err_hint(e, "forget it when its directory was removed, or its ledger begun anew");
        }

        bool none = !report && ce->sys == ENOENT; /* the host has no ledger */
        n = d || none ? n : -1;
        json_free(d);
        cordon_free(report);
        return n;
}

/* Removes tokens of that name that are void, and lists them. */
static int drop_void(int dir, const char *name, struct tokens *t, struct buf *ids, struct err *e)
{
        size_t kept = 0, all = t->n;
        for (size_t i = 0; i < all; i++)
                if (strcmp(t->v[i].tenant, name) == 0 && is_void(dir, &t->v[i]))
                        buf_printf(ids, " %s", t->v[i].id);
                else
                        t->v[kept++] = t->v[i];
        t->n = kept;
        return kept < all ? store(dir, t, e) : 0;
}

char *serve_tenant_forget(const cordon_context *host, const char *config, const char *name, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        struct tokens t = { 0 };
        char state[4200];
        struct buf out = { 0 };
        AUTO_BUF(ids);
        if (!token_is_name(name) || strlen(name) >= SERVE_NAME_MAX) {
                (void) err_set(e, ERR_USAGE, 0, "a tenant's name has letters, digits, _ and - only");
                return NULL;
        }

        (void) snprintf(state, sizeof state, "%s/tenants/%s/state", config, name);
        int64_t heads = lost_heads(host, state, name, ce);
        const cordon_head gone = { .tenant = name, .state = state };
        AUTO_FD(dir, heads < 0 ? -1 : open_locked(config, false, &t, e));
        bool all_gone = dir < 0 && heads > 0 && ce->sys == ENOENT; /* the whole directory */
        int r = (dir < 0 && !all_gone) || (heads && cordon_heads_add(host, &gone, 1, "dropped", ce) < 0)
                        ? -1
                        : drop_void(dir, name, &t, &ids, e);
        tokens_done(&t);
        if (r < 0)
                return NULL;

        if (!heads && !ids.n) {
                (void) err_set(e, ERR_USAGE, ENOENT, "nothing is known of a tenant %s that was removed",
                               name);
                (void) serve_hint(e, config, "cordon serve tenant ls");
        }

        if (heads > 0)
                buf_printf(&out, "forgot %lld head%s of the ledger of %s\n", (long long) heads,
                           heads == 1 ? "" : "s", name);
        if (ids.n)
                buf_printf(&out, "removed its tokens:%s\n", buf_str(&ids));
        return out.p;
}

static void list_name(void *ctx, const char *name) { buf_printf(ctx, "%s\n", name); }
static void list_json(void *ctx, const char *name) { buf_member(ctx, NULL, name); }

char *serve_tenant_list(const char *config, bool json, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        struct buf out = { 0 };
        AUTO_FD(dir, serve_config_open(config, false, e));
        if (dir < 0)
                return NULL;

        buf_puts(&out, json ? "[" : "");
        names_each(dir, "tenants", "", json ? list_json : list_name, &out);
        buf_puts(&out, json ? "]\n" : "");
        if (!out.failed && out.p)
                return out.p;

        buf_done(&out);
        (void) err_set(e, ERR_USAGE, 0, "there is no tenant");
        (void) serve_hint(e, config, "cordon serve tenant new NAME");
        return NULL;
}
