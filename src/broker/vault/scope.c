/* SPDX-License-Identifier: MIT */
/* broker/vault/scope.c - a run's request is checked against the scope of a credential before the secret is
 * released. Uses the policy's own rule of which destination covers which, so that a scope and a door cannot
 * differ in meaning. Pure. */
#include "broker/vault/vault.h"
#include "policy/policy.h"

static int too_broad(const char *name, const char *line, struct err *e)
{
        (void) err_set(e, ERR_DOOR, 0, "credential %s is not bound to this door: %s", name, line);
        return err_hint(
                e,
                "narrow the door, or change what it is for: cordon vault rotate %s --for 'URL METHOD' "
                "(the secret stays)",
                name);
}

int vault_scope_judge(const char *name, const char *scope, const char *asked, struct err *e)
{
        struct err why = { 0 };
        AUTO_BUF(line);
        if (asked[0] == '\0')
                return err_set(e, ERR_DOOR, 0, "no door is named for the credential %s", name);

        if (scope[0] == '\0')
                return 0;

        int covered = policy_net_scope_covers(scope, asked, &line, &why);
        if (covered < 0)
                return err_set(e, ERR_DOOR, 0, "what the credential %s is asked for cannot be read", name);

        return covered > 0 && !line.failed ? 0 : too_broad(name, buf_str(&line), e);
}

int vault_may_give(const struct vault_meta *m, bool stage_live, int64_t now, const char *asked, struct err *e)
{
        if (m->live && !stage_live) {
                (void) err_set(e, ERR_DOOR, 0,
                               "credential %s has class live and cannot be used in this stage", m->name);
                return err_hint(e, "add one of class test under this name, or run with --stage live");
        }

        if (m->expires && m->expires <= now) {
                (void) err_set(e, ERR_DOOR, 0, "the credential %s has expired", m->name);
                return err_hint(e, "cordon vault rotate %s", m->name);
        }

        return vault_scope_judge(m->name, m->scope, asked, e);
}
