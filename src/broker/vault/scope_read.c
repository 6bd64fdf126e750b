/* SPDX-License-Identifier: MIT */
/* broker/vault/scope_read.c - the scope of a credential as a person writes it: net doors, one per line, as in
 * a policy, into canonical form. Pure; not a part of cordon-vault. */
#include "broker/vault/vault.h"
#include "policy/policy.h"

#include <stdio.h>

/* Returns a policy of only these doors, or NULL if one of them is malformed. */
static struct checked_policy *doors_of(const char *lines, struct err *e)
{
        static const struct policy_context nowhere = { .work = "/", .home = "/" };
        AUTO_BUF(text);
        buf_puts(&text, "use none\n");
        for (const char *p = lines; *p;) {
                size_t n = strcspn(p, "\n");
                buf_printf(&text, "net %.*s\n", (int) n, p);
                p += n + (p[n] == '\n');
        }

        struct policy *p = text.failed ? NULL : policy_new();
        struct checked_policy *c = NULL;
        if (p && policy_add_text(p, "for", buf_span(&text), e) == 0)
                c = policy_check(p, &nowhere, e);
        else if (!p)
                (void) err_set(e, ERR_MEMORY, 0, "no memory");

        policy_free(p);
        return c;
}

static bool has_cap(const struct net_dest *x)
{
        for (unsigned c = 0; c < NET_CAP__COUNT; c++)
                if (x->cap[c])
                        return true;
        return false;
}

static bool has_terms(const struct door *d)
{
        return d->ask.on || d->type != HANDLE_BINARY || d->flow.label || d->flow.accepts ||
               d->flow.declassify;
}

static int no_scope(struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0,
                       "a credential is for URLs or places with their methods, and nothing else");
        return err_hint(e, "use --for 'https://api.example.com/repos/** GET'");
}

int vault_scope_read(const char *lines, char ret_scope[GRANT_SCOPE], struct err *e)
{
        AUTO_BUF(out);
        struct err why = { 0 };
        size_t n;
        struct checked_policy *c = doors_of(lines, &why);
        const struct door *d = c ? policy_doors(c, &n) : NULL;
        bool good = d && n > 0;

        for (size_t i = 0; good && i < n; i++) {
                const struct net_dest *x = &d[i].net;
                good = d[i].kind == DOOR_NET && x->form != NET_HOST_PORT && !x->credential && !has_cap(x) &&
                       !x->reach && !x->touches && d[i].until == 0 && !has_terms(&d[i]);
                policy_net_scope(&d[i], &out);
        }

        policy_checked_free(c);
        if (!good)
                return why.code ? (*e = why, err_in(e, "--for")) : no_scope(e);

        if (out.failed || out.n >= GRANT_SCOPE)
                return err_set(e, ERR_USAGE, 0, "what a credential is for takes %d characters at most",
                               GRANT_SCOPE - 1);

        (void) snprintf(ret_scope, GRANT_SCOPE, "%s", buf_str(&out));
        return 0;
}
