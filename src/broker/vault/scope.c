/* SPDX-License-Identifier: MIT */
/* broker/vault/scope.c - the scope of a credential: net doors, one per line, as in a policy. A run's request
 * is checked against it before a secret is released. Uses the policy's own rule of which door covers which,
 * so that a scope and a door cannot differ in meaning. Pure. */
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

static int no_scope(struct err *e)
{
        (void) err_set(e, ERR_USAGE, 0,
                       "a credential is for URLs or places with their methods, and nothing else");
        return err_hint(e, "write --for 'https://api.example.com/repos/** GET'");
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
                       !x->reach && !x->touches && d[i].until == 0;
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

static int too_broad(const char *name, const struct buf *difference, struct err *e)
{
        const char *more = buf_str(difference);
        while (*more && *more != '+') /* "- ": an unused door may stay */
                more += strcspn(more, "\n") + (strchr(more, '\n') != NULL);

        more += strspn(more, "+ ");
        (void) err_set(e, ERR_DOOR, 0, "the credential %s is not for this door: %.*s", name,
                       (int) strcspn(more, "\n"), more);
        return err_hint(
                e,
                "narrow the door, or change what it is for: cordon vault rotate %s --for 'URL METHOD' "
                "(the secret stays)",
                name);
}

int vault_scope_judge(const char *name, const char *scope, const char *asked, struct err *e)
{
        struct err why = { 0 };
        if (asked[0] == '\0')
                return err_set(e, ERR_DOOR, 0, "no door is named for the credential %s", name);

        if (scope[0] == '\0')
                return 0;

        AUTO_BUF(difference);
        struct checked_policy *may = doors_of(scope, &why), *wants = may ? doors_of(asked, &why) : NULL;
        enum policy_order order = wants ? policy_diff(may, wants, &difference) : POLICY_CROSSING;
        bool good = wants && !difference.failed && (order == POLICY_EQUAL || order == POLICY_NARROWER);
        policy_checked_free(may);
        policy_checked_free(wants);
        if (good)
                return 0;

        return wants ? too_broad(name, &difference, e)
                     : err_set(e, ERR_DOOR, 0, "what the credential %s is asked for cannot be read", name);
}

int vault_may_give(const struct vault_meta *m, bool stage_live, int64_t now, const char *asked, struct err *e)
{
        if (m->live && !stage_live) {
                (void) err_set(e, ERR_DOOR, 0,
                               "the credential %s is a live one and does not load in this stage", m->name);
                return err_hint(e, "add one of class test under this name, or run with --stage live");
        }

        if (m->expires && m->expires <= now) {
                (void) err_set(e, ERR_DOOR, 0, "the credential %s has expired", m->name);
                return err_hint(e, "cordon vault rotate %s", m->name);
        }

        return vault_scope_judge(m->name, m->scope, asked, e);
}
