/* SPDX-License-Identifier: MIT */
/* selftest/audit/live_tenants.c - negative tests of what keeps tenants apart, in a directory of their own. */
#include "face/serve/serve.h"
#include "selftest/audit/audit.h"
#include "selftest/audit/live_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WHY(...) ((void) snprintf(why, 200, __VA_ARGS__))

int audit_try_names(char *why)
{
        static const char *const bad[] = { "../x", "a/b", ".", "", "a\n", "-a" };
        struct own_state s;
        cordon_error e = { 0 };
        int r = own_state_make(&s, 0700) == 0 ? AUDIT_REFUSED : AUDIT_NOT_TRIED;
        for (size_t i = 0; r == AUDIT_REFUSED && i < sizeof bad / sizeof *bad; i++)
                if (serve_tenant_new(s.dir, bad[i], &e) == 0)
                        r = AUDIT_WENT_THROUGH;
        WHY("a tenant named ../x: %.150s", r == AUDIT_WENT_THROUGH ? "it was made" : e.what);
        own_state_done(&s);
        return r;
}

int audit_try_expired(char *why) { return serve_try_expired(why); }
int audit_try_lines(char *why) { return serve_try_lines(why); }

/* A tenant's ledger, its head in another, and then the ledger is gone. */
int audit_try_heads(char *why)
{
        struct own_state host, tenant;
        cordon_error e = { 0 };
        char id[64], was[128], *proof = NULL;
        const cordon_audit_record record = { .what = "trial", .result = "tried", .debt = -1 };
        int r = AUDIT_NOT_TRIED, ok = 1;
        bool made = own_state_make(&host, 0700) == 0, both = made && own_state_make(&tenant, 0700) == 0;
        if (both && cordon_audit_add(tenant.writer, &record, id, &e) == 0)
                proof = cordon_log(tenant.cx, CORDON_LOG_PROOF, id, &e); /* which seals it */
        const cordon_head head = { .tenant = "trial", .state = both ? tenant.dir : "" };
        if (proof && cordon_heads_add(host.writer, &head, 1, "start", &e) == 0) {
                char *fits = cordon_verify(host.cx, NULL, 0, &ok, &e);
                int before = fits && ok;
                (void) snprintf(was, sizeof was, "%s/ledger", tenant.dir);
                char to[160];
                (void) snprintf(to, sizeof to, "%s/elsewhere", tenant.dir);
                char *said = before && rename(was, to) == 0 ? cordon_verify(host.cx, NULL, 0, &ok, &e) : NULL;
                r = !said ? AUDIT_NOT_TRIED : ok ? AUDIT_WENT_THROUGH : AUDIT_REFUSED;
                cordon_free(said);
                cordon_free(fits);
        }
        WHY("%.190s", r == AUDIT_NOT_TRIED ? e.what
                      : r                  ? "a tenant's ledger that was removed is found"
                                           : "a tenant's ledger that was removed is not missed");
        cordon_free(proof);
        own_state_done(&host);
        if (made)
                own_state_done(&tenant);
        return r;
}
