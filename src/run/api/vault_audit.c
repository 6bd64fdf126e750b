/* SPDX-License-Identifier: MIT */
/* run/api/vault_audit.c - lists the debts of the vault (enum vault_debt), for people and for `cordon check`.
 * Reads bindings; opens nothing. */
#include "base/clock.h"
#include "broker/vault/vault.h"
#include "run/api/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- audit ---- */

struct audit {
        struct buf out;
        bool json;
        int count;
        int64_t now;
};

static void add_debt(struct audit *a, const struct vault_meta *m, enum vault_debt d)
{
        AUTO_BUF(what);
        AUTO_BUF(next);
        vault_debt_print(m, d, &what);
        vault_debt_next(m, d, &next);
        if (!a->json) {
                buf_printf(&a->out, "%s: %s\n  %s\n", m->name, buf_str(&what), buf_str(&next));
                a->count++;
                return;
        }

        buf_printf(&a->out, "%s{\"name\":\"%s\",\"debt\":\"%s\",\"text\":", a->count++ ? ",\n " : "[",
                   m->name, vault_debt_name(d));
        buf_json(&a->out, buf_span(&what));
        buf_puts(&a->out, ",\"next_steps\":[");
        buf_json(&a->out, buf_span(&next));
        buf_puts(&a->out, "]}");
}

static void audit_one(void *ctx, const struct vault_meta *m)
{
        struct audit *a = ctx;
        for (enum vault_debt d = 0; d < VAULT_DEBT__COUNT; d++)
                if (vault_owes(m, d, a->now))
                        add_debt(a, m, d);
}

char *cordon_vault_audit(const cordon_context *cx, int json, int *ret_count, cordon_error *e)
{
        struct audit a = { .json = json != 0, .now = clock_wall_s() };
        if (vault_list(cx, audit_one, &a, to_err(e)) < 0) {
                buf_done(&a.out);
                return NULL;
        }

        *ret_count = a.count;
        buf_puts(&a.out, !a.json ? "" : a.count ? "]\n" : "[]\n");
        return api_give(&a.out, to_err(e));
}

/* ---- report of `cordon check` on the credentials that doors name ---- */

static int judge_credential(const struct cordon_context *cx, const struct door *d,
                            void (*each)(void *ctx, const struct policy_note *n), void *ctx, struct err *e)
{
        struct vault_meta m;
        struct policy_note n = { .level = 'W', .code = "W130", .at = d->at };
        char at[256];
        AUTO_BUF(what);
        struct err none;
        if (vault_meta_peek(cx, d->net.credential, &m, &none) < 0)
                return 0;

        if (vault_owes(&m, VAULT_DEBT_LIFETIME, 0)) {
                AUTO_BUF(next);
                vault_debt_print(&m, VAULT_DEBT_LIFETIME, &what);
                vault_debt_next(&m, VAULT_DEBT_LIFETIME, &next);
                (void) err_set(e, ERR_POLICY, 0, "%s: E129: the credential %s: %s",
                               policy_place(&d->at, at, sizeof at), m.name, buf_str(&what));
                return err_hint(e, "%s", buf_str(&next));
        }

        if (!vault_owes(&m, VAULT_DEBT_GROWTH, 0))
                return 0;

        vault_debt_print(&m, VAULT_DEBT_GROWTH, &what);
        (void) snprintf(n.text, sizeof n.text, "the credential %s: %s", m.name, buf_str(&what));
        each(ctx, &n);
        return 0;
}

/* The box would not start here and now: the credential is not in this vault, is of another stage, has expired
 * or is not for these doors. A note, as of a path that is missing: it may be another machine's. */
static void note_not_given(const struct cordon_context *cx, const struct checked_policy *c,
                           const struct door *d, enum policy_stage stage,
                           void (*each)(void *ctx, const struct policy_note *n), void *ctx)
{
        struct vault_meta m;
        struct err why = { 0 };
        struct policy_note n = { .level = 'W', .code = "W133", .at = d->at };
        char asked[GRANT_ASKED];

        if (vault_meta_peek(cx, d->net.credential, &m, &why) == 0 &&
            api_grant_scope(c, d->net.credential, asked, &why) == 0 &&
            vault_may_give(&m, stage == POLICY_STAGE_LIVE, clock_wall_s(), asked, &why) == 0)
                return;

        (void) snprintf(n.text, sizeof n.text, "this box cannot start on this host: %.180s%s%.80s", why.what,
                        why.hint[0] ? "; " : "", why.hint);
        each(ctx, &n);
}

static bool was_named_before(const struct door *d, size_t i)
{
        for (size_t k = 0; k < i; k++)
                if (d[k].kind == DOOR_NET && d[k].net.credential &&
                    strcmp(d[k].net.credential, d[i].net.credential) == 0)
                        return true;
        return false;
}

int api_vault_notes(const struct cordon_context *cx, const struct checked_policy *c, enum policy_stage stage,
                    void (*each)(void *ctx, const struct policy_note *n), void *ctx, struct err *e)
{
        size_t n;
        const struct door *d = policy_doors(c, &n);
        for (size_t i = 0; i < n; i++) {
                if (d[i].kind != DOOR_NET || !d[i].net.credential)
                        continue;
                if (judge_credential(cx, &d[i], each, ctx, e) < 0)
                        return -1;
                if (stage != POLICY_STAGE_MOCK && !was_named_before(d, i))
                        note_not_given(cx, c, &d[i], stage, each, ctx);
        }

        return 0;
}
