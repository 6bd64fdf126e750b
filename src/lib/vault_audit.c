/* SPDX-License-Identifier: MIT */
/* lib/vault_audit.c - what the vault owes, for people and for `cordon check`. Reads bindings; opens nothing.
 */
#include "base/clock.h"
#include "lib/internal.h"
#include "vault/vault.h"

#include <stdio.h>

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

char *cordon_vault_audit(int json, int *ret_count, cordon_error *e)
{
        struct audit a = { .json = json != 0, .now = clock_wall_s() };
        if (vault_list(audit_one, &a, to_err(e)) < 0) {
                buf_done(&a.out);
                return NULL;
        }
        *ret_count = a.count;
        buf_puts(&a.out, !a.json ? "" : a.count ? "]\n" : "[]\n");
        return lib_give(&a.out, to_err(e));
}

/* ---- what `cordon check` says of the credentials that doors name ---- */

static int judge_credential(const struct door *d, void (*each)(void *ctx, const struct policy_note *n),
                            void *ctx, struct err *e)
{
        struct vault_meta m;
        struct policy_note n = { .level = 'W', .code = "W130", .at = d->at };
        char at[256];
        AUTO_BUF(what);
        if (vault_meta_peek(d->net.credential, &m) < 0)
                return 0; /* another machine's, perhaps: a run says so */
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

int lib_vault_notes(const struct checked_policy *c, void (*each)(void *ctx, const struct policy_note *n),
                    void *ctx, struct err *e)
{
        size_t n;
        const struct door *d = policy_doors(c, &n);
        for (size_t i = 0; i < n; i++)
                if (d[i].kind == DOOR_NET && d[i].net.credential && judge_credential(&d[i], each, ctx, e) < 0)
                        return -1;
        return 0;
}
