/* SPDX-License-Identifier: MIT */
/* ledger/read/verify_host.c - verifies the ledger of a host together with those of its tenants, of which it
 * has heads. */
#include "base/fd.h"
#include "ledger/internal.h"

#include <stdio.h>

/* Returns false with the reason. */
static bool heads_fit(const struct cordon_context *cx, const struct ledger_tenant *t, char *why, size_t cap)
{
        struct err e = { 0 };
        bool ok = false;
        AUTO_BUF(report);
        AUTO_FD(dir, t->state[0] == '/' ? ledger_open_dir(t->state, &e) : -1);
        if (dir < 0 || ledger_dir_check(dir, &e) < 0) {
                (void) snprintf(why, cap, "its ledger is gone, which had %llu records: %.200s",
                                (unsigned long long) t->size, e.what);
                return false;
        }

        const struct ledger_given heads = { buf_str(&t->notes), "its head in the host's ledger" };
        if (ledger_verify_with(cx, dir, &heads, NULL, true, &report, &ok, &e) < 0)
                (void) snprintf(why, cap, "%.300s", e.what);
        else if (!ok)
                ledger_first_finding(&report, why, cap);
        return ok;
}

static void check_all(const struct cordon_context *cx, struct ledger_heads *h, ledger_find *find, void *ctx)
{
        for (size_t i = 0; i < h->n; i++) {
                char why[400] = "", text[512];
                struct ledger_tenant *t = &h->v[i];
                t->fits = t->heads == 0 || heads_fit(cx, t, why, sizeof why);
                (void) snprintf(text, sizeof text, "tenant %s: %s", t->name, why);
                if (!t->fits)
                        find(ctx, text);
        }
}

int ledger_verify_host(const struct cordon_context *cx, int dir, const char *extra, bool json,
                       struct buf *out, bool *ret_ok, struct err *e)
{
        struct ledger_heads heads = { .check = check_all };
        const struct ledger_given given = { extra, "the checkpoint given" };
        int r = ledger_verify_with(cx, dir, &given, &heads, json, out, ret_ok, e);
        ledger_heads_done(&heads);
        return r;
}
