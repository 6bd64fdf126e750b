/* SPDX-License-Identifier: MIT */
/* selftest/audit/tenant_evidence.c - judges the tenants of `cordon serve` by what its directory and the heads
 * in the host's ledger say. */
#include "selftest/audit/audit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAY(it, ...) ((void) snprintf((it)->evidence, sizeof(it)->evidence, __VA_ARGS__))

/* How many there are; a check without any has no object. */
static int64_t tenants_of(const struct audit_evidence *e, struct audit_item *it)
{
        int64_t n = e->tenants ? json_int(json_root(e->tenants), "tenants") : 0;
        if (n == 0 && !e->tenants) {
                SAY(it, "the directory of `cordon serve` cannot be read");
        } else if (n == 0) {
                it->state = AUDIT_NONE;
                SAY(it, "none configured: this state belongs to one user");
        }
        return n;
}

void audit_by_tenants(const struct audit_evidence *e, struct audit_item *it)
{
        int64_t all = tenants_of(e, it);
        if (all == 0)
                return;

        const struct json *o = json_get(json_get(json_root(e->tenants), "facts"), it->check->arg);
        int64_t n = json_int(o, "count");
        audit_set_badness(it, audit_badness_of(n, it->check->whole));
        SAY(it, "%s: %lld, of %lld tenants%s%.120s", it->check->arg, (long long) n, (long long) all,
            n ? "; " : "", n ? json_text(o, "first") : "");
}

/* Only root gives each tenant's boxes ids of their own outside. */
void audit_judge_users(const struct audit_evidence *e, struct audit_item *it)
{
        int64_t n = tenants_of(e, it);
        if (n == 0)
                return;

        bool shared = n > 1 && geteuid() != 0;
        audit_set_badness(it, shared ? 100 : 0);
        SAY(it, "%lld tenants%s", (long long) n,
            shared ? ", whose boxes all have this user's uid outside" : ", each with ids of its own outside");
}

static const struct json *heads(const struct audit_evidence *e)
{
        const struct json *j = e->verified ? json_get(json_root(e->verified), "tenants") : NULL;
        return j && j->type == JSON_ARRAY ? j->child : NULL;
}

void audit_judge_heads(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, bad = 0;
        const char *first = "";
        for (const struct json *o = heads(e); o; o = o->next) {
                all++;
                if (!json_is_true(o, "fits") && bad++ == 0)
                        first = json_text(o, "tenant");
        }

        if (all == 0) {
                it->state = AUDIT_NONE;
                SAY(it, "this ledger has no heads of tenants");
                return;
        }
        audit_set_badness(it, bad ? 100 : 0);
        SAY(it, "the ledgers of %u tenants were verified, %u do not fit their heads%s%.80s", all, bad,
            bad ? ": " : "", first);
}

static bool has_head(const struct audit_evidence *e, const char *tenant)
{
        for (const struct json *o = heads(e); o; o = o->next)
                if (strcmp(json_text(o, "tenant"), tenant) == 0)
                        return true;
        return false;
}

void audit_judge_unheaded(const struct audit_evidence *e, struct audit_item *it)
{
        unsigned all = 0, without = 0;
        const char *first = "";
        if (tenants_of(e, it) == 0)
                return;

        const struct json *list = json_get(json_root(e->tenants), "ledgers");
        for (const struct json *o = list ? list->child : NULL; o; o = o->next) {
                all++;
                if (o->type == JSON_STRING && !has_head(e, o->str) && without++ == 0)
                        first = o->str;
        }
        audit_set_badness(it, without ? 100 : 0);
        SAY(it, "%u tenants have a ledger, and this one has no head of %u%s%.80s", all, without,
            without ? ": " : "", first);
}
