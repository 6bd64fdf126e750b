/* SPDX-License-Identifier: MIT */
/* face/serve/tenant_audit.c - what rots in the operator's directory: tokens, policies, versions on trial,
 * credentials, and tenants that are not as they were made. Reads only. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "face/serve/serve.h"
#include "face/serve/tenant.h"
#include "face/serve/tenant_identity.h"
#include "face/serve/tenant_versions.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
        DAY_S = 86400,
        TOKEN_OLD_DAYS = 90,
        TOKEN_LONG_DAYS = 366,
        TRIAL_DAYS = 14,
        UNUSED_DAYS = 30,
        TENANTS_MOST = 1024
};

enum fact {
        TOKENS_OLD = 0,
        TOKENS_ENDLESS,
        NO_CEILING,
        NO_POLICY,
        CANARIES_WAIT,
        VAULT_UNUSED,
        VAULT_DEBTS,
        NOT_AS_MADE,
        FACT__COUNT
};
static const char *const names[] = {
        [TOKENS_OLD] = "tokens_old",   [TOKENS_ENDLESS] = "tokens_endless", [NO_CEILING] = "no_ceiling",
        [NO_POLICY] = "no_policy",     [CANARIES_WAIT] = "canaries_wait",   [VAULT_UNUSED] = "vault_unused",
        [VAULT_DEBTS] = "vault_debts", [NOT_AS_MADE] = "not_as_made",
};
_Static_assert(sizeof names / sizeof *names == FACT__COUNT, "a name for each fact");

struct tenant_audit {
        int dir;
        int64_t now;
        size_t tenants;
        struct buf ledgers; /* tenants that have one, as JSON strings */
        struct {
                unsigned n;
                char first[160];
        } facts[FACT__COUNT];
        cordon_tenant seen[TENANTS_MOST];
};

__attribute__((format(printf, 3, 4))) static void found(struct tenant_audit *a, enum fact f, const char *fmt,
                                                        ...)
{
        va_list ap;
        va_start(ap, fmt);
        if (a->facts[f].n++ == 0)
                (void) vsnprintf(a->facts[f].first, sizeof a->facts[f].first, fmt, ap);
        va_end(ap);
}

/* ---- tokens ---- */

static void look_at_tokens(struct tenant_audit *a, const struct tokens *t)
{
        for (size_t i = 0; i < t->n; i++) {
                const struct token *x = &t->v[i];
                const char *whose = x->tenant[0] ? x->tenant : "the host";
                long long days = (a->now - x->created) / DAY_S;
                if (x->expires <= a->now)
                        continue;
                if (x->expires - x->created > (int64_t) TOKEN_LONG_DAYS * DAY_S)
                        found(a, TOKENS_ENDLESS, "%s of %s is valid for %lld more days", x->id, whose,
                              (long long) (x->expires - a->now) / DAY_S);
                if (days > TOKEN_OLD_DAYS)
                        found(a, TOKENS_OLD, "%s of %s is %lld days old", x->id, whose, days);
        }
}

/* ---- policies ---- */

static void look_at_trial(struct tenant_audit *a, int dir, const char *tenant, const char *policy)
{
        char path[2 * TOKEN_NAME_MAX];
        struct stat st;
        (void) snprintf(path, sizeof path, "versions/%.64s/canary.json", policy);
        if (!versions_canary(dir, policy).version || fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;

        long long days = (a->now - st.st_mtim.tv_sec) / DAY_S;
        if (days > TRIAL_DAYS)
                found(a, CANARIES_WAIT, "%s of %s has been on trial for %lld days", policy, tenant, days);
}

struct looked {
        struct tenant_audit *a;
        int dir;
        const char *tenant;
        unsigned policies;
};

static void look_at_policy(void *ctx, const char *name)
{
        struct looked *l = ctx;
        l->policies++;
        look_at_trial(l->a, l->dir, l->tenant, name);
}

static void look_at_policies(struct tenant_audit *a, int dir, const char *tenant)
{
        struct looked l = { a, dir, tenant, 0 };
        names_each(dir, "policies", ".cordon", look_at_policy, &l);
        struct stat st;
        if (l.policies == 0)
                found(a, NO_POLICY, "%s has no policy; its runs cannot start", tenant);
        if (fstatat(dir, "ceiling.cordon", &st, AT_SYMLINK_NOFOLLOW) < 0)
                found(a, NO_CEILING, "%s", tenant);
}

/* ---- what makes a tenant ---- */

static void look_at_parts(struct tenant_audit *a, int dir, const char *tenant)
{
        static const char *const parts[] = { ".", "state", "home", "files", "policies", "identity" };
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
                struct stat st;
                if (fstatat(dir, parts[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (S_ISLNK(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077 && i != 3))
                        found(a, NOT_AS_MADE, "%s: %s belongs to another, or others may enter it", tenant,
                              parts[i]);
        }

        cordon_tenant *own = &a->seen[a->tenants];
        AUTO_FD(fd, fd_open2(dir, "identity", O_RDONLY | O_NONBLOCK, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        char text[128];
        ssize_t n = fd < 0 ? 0 : fd_read_all(fd, text, sizeof text);
        if (n > 0 && !tenant_identity_read(span_of(text, (size_t) n), own))
                found(a, NOT_AS_MADE, "%s: the file `identity` is not one", tenant);
        explicit_bzero(text, sizeof text);
        for (size_t i = 0; own->first_id && i < a->tenants; i++)
                if (a->seen[i].first_id == own->first_id ||
                    memcmp(a->seen[i].secret, own->secret, sizeof own->secret) == 0)
                        found(a, NOT_AS_MADE, "%s has the identity of another tenant", tenant);
}

/* ---- the vault ---- */

static void count_use(void *ctx, const char *json, const char *line)
{
        (void) json;
        (void) line;
        ++*(unsigned *) ctx;
}

static void look_at_use(struct tenant_audit *a, const cordon_context *cx, const char *tenant,
                        const struct json *o)
{
        const struct json *name = json_get(o, "name"), *created = json_get(o, "created");
        int64_t since = a->now - (int64_t) UNUSED_DAYS * DAY_S;
        unsigned uses = 0;
        uint64_t cursor = 1; /* not from the first record: that question would be recorded */
        cordon_error none;
        if (!name || name->type != JSON_STRING || !created || created->type != JSON_INT ||
            created->integer > since)
                return;

        (void) cordon_log_each(cx,
                               &(cordon_log_filter){ .kind = "credential",
                                                     .target = name->str,
                                                     .since_us = since * 1000000 },
                               &cursor, count_use, &uses, &none);
        if (uses == 0)
                found(a, VAULT_UNUSED, "%s of %s: no use in %d days", name->str, tenant, UNUSED_DAYS);
}

static void look_at_vault(struct tenant_audit *a, const cordon_context *cx, const char *tenant)
{
        cordon_error none;
        struct err ignored;
        int debts = 0;
        cordon_free(cordon_vault_audit(cx, 1, &debts, &none));
        for (int i = 0; i < debts; i++)
                found(a, VAULT_DEBTS, "of %s: its `vault audit` lists %d", tenant, debts);

        char *text = cordon_vault_list(cx, 1, &none);
        struct json_doc *d = text ? json_parse("vault", span_str(text), &ignored) : NULL;
        for (const struct json *o = d ? json_root(d)->child : NULL; o; o = o->next)
                look_at_use(a, cx, tenant, o);
        json_free(d);
        cordon_free(text);
}

/* ---- */

static void look_at_tenant(void *ctx, const char *name, const char *state)
{
        struct tenant_audit *a = ctx;
        char path[TOKEN_NAME_MAX + 16], variable[4400], home[] = "HOME=/nonexistent";
        (void) snprintf(path, sizeof path, "tenants/%.64s", name);
        AUTO_FD(dir, fd_open2(a->dir, path, O_RDONLY | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
        if (a->tenants == TENANTS_MOST)
                return;

        if (dir < 0) {
                found(a, NOT_AS_MADE, "%s: not a directory that can be read", name);
                a->tenants++;
                return;
        }

        look_at_policies(a, dir, name);
        look_at_parts(a, dir, name);
        a->tenants++;

        struct stat st;
        char *environment[] = { variable, home, NULL };
        (void) snprintf(variable, sizeof variable, "CORDON_STATE=%s", state);
        if (fstatat(dir, "state/ledger/segments", &st, AT_SYMLINK_NOFOLLOW) == 0) {
                buf_member(&a->ledgers, NULL, name);
        }
        cordon_context *cx = cordon_context_new(environment);
        if (cx && fstatat(dir, "state/vault", &st, AT_SYMLINK_NOFOLLOW) == 0)
                look_at_vault(a, cx, name);
        cordon_context_free(cx);
}

static void put(const struct tenant_audit *a, size_t tokens, struct buf *out)
{
        buf_printf(out, "{\"tenants\":%zu,\"tokens\":%zu,\"ledgers\":[%s],\"facts\":{", a->tenants, tokens,
                   a->ledgers.n ? buf_str(&a->ledgers) : "");
        for (unsigned i = 0; i < FACT__COUNT; i++) {
                buf_member_json(out, names[i], "{");
                buf_member_int(out, "count", a->facts[i].n);
                buf_member(out, "first", a->facts[i].first);
                buf_putc(out, '}');
        }
        buf_puts(out, "}}\n");
}

char *serve_audit(const char *config, cordon_error *ce)
{
        struct err *e = (struct err *) ce;
        struct tokens tokens = { 0 };
        struct stat st;
        struct buf out = { 0 };
        struct tenant_audit *a = calloc(1, sizeof *a);
        char *none[] = { NULL };
        if (!a) {
                (void) err_set(e, ERR_MEMORY, 0, "no memory for the tenants");
                return NULL;
        }

        bool any = stat(config, &st) == 0;
        a->now = clock_wall_s();
        AUTO_FD(dir, any ? serve_config_open(config, false, e) : -1);
        a->dir = dir;
        struct tenants *ts = dir < 0 ? NULL : tenants_new(dir, config, none, NULL, NULL, NULL);
        bool good = ts && tokens_load(dir, &tokens, e) == 0;
        if (good) {
                look_at_tokens(a, &tokens);
                tenants_states(ts, look_at_tenant, a);
        }
        if (good || !any)
                put(a, tokens.n, &out);
        tenants_free(ts);
        tokens_done(&tokens);
        explicit_bzero(a->seen, sizeof a->seen);
        buf_done(&a->ledgers);
        free(a);
        return out.p;
}
